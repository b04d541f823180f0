"""The benchmark writes its report, and times works that compute the same; no time is judged."""

import pytest
import torch

from course_lab.instruments import contenders, timing
from course_lab.instruments.contenders import CLONE, HF, RET
from tools.pages import benchmarks as benchmark
from tools.pages.__main__ import main
from tools.pages.benchmarks import TINY


@pytest.fixture(autouse=True)
def fixed_seed():
    torch.manual_seed(0)


def test_the_command_writes_report_and_figure(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(benchmark, "compiler_problem", lambda: "left out, no compiler")
    assert main(["benchmarks", "--tiny", "--to", str(tmp_path)]) == 0
    report = (tmp_path / "benchmarks.md").read_text()
    for words in ("## Ratios aimed at", "Rotation, 1 x 2 x 8 x 8, bfloat16", "T5 bias, n = 32",
                  "ALiBi, n = 32", "Shaw keys, n = 32", "Training step", "plain torch, learned",
                  "As n grows", "no compiler", torch.__version__):  # fmt: skip
        assert words in report
    assert "compiled |" not in report
    assert (tmp_path / "benchmarks.png").read_bytes().startswith(b"\x89PNG")
    assert "### T5 bias, n = 32" in capsys.readouterr().out


def test_missing_libraries_are_left_out_and_said_to_be(monkeypatch):
    assert contenders.library("no_such_library.models", "anything") is None
    monkeypatch.setattr(contenders, "library", lambda module, name: None)
    monkeypatch.setattr(benchmark, "version", absent)
    monkeypatch.setattr(benchmark, "compiler_problem", lambda: "left out, no compiler")
    report, _ = benchmark.run(TINY, say=lambda text: None)
    assert f"| {HF} | left out, not installed" in report
    assert f"| {RET} | left out, not installed" in report
    assert f"| {HF} | 0" not in report and "materialised" in report


def absent(name):
    raise benchmark.PackageNotFoundError(name)


def test_a_folder_that_is_not_there_is_refused(tmp_path, capsys):
    assert main(["benchmarks", "--tiny", "--to", str(tmp_path / "nowhere")]) == 2
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rotations_agree_with_the_libraries_of_their_layout(dtype):
    pytest.importorskip("transformers")
    pytest.importorskip("rotary_embedding_torch")
    works = contenders.rotations((2, 3, 8, 16), dtype)
    results = {name: torch.stack(work()).float() for name, work in works.items()}
    close = {"atol": 2e-6 if dtype == torch.float32 else 0.06, "rtol": 0}
    torch.testing.assert_close(results["half"], results[HF], **close)
    torch.testing.assert_close(results["interleaved"], results[RET], **close)
    assert not torch.allclose(results["half"], results[CLONE], atol=0.1)


def test_t5_biases_agree():
    pytest.importorskip("transformers")
    works = contenders.t5_biases(200)
    torch.testing.assert_close(works["ours"]()[None], works[HF]())


def test_rotations_on_three_axes_agree_with_qwen():
    pytest.importorskip("transformers")
    works = contenders.several_axes(3, 5)
    assert set(works) == {"ours", "ours, one axis", contenders.HF}
    for ours, theirs in zip(works["ours"](), works[contenders.HF](), strict=True):
        assert ours.shape == (1, 8, 15, 128) and torch.allclose(ours, theirs, atol=1e-4)
    assert not torch.allclose(works["ours"]()[0], works["ours, one axis"]()[0], atol=1e-2)


def test_alibi_biases_agree_up_to_what_softmax_ignores():
    pytest.importorskip("transformers")
    works = contenders.alibi_biases(20)
    torch.testing.assert_close(works["ours"](), works["plain, for every pair"]())
    weights = [works[f"{name}, masked scores"]().softmax(dim=-1) for name in ("ours", HF)]
    torch.testing.assert_close(*weights)


def test_shaw_keys_agree():
    works = contenders.shaw_keys(40)
    torch.testing.assert_close(works["ours"](), works["materialised"]())


def test_memory_counts_the_result_and_the_most_held_beside_it():
    x = torch.zeros(1000, device=timing.device())
    scratch, result = timing._memory(lambda: (x + 1).mul(2).add(3)[:1])
    assert 4000 <= scratch + result - 4000 < 6000 and 4000 <= result < 6000


def test_a_length_for_which_there_is_no_room_is_left_out():
    grown = benchmark.growth(TINY._replace(room=1))
    assert {len(costs) for costs in grown.values()} == {1}


def test_the_plain_decoder_has_the_size_of_ours():
    models = benchmark.decoders(32)
    sizes = [
        sum(p.numel() for p in models[n].parameters()) for n in ("learned", "plain torch, learned")
    ]
    assert sizes[0] == sizes[1]
