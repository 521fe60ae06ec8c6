"""The study of networks that hear real tests: who hears what, what trains them, and a quick run."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import h5py
import numpy as np
import pytest
from oracles.data import data_path
from oracles.pages import Page, assert_claims

from hyloop.data import banded_damper
from hyloop.data.banded_damper import DamperTest
from hyloop.devices import gap_slip, lugre_exact
from hyloop.identification import predict
from hyloop.neural import load_network
from hyloop.study import studies
from hyloop.study.claims import load_claims, read_verdicts
from hyloop.study.stages import find_stages, run_stage

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "studies" / "real_listening"
DT = 1 / 1024
ROUND_OFF = 1e-9  # of the largest force: the same formulas in another order
SAME = 1e-3  # relative: a descent on another processor stops elsewhere in its tolerance


@pytest.fixture(scope="module")
def study():
    return studies._load(FOLDER / "study.py")


def part(study, name):
    return import_module(f"{study.__name__}.{name}")


def simulated(law, name, hertz=1.0, seconds=4.0, event=""):
    t = DT * np.arange(round(seconds / DT))
    d = 0.02 * np.sin(2 * np.pi * hertz * t) * np.clip(t, 0, 1)
    test = DamperTest(name, DT, d, np.zeros(len(d)), np.gradient(d, DT), frequency=hertz, event=event)
    signals = test.signals("causal")
    return replace(test, f=law.drive(DT, **{key: signals[key] for key in law.block.inputs})["f"])


@pytest.fixture
def deformations(study, tmp_path):
    """A small file as malik2025 writes it: two events of real tests, a mixture, and one that may train."""
    kept, t = part(study, "shared").kept, DT * np.arange(4096)
    d = np.column_stack([1e-2 * np.sin(3 * t), 8e-3 * np.sin(3 * t)])
    named = {"duzce.1": "Duzce", "iv.1": "Imperial Valley 1979", "landers.1 mixed #0": "Landers", "chichi.1": "Chi-Chi"}
    with h5py.File(tmp_path / "deformations.h5", "w") as file:
        for side in ("train", "validation"):
            events = list(named.values()) if side == "train" else ["Kobe"] * 4
            kept._write(file.create_group(f"{side}/18000"), [d] * 4, list(named), events)
    return tmp_path / "deformations.h5"


def test_a_deaf_network_never_hears_the_right_session(study):
    pairs, law = part(study, "pairs"), gap_slip()
    names = {"a": ("d2_h36lb_1Hz_1in", "d2_eq36lb_DuzceMCE"), "b": ("d3_h30lb_1Hz_1in",), "c": ("d4_step",)}
    every = {s: {n: simulated(law, n, seconds=0.5, event="Duzce" * ("eq" in n)) for n in of} for s, of in names.items()}
    for session, tests in every.items():
        for name in tests:
            instead = pairs.deaf_to(session, name, every)
            assert instead.name not in tests
            assert instead is pairs.deaf_to(session, name, every)  # the same in every run
    assert pairs.deaf_to("a", "d2_h36lb_1Hz_1in", every).name == "d3_h30lb_1Hz_1in"  # the same motion


def test_real_sessions_are_replaced_by_other_ones(study):
    data_path("brfd", "index.json")
    pairs, sessions = part(study, "pairs"), part(study, "shared").sessions
    every = sessions.load(sessions.PATTERNS)
    found = {(s, name): pairs.deaf_to(s, name, every).name for s, tests in every.items() for name in tests}
    assert len(found) > 60
    assert all(instead not in every[session] for (session, _), instead in found.items())


def test_pairs_that_keep_time_are_told_from_others(study):
    pairs, law = part(study, "pairs"), gap_slip()
    one, two, fast = (simulated(law, n, h, 0.5) for n, h in (("x", 1.0), ("y", 1.0), ("z", 2.0)))
    small, large = (replace(one, event="Duzce", level=level) for level in ("DBE", "MCE"))
    assert pairs.group(one, two) == pairs.group(small, large) == pairs.CLOCK
    assert pairs.group(one, fast) == pairs.group(one, small) == pairs.UNRELATED
    assert pairs.group(*(replace(one, name=f"d4_{k}", frequency=np.nan) for k in "ab")) == pairs.CLOCK


def test_no_event_of_a_real_test_trains(study, deformations):
    motions = part(study, "motions")
    found = motions.earthquakes(deformations, "train")
    assert {quake.event for quake in found} == {"Chi-Chi"} and len(found) == 2  # two stories
    assert not {q.event for q in found} & {q.event for q in motions.earthquakes(deformations, "validation")}


def test_training_runs_are_made_without_real_tests(study, deformations, tmp_path, monkeypatch):
    def refuse(*_):
        raise AssertionError("a real test was read")

    for name in ("tests", "packaged_tests", "published_tests"):
        monkeypatch.setattr(banded_damper, name, refuse)
    runs, shared = part(study, "runs"), part(study, "shared")
    monkeypatch.setattr(shared.sessions, "tests", refuse)
    for _ in range(2):
        runs.make(deformations, tmp_path / "runs.h5", counts={"train": 3, "validation": 1})
    made = runs.load(tmp_path / "runs.h5", "train")
    assert len(made) == 3 and runs.events(tmp_path / "runs.h5", "train") == ["Chi-Chi"]
    assert all(len(r.heard) == len(r.own) == len(r.f) and np.isfinite(r.heard).all() for r in made)
    assert np.ptp(made[0].f) > 0 and not np.array_equal(made[0].f, made[1].f)


def test_kept_networks_say_that_no_real_test_trained_them(study):
    networks = sorted((FOLDER / "networks").glob("*.safetensors"))
    assert networks
    for path in networks:
        data = load_network(path).card.data
        assert "no real test" in data and ("harmonics" in data) == ("adapted" in path.name)
        assert "harmonics" not in data or data.endswith("pairs of d2 36 lb, harmonics")


def test_only_harmonics_of_the_base_session_adapt(study):
    data_path("brfd", "index.json")
    pairs, sessions = part(study, "pairs"), part(study, "shared").sessions
    used = pairs.adapting_tests()
    assert len(used) == 13 and not any(test.event for test in used.values())
    assert set(used) < set(sessions.load([sessions.BASE])[sessions.BASE])
    assert len(pairs.adapting_runs()) == 13 * 12


def test_a_filter_that_has_found_the_truth_gives_the_force_of_the_law(study):
    filters = part(study, "filters")
    laws = {"gap-slip": gap_slip(), "LuGre": lugre_exact()}
    for model, kind in ((filters.FACTORS, "gap-slip"), (filters.CUKF, "LuGre")):
        test = simulated(laws[kind], "one", 0.8)
        law = filters.law_of(model, laws)
        found = np.array([[law.params[key] for key in filters.free(model)]] * 100)  # then it stays there
        f = filters.Judged(model, laws, test).force(found)
        truth = predict(laws[kind], part(study, "shared").sessions.measured(kind, test))
        assert np.abs(f - truth).max() < ROUND_OFF * np.abs(truth).max()


def test_a_filter_hears_friction_in_the_same_tick_and_no_sooner(study):
    filters, law = part(study, "filters"), gap_slip()
    p = law.params
    weak = gap_slip(**p | {f"{k}_{s}": 0.5 * p[f"{k}_{s}"] for k in ("Fc", "dF") for s in ("pos", "neg")})
    one, two = simulated(weak, "one", 1.0, 8.0), simulated(weak, "two", 0.7, 8.0)
    found = filters.followed(filters.FACTORS, {"gap-slip": law}, one)
    assert found[0] == pytest.approx(1.0, abs=0.05) and found[-1] == pytest.approx(0.5, rel=0.1)
    later = replace(one, f=np.r_[one.f[:4000], 0 * one.f[4000:]])
    assert np.array_equal(filters.followed(filters.FACTORS, {"gap-slip": law}, later)[:4000], found[:4000])
    f = filters.Judged(filters.FACTORS, {"gap-slip": law}, two).force(found)
    assert np.abs(f - two.f)[4096:].max() < 0.15 * np.ptp(two.f)


def test_a_pair_is_as_long_as_what_is_judged_and_the_heard_device_stops(study):
    pairs = part(study, "pairs")
    short, long = np.ones((5, 3)), np.full((9, 3), 2.0)
    run = pairs.run(short, long)
    assert run.heard.shape == (9, 3) and (run.heard[5:] == [1, 1, 0]).all() and (run.f == 2).all()
    assert pairs.run(long, short).heard.shape == (5, 3)


def test_a_network_is_trained_adapted_and_hears_nothing_of_the_future(study, deformations, tmp_path):
    runs, training, networks = (part(study, name) for name in ("runs", "training", "networks"))
    runs.make(deformations, tmp_path / "runs.h5", counts={"train": 3, "validation": 1})
    made = runs.load(tmp_path / "runs.h5", "train")
    short = training.Recipe(lanes=2, updates=3, stages=(training.Stage(2, 16),), warmup=1)
    begun, kinds = tmp_path / "listening-0.safetensors", (networks.LISTENING, networks.OFFLINE)
    for kind in kinds:
        training.train(tmp_path / f"{kind}-0.safetensors", kind, 0, made, short)
    real = [made[0]._replace(event="one session, harmonics")]
    training.adapt(tmp_path / "listening-adapted-0.safetensors", begun, 0, made, real, short)
    assert "one session" in load_network(tmp_path / "listening-adapted-0.safetensors").card.data
    judging = part(study, "judging")
    every = judging.Networks(tmp_path)
    assert {key: len(some) for key, some in every.devices.items()} == {
        networks.LISTENING: 1,
        judging.ADAPTED: 1,
        networks.OFFLINE: 1,
    }
    (one,) = every.answer(networks.LISTENING, made[0])
    later = made[0]._replace(heard=np.r_[made[0].heard[:100], 2 * made[0].heard[100:]])
    (two,) = every.answer(networks.LISTENING, later)
    assert np.array_equal(one[:100], two[:100]) and not np.array_equal(one[100:], two[100:])
    again = made[0]._replace(f=np.r_[made[0].f[:1], 0 * made[0].f[1:]])  # the force to be predicted
    assert np.array_equal(every.answer(networks.LISTENING, again)[0], one)


def test_errors_count_over_the_range_of_the_force(study, deformations, tmp_path):
    training, networks, runs = (part(study, name) for name in ("training", "networks", "runs"))
    f = np.linspace(-10e3, 10e3, 64).astype(np.float32)
    run = runs.Run("virtual", np.ones((64, 3), np.float32), np.ones((64, 2), np.float32), f)
    given, target = networks.drawing(networks.LISTENING, [run])(np.random.default_rng(0))
    assert (given[:, -1] == 0.25).all() and np.abs(target).max() <= 1.0
    batches = training.weighted(
        training.lanes(networks.drawing("offline", [run]), 2, [training.Stage(1, 8)], updates=2)
    )
    batch = next(iter(batches(0)))
    assert batch.inputs.shape == (2, 8, 3) and (batch.weight[batch.weight > 0] == 0.25).all()


def test_stages_say_what_is_missing(tmp_path):
    from hyloop.errors import BadInput

    assert list(find_stages("real_listening")) == ["virtual", "train", "adapt"]
    with pytest.raises(BadInput, match="malik2025 deformations"):
        run_stage("real_listening", "virtual", ["deformations=none.h5"], tmp_path, lambda *_: None)
    with pytest.raises(BadInput, match="real_listening virtual"):
        run_stage("real_listening", "train", ["seed=1"], tmp_path, lambda *_: None)


def test_quick_run(tmp_path):
    data_path("brfd", "index.json")
    result = studies.run_study("real_listening", tmp_path / "out", quick=True, progress=lambda what, done: None)
    page = Page(result.report)
    assert_claims(page, result.verdicts)
    (verdict,) = [v for v in result.verdicts if v.verdict != "not-comparable"]
    assert verdict.claim == "d3 30 lb: listening over the run-to-run spread"
    rows = next(rows for title, rows in page.tables.items() if "by session" in title)
    assert {row[0] for row in rows if row} >= {"listening", "listening, deaf", "filter (gap-slip)", "gap-slip, fixed"}


def test_committed_verdicts_are_those_of_the_claims():
    claims = {claim.claim: claim for claim in load_claims(FOLDER / "claims.toml")}
    verdicts = read_verdicts(FOLDER / "claims.json")
    assert [verdict.claim for verdict in verdicts] == list(claims)
    assert all(verdict.command == "hyloop study run real_listening" for verdict in verdicts)
