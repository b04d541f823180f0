"""Nothing waits for a device: no value is looked at, and nothing is copied from one to another.

The meta device holds shapes alone, so it raises where a value is read. What is known of positions
there is tested with numbers as well: on the CPU, forbidden to read them.
"""

import copy
import dataclasses
import io

import pytest
import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from course_lab.zoo import RECIPES, TIERS
from course_lib.encodings import (
    ALiBi,
    AxialRotary,
    LearnedAbsolute,
    QueryTemperature,
    Rotary,
    Shaw,
    Sinusoidal,
    T5Bias,
    TransformerXL,
    alibi_slopes,
    by_parts,
    consecutive,
    consecutive_positions,
    dynamic_ntk,
    interpolated,
    llama3,
    longrope,
    ntk_aware,
    rotary_frequencies,
    sinusoidal_encoding,
    yarn,
)
from course_lib.encodings.consecutive import first_of_run, joined, known_range
from course_lib.model import Decoder, DecoderConfig
from course_lib.model.decoder import Cache

CONFIG = DecoderConfig(vocab_size=13, dim=32, num_layers=2, num_heads=4, hidden_dim=40)
TIER = dataclasses.replace(TIERS["small"], config=CONFIG, length=40)
HEAD_DIM, LENGTH = CONFIG.head_dim, 9

EXTENSIONS = {
    "interpolation": interpolated(rotary_frequencies(HEAD_DIM), 4.0),
    "NTK-aware": ntk_aware(HEAD_DIM, 10_000, 4.0),
    "dynamic NTK": dynamic_ntk(HEAD_DIM, 10_000, 2.0, 256, 64),
    "by parts": by_parts(rotary_frequencies(HEAD_DIM), 4.0, 64),
    "YaRN": yarn(HEAD_DIM, 10_000, 4.0, 64),
    "LongRoPE": longrope(HEAD_DIM, 10_000, [1.0] * 4, [2.0] * 4, 256, 64, 4.0),
    "Llama 3": llama3(rotary_frequencies(HEAD_DIM), 4.0, 64),
}
SCHEMES = {name: recipe.scheme(TIER) for name, recipe in RECIPES.items()} | {
    "learned, as it is": LearnedAbsolute(40, CONFIG.dim, std=1.0),
    "proportional": Rotary(HEAD_DIM, rotary_dim=4, partial="proportional"),
    "interleaved": Rotary(HEAD_DIM, layout="interleaved"),
    "several axes": AxialRotary(HEAD_DIM, (2, 1, 1), interleaved=True),
    "temperature": QueryTemperature(4, scheme=Rotary(HEAD_DIM)),
    "T5, both ways": T5Bias(CONFIG.num_heads, 8, 20, bidirectional=True),
    "Shaw, keys only": lambda layer: Shaw(HEAD_DIM, 3, on_values=False),
} | {
    "stretched": Rotary(HEAD_DIM, **EXTENSIONS["YaRN"]._asdict())
}  # fmt: skip
every_scheme = pytest.mark.parametrize("name", SCHEMES)
# those whose scores hold nothing beside q k: a plain causal pass needs neither bias nor mask
PLAIN = [name for name in SCHEMES if name[:2] not in ("al", "t5", "T5", "cl", "sh", "Sh", "tr")]


def made(name, config=CONFIG):
    torch.manual_seed(0)
    model = Decoder(config, copy.deepcopy(SCHEMES[name]))
    for parameter in model.parameters():  # those that start from zero as well
        parameter.data += 0.3 * torch.randn_like(parameter)
    return model


def texts(batch, length, device="cpu"):
    generator = torch.Generator().manual_seed(0)
    return torch.randint(CONFIG.vocab_size, (batch, length), generator=generator).to(device)


class OnOneDevice(TorchDispatchMode):
    """Raises where a tensor that is not on `device` takes part, and where a value is read."""

    def __init__(self, device):
        super().__init__()
        self.device = device

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        for t in tree_leaves((args, kwargs, out)):
            if isinstance(t, torch.Tensor):
                assert t.device.type == self.device, f"{function} with {tuple(t.shape)}"
        return out


class Kernels(TorchFunctionMode):
    """Notes with which masks fused attention is called."""

    def __init__(self):
        super().__init__()
        self.masks = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is functional.scaled_dot_product_attention:
            mask = kwargs.get("attn_mask")
            shape = None if mask is None else tuple(mask.shape)
            self.masks.append("causal" if kwargs.get("is_causal") else shape)
        return function(*args, **(kwargs or {}))


# The meta device ---------------------------------------------------------------------------------

ON_META = {
    "known": lambda: consecutive_positions(LENGTH, 3, "meta"),
    "unknown": lambda: torch.zeros(LENGTH, dtype=torch.int32, device="meta"),
    "batched": lambda: torch.zeros(2, LENGTH, dtype=torch.int64, device="meta"),
}
on_meta = pytest.mark.parametrize(
    "make",
    [
        pytest.param(make, id=id, marks=[pytest.mark.slow] if id == "batched" else [])
        for id, make in ON_META.items()
    ],
)


@every_scheme
@on_meta
@pytest.mark.parametrize("causal", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_training_step_reads_no_value_and_moves_no_tensor(name, make, causal):
    model = made(name, dataclasses.replace(CONFIG, causal=causal)).to("meta")
    tokens, where = texts(2, LENGTH, "meta"), make()
    with OnOneDevice("meta"):
        scores = model(tokens, where)
        functional.cross_entropy(scores.flatten(0, 1), tokens.flatten()).backward()
    assert scores.shape == (2, LENGTH, CONFIG.vocab_size)


@every_scheme
@on_meta
def test_decoding_reads_no_value_and_moves_no_tensor(name, make):
    model, where, cache = made(name).to("meta"), make(), Cache()
    tokens = texts(2, LENGTH, "meta")
    with OnOneDevice("meta"), torch.no_grad():
        for part in (slice(0, 4), slice(4, 5), slice(5, LENGTH)):
            model(tokens[:, part], where[..., part], cache=cache)
        assert model.generate(tokens, 3).shape == (2, LENGTH + 3)
    of_axes = (model.axes,) if model.axes > 1 and where.ndim > 1 else ()
    assert cache.positions.shape == (*where.shape, *of_axes)


@every_scheme
@on_meta
def test_a_mask_is_read_neither(name, make):
    model, tokens, where = made(name).to("meta"), texts(2, LENGTH, "meta"), make()
    mask = torch.ones(LENGTH, LENGTH, dtype=torch.bool, device="meta")
    with OnOneDevice("meta"):
        model(tokens, where, mask)


@pytest.mark.parametrize("scaled", EXTENSIONS.values(), ids=EXTENSIONS)
def test_a_model_is_stretched_where_it_is(scaled):
    model = made("rope").to("meta")
    for block in model.blocks:  # the new frequencies are on the CPU
        rotary = block.attention.scheme
        rotary.frequencies, rotary.attention_factor = scaled
    tokens, where = texts(2, LENGTH, "meta"), consecutive_positions(LENGTH, device="meta")
    assert model(tokens, where).device.type == "meta"
    model.to("meta")
    with OnOneDevice("meta"):
        model(tokens, where)


def test_a_stretched_table_and_sinusoids_are_made_where_their_inputs_are():
    where = consecutive_positions(LENGTH, device="meta")
    assert LearnedAbsolute(5, 4).to("meta").stretched(9).table.device.type == "meta"
    assert sinusoidal_encoding(where, 8).device.type == "meta"


MADE = {name: recipe.scheme for name, recipe in RECIPES.items()} | {
    "proportional": lambda tier: Rotary(HEAD_DIM, rotary_dim=4, partial="proportional"),
    "several axes": lambda tier: AxialRotary(HEAD_DIM, (2, 1, 1), interleaved=True),
    "temperature": lambda tier: QueryTemperature(4, scheme=Rotary(HEAD_DIM)),
    "T5": lambda tier: T5Bias(CONFIG.num_heads, 8, 20, bidirectional=True),
    "YaRN": lambda tier: Rotary(HEAD_DIM, **yarn(HEAD_DIM, 10_000, 4.0, 64)._asdict()),
    "LongRoPE": lambda tier: Rotary(
        HEAD_DIM, **longrope(HEAD_DIM, 10_000, [1.0] * 4, [2.0] * 4, 256, 64, 4.0)._asdict()
    ),
    "Llama 3": lambda tier: Rotary(
        HEAD_DIM, **llama3(rotary_frequencies(HEAD_DIM), 4.0, 64)._asdict()
    ),
    "a list": lambda tier: Rotary(HEAD_DIM, frequencies=[1.0, 0.1, 0.01, 0.001]),
}


@pytest.mark.parametrize("name", MADE)
def test_a_model_that_was_made_without_values_is_whole_once_it_is_loaded(name):
    torch.manual_seed(0)
    usual = Decoder(CONFIG, MADE[name](TIER))
    with torch.device("meta"):
        empty = Decoder(CONFIG, MADE[name](TIER))
    assert all(parameter.is_meta for parameter in empty.parameters())
    loaded = empty.to_empty(device="cpu")
    loaded.load_state_dict(usual.state_dict())
    tokens = texts(2, LENGTH)
    assert torch.equal(loaded(tokens, range(LENGTH)), usual(tokens, range(LENGTH)))


@pytest.mark.parametrize("name", ["rope", "alibi", "sinusoidal", "several axes"])
def test_a_table_that_lost_its_values_is_refused_with_the_remedy(name):
    model = made(name).to("meta")
    with pytest.raises(ValueError, match=r"lost its values .* under `with torch.device\('meta'\)`"):
        model.to_empty(device="cpu")


# The kernel --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_causal_pass_takes_the_causal_kernel_and_makes_no_mask(name):
    model, tokens = made(name).to("meta"), texts(2, LENGTH, "meta")
    with Kernels() as kernels:
        model(tokens, consecutive_positions(LENGTH, 5, "meta"))
    assert kernels.masks == ["causal"] * CONFIG.num_layers


@pytest.mark.parametrize("name", PLAIN)
def test_one_new_token_sees_all_that_is_cached_without_a_mask(name):
    model, cache = made(name).to("meta"), Cache()
    with Kernels() as kernels:
        model(texts(2, 4, "meta"), consecutive_positions(4, 0, "meta"), cache=cache)
        model(texts(2, 1, "meta"), consecutive_positions(1, 4, "meta"), cache=cache)
        model(texts(2, 2, "meta"), consecutive_positions(2, 5, "meta"), cache=cache)
    assert kernels.masks[::2] == kernels.masks[1::2] == ["causal", None, (1, 1, 2, 7)]


@pytest.mark.parametrize("name", ["alibi", "t5", "clipped"])
def test_a_bias_is_computed_for_distances_only(name):
    """On the meta device, too: nothing of the size of all pairs goes through its formula."""
    n, asked = 50, []
    scheme = copy.deepcopy(SCHEMES[name]).to("meta")
    formula = scheme.by_distance
    scheme.by_distance = lambda relative: asked.append(relative.numel()) or formula(relative)
    q = torch.zeros(2, CONFIG.num_heads, n, HEAD_DIM, device="meta")
    where = consecutive_positions(n, device="meta")
    assert scheme.score_bias(q, q, where, where).shape == (CONFIG.num_heads, n, n)
    assert asked == [2 * n - 1]


# What is known ------------------------------------------------------------------------------------


@pytest.fixture
def unread(monkeypatch):
    """As on a GPU: no value of a position may be looked at."""
    monkeypatch.setattr(consecutive, "_readable", lambda positions: False)


@pytest.mark.parametrize(("length", "start"), [(4, 0), (1, 7), (3, 100_000), (2, -5)])
def test_positions_are_those_of_arange_and_known_as_such(length, start, unread):
    positions = consecutive_positions(length, start)
    assert torch.equal(positions, torch.arange(start, start + length))
    assert first_of_run(positions) == start
    assert known_range(positions) == (start, start + length - 1)


def test_no_positions_are_no_run(unread):
    assert first_of_run(consecutive_positions(0)) is known_range(consecutive_positions(0)) is None


FORGETS = {
    "changed": lambda t: t.mul_(2),
    "changed through a view": lambda t: (t[1:].zero_(), t)[1],
    "filled": lambda t: t.copy_(torch.tensor([3, 1, 2, 0])),
    "sorted in place": lambda t: torch.sort(t, descending=True, out=(t, torch.empty_like(t)))[0],
    "copied": copy.copy,
    "deeply copied": copy.deepcopy,
    "cloned": torch.clone,
    "shifted": lambda t: t + 1,
    "a part": lambda t: t[1:],
    "in another order": lambda t: t.flip(0),
    "narrower": lambda t: t.int(),
    "batched": lambda t: t.expand(2, -1),
}


@pytest.mark.parametrize("change", FORGETS.values(), ids=FORGETS)
def test_whatever_is_made_of_known_positions_is_unknown(change, unread):
    positions = consecutive_positions(4)
    changed = change(positions)
    assert first_of_run(changed) is known_range(changed) is None
    # neither when the change came first: a copy must not revive what was known
    assert first_of_run(copy.deepcopy(changed)) is None


def test_positions_that_were_saved_and_loaded_are_unknown(unread):
    file, positions = io.BytesIO(), consecutive_positions(4)
    positions.zero_()
    torch.save(positions, file)
    file.seek(0)
    assert first_of_run(torch.load(file)) is None


def test_positions_of_inference_mode_are_known_and_their_changes_seen(unread):
    with torch.inference_mode():
        positions = consecutive_positions(4, 2)
        assert first_of_run(positions) == 2
        assert first_of_run(torch.arange(4)) is None
        positions.zero_()
    assert first_of_run(positions) is None


@pytest.mark.parametrize(
    ("start", "first"), [(7, 3), (8, None), (6, None)], ids=["next", "gap", "overlap"]
)
def test_joined_positions_are_known_if_no_gap_is_between_them(start, first, unread):
    past, new = consecutive_positions(4, 3), consecutive_positions(2, start)
    both = joined(past, new)
    assert both.tolist() == [3, 4, 5, 6, start, start + 1]
    assert first_of_run(both) == first
    assert first_of_run(joined(past.clone(), new)) is None
    batched = joined(past.expand(2, -1), new.expand(2, -1))
    assert batched.shape == (2, 6) and first_of_run(batched) is None


@every_scheme
@pytest.mark.parametrize("kv_heads", [4, 2])
@pytest.mark.parametrize("causal", [True, False])
def test_known_and_unknown_positions_give_the_same_scores(name, kv_heads, causal, monkeypatch):
    config = dataclasses.replace(CONFIG, num_kv_heads=kv_heads, causal=causal)
    model, tokens = made(name, config).double().requires_grad_(False), texts(2, LENGTH)
    expected = model(tokens, torch.arange(LENGTH) + 3)
    monkeypatch.setattr(consecutive, "_readable", lambda positions: False)
    for where in (consecutive_positions(LENGTH, 3), torch.arange(LENGTH) + 3):
        # tables of angles are float32
        assert torch.allclose(model(tokens, where), expected, atol=1e-5)


@every_scheme
def test_decoding_at_known_and_unknown_positions_gives_the_same_scores(name, unread):
    model, tokens = made(name).double().requires_grad_(False), texts(2, LENGTH)
    for make in (consecutive_positions, lambda n, start: torch.arange(start, start + n)):
        cache, parts = Cache(), []
        for part in (slice(0, 4), slice(4, 5), slice(5, 8), slice(8, LENGTH)):
            new = tokens[:, part]
            parts.append(model(new, make(new.shape[1], part.start), cache=cache))
        full = model(tokens, torch.arange(LENGTH))
        assert torch.allclose(torch.cat(parts, dim=1), full, atol=1e-5)
        assert torch.equal(cache.positions, torch.arange(LENGTH))


def test_a_known_position_beyond_a_table_is_refused_without_a_look(unread):
    scheme, x = LearnedAbsolute(6, 4), torch.zeros(1, 3, 4)
    with pytest.raises(ValueError, match="position 6 is beyond the table, which has 6 rows"):
        scheme.embed(x, consecutive_positions(3, 4))
    with pytest.raises(ValueError, match="positions must be 0 or more, got -1"):
        scheme.embed(x, consecutive_positions(3, -1))
    assert torch.equal(scheme.embed(x, consecutive_positions(3, 3))[0], scheme.table[3:])
    for unknown in (torch.arange(4, 7), torch.arange(-1, 2)):
        with pytest.raises(IndexError):  # torch's own
            scheme.embed(x, unknown)


# Constants ---------------------------------------------------------------------------------------

CONSTANTS = {
    "RoPE": (lambda: Rotary(8), "frequencies", rotary_frequencies(8)),
    "Transformer-XL": (lambda: TransformerXL(4, 8), "frequencies", rotary_frequencies(32)),
    "sinusoidal": (lambda: Sinusoidal(32), "frequencies", rotary_frequencies(32)),
    "ALiBi": (lambda: ALiBi(4), "slopes", alibi_slopes(4)),
}
every_constant = pytest.mark.parametrize(
    ("make", "attribute", "exact"), CONSTANTS.values(), ids=CONSTANTS
)


@every_constant
def test_constants_follow_a_model_to_its_device_but_not_to_its_dtype(make, attribute, exact):
    model = torch.nn.Sequential(make())  # inside of another module
    for change in (lambda m: m.to(torch.bfloat16), lambda m: m.half(), copy.deepcopy):
        model = change(model)
        assert torch.equal(getattr(model[0], attribute), exact)
    state = set(model.state_dict())
    moved = model.to("meta", torch.float16)
    assert getattr(moved[0], attribute).device.type == "meta"
    assert getattr(moved[0], attribute).dtype == torch.float64
    assert set(moved.state_dict()) == state and attribute not in str(state)


def test_constants_stay_where_they_are_if_the_default_device_is_another():
    scheme = Rotary(8)
    with torch.device("meta"):
        scheme.half()
    assert torch.equal(scheme.frequencies, rotary_frequencies(8))


def test_constants_stay_on_the_cpu_for_a_device_without_float64():
    class Device:
        type = "mps"

    class Moved(torch.Tensor):
        device = Device()

    scheme = Rotary(8)
    scheme._apply(lambda t: t.as_subclass(Moved))
    assert type(scheme.frequencies) is torch.Tensor and scheme.frequencies.device.type == "cpu"


def test_a_whole_module_is_pickled_with_its_constants():
    file = io.BytesIO()
    torch.save(Rotary(8), file)
    file.seek(0)
    assert torch.equal(torch.load(file, weights_only=False).frequencies, rotary_frequencies(8))


# A GPU -------------------------------------------------------------------------------------------

gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")


@pytest.mark.gpu
@gpu
@every_scheme
def test_a_training_step_never_waits_for_a_gpu(name):
    model, tokens = made(name).cuda(), texts(2, LENGTH, "cuda")
    optimizer = torch.optim.AdamW(model.parameters())

    def step():
        scores = model(tokens, consecutive_positions(LENGTH, device="cuda"))
        functional.cross_entropy(scores.flatten(0, 1), tokens.flatten()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    step()  # libraries set up their workspaces
    before = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode("error")
    try:
        step()
    finally:
        torch.cuda.set_sync_debug_mode(before)


@pytest.mark.gpu
@gpu
@every_scheme
def test_decoding_never_waits_for_a_gpu(name):
    model, tokens = made(name).cuda().requires_grad_(False), texts(2, 4, "cuda")
    expected = model.generate(tokens, 4)
    before = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode("error")
    try:
        got = model.generate(tokens, 4)
    finally:
        torch.cuda.set_sync_debug_mode(before)
    assert torch.equal(got, expected)


@pytest.mark.gpu
@gpu
@every_scheme
def test_known_and_unknown_positions_give_the_same_scores_on_a_gpu(name):
    model, tokens = made(name).double().cuda().requires_grad_(False), texts(2, LENGTH, "cuda")
    known = model(tokens, consecutive_positions(LENGTH, device="cuda"))
    unknown = model(tokens, torch.arange(LENGTH, device="cuda"))
    assert torch.allclose(known, unknown, atol=1e-5)
