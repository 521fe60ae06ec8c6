"""`hyloop train` as a person uses it: a file in; networks, a table and a page out."""

import json
import sys

import numpy as np
import pytest
from oracles.pages import Page, extremes

from hyloop.cli.main import main
from hyloop.devices import bouc_wen
from hyloop.metrics import nrmse, rmse
from hyloop.neural import load_network
from hyloop.record import Recording
from hyloop.study.train import train_file

pytestmark = pytest.mark.slow

DT, N = 0.02, 150
SINGLE = 1e-6  # relative: numbers on a page have single precision
EVENTS = ("kobe", "loma", "chi")

FILE = """
title = "A brace by a small network"

[network]
kind = "gru"
width = 6
depth = 1
dropout = 0.1

[data]
inputs = {d = "brace.d", v = "brace.v"}
outputs = {f = "brace.f"}
tests = [{source = "kobe.h5"}, {source = "loma.h5"}, {source = "chi.h5"}]

[split]
validation = ["loma"]
test = ["chi"]

[training]
epochs = 6
batch = 2
window = 75
rate = 0.02
seeds = [4, 5]
checkpoint_every = 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("train")
    for k, name in enumerate(EVENTS):
        t = DT * np.arange(N)
        d = 4e-3 * (1 + 0.2 * k) * np.sin(2 * np.pi * (0.5 + 0.1 * k) * t) * np.sin(np.pi * t / t[-1])
        signals = np.column_stack([d, np.gradient(d, DT), bouc_wen(k=2e7, d_y=2e-3).drive(DT, d=d)["f"]])
        Recording(t, signals, ("brace.d", "brace.v", "brace.f"), ("m", "m/s", "N")).save(path / f"{name}.h5")
    (path / "brace.toml").write_text(FILE)
    return path


def hyloop(monkeypatch, folder, *words, code=0):
    """Run a command in this process: the compiled networks are shared."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["hyloop", *map(str, words)])
    try:
        main()
    except SystemExit as stop:
        assert stop.code == code
    else:
        assert code == 0


def content(path):
    """All of a network; the file itself keeps the parts of its header in no fixed order."""
    network = load_network(path)
    return {key: value.tobytes() for key, value in network.tensors.items()}, network.architecture, network.card


@pytest.fixture(scope="module")
def outcome(folder):
    return train_file(folder / "brace.toml", out=folder / "reference" / "brace.safetensors")


def test_networks_table_and_page(folder, outcome, monkeypatch, capsys):
    hyloop(monkeypatch, folder, "train", "brace.toml", "--json")
    found = json.loads(capsys.readouterr().out)
    assert [member["seed"] for member in found["members"]] == [4, 5]
    for member, reference in zip(found["members"], outcome.members, strict=True):
        assert member["first_losses"] == reference.history.updates[:20].tolist()  # the same bits, the same machine
        assert content(folder / member["network"]) == content(reference.path)
    best = min(found["members"], key=lambda member: member["validation"])
    assert found["chosen_seed"] == best["seed"]
    assert (folder / "out" / "brace.safetensors").read_bytes() == (folder / best["network"]).read_bytes()
    check_page(Page(folder / found["report"]), outcome)
    # the numbers are those of the network that was written, running freely over the recording
    network = load_network(folder / found["members"][0]["network"])
    recording = Recording.load(folder / "chi.h5")
    f = network.drive(DT, d=recording["brace.d"], v=recording["brace.v"])["f"]
    reached = nrmse(recording["brace.f"], f)
    assert outcome.members[0].agreement["chi"]["NRMSE"] == pytest.approx(reached, rel=1e-12)
    (row,) = (row for row in found["agreement"] if row["test"] == "chi")
    values = [member.agreement["chi"]["NRMSE"] for member in outcome.members]
    assert row["side"] == "test" and row["NRMSE"]["mean"] == pytest.approx(np.mean(values))
    d, v = recording["brace.d"], recording["brace.v"]
    seen = Recording.load(folder / "kobe.h5")  # all there was to train on
    beyond = [(x < y.min()) | (x > y.max()) for x, y in ((d, seen["brace.d"]), (v, seen["brace.v"]))]
    assert row["outside"] == pytest.approx(np.mean(beyond[0] | beyond[1])) and row["outside"] > 0
    mean = np.mean([m.network.drive(DT, d=d, v=v)["f"] for m in outcome.members], axis=0)
    check_rivals(found["rivals"], seen, recording)
    assert row["RMSE_of_mean"] == pytest.approx(rmse(recording["brace.f"], mean))
    assert row["NRMSE"]["std"] == pytest.approx(abs(values[0] - values[1]) / np.sqrt(2))


def check_rivals(rivals, seen, test):
    """The mean and the linear function in closed form; the law of the device itself is found."""
    errors = {rival["name"]: rival["chi"] for rival in rivals}
    f = test["brace.f"]
    assert errors["mean"] == pytest.approx(nrmse(f, np.full(len(f), seen["brace.f"].mean())))
    columns = [np.column_stack([r["brace.d"], r["brace.v"], np.ones(len(r))]) for r in (seen, test)]
    weights = np.linalg.lstsq(columns[0], seen["brace.f"], rcond=None)[0]
    assert errors["linear"] == pytest.approx(nrmse(f, columns[1] @ weights), rel=1e-6)
    assert errors["bouc_wen"] < 1e-3 < errors["linear"] < errors["mean"]  # the tests are those of a Bouc-Wen device


def check_page(page, outcome):
    """Losses, agreement and predictions on the page are those of the training."""
    first, losses, histories, loops = (page.lines(k) for k in (None, 0, 1, 2))
    chi = outcome.prepared.parts.test[0]  # the picture on top: the test event, over the deformation
    error = outcome.chosen.agreement["chi"]["NRMSE"]
    d, f = first[f"network, chi: error {100 * error:.3g} %", "network"]
    np.testing.assert_allclose(extremes(f), 1e-3 * extremes(outcome.chosen.predictions["chi"]), rtol=SINGLE)
    np.testing.assert_allclose(extremes(d), 1e3 * extremes(chi.inputs[:, 0]), rtol=SINGLE)
    assert f"never seen in training, the network errs by {100 * error:.3g} % of the range of f" in page.text
    assert 'device = { network = "out/brace.safetensors" }' in page.text and "dt = 0.02 # s" in page.text
    assert "1 test trained on, 1 test for validation, 1 test for test; 2 seeds." in page.text
    for member in outcome.members:
        for name, values in (("training", member.history.train), ("validation", member.history.validation)):
            epochs, shown = losses[f"seed {member.seed}", name]
            assert epochs.tolist() == list(range(1, len(values) + 1))
            np.testing.assert_allclose(shown, np.log10(values), rtol=SINGLE)
    parts = outcome.prepared.parts
    for side, history in (("validation", parts.validation[0]), ("test", parts.test[0]), ("train", parts.train[0])):
        pair = {"measured": history.target[:, 0], "network": outcome.chosen.predictions[history.name][:, 0]}
        for name, f in pair.items():
            _, shown = histories[f"{history.name} ({side})", name]
            np.testing.assert_allclose(extremes(shown), 1e-3 * extremes(f), rtol=SINGLE)
            d, shown = loops[history.name, name]
            np.testing.assert_allclose(extremes(shown), 1e-3 * extremes(f), rtol=SINGLE)
            np.testing.assert_allclose(extremes(d), 1e3 * extremes(history.inputs[:, 0]), rtol=SINGLE)
    (agreement,) = (rows for title, rows in page.tables.items() if title.startswith("Agreement of f"))
    shown = {row[2]: row[3:] for row in agreement if row}
    assert list(shown) == [name for _, _, name in outcome.judged]
    for name, row in shown.items():
        mean, std = outcome.spread(name, "NRMSE")
        assert row[1] == f"{100 * mean:.4g} ± {100 * std:.2g}"
    seeds = page.rows("Seeds")
    assert {seed: int(row[1]) for seed, row in seeds.items()} == {str(m.seed): m.best_epoch for m in outcome.members}


def test_the_card_says_where_the_network_comes_from(outcome):
    card = load_network(outcome.prepared.out).card
    assert [(s.name, s.unit) for s in (*card.inputs, *card.outputs)] == [("d", "m"), ("v", "m/s"), ("f", "N")]
    kobe = outcome.prepared.parts.train[0]
    assert (card.inputs[0].low, card.inputs[0].high) == (kobe.inputs[:, 0].min(), kobe.inputs[:, 0].max())
    assert card.dt == pytest.approx(DT) and card.data == "1 test of 1 event: kobe"
    assert card.seed == outcome.chosen.seed and card.about["test"] == ["chi"]
    assert card.metrics["test NRMSE"] == outcome.chosen.agreement["all of test"]["NRMSE"]


def test_killed_and_resumed_gives_the_same_network(folder, outcome, monkeypatch, capsys):
    """It dies in the first seed; the second has not begun."""
    out = folder / "resumed" / "brace.safetensors"

    def die(seed, now):
        if seed == 4 and now.epoch == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_file(folder / "brace.toml", out=out, progress=die)
    assert not out.exists()
    hyloop(monkeypatch, folder, "train", "brace.toml", "--out", out, "--resume", "--no-report")
    assert "seed 5: epoch" in capsys.readouterr().out
    for member in outcome.members:
        assert content(out.parent / member.path.name) == content(member.path)
    assert not out.with_suffix(".html").exists()


def test_refusals_have_exit_code_2_and_write_nothing(folder, monkeypatch, capsys):
    hyloop(monkeypatch, folder, "train", "brace.toml", "--set", "network.kind=gro", "--out", "no/n.safetensors", code=2)
    assert "did you mean 'gru'" in " ".join(capsys.readouterr().err.split())
    hyloop(monkeypatch, folder, "train", "brace.toml", "--resume", "--out", "no/n.safetensors", code=2)
    assert "there is no checkpoint" in " ".join(capsys.readouterr().err.split())
    assert not (folder / "no").exists()


def test_a_loss_that_is_not_finite_has_exit_code_1(folder, monkeypatch, capsys):
    text = FILE.replace('"gru"', '"mlp"').replace("window = 75", "").replace("dropout = 0.1", "")
    (folder / "wild.toml").write_text(text.replace("rate = 0.02", "rate = 1e30"))
    hyloop(monkeypatch, folder, "train", "wild.toml", code=1)
    assert "not finite" in capsys.readouterr().err
