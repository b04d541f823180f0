"""A released encoder: read from its folder, equal to transformers, behind the course's doors."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel

from course_lab import released
from course_lab.released.installed import MINILM, installed
from course_lab.released.texts import TEXTS, text
from course_lib.encodings import LearnedAbsolute, Rotary, T5Bias
from course_lib.errors import CourseError

SIZES = {
    "vocab_size": 50, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3,
    "num_attention_heads": 4, "max_position_embeddings": 24,
}  # fmt: skip


def saved(folder):
    torch.manual_seed(0)
    theirs = BertModel(BertConfig(**SIZES)).eval()
    with torch.no_grad():
        for name, weight in theirs.named_parameters():
            if "LayerNorm" in name or name.endswith("bias"):
                weight.uniform_(0.5, 1.5)  # else one that is left out could not be seen
    theirs.save_pretrained(folder)
    return theirs


def some(length, batch=2):
    return torch.randint(50, (batch, length), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("positions", [torch.arange(9), torch.tensor([3, 3, 0, 23, 7, 1, 2, 4, 9])])
def test_a_folder_gives_the_vectors_of_transformers(positions, tmp_path):
    theirs, ids = saved(tmp_path), some(9)
    with torch.no_grad():
        expected = theirs(ids, position_ids=positions[None]).last_hidden_state
    ours = released.load_encoder(tmp_path)
    assert torch.allclose(ours(ids, positions), expected, atol=1e-5)


def test_tokens_that_are_not_real_change_no_sentence(tmp_path):
    theirs, ids = saved(tmp_path), some(9)
    ours, real = released.load_encoder(tmp_path), torch.ones(2, 9, dtype=torch.bool)
    real[1, 5:] = False
    found = ours.sentence(ids, real=real)
    with torch.no_grad():
        out = theirs(ids, attention_mask=real.long()).last_hidden_state
    wanted = functional.normalize((out * real[..., None]).sum(dim=1), dim=-1)
    assert torch.allclose(found, wanted, atol=1e-5)
    assert torch.allclose(found[1], ours.sentence(ids[1:, :5])[0], atol=1e-5)


def test_other_doors_and_other_tables_take_the_same_weights(tmp_path):
    saved(tmp_path)
    model, ids, places = released.load_encoder(tmp_path), some(9), torch.arange(9)
    for scheme in (T5Bias(4), Rotary(8), LearnedAbsolute(9, 32)):
        other = model.with_scheme(scheme)
        assert other.embedding.weight.data_ptr() == model.embedding.weight.data_ptr()
        assert not torch.allclose(other(ids, places), model(ids, places), atol=1e-3)
    turned = model.with_table(model.table.flip(0))
    assert torch.equal(turned(ids, 23 - places), model(ids, places))
    with pytest.raises(ValueError, match="beyond the table, which has 24 rows"):
        model(some(9), torch.arange(20, 29))


def test_what_is_no_encoder_is_said_in_one_line(tmp_path):
    def line():
        with pytest.raises(CourseError) as error:
            released.load_encoder(tmp_path)
        said = str(error.value)
        assert "\n" not in said and str(tmp_path) in said
        return said

    saved(tmp_path)
    file, config = tmp_path / "model.safetensors", tmp_path / "config.json"
    weights, said = load_file(file), json.loads(config.read_text())
    save_file(weights | {"lm_head.weight": torch.zeros(2)}, file)
    assert "lm_head.weight, and 0 others, that BERT's" in line()
    save_file(weights | {"embeddings.position_embeddings.weight": torch.zeros(20, 32)}, file)
    assert "has shape (20, 32), its sizes ask for (24, 32)" in line()
    for key, value in (("model_type", "llama"), ("hidden_act", "relu"),
                       ("position_embedding_type", "relative_key")):  # fmt: skip
        config.write_text(json.dumps({**said, key: value}))
        assert value in line()


def test_no_encoder_installed_says_what_to_type(monkeypatch):
    monkeypatch.delenv(MINILM.elsewhere, raising=False)
    monkeypatch.setattr("course_lab.released.installed.find_spec", lambda name: None)
    with pytest.raises(released.MissingModel, match=r"`make model ARGS=minilm` .* copy of model"):
        released.load_encoder()


# The encoder of lesson 04 ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    return released.load_encoder()


def test_sentences_and_tokens_are_those_of_transformers(model):
    folder = installed(MINILM).parent
    spelling, theirs = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    for name in TEXTS[:3]:
        part = text(name)[:1_200]
        ids = torch.tensor(spelling(part)["input_ids"])
        assert model.tokens(part).tolist() == ids.tolist() and len(ids) > 128
        with torch.no_grad():
            out = theirs.eval()(ids[None]).last_hidden_state
        assert torch.allclose(model(ids[None], torch.arange(len(ids))), out, atol=1e-5)
        wanted = functional.normalize(out.mean(dim=1), dim=-1)
        assert torch.allclose(model.sentence(ids[None]), wanted, atol=1e-5)


def test_sentences_that_mean_the_same_are_near(model):
    one, two, three = (
        model.sentence(model.tokens(said)[None])[0]
        for said in ("A man eats pasta.", "Someone is eating noodles.", "The stock market fell.")
    )
    assert one @ two > 0.5 > 0.2 > one @ three
