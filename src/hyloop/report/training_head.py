"""The head of the page about a training: the network's error beside those of laws and of the mean, and its use."""

from pathlib import Path

import numpy as np

from hyloop.neural.histories import History
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, readable, rows_to_draw
from hyloop.report.page import Answer, Code, Section, Table
from hyloop.report.training_result import SIDES, Rival, TrainingOutcome

__all__ = ["best_rival", "counted", "rivals_table", "training_answer", "use_section"]

_POINTS = 3000  # of one line


def counted(number: int, what: str) -> str:
    """A number with its noun: "1 test", "2 tests"."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def best_rival(rivals: list[Rival]) -> Rival | None:
    """The one that errs least on the training tests, the mean left out: the test has no say in the choice."""
    others = [
        rival for rival in rivals if rival.name != "mean" and np.isfinite(rival.agreement["all of train"]["NRMSE"])
    ]
    return min(others, key=lambda rival: rival.agreement["all of train"]["NRMSE"], default=None)


def training_answer(outcome: TrainingOutcome, rivals: list[Rival]) -> Answer:
    """How the network that is kept does on what it has not seen, beside the best law and the mean."""
    parts = outcome.prepared.parts
    side = next(side for side in ("test", "validation", "train") if getattr(parts, side))
    whole, judged = f"all of {side}", getattr(parts, side)
    events = ", ".join(dict.fromkeys(h.event for h in judged))
    where = {
        "test": f"On {events}, never seen in training,",
        "validation": f"On {events}, by which the epoch was chosen,",
        "train": "On the tests it was trained on, as none was set aside,",
    }[side]
    own = outcome.chosen.agreement[whole]["NRMSE"]
    signal, best = outcome.prepared.outputs[0].name, best_rival(rivals)
    mean = next((rival for rival in rivals if rival.name == "mean"), None)
    told = f"{where} the network errs by {_percent(own)} of the range of {signal}"
    if best is not None and mean is not None:
        told += f"; the best law tried ({best.name}) by {_percent(best.agreement[whole]['NRMSE'])}"
        told += f", predicting the mean by {_percent(mean.agreement[whole]['NRMSE'])}"
    label = f"error of the network, seed {outcome.chosen.seed}"
    if len(outcome.members) > 1:
        mean_of, std = outcome.spread(whole, "NRMSE")
        label += f"; mean of {len(outcome.members)} seeds {100 * mean_of:.2g} ± {100 * std:.2g} %"
    numbers = [(_percent(own), label)]
    for rival, label in ((best, "error of the best law tried"), (mean, "error of predicting the mean")):
        named = f"{label}, {rival.name}" if rival is best and rival is not None else label
        numbers.append(("–", label) if rival is None else (_percent(rival.agreement[whole]["NRMSE"]), named))
    return Answer(f"{told}.", numbers, _picture(outcome, best, judged))


def _percent(part: float) -> str:
    return "–" if np.isnan(part) else f"{100 * part:.3g} %"


def _picture(outcome: TrainingOutcome, best: Rival | None, judged: tuple[History, ...]) -> Chart:
    """Measured and predicted on the test with the largest output, over deformation, else velocity, else time."""
    history = max(judged, key=lambda h: np.ptp(h.target[:, 0]))
    signal = outcome.prepared.outputs[0]
    factor, unit = readable(signal.unit)
    x, across = _across(outcome, history)
    measured = history.target[:, 0]
    predicted = {"network": outcome.chosen.predictions[history.name][:, 0]}
    errors = {"network": outcome.chosen.agreement[history.name]["NRMSE"]}
    if best is not None:
        predicted[best.name], errors[best.name] = best.predictions[history.name], best.agreement[history.name]["NRMSE"]
    panels = []
    for series, (name, values) in enumerate(predicted.items(), 1):
        lines = []
        for number, (label, y) in ((0, ("measured", measured)), (series, (name, values))):
            rows = rows_to_draw(_POINTS, x, y)
            lines.append(Line(x[rows], factor * y[rows], label, number))
        title = f"{name}, {history.name}: error {_percent(errors[name])}"
        panels.append(Panel(title, across, f"{signal.name} [{unit or '-'}]", tuple(lines)))
    alt = f"Measured {signal.name} of {history.name} and that of {' and of '.join(predicted)}."
    caption = (
        "The frozen network runs freely from rest, as in a loop; the law was fitted to the same training tests. "
        "Errors are root mean squares over the range of what was measured."
    )
    return Chart(panels, alt, caption, columns=len(panels), row_height=320)


def _across(outcome: TrainingOutcome, history: History) -> tuple[np.ndarray, str]:
    for wanted in ("m", "m/s"):
        for k, signal in enumerate(outcome.prepared.inputs):
            if signal.unit == wanted:
                factor, unit = readable(wanted)
                return factor * history.inputs[:, k], f"{signal.name} [{unit}]"
    return history.dt * np.arange(len(history)), "time [s]"


def rivals_table(outcome: TrainingOutcome, rivals: list[Rival]) -> Table:
    """NRMSE of the network and of every rival on each side."""
    sides = [side for side in SIDES if getattr(outcome.prepared.parts, side)]
    rows = [["network", f"seed {outcome.chosen.seed}, kept", outcome.chosen.agreement]]
    rows += [[rival.name, rival.about, rival.agreement] for rival in rivals]
    cells = [[name, *(100 * found[f"all of {side}"]["NRMSE"] for side in sides), about] for name, about, found in rows]
    return Table("NRMSE in %, all fitted to the training tests", ["model", *sides, "what it is"], cells)


def use_section(outcome: TrainingOutcome) -> Section:
    """The lines that put the network into an experiment file."""
    now = outcome.prepared
    path = Path(now.out).as_posix()
    if not any(signal.name == "f" and signal.unit == "N" for signal in now.outputs):
        gives = ", ".join(f"{signal.name} in {signal.unit}" for signal in now.outputs)
        text = f"It gives {gives}; only a network that gives f in N can stand in place of a device."
        return Section("Use it", [text], code=[Code(f'network = load_network("{path}")  # from hyloop.neural')])
    wired = [signal.name for signal in now.inputs if signal.name not in ("d", "v", "a")]
    wiring = ", ".join(f'{name} = "damper1.{name}"' for name in wired)
    lines = ["[sites.damper2]", "story = 2", f'device = {{ network = "{path}" }} # relative to the experiment file']
    lines += [f"wiring = {{ {wiring} }} # channels of what the site does not give"] if wired else []
    dt = outcome.chosen.network.card.dt
    if dt:
        lines += [
            "",
            "[integrator]",
            f"dt = {dt:.9g} # s",
            "substeps = 1 # dt / substeps must be what the network was trained at",
        ]
    text = [
        "Paste this into an experiment file. Inputs d, v and a come from the site"
        + (f"; {', '.join(wired)} from channels named by wiring." if wired else " by themselves."),
        'Methods that linearise devices want to know a stiffness: add stiffness = "20 kN/mm" to the table.',
    ]
    return Section("Use it", text, code=[Code("\n".join(lines))])
