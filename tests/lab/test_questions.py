"""The questions of the lessons: exams that are the same for all, and models that fit them."""

import pytest
import torch

from course_lab import zoo
from course_lab.studies import questions
from course_lab.studies.questions import QUESTIONS, ceilings, exam
from course_lab.training.tasks import IGNORE
from course_lib.encodings import PositionScheme


@pytest.mark.parametrize("slug", QUESTIONS)
def test_an_exam_asks_a_thousand_questions_and_always_the_same(slug):
    question = QUESTIONS[slug]
    for length in (question.length, *question.lengths):
        batch = exam(slug, length)
        asked = batch.targets != IGNORE
        assert batch.tokens.shape[1] == length and asked.sum() >= 1000
        assert all(map(torch.equal, batch, exam(slug, length)))
        assert not asked[:, : length // 2].any() or not question.later_half
        assert batch.tokens.max() < question.config.vocab_size
        assert batch.targets.max() < question.config.vocab_size


@pytest.mark.parametrize("slug", QUESTIONS)
def test_ceilings_lie_between_chance_and_all(slug):
    for length in (None, *QUESTIONS[slug].lengths):
        for name, value in ceilings(slug, length).items():
            assert QUESTIONS[slug].chance < value < 1, name


def test_ceilings_are_those_of_the_lessons():
    at_16 = ceilings("order-blind")
    assert abs(at_16[questions.OF_THE_TEXT] - 0.267) < 0.005
    assert abs(at_16[questions.OF_THE_PAST] - 0.33) < 0.005
    assert abs(ceilings("waveforms")[questions.OF_THE_TEXT] - 0.19) < 0.005
    assert abs(next(iter(ceilings("six-back").values())) - 0.31) < 0.01
    assert abs(ceilings("token-at-3")[questions.OF_THE_TEXT] - 0.29) < 0.005
    holes = ceilings("holes")
    assert abs(holes["nearest letter"] - 0.86) < 0.01
    assert abs(holes["commonest letter"] - 0.51) < 0.01


@pytest.mark.parametrize(
    "slug, variant", [(slug, name) for slug, q in QUESTIONS.items() for name in q.variants]
)
def test_every_variant_reads_its_exam(slug, variant):
    question, chosen = QUESTIONS[slug], QUESTIONS[slug].variants[variant]
    model = questions.model_for(slug, variant)
    tokens = exam(slug, **chosen.task).tokens[:2]
    assert tokens.max() < question.config.vocab_size
    scores = model(tokens, torch.arange(question.length))
    assert scores.shape == (2, question.length, question.config.vocab_size)
    assert model.config.causal == chosen.sizes.get("causal", question.config.causal)


def test_models_start_from_the_same_weights_but_their_scheme_s():
    one, other = (questions.model_for("recall", name, seed=2) for name in ("RoPE", "T5 bias"))
    rope, t5 = one.state_dict(), other.state_dict()
    assert all(torch.equal(rope[key], t5[key]) for key in rope)
    assert not torch.equal(
        rope["embedding.weight"],
        questions.model_for("recall", "RoPE", seed=1).state_dict()["embedding.weight"],
    )


def test_recall_is_asked_of_all_ten():
    assert list(QUESTIONS["recall"].variants) == [r.label for r in zoo.RECIPES.values()]


def test_values_only_leaves_the_scores_alone():
    scheme = questions.ValuesOnly(4, max_distance=2)
    q, places = torch.randn(1, 1, 3, 4), torch.arange(3)
    assert scheme.score_bias(q, q, places, places) is None
    weights = torch.eye(3)[None, None]
    read = scheme.read(weights, places, places)
    assert torch.allclose(read[0, 0], scheme.shaw.value_vectors[2].expand(3, 4))
    assert isinstance(scheme, PositionScheme)
