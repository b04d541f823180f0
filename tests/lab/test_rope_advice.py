"""`course rope --for`: what it says to write, written, and loaded by transformers."""

import copy
import json

import pytest
import torch

from course_grading import cli
from course_lab.rope import CONFIGS, known
from course_lab.rope import config as rope_config
from course_lab.rope.advice import advice
from course_lab.rope.engines import ARCHITECTURES, architecture
from course_lab.rope.plan import Works, plan
from course_lab.rope.prices import of_longrope
from course_lib.encodings import llama3, rotary_frequencies, yarn
from course_lib.errors import CourseError

transformers = pytest.importorskip("transformers")
from tools import census  # noqa: E402

SIZES = {"hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 4,
         "max_position_embeddings": 4096}  # fmt: skip
SHIPPED = sorted(path.stem for path in CONFIGS.glob("*.json"))
STRETCHED = {"code-llama-7b", "deepseek-v3", "gpt-neox-20b", "gpt-oss-20b", "llama-3.1-8b",
             "llama-3.2-1b", "llama-7b", "ministral-3-8b", "qwen2-vl-7b",
             "qwen2.5-7b-128k", "qwen3-vl-8b", "smollm3-3b"}  # fmt: skip
IN_WINDOWS = {"command-r7b", "llama-4-scout", "mistral-7b", "phi-3-mini-4k"}
"""They rotate in layers with a window alone: only the limit is raised."""


def shipped(name):
    file = json.loads((CONFIGS / f"{name}.json").read_text())
    if name == "llama-4-scout":  # 4 as it was published; this release takes true or false alone
        file["text_config"]["attn_temperature_tuning"] = True
    return file


def pasted(file, recipe):
    """A file with the entries of a recipe at their levels, and without the keys to remove."""
    file = copy.deepcopy(file)
    at, entries = file, recipe.entries
    for level in recipe.levels:
        at, entries = at.setdefault(level, {}), entries[level]
    for key in recipe.remove:
        del at[key]
    at.update(entries)
    return file


def theirs(file):
    """transformers' config of a file, and its model's tables and factors, by layer type."""
    config = transformers.AutoConfig.for_model(**copy.deepcopy(file))
    text = config.get_text_config()
    found: dict = {}
    for rotary in census.built(text).rotary.values():
        for layer_type, frequencies in census.tables(rotary).items():
            found[layer_type] = frequencies, census.attention_factor(rotary, layer_type)
    return text, found


@pytest.fixture
def followed(tmp_path):
    """The plan for `times` the length of a config, and what is read before and after it."""

    def followed(file, times):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(file))
        read = rope_config.reading(path)
        before = read.groups
        longest = max(group.table.length for group in before if group.table)
        made = plan(read, int(times * longest))
        if made.recipe is None:
            return made, before, None, file
        changed = pasted(file, made.recipe)
        path.write_text(json.dumps(changed))
        return made, before, rope_config.read(path), changed

    return followed


@pytest.mark.parametrize("times", [1.5, 4])
@pytest.mark.parametrize("name", SHIPPED)
def test_pasted_into_the_file_it_is_what_transformers_does(name, times, followed):
    """Each pair is slowed as promised, and nothing else changes."""
    read = rope_config.reading(CONFIGS / f"{name}.json")
    if not any(group.table for group in read.groups):
        assert not plan(read, 1 << 20).stretched
        return
    made, *_, changed = followed(shipped(name), times)
    if made.recipe is None:
        assert name not in STRETCHED | IN_WINDOWS and made.said
        return
    assert bool(made.stretched) == (name in STRETCHED)
    was, before = theirs(shipped(name))
    now, after = theirs(changed)
    assert before.keys() == after.keys() and after
    for layer_type, (frequencies, factor) in after.items():
        promised = made.stretched.get(layer_type)
        if promised is None:
            torch.testing.assert_close(frequencies, before[layer_type][0], rtol=0, atol=0)
            continue
        torch.testing.assert_close(
            frequencies.double(), promised.frequencies, rtol=1e-5, atol=1e-12
        )
        assert factor == pytest.approx(promised.attention_factor)
        assert (frequencies <= before[layer_type][0] * 1.00001).all()
    was, now = was.to_dict(), now.to_dict()
    other = {key for key in was if was[key] != now.get(key)}
    assert other <= {"rope_parameters", made.recipe.limit}
    assert now[made.recipe.limit] >= times * was[made.recipe.limit] or name == "qwen2.5-7b-128k"


@pytest.mark.parametrize("times", [1, 4])
@pytest.mark.parametrize("name", SHIPPED)
def test_no_parameter_is_lost(name, times, followed):
    groups = rope_config.read(CONFIGS / f"{name}.json")
    if not any(group.table for group in groups):
        return
    made, _, after, _ = followed(shipped(name), times)
    for layer_type, table in made.stretched.items():
        given = next(group.table.place.given for group in groups
                     if group.table and group.table.place.layer_type == layer_type)  # fmt: skip
        lost = {key for key, value in given.items() if value is not None} - {
            *table.place.given,
            "type",
        }
        assert not lost, lost
    assert not after or not [one for group in after for one in group.warnings]


def test_deepseek_keeps_its_temperature(followed):
    made, _, [after], _ = followed(shipped("deepseek-v3"), 2)
    assert made.recipe.entries["rope_parameters"]["mscale_all_dim"] == 1.0
    assert after.attention_factor == 1.0  # mscale over mscale_all_dim, and not 0.1 ln 80 + 1


def test_axes_that_take_turns_do_so_afterwards(followed):
    made, _, [after], _ = followed(shipped("qwen3-vl-8b"), 2)
    assert made.recipe.entries["text_config"]["rope_parameters"]["mrope_interleaved"] is True
    assert made.recipe.levels == ("text_config",) and made.recipe.remove == ("rope_scaling",)
    assert after.table.axes[:3] == (0, 1, 2)


def test_a_flat_file_that_is_loaded_as_two_networks_is_overridden_inside_of_one(followed):
    made, *_ = followed(shipped("qwen2-vl-7b"), 2)
    assert made.recipe.levels == () and made.recipe.loaded == ("text_config",)
    assert made.recipe.overrides == {"text_config": made.recipe.entries}


def test_llama_3_keeps_its_rule_with_a_larger_factor(followed):
    _, [before], [after], _ = followed(shipped("llama-3.1-8b"), 2)
    plain = rotary_frequencies(128, 5e5)
    torch.testing.assert_close(after.frequencies, llama3(plain, 16.0, 8192).frequencies)
    assert (after.frequencies <= before.frequencies).all()
    assert after.table.length == 262_144


def test_pairs_that_are_slowed_already_are_no_start_for_yarn():
    made = plan(rope_config.reading(CONFIGS / "gemma-3-4b.json"), 262_144)
    assert "rope_type 'linear' has slowed these pairs already, by up to 8" in made.said[-1]
    assert made.recipe is None and not made.stretched


def test_layers_of_two_types_get_one_block_with_both(followed):
    layers = {"full_attention": {"rope_type": "default", "rope_theta": 1e6},
              "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}  # fmt: skip
    file = {"model_type": "gemma3_text", **SIZES, "num_hidden_layers": 12, "sliding_window": 512,
            "rope_parameters": layers}  # fmt: skip
    made, _, after, changed = followed(file, 4)
    block = made.recipe.entries["rope_parameters"]
    assert block["sliding_attention"] == layers["sliding_attention"]
    config = transformers.Gemma3TextConfig(
        **{k: v for k, v in changed.items() if k != "model_type"}
    )
    assert config.rope_parameters["full_attention"]["rope_type"] == "yarn"
    sliding, full = after
    assert torch.allclose(sliding.frequencies, rotary_frequencies(256, 1e4), rtol=1e-12, atol=0)
    torch.testing.assert_close(full.frequencies, yarn(256, 1e6, 4.0, 4096).frequencies)


def test_a_table_that_two_types_of_layers_share_is_written_once(followed):
    file = {"model_type": "deepseek_v4", "num_hidden_layers": 4, "max_position_embeddings": 4096,
            "rope_theta": 1e4, "compress_rope_theta": 1.6e5}  # fmt: skip
    made, *_ = followed(file, 4)
    said = "\n".join(made.said)
    assert said.count("YaRN by 4") == 2 and list(made.stretched) == ["compress"]
    main, compress = (made.recipe.entries["rope_parameters"][one] for one in ("main", "compress"))
    assert (main["rope_type"], main["rope_theta"]) == ("default", 1e4)
    assert (compress["rope_type"], compress["rope_theta"]) == ("yarn", 1.6e5)


def test_a_model_that_reaches_further_than_its_config_says_has_its_limit_raised(followed):
    """Qwen2.5's card gives YaRN and leaves the length, which engines take for the limit."""
    read = rope_config.reading(CONFIGS / "qwen2.5-7b-128k.json")
    made = plan(read, 131_072)
    assert made.recipe.entries == {"max_position_embeddings": 131_072} and not made.recipe.remove
    assert plan(read, 32_768).recipe is None
    first, *said = advice(read, 131_072)
    assert first.endswith(
        ": only after max_position_embeddings is raised; no pair needs another pace"
    )
    said = "\n".join(said)
    assert "--max-model-len 131072" in said and "--override-kv" in said
    assert "its own YaRN by 4 holds for texts of every length" in said and "+0.11 by 4" in said


@pytest.mark.parametrize("engine", ["transformers", "vllm", "sglang", "llama.cpp"])
def test_an_engine_is_told_where_and_which_limit(engine, capsys):
    call = ["rope", str(CONFIGS / "qwen3-vl-8b.json"), "--for", "500000"]
    assert cli.main([*call, "--engine", engine]) == 0
    said = capsys.readouterr().out
    assert "limit: " in said and "price" in said
    others = {"vllm": "--hf-overrides", "sglang": "--json-model-override-args",
              "llama.cpp": "--rope-scale 2", "transformers": "write into config.json"}  # fmt: skip
    for other, words in others.items():
        assert (words in said) == (other == engine)
    if engine != "llama.cpp":  # its flags need no file
        assert '"text_config": {\n' in said and "remove rope_scaling under text_config" in said
    assert cli.main(call) == 0
    said = capsys.readouterr().out
    assert all(words in said for words in others.values())
    assert "remove rope_scaling under text_config" in said


def test_llama_cpp_has_no_flags_for_what_stands_in_a_tensor():
    said = "\n".join(advice(rope_config.reading(CONFIGS / "llama-3.1-8b.json"), 200_000))
    assert "0.3.36): no flags: change config.json and convert the model again" in said
    said = "\n".join(
        advice(rope_config.reading(CONFIGS / "llama-3.1-8b.json"), 200_000, "llama.cpp")
    )
    assert '"rope_type": "llama3",\n' in said and "remove rope_scaling at the top" in said


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llama.cpp"])
@pytest.mark.parametrize("name", SHIPPED)
def test_an_engine_alone_is_not_told_of_others(name, engine):
    others = {"vllm": "vLLM", "sglang": "SGLang", "llama.cpp": "llama.cpp"}
    for length in (2048, 100_000, 1_000_000):
        read = rope_config.reading(CONFIGS / f"{name}.json")
        said = "\n".join(advice(read, length, engine)).replace("transformers and SGLang", "")
        if name != "gpt-j-6b":
            assert not [other for one, other in others.items() if one != engine and other in said]


def test_llama_cpp_s_flags_are_those_of_its_server():
    said = "\n".join(advice(rope_config.reading(CONFIGS / "llama-7b.json"), 8192))
    assert "llama-server of llama.cpp (llama-cpp-python 0.3.36): --rope-scaling yarn" in said
    said = "\n".join(advice(rope_config.reading(CONFIGS / "llama-7b.json"), 2000))
    assert "llama-server of llama.cpp (llama-cpp-python 0.3.36) with --ctx-size 2000" in said


def test_older_vllm_is_said_to_have_counted_yarn_s_factor():
    older = plan(rope_config.reading(CONFIGS / "llama-7b.json"), 8192).document()["older"]
    assert any("vLLM before its pull request 56446 of September 2026" in one for one in older)
    older = plan(rope_config.reading(CONFIGS / "llama-3.1-8b.json"), 200_000).document()["older"]
    assert not any("56446" in one for one in older)


MIXTRAL = {"model_type": "mixtral", **SIZES, "rope_theta": 1e6}


def test_mixtral_gets_the_head_dim_without_which_transformers_fails(followed):
    made, *_, changed = followed(MIXTRAL, 4)
    assert made.recipe.entries["head_dim"] == 64
    _, after = theirs(changed)
    torch.testing.assert_close(after[""][0].double(), made.stretched[""].frequencies, rtol=1e-5,
                               atol=1e-12)  # fmt: skip


def test_phi_3_takes_yarn_for_longrope_and_gets_no_recipe(followed):
    made, *_ = followed({"model_type": "phi3", **SIZES, "sliding_window": None}, 4)
    assert made.recipe is None and "takes 'yarn' for an old name of longrope" in made.said[0]


@pytest.mark.slow
def test_every_type_follows_what_is_advised(tmp_path):
    """For the default config of each model type: what is written is what its class then does."""
    wrong, checked = [], 0
    for name, kind in known.types().items():
        if kind.parts or not kind.bases:
            continue
        try:
            file = transformers.AutoConfig.for_model(name).to_dict()
        except Exception:
            continue
        file = {key: value for key, value in file.items() if key != "rope_scaling"}
        path = tmp_path / "config.json"
        path.write_text(json.dumps(file, default=str))
        try:
            read = rope_config.reading(path)
            groups = read.groups
        except CourseError:  # DeepSeek-V4's default, for one, has heads that cannot be turned
            continue
        lengths = [group.table.length for group in groups if group.table and group.table.length]
        if not lengths or not (made := plan(read, 4 * max(lengths))).recipe:
            continue
        try:
            _, after = theirs(pasted(file, made.recipe))
        except Exception as error:
            wrong.append((name, repr(error)[:100]))
            continue
        if not after and not theirs(file)[1]:
            continue  # no model is built from its default config, stretched or not
        for layer_type, table in made.stretched.items():
            got = after.get(layer_type, after.get(""))
            if got is None or len(got[0]) != len(table.frequencies) or not torch.allclose(
                got[0].double(), table.frequencies, rtol=1e-5, atol=1e-12
            ):  # fmt: skip
                wrong.append((name, layer_type))
        checked += 1
    assert not wrong, wrong
    assert checked > 150


VERDICTS = {
    ("llama-7b", 2048): (Works.YES, "yes; made for 2 048 tokens, unstretched"),
    ("llama-7b", 100_000): (Works.AFTER_STRETCH, "by its config, only after a stretch"),
    ("gemma-3-4b", 262_144): (Works.NO, "no, and no entry of its config changes that"),
    ("gpt2", 2048): (Works.NO, "no, and no entry of its config changes that"),
    ("mistral-7b", 100_000): (
        Works.AFTER_LIMIT,
        "only after max_position_embeddings is raised; then it runs, but how well is not known: "
        "need none: a query sees 4 096 tokens",
    ),
    ("jamba-v0.1", 1 << 20): (
        Works.AFTER_LIMIT,
        "only after max_position_embeddings is raised; then it runs, but how well is not "
        "known: no layer has positions that could run out",
    ),
    ("nemotron-3-nano", 1 << 20): (
        Works.AFTER_LIMIT,
        "only after max_position_embeddings is raised; then it runs, but how well is not "
        "known: no layer has positions that could run out",
    ),
    ("nemotron-3-nano", 100_000): (Works.YES, "yes; no layer has positions that could run out"),
    ("falcon-rw-1b", 1 << 20): (
        Works.AFTER_LIMIT,
        "only after max_position_embeddings is raised; then it runs, but how well is not known: "
        "nothing to stretch: a bias that falls",
    ),
    ("falcon-rw-1b", 2048): (Works.YES, "yes; nothing to stretch: a bias that falls"),
    ("t5-small", 1 << 20): (
        Works.AFTER_LIMIT,
        "only after n_positions is raised; then it runs, but how well is not known: "
        "nothing to stretch: a learned number for each bucket",
    ),
    ("gemma-3-4b", 100_000): (
        Works.YES,
        "yes; made for 131 072 tokens, stretched by its own 'linear'",
    ),
    ("gpt-oss-20b", 100_000): (
        Works.YES,
        "yes; made for 131 072 tokens, stretched by its own 'yarn'",
    ),
    ("bloom-560m", 100_000): (
        Works.RUNS,
        "it runs, but how well is not known: the trained length is not in the config; nothing to "
        "stretch: a bias that falls",
    ),
}


@pytest.mark.parametrize("name, length", VERDICTS)
def test_the_first_line_says_whether_it_works_and_the_second_what_happens_if_not(name, length):
    works, words = VERDICTS[name, length]
    read = rope_config.reading(CONFIGS / f"{name}.json")
    first, *rest = advice(read, length)
    assert plan(read, length).works is works
    number = f"{length:,}".replace(",", " ")
    assert first.startswith(f"works for {number} tokens: {words}")
    undone = [line for line in rest if line.startswith("if nothing is done: ")]
    assert len(undone) == (works is not Works.YES)
    if works is Works.RUNS:
        assert "vLLM refuses more than 2 048 tokens unless --max-model-len" in undone[0]
        assert "SGLang has no code for this model" in undone[0]
        assert plan(read, length).recipe.entries == {"max_position_embeddings": length}
    if name in ("llama-7b", "mistral-7b", "gpt2") and undone:
        assert "vLLM and SGLang refuse more than" in undone[0]
    if works is Works.AFTER_STRETCH:
        assert "paid 4.16 nats (6.00 bits) more per token" in undone[0]


def test_a_limit_that_the_class_fills_in_counts_as_one_of_the_file():
    """vLLM and SGLang ask the object, in which transformers has filled the default in."""
    read = rope_config.reading(CONFIGS / "gemma-3-4b.json")
    assert read.source.allowed == (theirs(shipped("gemma-3-4b"))[0].max_position_embeddings, True)
    undone = list(advice(read, 200_000))[1]
    assert "SGLang refuse more than 131 072 tokens (the default of gemma3_text's class)" in undone
    assert "and transformers reads on beyond training" in undone and "no limit" not in undone


def test_what_was_not_measured_is_not_promised():
    """Neither windows nor biases nor their lack say how well a model reads a longer text."""
    for name, length in VERDICTS:
        said = "\n".join(advice(rope_config.reading(CONFIGS / f"{name}.json"), length))
        assert "without harm" not in said
        if VERDICTS[name, length][0] is Works.AFTER_LIMIT:
            assert "transformers reads on; how well is not known here" in said
            left_out = {"t5-small": ["--hf"], "mistral-7b": ["--over"], "falcon-rw-1b": ["--over"]}
            for option in ("--over", "--hf"):
                assert (option in said) == (option not in left_out.get(name, []))


def test_a_length_of_another_name_is_the_limit_of_a_model_that_does_not_rotate(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(shipped("bloom-560m") | {"seq_length": 2048}))
    made = plan(rope_config.reading(path), 8192)
    assert made.works is Works.AFTER_LIMIT and made.recipe.entries == {"seq_length": 8192}


def test_a_length_that_no_config_states_is_not_guessed(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"rope_theta": 1e4, "head_dim": 64, "model_type": "nobody"}))
    first, *_ = advice(rope_config.reading(path), 8192)
    assert (
        "not known; the trained length is not in the config (--original-length gives it)" in first
    )
    first, *_ = advice(rope_config.reading(path, original_length=4096), 8192)
    assert first.endswith("by its config, only after a stretch")


def test_where_a_stretch_would_go_is_said_when_none_is_needed():
    said = "\n".join(advice(rope_config.reading(CONFIGS / "qwen3-vl-8b.json"), 100_000))
    assert "nothing to write; start vllm 0.33.0 with --max-model-len 100000, sglang 0.5.23" in said
    assert (
        "beyond 262 144 tokens a stretch would go into rope_parameters under text_config (and "
        "rope_scaling goes), and the length into max_position_embeddings beside it"
    ) in said
    said = "\n".join(advice(rope_config.reading(CONFIGS / "gemma-3-4b.json"), 100_000))
    assert "beyond 131 072 tokens no entry helps: rope_type 'linear' has slowed" in said
    assert "under text_config" in said.split("Its parameters are those in ")[1]


def test_the_warning_about_far_stretches_and_when_not_to_stretch_stand_where_they_are_read():
    said = list(advice(rope_config.reading(CONFIGS / "llama-7b.json"), 100_000))
    alone = next(n for n, line in enumerate(said) if line.startswith("do not stretch a model"))
    entries = next(n for n, line in enumerate(said) if line.startswith("write into config.json"))
    assert alone < entries and any(line.startswith("warning: 49 is far") for line in said)
    assert any("attention factor 1.389, scores times 1.93" in line for line in said)


def test_the_price_is_said_of_each_model_that_needs_nothing():
    def price(name):
        said = list(advice(rope_config.reading(CONFIGS / f"{name}.json"), 2048))
        return next(line for line in said if line.startswith("price"))

    assert price("llama-7b") == "price: none, nothing is stretched"
    assert price("llama-3.1-8b") == (
        "price of its own stretch (llama3): not known here; no model that was trained "
        "with this rule was measured"
    )
    assert price("deepseek-v3").startswith("price: its own YaRN by 40 holds for texts of every")


def test_a_price_says_of_what_it_is_and_a_gain_which_factors_were_measured():
    for name, length, others in (("llama-7b", 8192, 0), ("llama-7b", 16_384, 1)):
        *_, price, _, _, _, gain, small = advice(
            rope_config.reading(CONFIGS / f"{name}.json"), length
        )
        assert small.startswith("  at the end of a stretch by ")
        assert price == "Next-token loss against the unstretched model, + is worse:"
        assert gain.endswith("; other factors: not measured") == others
    own = list(advice(rope_config.reading(CONFIGS / "deepseek-v3.json"), 2048))
    assert any("not trained with it. Next-token loss against" in line for line in own)
    assert sum(line.startswith("gain: ") for line in own) == 1
    assert own[-1] == "what its own stretch costs and gives this model itself is not known here"


def test_a_list_stands_in_one_line_and_llama_cpp_s_server_has_its_limit_named():
    said = "\n".join(advice(rope_config.reading(CONFIGS / "qwen3-vl-8b.json"), 500_000))
    assert '"mrope_section": [24, 20, 20],\n' in said
    limited = rope_config.reading(CONFIGS / "jamba-v0.1.json")
    said = "\n".join(advice(limited, 1_000_000, "llama.cpp"))
    assert "its server stops at the length" in said and "flags of YaRN" not in said
    assert "--override-kv jamba.context_length=int:1000000\n" in said


def test_llama_cpp_s_name_for_a_model_stands_where_the_type_makes_it_certain():
    constants = pytest.importorskip("gguf.constants")
    assert {*ARCHITECTURES.values()} <= {*constants.MODEL_ARCH_NAMES.values()}
    assert known.types().keys() >= ARCHITECTURES.keys()
    for name, key in (("command-r7b", "cohere2"), ("nemotron-3-nano", "ARCHITECTURE"),
                      ("jamba-v0.1", "jamba")):  # fmt: skip
        said = "\n".join(advice(rope_config.reading(CONFIGS / f"{name}.json"), 500_000))
        assert f"--override-kv {key}.context_length=int:500000" in said
        assert ("as the GGUF file calls it" in said) == (key == "ARCHITECTURE")
    assert architecture("mistral", ()) == "llama"
    assert architecture("mistral", ("text_config",)) == ""
    assert architecture("gemma3_text", ("text_config",)) == "gemma3"


QWEN2 = {"model_type": "qwen2", **SIZES}


def stretched_qwen(most, factor, original=32_768):
    block = {"rope_type": "yarn", "rope_theta": 1e6, "factor": factor}
    if original:
        block["original_max_position_embeddings"] = original
    return {**QWEN2, "max_position_embeddings": most, "rope_parameters": block}


@pytest.fixture
def asked(tmp_path, capsys):
    """What `course rope` says of a config, and its exit status with --strict."""

    def asked(file, length, *options):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(file))
        status = cli.main(["rope", str(path), "--for", str(length), "--strict", *options])
        return capsys.readouterr().out, status

    return asked


def test_a_factor_that_does_not_reach_the_length_of_the_config_leaves_it_open(asked):
    said, status = asked(stretched_qwen(131_072, 2.0), 100_000)
    assert (
        status == 1 and "warning: factor 2 reaches 65536 tokens" in said and "remedy: look" in said
    )
    assert "depends: factor 2 reaches 65 536, the config says 131 072" in said
    assert "write into config.json" not in said
    said, status = asked(stretched_qwen(131_072, 2.0), 60_000)
    assert status == 1 and "tokens: yes; made for 131 072" in said


def test_a_factor_that_reaches_beyond_the_length_of_the_config_waits_for_the_limit(asked):
    """As Qwen3's card has it: 40 960 in the file, and YaRN by 4 from 32 768."""
    said, status = asked(stretched_qwen(40_960, 4.0), 100_000)
    assert status == 1 and "factor 4 reaches 131072 tokens" in said and "remedy: write" in said
    assert "only after max_position_embeddings is raised" in said


def test_without_the_original_length_the_answer_depends(asked):
    said, status = asked(stretched_qwen(131_072, 4.0, original=None), 100_000)
    assert status == 1 and "original_max_position_embeddings is missing" in said
    assert "tokens: depends: original_max_position_embeddings is missing; made for" in said


@pytest.mark.parametrize("most, factor", [(131_072, 4.0), (32_768, 4.0), (1_010_000, 31.0)])
def test_lengths_that_agree_or_are_rounded_are_no_warning(most, factor, asked):
    assert asked(stretched_qwen(most, factor), 30_000)[1] == 0


@pytest.mark.parametrize("name", SHIPPED)
def test_no_shipped_config_has_two_keys_that_disagree(name):
    for group in rope_config.read(CONFIGS / f"{name}.json"):
        assert not [one for one in group.warnings if "reaches" in one or "missing" in one]
        assert not group.table or not (group.table.place.reach or group.table.place.guessed)


def test_when_engines_take_a_long_list_is_said_once_of_those_that_were_asked_about():
    def price(engine):
        return next(of_longrope(32, engine)).partition(". ")[2]

    of_all = price(None)
    assert of_all.count("take the long list") == 2 and "takes" not in of_all
    for name in ("transformers", "SGLang", "vLLM", "llama.cpp"):
        assert name in of_all and price(name.lower()).startswith(f"{name} takes the long list ")
        assert price(name.lower()).rpartition("long list ")[2] in of_all
