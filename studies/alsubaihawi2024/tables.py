"""Tables 3 to 6 of the paper beside ours, and what else was measured."""

import numpy as np

from hyloop.report.page import Table

from .filters import REPAIRS, RULES
from .hybrid import MEASURED, PLACES
from .specimens import COMPARED, SPECIMENS
from .tower_checks import PRINTED_FREQUENCIES

G = 9.81e-3  # m/s2 in a milli-g
# Tables 5 and 6 of the paper in %, in the order NW, NE, SW, SE of stories 40, 30 and 20
PAPER = {
    ("earthquake", "updated"): (2.20, 4.60, 2.63, 3.22, None, 2.30, 1.55, 2.37, 2.19, 3.29, 2.25, 3.26),
    ("wind", "updated"): (2.81, 2.36, 2.47, 2.63, 2.69, None, 2.77, 2.51, 3.21, 3.26, 3.10, 3.26),
    ("earthquake", "constant"): (3.45, 4.28, 2.97, 3.23, None, 2.78, 2.57, 2.85, 2.85, 3.46, 2.96, 3.13),
    ("wind", "constant"): (7.08, 7.39, 6.81, 7.56, 7.30, None, 7.15, 6.78, 7.23, 7.66, 7.49, 7.70),
}
ORDER = [f"{story} {corner}" for story in (40, 30, 20) for corner in ("NW", "NE", "SW", "SE")]
CORNERS = {20: (11.8, 17.4), 30: (19.3, 23.0), 40: (24.1, 28.5)}  # Table 3, milli-g: centre and corner


def all_tables(tests, buildings, checked, names, seeds):
    """Every table of the page."""
    found = [_places(tests, hazard, seeds) for hazard in MEASURED]
    found += [_specimens(tests, hazard, names, seeds) for hazard in MEASURED]
    found += [_frequencies(checked), _corners(buildings), _building(buildings)]
    if "convergence" in checked:
        found += [_convergence(checked)]
    return [*found, _rules(tests, names), _repairs(tests, names)]


def _places(tests, hazard, seeds):
    """Tables 5 and 6: error of each follower."""
    others = [place for place in PLACES if place != MEASURED[hazard]]
    rows = []
    for name in ORDER:
        place = "d" + name.replace(" ", "")
        cells = []
        for kind in ("updated", "constant"):
            printed = PAPER[hazard, kind][ORDER.index(name)]
            values = (
                [
                    result[f"ours|{COMPARED}|{seed}"][kind][others.index(place)]
                    for key, result in tests.items()
                    if key[0] == hazard
                    for seed in seeds[hazard]
                ]
                if place in others
                else []
            )
            cells += [
                f"{printed:.2f}" if printed else "-",
                f"{np.mean(values):.2f} ± {np.std(values):.2f}" if values else "measured",
            ]
        rows.append([name, *cells])
    columns = ["place", "updated: paper", "ours", "constant: paper", "ours"]
    return Table(
        f"Tables 5 and 6: NRMSE of each damper in % of its range, {hazard}, mean ± spread of all tests", columns, rows
    )


def _specimens(tests, hazard, names, seeds):
    rows = []
    for name in names:
        cells = []
        for filter_, kind in (
            ("ours", "updated"),
            ("printed", "updated"),
            ("ours", "constant"),
            ("ours", "updated free"),
            ("printed", "updated free"),
            ("ours", "constant free"),
        ):
            values = np.array(
                [
                    result[f"{filter_}|{name}|{seed}"][kind]
                    for key, result in tests.items()
                    if key[0] == hazard
                    for seed in seeds[hazard]
                ]
            )
            cells.append(f"{values.mean():.2f} ± {values.mean(axis=1).std():.2f}")
        rows.append([name, f"{SPECIMENS[name].noise / 1e3:g}", *cells])
    columns = [
        "specimen",
        "load cell, kN",
        "updated, ours",
        "as printed",
        "constant",
        "noise-free: ours",
        "as printed",
        "constant",
    ]
    return Table(f"NRMSE of eleven followers in %, {hazard}: mean ± spread over tests", columns, rows)


def _frequencies(checked):
    rows = []
    for hazard, printed in PRINTED_FREQUENCIES.items():
        found = checked[f"frequencies {hazard}"]
        for k, value in enumerate(printed):
            ours = found["found"][k]
            rows.append(
                [
                    hazard,
                    str(k + 1),
                    f"{value:.3f}",
                    f"{ours:.4f}",
                    f"{100 * (ours / value - 1):+.2f}",
                    found["labels"][k],
                ]
            )
    return Table(
        "Table 4: natural frequencies in Hz, dampers linearised at 25 mm",
        ["model", "mode", "paper", "ours", "off by %", "moves mostly in"],
        rows,
    )


def _corners(buildings):
    winds = [r for key, r in buildings.items() if key[0] == "wind" and key[2]]
    rows = []
    for floor, (centre, corner) in CORNERS.items():
        ours = [(r["centre"][floor - 1] / G, r["corner"][floor - 1] / G) for r in winds]
        mean = np.mean(ours, axis=0)
        rows.append(
            [
                str(floor),
                f"{centre}",
                f"{corner}",
                f"{100 * (corner / centre - 1):.1f}",
                f"{mean[0]:.1f}",
                f"{mean[1]:.1f}",
                f"{100 * np.mean([b / a - 1 for a, b in ours]):.1f}",
            ]
        )
    columns = ["floor", "paper: centre", "corner", "increase %", "ours: centre", "corner", "increase %"]
    return Table(f"Table 3: peak resultant acceleration in milli-g, wind, mean of {len(winds)}", columns, rows)


def _building(buildings):
    rows = []
    for (hazard, event, damped), r in buildings.items():
        roof = [1e3 * r[f"peak {dof}"][-1] for dof in ("ux", "uz")]
        left = [1e3 * r[f"residual {dof}"][-1] for dof in ("ux", "uz")]
        drift = [100 * r[f"drift {dof}"].max() for dof in ("ux", "uz")]
        cells = [f"{a:.0f}, {b:.0f}" for a, b in (roof, left)] + [
            f"{drift[0]:.2f}, {drift[1]:.2f}",
            f"{r['ductility']:.2f}",
            str(r["yielded"]),
            r["most"],
        ]
        rows.append([f"{hazard}, {event}", "with" if damped else "without", *cells])
    columns = [
        "test",
        "dampers",
        "roof N-S, E-W, mm",
        "residual, mm",
        "largest drift, %",
        "ductility",
        "braces that yield",
        "most strained brace",
    ]
    return Table("The building with and without dampers", columns, rows)


def _convergence(checked):
    rows = [
        [f"{ticks}/1024 s", *(f"{errors[key]:.3f}" for key in ("floors", "deformation", "force"))]
        for ticks, errors in checked["convergence"].items()
    ]
    return Table(
        "Step of the structure: largest NRMSE in % against 1/2048 s, first 25 s, no laboratory",
        ["step", "floors", "damper deformation", "damper force"],
        rows,
    )


def _rules(tests, names):
    rows = []
    for hazard in MEASURED:
        for name in names:
            each = [result[f"wrong|{name}"] for key, result in tests.items() if key[0] == hazard]
            cells = []
            for rule in RULES:
                errors = [one[rule] for one in each]
                cells += [
                    f"{np.mean(errors):.2f} ± {np.std(errors):.2f}",
                    f"{sum(one[f'{rule} froze'] for one in each)} of {len(each)}",
                ]
            rows.append([hazard, name, *cells])
    columns = ["hazard", "specimen", *(f"{rule}: {what}" for rule in RULES for what in ("NRMSE", "frozen"))]
    return Table(
        "Bound rules, settings of the paper: noise-free NRMSE in %, and runs that end frozen (shrink is the paper's)",
        columns,
        rows,
    )


def _repairs(tests, names):
    labels = {f"repair {kind}": f"our sums, {kind}" for kind in REPAIRS} | {
        "repair printed": "printed sums, none",
        "repair single": "printed sums, single precision, none",
    }
    rows = []
    for key, label in labels.items():
        times = [result[f"wrong|{name}"][key] for result in tests.values() for name in names]
        lost = [time for time in times if time]
        rows.append([label, f"{len(lost)} of {len(times)}", f"{min(lost):.3f} to {max(lost):.3f}" if lost else "-"])
    return Table("Covariance over all tests, by its repair", ["filter", "runs that failed", "first failure, s"], rows)
