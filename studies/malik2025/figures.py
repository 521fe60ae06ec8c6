"""Figures 9 to 12 of the paper, drawn anew: a harmonic test, and an earthquake of the validation side."""

import numpy as np

from hyloop.devices.brfd import draw_brfd
from hyloop.metrics import nrmse
from hyloop.neural.frozen import FrozenNetwork
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, rows_to_draw
from hyloop.report.page import Section

from .baselines import AMPLITUDE, FREE, FREQUENCY, estimated, fitted_lugre, fixed, followed
from .frame import DT
from .scores import answers, listening
from .specimens import CENTRED, SPECIMENS, Run, heard, moved

# places in the legend, and so colours, are the same in all figures
MODELS = ("specimen", "data-driven OCP-NN", "physics-based OCP-NN", "CUKF", "LuGre, fixed", "offline network")
POINTS = 2000  # of a line: chatter in a loop needs them, and the page stays small
SEED, CYCLES = 9, 3  # of the device in the harmonic test; the last cycle is drawn
BEFORE, AFTER = 1.0, 3.0  # s around the largest deformation, in which parameters and forces are drawn
UNITS = {"sigma0": (1e-6, "kN/mm"), "sigma1": (1e-3, "kN s/m")}


def line(x: np.ndarray, y: np.ndarray, model: str, loop: bool = False) -> Line:
    """A curve over time or, as a loop, over another signal, with as many points as a screen shows."""
    rows = rows_to_draw(POINTS, x, y) if loop else rows_to_draw(POINTS, y)
    return Line(x[rows], y[rows], model, MODELS.index(model))


def loops(title: str, d: np.ndarray, forces: dict[str, np.ndarray]) -> Panel:
    """Forces in N of some models over the deformation in m."""
    lines = tuple(line(1e3 * d, 1e-3 * f, model, loop=True) for model, f in forces.items())
    return Panel(title, "deformation [mm]", "force [kN]", lines)


def histories(title: str, label: str, t: np.ndarray, values: dict[str, np.ndarray]) -> Panel:
    """Values of some models over time."""
    return Panel(title, "time [s]", label, tuple(line(t, y, model) for model, y in values.items()))


def harmonic_run(kind: str, level: float) -> Run:
    """A device that is moved by the harmonic of the paper; models hear the very device they are compared with."""
    law, spread = SPECIMENS[kind]
    device = draw_brfd(np.random.default_rng(SEED), law, level, centred=CENTRED, **spread)
    t = np.arange(round(CYCLES / FREQUENCY / DT)) * DT
    d = AMPLITUDE * np.sin(2 * np.pi * FREQUENCY * t)
    read = heard(device, d)
    v = np.diff(d, prepend=d[:1]) / DT
    return Run("harmonic", "harmonic", level, read, np.column_stack([d, v]), moved(device, d)["f"], read)


def parameters(kind: str, run: Run, physics: FrozenNetwork) -> dict[str, dict[str, np.ndarray]]:
    """Histories of sigma0 and sigma1 as network and filter find them, by parameter and model."""
    network, filtered = answers(physics, "physics")(run), estimated(kind, run)
    return {key: {"physics-based OCP-NN": network[f"{key}_used"], "CUKF": filtered[:, k]} for k, key in enumerate(FREE)}


def parameter_panels(t: np.ndarray, found: dict[str, dict[str, np.ndarray]], rows: slice) -> list[Panel]:
    """Both parameters over time, in some rows."""
    return [
        histories(key, f"{key} [{unit}]", t[rows], {model: factor * y[rows] for model, y in found[key].items()})
        for key, (factor, unit) in UNITS.items()
    ]


def figure_9(kind: str, level: float, physics: FrozenNetwork) -> Section:
    """The harmonic test: loop, force and both parameters over the last cycle."""
    run = harmonic_run(kind, level)
    t = np.arange(len(run.f)) * DT
    rows = slice(len(t) - round(1.0 / FREQUENCY / DT), None)
    forces = {
        "specimen": run.f,
        "physics-based OCP-NN": listening(physics, "physics")(run),
        "CUKF": followed(kind, run),
    }
    shown = {model: f[rows] for model, f in forces.items()}
    panels = [
        loops("Force and deformation", run.own[rows, 0], shown),
        histories("Force", "force [kN]", t[rows], {model: 1e-3 * f for model, f in shown.items()}),
        *parameter_panels(t, parameters(kind, run, physics), rows),
    ]
    nominal = fitted_lugre(kind, level).params
    fitted = ", ".join(f"{key} {UNITS[key][0] * nominal[key]:.1f} {UNITS[key][1]}" for key in FREE)
    caption = f"Cycle {CYCLES} of a drawn device of {level / 1e3:.0f} kN. The law fitted beforehand has {fitted}."
    title = f"Figure 9: harmonic of {1e3 * AMPLITUDE:.1f} mm and {FREQUENCY} Hz"
    return Section(title, charts=[Chart(panels, f"{title}.", caption, columns=2)])


def figures_10_to_12(kind: str, run: Run, networks: dict[str, FrozenNetwork]) -> list[Section]:
    """Loops of all models under one earthquake, parameters found in it, and a network that does not listen.

    `networks` are by kind, "listening", "physics" and "offline"; figures of those that are missing are left out.
    """
    found = []
    t, d, f = np.arange(len(run.f)) * DT, run.own[:, 0].astype(float), run.f.astype(float)
    names = {"listening": MODELS[1], "physics": MODELS[2], "offline": MODELS[5]}
    forces = {names[key]: listening(net, key)(run) for key, net in networks.items()}
    forces |= {"CUKF": followed(kind, run), "LuGre, fixed": fixed(kind, run)}
    said = f"{run.event}, device of {run.level / 1e3:.0f} kN, in model time; error over the range of the force."
    panels = {model: loops(f"{model}: {_error(f, y)}", d, {"specimen": f, model: y}) for model, y in forces.items()}
    shown = [panels[model] for model in MODELS[1:5] if model in panels]
    title = f"Figure 10: {run.event} on the validation side"
    found.append(Section(title, charts=[Chart(shown, f"{title}, loops of all models.", said, columns=2)]))
    peak = int(np.abs(d).argmax())
    rows = slice(max(peak - round(BEFORE / DT), 0), peak + round(AFTER / DT))
    if "physics" in networks:
        title = "Figure 11: parameters of the law while it is updated"
        drawn = parameter_panels(t, parameters(kind, run, networks["physics"]), rows)
        found.append(Section(title, charts=[Chart(drawn, f"{title}.", said, columns=1, row_height=200)]))
    if {"listening", "offline"} <= networks.keys():
        both = [MODELS[1], MODELS[5]]
        history = {
            model: 1e-3 * y[rows] for model, y in ({"specimen": f} | forces).items() if model in ("specimen", *both)
        }
        drawn = [*(panels[model] for model in both), histories("Force", "force [kN]", t[rows], history)]
        title = "Figure 12: a network that listens and one that does not"
        found.append(Section(title, charts=[Chart(drawn, f"{title}.", said, columns=2)]))
    return found


def _error(f: np.ndarray, predicted: np.ndarray) -> str:
    return f"{100 * nrmse(f, predicted):.2f} %"
