"""Released models: read from their files, equal to transformers, behind the course's doors."""

import json

import gguf
import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import pre_tokenizers
from torch.nn import functional
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from course_lab import released
from course_lab.instruments import looking
from course_lab.instruments.interventions import held
from course_lab.released.installed import installed
from course_lab.released.reading import at_this_place, losses
from course_lab.released.texts import FOLDER, LENGTH, TEXTS, text, tokens
from course_lab.studies import released as study
from course_lib.encodings import ALiBi, Rotary, T5Bias
from course_lib.errors import CourseError
from course_lib.model.decoder import Cache

SIZES = {
    "vocab_size": 50, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
}  # fmt: skip
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32, "rope_theta": 500_000.0}  # fmt: skip
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16,
        "rope_theta": 10_000.0}  # fmt: skip
KINDS = {
    "tied": {"tie_word_embeddings": True},
    "untied": {"tie_word_embeddings": False},
    "llama3": {"rope_parameters": LLAMA3},
    "yarn": {"rope_parameters": YARN},
    "all heads of their own": {"num_key_value_heads": 4},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def saved(folder, **changed):
    torch.manual_seed(0)
    theirs = LlamaForCausalLM(LlamaConfig(**{**SIZES, **changed})).eval()
    with torch.no_grad():
        for name, weight in theirs.named_parameters():
            if "norm" in name:
                weight.uniform_(0.5, 1.5)  # else a norm that is left out could not be seen
    theirs.save_pretrained(folder)
    return theirs


def some(length, batch=2, vocab=50):
    return torch.randint(vocab, (batch, length), generator=torch.Generator().manual_seed(1))


# A folder of transformers ------------------------------------------------------------------------


@every_kind
def test_a_folder_gives_the_scores_of_transformers(kind, tmp_path):
    theirs, ids = saved(tmp_path, **KINDS[kind]), some(20)
    with torch.no_grad():
        expected = theirs(ids).logits
    ours = released.load(tmp_path)
    assert torch.allclose(ours(ids, range(20)), expected, atol=1e-5)
    assert torch.allclose(ours(ids, torch.arange(20)), expected, atol=1e-5)


def test_a_cache_changes_no_score(tmp_path):
    saved(tmp_path)
    model, ids, cache = released.load(tmp_path), some(12), Cache()
    parts = [
        model(ids[:, at : at + 5], range(at, min(at + 5, 12)), cache=cache) for at in (0, 5, 10)
    ]
    assert torch.allclose(torch.cat(parts, dim=1), model(ids, range(12)), atol=1e-5)


@pytest.mark.parametrize("scheme", [ALiBi(4), T5Bias(4), lambda layer: Rotary(8, 10.0 + layer)])
def test_other_doors_take_the_same_weights(scheme, tmp_path):
    saved(tmp_path)
    model = released.load(tmp_path)
    other = model.with_scheme(scheme)
    assert other.embedding.weight.data_ptr() == model.embedding.weight.data_ptr()
    assert not torch.allclose(other(some(9), range(9)), model(some(9), range(9)), atol=1e-3)
    back = other.with_scheme(model.config.scheme())
    assert torch.equal(back(some(9), range(9)), model(some(9), range(9)))


def test_a_model_without_a_tokenizer_says_so_when_it_is_asked(tmp_path):
    saved(tmp_path)
    with pytest.raises(ValueError, match=r"has no tokenizer.json: give the model tokens"):
        released.load(tmp_path).tokens("a text")


# GGUF --------------------------------------------------------------------------------------------


OUTSIDE = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
}
INSIDE = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}  # fmt: skip


def as_gguf(folder, path, **said):
    """What llama.cpp's converter writes: other names, and pairs of columns side by side."""
    weights = load_file(folder / "model.safetensors")
    writer = gguf.GGUFWriter(path, said.pop("architecture", "llama"))
    numbers = {
        "block_count": 3, "embedding_length": 32, "feed_forward_length": 48, "context_length": 64,
        "attention.head_count": 4, "attention.head_count_kv": 2,
    }  # fmt: skip
    for key, value in numbers.items():
        writer.add_uint32(f"llama.{key}", value)
    writer.add_float32("llama.attention.layer_norm_rms_epsilon", 1e-6)
    writer.add_float32("llama.rope.freq_base", 10_000.0)
    for key, value in said.items():
        writer.add_string(key.replace("_of_", "."), value)
    outside = {theirs: ours for ours, theirs in OUTSIDE.items()}
    parts = {theirs: ours for ours, theirs in INSIDE.items()}
    for name, weight in weights.items():
        stem = name.removesuffix(".weight")
        if stem in outside:
            given = outside[stem]
        else:
            _, _, layer, inside = stem.split(".", 3)
            given = f"blk.{layer}.{parts[inside]}"
        if stem.endswith(("q_proj", "k_proj")):
            by_half = weight.unflatten(0, (-1, 2, 4))  # (heads, half, pair, columns)
            weight = by_half.transpose(1, 2).flatten(0, 2)
        writer.add_tensor(f"{given}.weight", np.ascontiguousarray(weight.numpy()))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_a_gguf_file_gives_the_same_scores_as_the_folder(tmp_path):
    saved(tmp_path)
    as_gguf(tmp_path, tmp_path / "model.gguf")
    ours, folder = released.load(tmp_path / "model.gguf"), released.load(tmp_path)
    assert (ours.config.layout, folder.config.layout) == ("interleaved", "half")
    assert torch.allclose(ours(some(20), range(20)), folder(some(20), range(20)), atol=1e-5)


# What cannot be read is said in one line ---------------------------------------------------------


def line(path):
    with pytest.raises(CourseError) as error:
        released.load(path)
    said = str(error.value)
    assert "\n" not in said and str(path) in said
    return said


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(released.MissingModel, match="name a GGUF file or a folder"):
        released.load(tmp_path / "none.gguf")


def test_no_model_installed_says_what_to_type(monkeypatch):
    monkeypatch.delenv("COURSE_MODEL", raising=False)
    monkeypatch.setattr("course_lab.released.installed.find_spec", lambda name: None)
    said = rf"`make model ARGS=smollm2` .* copy of {released.SMOLLM2.file}"
    with pytest.raises(released.MissingModel, match=said):
        released.load()


@pytest.mark.parametrize("bytes_left", [0, 10, 1000, 20_000])
def test_a_file_cut_off(bytes_left, tmp_path):
    saved(tmp_path)
    as_gguf(tmp_path, tmp_path / "whole.gguf")
    path = tmp_path / "cut.gguf"
    path.write_bytes((tmp_path / "whole.gguf").read_bytes()[:bytes_left])
    assert "cannot be read" in line(path)


def test_no_gguf_file_at_all(tmp_path):
    (tmp_path / "text.gguf").write_text("a text, and no weights\n" * 100)
    assert "cannot be read" in line(tmp_path / "text.gguf")


def test_another_architecture(tmp_path):
    saved(tmp_path)
    as_gguf(tmp_path, tmp_path / "other.gguf", architecture="gpt2")
    assert "its architecture is gpt2" in line(tmp_path / "other.gguf")
    as_gguf(tmp_path, tmp_path / "long.gguf", llama_of_rope_of_scaling_of_type="yarn")
    assert "stretched (yarn)" in line(tmp_path / "long.gguf")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen3"}))
    assert "its model_type is qwen3" in line(tmp_path)


def test_weights_that_are_missing_strange_or_misshapen(tmp_path):
    saved(tmp_path)
    file = tmp_path / "model.safetensors"
    weights = load_file(file)
    name = "model.layers.1.mlp.up_proj.weight"
    save_file({n: w for n, w in weights.items() if n != name}, file)
    assert f"has no weights {name}" in line(tmp_path)
    save_file(weights | {"model.layers.1.self_attn.q_proj.bias": torch.zeros(32)}, file)
    assert "q_proj.bias, and 0 others, that Llama's" in line(tmp_path)
    save_file(weights | {name: torch.zeros(40, 32)}, file)
    assert "has shape (40, 32), its sizes ask for (48, 32)" in line(tmp_path)


# The model of lesson 16 --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    return released.load()


@pytest.fixture(scope="module")
def theirs(model):
    """Transformers' own code with the weights of the file, in transformers' order of columns."""
    c = model.config
    sizes = LlamaConfig(
        vocab_size=c.vocab_size,
        hidden_size=c.dim,
        intermediate_size=c.hidden_dim,
        num_hidden_layers=c.num_layers,
        num_attention_heads=c.num_heads,
        num_key_value_heads=c.num_kv_heads,
        max_position_embeddings=c.length,
        rms_norm_eps=c.norm_epsilon,
        tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": c.base},
    )
    reader = gguf.GGUFReader(installed())
    given = {t.name: torch.tensor(gguf.dequantize(t.data, t.tensor_type)) for t in reader.tensors}
    weights = {}
    for name, weight in given.items():
        stem = name.removesuffix(".weight")
        if stem.endswith(("attn_q", "attn_k")):
            weight = weight.unflatten(0, (-1, 32, 2)).transpose(1, 2).flatten(0, 2)
        if stem in OUTSIDE:
            weights[f"{OUTSIDE[stem]}.weight"] = weight
        else:
            _, layer, inside = stem.split(".")
            weights[f"model.layers.{layer}.{INSIDE[inside]}.weight"] = weight
    theirs = LlamaForCausalLM(sizes).eval()
    assert theirs.load_state_dict(weights, strict=False) == (["lm_head.weight"], [])
    return theirs


@pytest.mark.slow
def test_scores_are_those_of_transformers(model, theirs):
    ids = tokens(model, "lessons", 512)
    with torch.no_grad():
        expected = theirs(ids[None]).logits[0]
    scores = model(ids[None], range(512))[0]
    assert (scores - expected).abs().max() < 1e-2
    ours, wanted = (functional.cross_entropy(s[:-1], ids[1:]) for s in (scores, expected))
    assert abs(ours - wanted) < 1e-5
    cache = Cache()
    one_by_one = [model(ids[None, i : i + 1], range(i, i + 1), cache=cache) for i in range(64)]
    assert (torch.cat(one_by_one, dim=1)[0] - scores[:64]).abs().max() < 1e-2


def test_tokens_are_those_of_transformers(model):
    path = installed()
    spelling = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    # Transformers does not read tokenizer.ggml.pre. By llama.cpp's table (llama-vocab.cpp) "smollm"
    # cuts out every digit first, which seldom changes anything.
    rule = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(False)])
    spelling.backend_tokenizer.pre_tokenizer = rule
    for name in TEXTS:
        part = text(name)[:20_000]
        assert model.tokens(part).tolist() == spelling(part, add_special_tokens=False)["input_ids"]
        assert model.text(model.tokens(part)) == part
    odd = "12 3456 naïve 日本語 \t\n  <|im_start|>user\nYes, it's 7.<|im_end|>"
    assert model.tokens(odd).tolist() == spelling(odd, add_special_tokens=False)["input_ids"]


def test_it_speaks_and_the_other_layout_costs_nats(model):
    prompt = model.tokens("The capital of France is")[None]
    assert "Paris" in model.text(model.generate(prompt, 4)[0])
    other = model.with_scheme(Rotary(model.config.head_dim, model.config.base, "half"))
    ids = tokens(model, "typing", 200)
    assert losses(other, ids).mean() > losses(model, ids).mean() + 1


def test_losses_do_not_depend_on_the_pieces(model):
    ids = tokens(model, "typing", 300)
    whole, cache = losses(model, ids), Cache()
    assert torch.allclose(losses(model, ids, piece=70), whole, atol=1e-4)
    losses(model, ids[:200], cache)
    for _ in range(2):  # a cache that is only looked at does not grow
        rest = losses(model, ids[200:], at_this_place(cache))
        assert torch.allclose(rest, whole[200:], atol=1e-4)


def test_texts_are_long_enough_and_small(model):
    assert all(len(tokens(model, name)) == LENGTH for name in TEXTS)
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 400_000


# What the study does to it -----------------------------------------------------------------------


def test_held_pairs_are_those_of_the_small_models(model, monkeypatch):
    monkeypatch.setattr(study, "TRAINED", 20)
    ids = tokens(model, "typing", 48)
    ours = losses(model.with_scheme(study.Held(range(20, 32), 8000)), ids)
    other = losses(held(model, range(20, 32), limit=19, seen_as=8000), ids)
    assert torch.allclose(ours, other, atol=1e-4)
    assert torch.equal(ours[:18], losses(model, ids)[:18])  # nothing is far yet
    assert (ours[20:] - losses(model, ids)[20:]).abs().max() > 0.01


def test_a_blind_head_gives_one_key_no_weight_and_all_others_keep_theirs(model):
    ids = tokens(model, "typing", 40)
    before = losses(model, ids)
    looks = [look.weights for look in looking.by_layer(model, ids)]
    changed = study.blind(model, [(1, 2), (1, 0), (4, 8)], 2)
    now = [look.weights for look in looking.by_layer(changed, ids)]
    assert not now[1][[0, 2]].diagonal(-2, 1, 2).any() and not now[4][8].diagonal(-2).any()
    whole = looks[1].clone()  # of a layer below which nothing was changed
    whole[[0, 2]] = looks[1][[0, 2]].masked_fill(torch.eye(40, dtype=bool).roll(2, 0).tril(), 0)
    assert torch.allclose(now[1], whole / whole.sum(-1, keepdim=True), atol=1e-5)
    assert (losses(changed, ids) - before).abs().max() > 0.01
    assert torch.equal(losses(model, ids), before)
    assert torch.equal(losses(study.blind(model, [], 1), ids), before)
    assert torch.allclose(losses(study.blind(model, [(0, 0)], 40), ids), before, atol=1e-4)


def test_heads_that_look_one_back_come_in_their_order(model):
    ids = tokens(model, "topics", 200)
    found = study.most_one_back(model, ids, 3)
    shares = [
        [looking.one_back(of) for of in look.weights] for look in looking.by_layer(model, ids)
    ]
    wanted = sorted(
        (-x, layer, head) for layer, of in enumerate(shares) for head, x in enumerate(of)
    )
    assert found == [(layer, head) for _, layer, head in wanted[:3]]


@pytest.mark.parametrize("key", [0, 5])
def test_later_queries_read_another_value_with_the_weights_that_they_had(model, key):
    ids = tokens(model, "typing", 24)
    own = study.values_of(model, ids[: key + 1])
    assert own.shape == (30, 9, 64)
    to_qkv = model.blocks[0].attention.to_qkv
    inside = to_qkv(model.blocks[0].norm1(model.embedding(ids[key])))  # queries, keys, values
    assert torch.allclose(own[0, ::3].flatten(), inside[-3 * 64 :], atol=1e-5)

    same = model.with_scheme(lambda layer: study.OtherValue(key, torch.zeros_like(own[0])))
    assert torch.allclose(losses(same, ids), losses(model, ids), atol=1e-4)
    only_first = torch.zeros_like(own)
    only_first[0] = -own[0]  # in layer 0, so that its weights are what they were
    changed = model.with_scheme(lambda layer: study.OtherValue(key, only_first[layer]))
    reads = []
    for one in (model, changed):
        keep = one.blocks[0].attention.to_out.register_forward_pre_hook(
            lambda module, inputs: reads.append(inputs[0][0].unflatten(-1, (9, 64)))
        )
        losses(one, ids)
        keep.remove()
    weights = next(looking.by_layer(model, ids)).weights[:, :, key]  # (heads, queries)
    expected = reads[0] - weights.mT[..., None] * own[0] * (torch.arange(24) > key)[:, None, None]
    assert torch.allclose(reads[1], expected, atol=1e-4)


def test_a_text_holds_what_is_asked_for(model):
    """The row of rare tokens stands as far back as the study says, from its second coming on."""
    draw = torch.Generator().manual_seed(0)
    for secret in study._placed([5, 300], draw):
        assert len(secret.rare) == 20 and secret.rare.min() >= study.RARE[0]
        said = model.text(secret.line)
        assert said.startswith("\nThe code of ") and said.strip()[-6:-1].isdigit()


@pytest.mark.parametrize(
    "setting, last, lone",
    [("unchanged", range(300), range(301)), ("first hidden", range(1, 300), range(1, 301)),
     ("another hidden", [*range(200), *range(201, 300)], [*range(200), *range(201, 301)]),
     ("window", range(172, 300), range(173, 301)),
     ("window and the first", [0, *range(172, 300)], [0, *range(173, 301)]),
     ("window and another", range(172, 300), range(173, 301))],
)  # fmt: skip
def test_a_query_sees_the_keys_of_its_setting(setting, last, lone):
    seen = study._seen(setting, 310).tril()
    assert seen[299].nonzero().flatten().tolist() == [*last]
    assert seen[300].nonzero().flatten().tolist() == [*lone]
    assert seen[200, 200] and seen[0, 0]  # a hidden key is hidden from later queries
