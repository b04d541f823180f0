"""The zoo: models that can be had in a moment, and made again, and results that stay tidy."""

import shutil

import pytest
import tiny
import torch
from safetensors.torch import save_file

from course_lab import __main__ as commands
from course_lab import corpus, zoo
from course_lab.instruments import evaluation, stretching
from course_lab.machine import device
from course_lab.studies import study as studies
from course_lab.studies import zoo as making
from course_lab.studies.zoo import Unit, keep
from course_lab.training.checkpoints import checksum
from course_lab.zoo import RECIPES, TIERS, Record, ZooError, build
from course_lib.errors import CourseError

TUNED = [
    Unit("tuned", "small", "rope", 0, method, factor)
    for factor in making.TUNED_FACTORS
    for method in making.TUNED_METHODS
]


@pytest.mark.parametrize("name", list(RECIPES))
def test_every_recipe_runs_far_beyond_its_training_length(name):
    tier = TIERS["small"]
    model, length = build(name, tier), 4 * tier.length
    tokens = torch.arange(length).remainder(256)[None]
    with torch.no_grad():
        assert model(tokens, torch.arange(length)).isfinite().all()
    assert RECIPES[name].beyond


@pytest.mark.parametrize("name", list(RECIPES))
def test_all_schemes_start_from_the_same_weights_but_their_own(name):
    sizes = tiny.TIER
    shared, own = (build(one, sizes, seed=5).state_dict() for one in ("none", name))
    assert shared.keys() <= own.keys()
    assert all(torch.equal(own[key], weight) for key, weight in shared.items())
    again, other = (build(name, sizes, seed).state_dict() for seed in (5, 6))
    assert all(torch.equal(own[key], again[key]) for key in own)
    assert not torch.equal(own["to_scores.weight"], other["to_scores.weight"])


def test_building_leaves_the_global_random_numbers_alone():
    torch.manual_seed(11)
    expected = torch.rand(3)
    torch.manual_seed(11)
    build("shaw", tiny.TIER, seed=1)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_building_leaves_the_gpu_s_random_numbers_alone():
    torch.manual_seed(11)
    expected = torch.rand(3, device="cuda")
    torch.manual_seed(11)
    build("shaw", tiny.TIER, seed=1)
    assert torch.equal(torch.rand(3, device="cuda"), expected)


def test_the_clamped_table_gives_its_last_row_beyond():
    table = zoo.ClampedTable(4, 8)
    x, beyond = torch.zeros(1, 5, 8), torch.tensor([0, 3, 4, 5, 4000])
    rows = table.embed(x, beyond)[0]
    assert torch.equal(rows[1:], rows[1].expand(4, 8)) and not torch.equal(rows[0], rows[1])


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder where a small zoo lives, empty yet."""
    folder = tmp_path / "zoo"
    folder.mkdir()
    tiny.shrink(monkeypatch.setattr, folder)
    monkeypatch.setattr(making, "TUNED_METHODS", ("unchanged", "yarn"))
    return folder


@pytest.mark.parametrize("name", list(RECIPES))
def test_what_is_shipped_is_loaded_within_half_precision(home, name):
    model = build(name, tiny.TIER, seed=3)
    keep(model, name, 0, zoo.weights_path(name, 0))
    loaded = zoo.load(name)
    assert next(loaded.parameters()).device == torch.zeros(0, device=device()).device
    assert not loaded.training
    for key, weight in model.state_dict().items():
        found = loaded.state_dict()[key].cpu()
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, weight, rtol=2**-11, atol=2**-24)


def test_an_unknown_name_lists_those_that_there_are(home):
    for call in (lambda: zoo.load("rpoe"), lambda: build("rpoe", tiny.TIER)):
        with pytest.raises(ZooError, match="no scheme 'rpoe'; it has rope, alibi, none"):
            call()


def damage(keep):
    def write(path):
        data = path.read_bytes()
        path.write_bytes(data[: int(keep * len(data))])

    return write


def rewrite(metadata=None, **others):
    def write(path):
        weights = {
            key: value.clone() for key, value in build("rope", tiny.TIER).state_dict().items()
        }
        save_file({**weights, **others}, path, metadata=metadata)

    return write


OWN = {"version": zoo.VERSION, "scheme": "rope"}


@pytest.mark.parametrize(
    ("write", "says"),
    [
        (lambda path: path.unlink(), "rope.safetensors is missing"),
        (damage(0), "rope.safetensors is damaged"),
        (damage(0.3), "rope.safetensors is damaged"),
        (damage(0.99), "rope.safetensors is damaged"),
        (lambda path: path.write_text("<html>not found</html>"), "rope.safetensors is damaged"),
        (rewrite(), "rope.safetensors is from another version"),
        (rewrite({**OWN, "version": "0"}), "rope.safetensors is from another version"),
        (rewrite({**OWN, "scheme": "t5"}), "rope.safetensors is from another version"),
        (rewrite({**OWN, "seed": "1"}), "rope.safetensors is from another version"),
        (rewrite(OWN, more=torch.ones(2)), "rope.safetensors does not fit"),
    ],
)
def test_weights_that_cannot_be_had_say_what_to_run(home, write, says):
    keep(build("rope", tiny.TIER), "rope", 0, zoo.weights_path("rope", 0))
    write(home / "rope.safetensors")
    with pytest.raises(ZooError, match=f"{says}.*run `make zoo`.*git checkout") as error:
        zoo.load("rope")
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("name", ["rope", "sinks"])
def test_a_bit_that_flipped_in_shipped_weights_is_found(tmp_path, monkeypatch, name):
    for file in ("zoo.json", "layers.json", f"{name}.safetensors"):
        (tmp_path / file).write_bytes((zoo.HERE / file).read_bytes())
    monkeypatch.setattr(zoo, "HERE", tmp_path)
    zoo.load(name)
    path = zoo.weights_path(name, 0)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 1
    path.write_bytes(whole)
    with pytest.raises(ZooError, match=f"{name}.safetensors is damaged.*run `make zoo`"):
        zoo.load(name)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "zoo.json is missing .*run `make zoo`"),
        ('[{"unit": {}, "reco', "zoo.json is damaged: delete it first, then run `make zoo`"),
        ('{"runs": []}', "zoo.json is damaged: delete it first"),
        ('[{"unit": {}}]', "zoo.json is damaged: delete it first"),
        (
            '[{"unit": {}, "settings": {}, "records": [{"scheme": "rope"}]}]',
            "zoo.json is from another version",
        ),
    ],
)
def test_results_that_cannot_be_had_say_what_to_run(home, text, says):
    if text is not None:
        (zoo.HERE / "zoo.json").write_text(text)
    with pytest.raises(ZooError, match=says):
        zoo.results()


def test_damaged_results_are_not_made_over(home):
    (zoo.HERE / "zoo.json").write_text('{"runs": [')
    with pytest.raises(CourseError, match="zoo.json is damaged: delete it first"):
        making.STUDY.make()
    assert (zoo.HERE / "zoo.json").read_text() == '{"runs": ['


@pytest.mark.parametrize("name", ["rope", "learned"])
def test_every_seed_has_weights_of_its_own(home, name):
    models = {seed: build(name, tiny.TIER, seed) for seed in (0, 2)}
    for seed, model in models.items():
        keep(model, name, seed, zoo.weights_path(name, seed))
    for seed, model in models.items():
        torch.testing.assert_close(
            zoo.load(name, seed).to_scores.weight.cpu(),
            model.to_scores.weight,
            rtol=2**-11,
            atol=2**-24,
        )
    (home / f"{name}.safetensors").rename(home / f"{name}-1.safetensors")
    with pytest.raises(ZooError, match=f"{name}-1.safetensors is from another version"):
        zoo.load(name, 1)


@pytest.mark.parametrize(
    "name, seed, says",
    [
        ("rope", 2, "rope-2.safetensors is missing from the zoo: run `make zoo`"),
        ("t5", 1, "seed 1 of t5 is not shipped: run `course measure zoo small t5 --seeds 1`"),
        ("rope", 3, "seed 3 of rope is not shipped: run `course measure zoo small rope --seeds 3`"),
    ],
)
def test_a_seed_that_is_not_there_says_what_to_run(home, name, seed, says):
    with pytest.raises(ZooError, match=says):
        zoo.load(name, seed)


def test_two_records_are_compared_passage_by_passage():
    one = Record("rope", "small", 0, None, 1.0, 0, 16, (2.0, 4.0, 9.0), "a")
    other = one._replace(scheme="alibi", bits=(1.0, 2.0, 6.0))
    found = zoo.difference(one, other)
    assert found.mean == pytest.approx(2) and found.standard_error == pytest.approx(1 / 3**0.5)
    assert one.bits_per_byte == 5 and one.standard_error == pytest.approx((13 / 3) ** 0.5)
    with pytest.raises(ZooError, match="rope was measured on passages a and alibi on b"):
        zoo.difference(one, other._replace(text="b"))


def test_a_record_says_how_long_its_model_was_trained():
    record = Record("rope", "longer", 0, "yarn", 4.0, 200, 16, (2.0, 4.0), "a")
    assert record.steps == 5200 and record._replace(tier="small", tuned_steps=0).steps == 1000


def test_the_small_rope_is_stretched_and_tuned():
    units = [unit for unit in making.STUDY.units() if unit.method]
    assert {(unit.tier, unit.scheme) for unit in units} == {("small", "rope")}
    of_seed = [unit for unit in units if unit.seed == 0]
    known = [unit.method for unit in of_seed if unit.kind == "stretched"]
    assert known == [*list(stretching.METHODS)[1:], "longrope"]
    assert of_seed[len(known) :] == TUNED and len(units) == 3 * len(of_seed)


@pytest.mark.parametrize(
    "names, schemes, seeds",
    [(("small", "t5"), ["t5"], [0, 1, 2]), (("longer",), ["rope", "alibi"], [0])],
)
def test_the_others_are_trained_measured_and_read(names, schemes, seeds):
    units = making.STUDY.chosen(names)
    assert not any(unit.method for unit in units)
    kinds = ("trained", "measured", "read")
    slid = {unit[:4] for unit in units if unit.kind == "slid"}
    assert slid == {("slid", "small", name, 0) for name in schemes if names[0] == "small"}
    assert {unit[:4] for unit in units} - slid == {
        (kind, names[0], scheme, seed) for kind in kinds for scheme in schemes for seed in seeds
    }


def made(schemes=("rope", "learned"), seeds=(0,)):
    """Make the small zoo, and say what of its results does not change from day to day."""
    making.STUDY.make(making.STUDY.chosen(["small", *schemes], seeds))
    runs = [{**run, "seconds": None} for run in zoo.runs()]
    return runs, zoo.results()


def noted(monkeypatch, stop=None):
    """The units that are measured from now on; Ctrl-C comes with the one of this number."""
    asked, measured = [], studies.measured

    def measure(measure, unit):
        asked.append(unit)
        if len(asked) == stop:
            raise KeyboardInterrupt
        return measured(measure, unit)

    monkeypatch.setattr(studies, "measured", measure)
    return asked


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The results of a small zoo, made in one go, and where it lies."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        tiny.shrink(patch.setattr, folder)
        patch.setattr(making, "TUNED_METHODS", ("unchanged", "yarn"))
        return *made(), folder


@pytest.fixture
def filled(home, whole):
    """That zoo, to be changed."""
    shutil.copytree(whole[2], home, dirs_exist_ok=True)


def test_every_unit_leaves_its_run_and_its_records(whole):
    runs, records, _ = whole
    assert len(runs) == 4 * 2 + 7 + 2
    slid = [run["slid"] for run in runs if run["kind"] == "slid"]
    assert len(slid) == 2 and all(len(bits) == 4 and 0 < min(bits) for bits in slid)
    assert len(records) == 2 * 2 + 7 * 3 + 2 * 2 * 3
    places = [record[:-2] for record in records]
    assert len(set(places)) == len(places)
    assert all(len(record.bits) == 4 and 0 < min(record.bits) < 12 for record in records)
    assert {record.text for record in records} == {evaluation_text()}
    plain = [record for record in records if record.method is None]
    assert {(record.scheme, record.length) for record in plain} == {
        (scheme, length) for scheme in ("rope", "learned") for length in (32, 128)
    }
    assert all(record.factor == 1 and record.tuned_steps == 0 for record in plain)
    tuned = [record for record in records if record.tuned_steps]
    assert {record.method for record in tuned} == {"unchanged", "yarn"}
    assert {record.length for record in tuned} == {32, 64, 128}


def evaluation_text():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "PASSAGE", 128)
        return evaluation.text_of(tiny.TEXT.validation, 4)


def test_what_is_measured_is_the_model_that_a_user_loads(filled):
    with torch.no_grad():
        model = zoo.load("learned")
        bits = evaluation.bits_by_length(model, corpus.python_source().validation, [32], 4)
    [record] = [r for r in zoo.results() if (r.scheme, r.length) == ("learned", 32)]
    assert list(record.bits) == [round(value, 4) for value in bits[0].tolist()]


def test_a_run_says_how_it_went(whole):
    runs = whole[0]
    for run in runs:
        assert run["settings"]["steps"] == 50 and run["torch"] == torch.__version__
        assert ("by_position" in run) == (run["kind"] == "measured")
        if run["kind"] == "trained":
            assert run["beyond"] == RECIPES[run["scheme"]].beyond and run["parameters"] > 0
            assert len(run["curve"]) == 2 and run["curve"][0] > run["curve"][1]
        if run["kind"] == "measured":
            assert len(run["by_position"]) == 128 // 16
        if run["kind"] == "read":
            assert [r["first"] for r in run["reading"]] == ["same", "shuffled", "fresh"]
    [search] = [run["searched"] for run in runs if run["method"] == "longrope"]
    assert list(search) == ["2"] and len(search["2"]) == 4


def test_making_again_does_nothing(filled, monkeypatch):
    before = (zoo.HERE / "zoo.json").read_bytes()
    asked = noted(monkeypatch)
    made()
    assert asked == []
    assert (zoo.HERE / "zoo.json").read_bytes() == before
    assert {path.name for path in zoo.HERE.iterdir()} == {
        "learned.safetensors",
        "zoo.json",
        "rope.safetensors",
        "work",
    }


def test_an_interrupted_zoo_goes_on_and_ends_the_same(home, monkeypatch, whole):
    asked = noted(monkeypatch, stop=5)
    with pytest.raises(KeyboardInterrupt):
        made()
    assert len(zoo.runs()) == 4
    assert made() == whole[:2]
    assert len(asked) == len(whole[0]) + 1


def test_records_of_a_unit_made_again_are_replaced(filled, monkeypatch, whole):
    monkeypatch.setattr(making, "PASSAGES", 3)  # other settings: all is measured again
    trained = {run["scheme"]: run for run in zoo.runs() if run["kind"] == "trained"}
    runs, records = made()
    assert [record[:-2] for record in records] == [record[:-2] for record in whole[1]]
    assert all(len(record.bits) == 3 for record in records) and len(runs) == len(whole[0])
    again = {run["scheme"]: run for run in zoo.runs() if run["kind"] == "trained"}
    assert again == trained  # seconds and all: nothing was trained again


def test_lost_weights_are_made_again_and_nothing_else(filled, monkeypatch, whole):
    zoo.weights_path("learned", 0).unlink()
    asked = noted(monkeypatch)
    assert made() == whole[:2]
    assert asked == [Unit("trained", "small", "learned", 0)] and zoo.load("learned")


def test_other_weights_ask_for_other_measurements(filled):
    before = [record for record in zoo.results() if record.scheme == "learned"]
    keep(build("learned", tiny.TIER, seed=7), "learned", 0, zoo.weights_path("learned", 0))
    (making.WORK / "small-learned-0.pt").unlink()
    made()
    after = [record for record in zoo.results() if record.scheme == "learned"]
    assert after == before  # trained again, from the same seed: the other weights are gone


def test_a_seed_that_is_not_shipped_stays_measured_without_weights(home):
    _, first = made(["t5"], [1])
    weights = zoo.weights_path("t5", 1)
    assert weights.name == "t5-1.safetensors" and zoo.load("t5", 1)
    weights.unlink()
    assert made(["t5"], [1])[1] == first
    assert not weights.exists()


def test_another_seed_is_added(home):
    _, first = made(["none"], [0])
    weights = (home / "none.safetensors").read_bytes()
    _, both = made(["none"], [1])
    assert [record for record in both if record.seed == 0] == first
    assert len(both) == 2 * len(first)
    assert (home / "none.safetensors").read_bytes() == weights


def test_the_shipped_results_are_of_the_shipped_weights():
    shipped = {(scheme, seed) for scheme in RECIPES for seed in zoo.SEEDS}
    shipped = {pair for pair in shipped if zoo.is_shipped(*pair)}
    runs = [run for run in zoo.runs() if run["tier"] == "small" and not run["method"]]
    for kind in ("trained", "measured", "read"):
        of_kind = {
            (r["scheme"], r["seed"]): r["settings"]["weights"] for r in runs if r["kind"] == kind
        }
        assert shipped <= of_kind.keys()
        for pair in shipped:
            assert of_kind[pair] == checksum(zoo.weights_path(*pair)), (kind, *pair)
    assert len({record.text for record in zoo.results()}) == 1


@pytest.mark.parametrize("jobs", ["0", "-1", "two"])
def test_a_number_of_jobs_that_is_none_is_refused(jobs, capsys):
    with pytest.raises(SystemExit, match="2"):
        commands.main(["measure", "zoo", "--jobs", jobs])
    assert "must be a whole number from 1 on" in capsys.readouterr().err


def test_a_wrong_scheme_is_one_line(capsys):
    assert commands.main(["measure", "zoo", "rpoe", "--seeds", "0"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "no 'rpoe' in zoo" in line and "scheme: rope, alibi, none" in line
