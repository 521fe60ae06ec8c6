"""Training files: what they may say, and what is read for them."""

import re
from pathlib import Path

import numpy as np
import pytest
from oracles.data import data_path

from hyloop.errors import BadInput, UnknownName
from hyloop.files.training import DataSpec, load_training
from hyloop.files.training_data import read_histories
from hyloop.record import Recording
from hyloop.study.train import prepare

TRAININGS = Path(__file__).parents[2] / "experiments" / "training"
N, DT = 60, 0.02

FILE = """
[network]
kind = "gru"
width = 4
depth = 1

[data]
inputs = {d = "damper.d"}
outputs = {f = "damper.f"}
tests = [{source = "kobe.h5"}, {source = "loma.h5"}, {source = "chi.csv"}]

[split]
validation = ["loma"]

[training]
epochs = 2
window = 20
"""


def signals(seed):
    d = 0.01 * np.cumsum(np.random.default_rng(seed).normal(size=N))
    return d, 1e6 * d


@pytest.fixture
def folder(tmp_path):
    """Two recordings, and a CSV file in mm and kN."""
    for k, name in enumerate(("kobe", "loma")):
        data = np.column_stack(signals(k))
        Recording(DT * np.arange(N), data, ("damper.d", "damper.f"), ("m", "N")).save(tmp_path / f"{name}.h5")
    d, f = (signal.tolist() for signal in signals(2))
    rows = [f"{DT * k:.2f},{1e3 * d[k]!r},{1e-3 * f[k]!r}" for k in range(N)]
    (tmp_path / "chi.csv").write_text("\n".join(["t,damper.d [mm],damper.f [kN]", *rows]))
    (tmp_path / "damper.toml").write_text(FILE)
    return tmp_path


def test_what_is_trained_on_is_what_was_recorded(folder):
    now = prepare(folder / "damper.toml")
    assert [h.name for h in now.parts.train] == ["kobe", "chi"] and now.parts.validation[0].event == "loma"
    assert (now.data.inputs, now.data.outputs) == ({"d": "m"}, {"f": "N"})
    for k, name in enumerate(("kobe", "loma", "chi")):
        (history,) = (h for h in now.data.histories if h.name == name)
        d, f = signals(k)
        np.testing.assert_allclose(history.inputs[:, 0], d, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(history.target[:, 0], f, rtol=1e-12, atol=1e-9)
        assert history.dt == pytest.approx(DT)
    trained = np.concatenate([signals(0)[0], signals(2)[0]])
    assert (now.inputs[0].low, now.inputs[0].high) == pytest.approx((trained.min(), trained.max()))
    assert now.out == Path("out") / "damper.safetensors"
    assert now.architecture.as_json()["stages"] == [[["gru", 4, [0, 1]]], [["linear", 1, [0, 4]]]]


def test_the_training_to_copy_loads():
    found = {path.stem: load_training(path) for path in TRAININGS.glob("*.toml")}
    assert {name: file.network.kind for name, file in found.items()} == {
        "banded_damper_lstm": "lstm",
        "fluid_damper_gru": "gru",
    }
    assert all(list(file.data.outputs) == ["f"] for file in found.values())


def test_published_tests_of_one_earthquake_are_one_event():
    data_path("brfd", "index.json")
    table = {"outputs": ["f"], "every": 8, "tests": [{"source": "brfd:d2_eq36lb_Ko*"}]}
    data, causal = (
        read_histories(DataSpec.model_validate(table | {"inputs": {"d": "d", "v": channel}}))
        for channel in ("v", "v_causal")
    )
    assert [(h.name[-10:], h.event) for h in data.histories] == [("KocaeliDBE", "Kocaeli"), ("KocaeliMCE", "Kocaeli")]
    assert data.histories[0].dt == 8 / 1024
    assert "filtered without delay" in data.notes[0] and not causal.notes


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('kind = "gru"', 'kind = "gro"', "network.kind: got 'gro', did you mean 'gru'"),
        ("width = 4", "widht = 4", "network.widht: unknown key 'widht'. Did you mean 'width'"),
        ("epochs = 2", "epochs = 0", "training.epochs: got 0"),
        ("epochs = 2", "rate = 0.1", "training.epochs: is missing"),
        ("epochs = 2", "epochs = 2\nrate = '1 mm'", "training.rate: got '1 mm', wanted a quantity in pure number"),
        ("epochs = 2", "epochs = 2\nseeds = [1, 1]", "training.seeds: got .1, 1.; each seed"),
        ("epochs = 2", "epochs = 2\nfinal = 1", "training.final: got 1, must not exceed"),
        ("epochs = 2", "epochs = 2\nbatch = 1.5", "training.batch: got 1.5, wanted a whole number"),
        ('kind = "gru"', 'kind = "mlp"', "training.window: an mlp has no memory"),
        ('kind = "gru"', 'kind = "ocp_nn"', "network.measured: is missing"),
        ('kind = "gru"', 'kind = "ocp_nn"\nmeasured = 1', "network.measured: got 1, but of the 1 inputs"),
        ("depth = 1", "measured = 1", "network.measured: is for ocp_nn"),
        ('validation = ["loma"]', "", "no events"),
        ('validation = ["loma"]', 'validation = ["lomo"]', "unknown event 'lomo'. Did you mean 'loma'"),
        ('validation = ["loma"]', 'validation = ["loma"]\ntest = ["l*"]', "'loma' is for validation and for test"),
        ('validation = ["loma"]', 'validation = ["*"]', "none is left to train on"),
        ("window = 20", "window = 61", "'kobe' has 60 samples, at least 61"),
        ("window = 20", "patience = 3\n[scaling]\ninputs = 'minmax'", "Did you mean 'min-max'"),
        ('{d = "damper.d"}', '{d = "damper.x"}', "unknown channel 'damper.x'. Allowed: damper.d, damper.f"),
        ('{d = "damper.d"}', '["damper.d"]', "data.inputs: 'damper.d' cannot name a signal"),
        ('{d = "damper.d"}', '{f = "damper.d"}', "data.outputs: 'f' is an input too"),
        ("loma.h5", "lima.h5", "lima.h5: no such file"),
        ("loma.h5", "kobe.h5", "two histories are called 'kobe'"),
        ("loma.h5", "brfd:nothing_of_this_name", "nothing_of_this_name"),
    ],
)
def test_bad_files_are_refused_before_training(folder, old, new, says):
    path = folder / "damper.toml"
    text = FILE.replace(old, new)
    assert text != FILE
    if says == "no events":  # patience without validation
        says, text = "split.validation: is missing", text + "\npatience = 3"
    path.write_text(text)
    with pytest.raises(BadInput, match=says) as caught:
        prepare(path)
    assert str(caught.value).startswith(str(path))


def test_bad_data_are_refused_before_training(folder):
    path = folder / "damper.toml"
    recording = Recording.load(folder / "kobe.h5")
    data = recording.data.copy()
    data[7, 0] = np.nan
    Recording(recording.time, data, recording.names, recording.units).save(folder / "kobe.h5", overwrite=True)
    with pytest.raises(BadInput, match=r"kobe.h5, d: is nan at sample 7 of 'kobe'"):
        prepare(path)
    Recording(recording.time, recording.data, recording.names, ("s", "N")).save(folder / "kobe.h5", overwrite=True)
    with pytest.raises(BadInput, match=r"loma.h5, d: is in m in 'loma', but in s in the tests before"):
        prepare(path)
    Recording(2 * recording.time, recording.data, recording.names, recording.units).save(
        folder / "kobe.h5", overwrite=True
    )
    with pytest.raises(BadInput, match="Resample"):
        prepare(path)
    (folder / "chi.csv").write_text("t,damper.d [mm],damper.f [kX]\n0,1,2\n0.02,1,2\n")
    recording.save(folder / "kobe.h5", overwrite=True)
    with pytest.raises(BadInput, match="'kX' is not a known unit"):
        prepare(path)
    (folder / "chi.csv").write_text("t,damper.d,damper.f [kN]\n0,1,2\n0.02,1,2\n")
    with pytest.raises(BadInput, match=r"chi\.csv, d: the channel has no unit\. Write it into the heading"):
        prepare(path)
    with pytest.raises(BadInput, match="ends so"):
        prepare(path, out=folder / "network.bin")


def test_overrides(folder):
    found = load_training(folder / "damper.toml", ["training.epochs=7", "data.every=2"])
    assert (found.training.epochs, found.data.every) == (7, 2)
    with pytest.raises(UnknownName, match="Did you mean 'training'"):
        load_training(folder / "damper.toml", ["trainin.epochs=7"])


GERMAN = "Zeit;Weg;Kraft\nms;mm;kN\n"


def german(folder, text):
    """A file of a laboratory with these headings."""
    d, f = signals(2)
    rows = [f"{1e3 * DT * k:.0f};{1e3 * d[k]:.9f};{-1e-3 * f[k]:.9f}".replace(".", ",") for k in range(N)]
    (folder / "chi.csv").write_text(text + "\n".join(rows))


def test_a_file_of_a_laboratory_is_read_as_by_identify(folder):
    """German headings, a row of units, decimal commas and the other sign: the same numbers as from the plain file."""
    german(folder, GERMAN)
    table = {
        "inputs": {"d": "Weg"},
        "outputs": {"f": "Kraft"},
        "tests": [{"source": str(folder / "chi.csv")}],
        "t": "Zeit",
        "factors": {"f": -1.0},
    }
    (history,) = read_histories(DataSpec.model_validate(table)).histories
    d, f = signals(2)
    np.testing.assert_allclose(history.inputs[:, 0], d, atol=1e-11)
    np.testing.assert_allclose(history.target[:, 0], f, atol=1e-5)
    assert history.dt == pytest.approx(DT)
    german(folder, "Zeit;Weg;Kraft\n")  # no units: stated in the file of the training, by signal or by column
    for units in ({"t": "ms", "d": "mm", "f": "kN"}, {"Zeit": "ms", "Weg": "mm", "Kraft": "kN"}):
        (other,) = read_histories(DataSpec.model_validate(table | {"units": units})).histories
        assert np.array_equal(other.inputs, history.inputs) and np.array_equal(other.target, history.target)
    # for one file only, and with a rate instead of times
    own = {"source": str(folder / "chi.csv"), "rate": "50 Hz", "units": {"d": "mm", "f": "kN"}}
    german(folder, "Nummer;Weg;Kraft\n")
    (third,) = read_histories(DataSpec.model_validate({**table, "t": None, "tests": [own]})).histories
    assert np.array_equal(third.inputs, history.inputs) and third.dt == pytest.approx(DT)


def test_keys_of_data_do_not_concern_recordings(folder):
    table = {
        "inputs": {"d": "damper.d"},
        "outputs": {"f": "damper.f"},
        "tests": [{"source": str(folder / "kobe.h5")}],
        "t": "Zeit",
        "units": {"d": "mm"},
    }
    (history,) = read_histories(DataSpec.model_validate(table)).histories
    np.testing.assert_allclose(history.inputs[:, 0], signals(0)[0], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("header", "given", "says"),
    [
        ("Zeit;Weg;Kraft\nms;mm;kN\n", {}, 'among Zeit, Weg, Kraft. Did you mean data.t = "Zeit"'),
        ("Zeit;Weg;Kraft\n", {"t": "Zeit", "units": {"t": "ms"}}, 'data.units = { d = "mm" }'),
        ("Zeit;Weg;Kraft\n", {"t": "Zeti"}, "data.t"),
        ("Zeit;Weg;Kraft\n", {"t": "Zeit", "units": {"Wge": "mm"}}, "data.units"),
        ("Zeit;Weg;Kraft\nms;mm;kN\n", {"rate": "10 Hz", "t": "Zeit"}, "data.rate says 10 Hz"),
    ],
)
def test_what_a_training_file_must_say_is_said_in_its_keys(folder, header, given, says):
    german(folder, header)
    table = {"inputs": {"d": "Weg"}, "outputs": {"f": "Kraft"}, "tests": [{"source": str(folder / "chi.csv")}]}
    with pytest.raises(BadInput, match=re.escape(says)) as refused:
        read_histories(DataSpec.model_validate(table | given))
    assert "--" not in str(refused.value)


def test_the_training_file_of_the_docs_is_one(tmp_path):
    """With four files as it says, it loads, and its tests fall on the sides it names."""
    page = (TRAININGS.parents[1] / "docs" / "networks.md").read_text("utf-8")
    (text,) = [block for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if "[training]" in block]
    (tmp_path / "damper.toml").write_text(text)
    for k in range(1, 5):
        d = k + np.tile(signals(k)[0], 5)  # mm, longer than the window of the file
        rows = [f"{DT * i:.2f};{d[i]:.6f};{3 * d[i]:.6f}".replace(".", ",") for i in range(len(d))]
        (tmp_path / f"V{k}.csv").write_text("Zeit;Weg;Kraft\n" + "\n".join(rows))
    now = prepare(tmp_path / "damper.toml")
    sides = {side: [h.name for h in getattr(now.parts, side)] for side in ("train", "validation", "test")}
    assert sides == {"train": ["V1", "V2"], "validation": ["V3"], "test": ["V4"]}
    np.testing.assert_allclose(now.parts.test[0].target, 3e6 * now.parts.test[0].inputs, atol=1e-2)  # kN over mm
    np.testing.assert_allclose(now.parts.test[0].inputs[:N, 0], 1e-3 * (4 + signals(4)[0]), atol=1e-8)
