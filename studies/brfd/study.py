"""Constant LuGre and gap-slip fitted to tests of the banded damper, judged on earthquakes they have not seen."""

import numpy as np
from scipy.signal import butter, sosfilt

from hyloop.data.banded_damper import tests
from hyloop.devices import gap_slip, lugre_exact
from hyloop.identification import MeasuredTest, fit, predict
from hyloop.record import Recording
from hyloop.report.page import Table

RATE = 1024.0  # Hz
QUAKES = ("DuzceDBE", "DuzceMCE", "ImperialValleyDBE", "ImperialValleyMCE", "KocaeliDBE", "KocaeliMCE")
# samples that the paper evaluates
SEGMENTS = {"Duzce": slice(4608, 12288), "Imper": slice(3072, 7680), "Kocae": slice(6144, 14336)}
# what is fitted of a test: its first 20 s, every fourth sample
FITTED, EVERY = 20 * 1024, 4
ARM, RIM = 4 * 0.0254, 1.5  # m; the rim of the drum lies this much further out than the joint of the actuator
CUT_OFF = 50.0  # Hz, of the causal velocity; that of the supplied one

# Read off the loops of the harmonic tests: slack and taut stiffness, backlash, plateaus; round numbers for the rest
START = {
    "LuGre": lugre_exact(
        sigma0=5e6, sigma1=1e4, sigma2=1e3, Fc_pos=14e3, Fs_pos=14.5e3, Fc_neg=16e3, Fs_neg=21e3, vs=0.05
    ),
    "gap-slip": gap_slip(
        kd=0.1e6,
        kp=7.5e6,
        kn=7.5e6,
        gp=1.6e-3,
        gn=1.6e-3,
        w=0.5e-3,
        n_pos=5.0,
        n_neg=5.0,
        Fc_pos=13e3,
        dF_pos=1e3,
        Fc_neg=16e3,
        dF_neg=5e3,
        vs=0.05,
        c=5e3,
        m=100.0,
        fg=200.0,
        off=0.0,
    ),
}
FREE = {
    "LuGre": {
        "sigma0": (1e5, 1e8),
        "sigma1": (1e2, 1e6),
        "sigma2": (0.0, 5e4),
        "Fc_pos": (2e3, 4e4),
        "Fs_pos": (2e3, 4e4),
        "Fc_neg": (2e3, 4e4),
        "Fs_neg": (2e3, 4e4),
        "vs": (1e-3, 1.0),
    },
    "gap-slip": {
        "kd": (2e4, 1e6),
        "kp": (1e6, 3e7),
        "kn": (1e6, 3e7),
        "gp": (0.2e-3, 6e-3),
        "gn": (0.2e-3, 6e-3),
        "w": (5e-5, 2e-3),
        "n_pos": (0.5, 40.0),
        "n_neg": (0.5, 40.0),
        "Fc_pos": (2e3, 4e4),
        "dF_pos": (0.0, 2e4),
        "Fc_neg": (2e3, 4e4),
        "dF_neg": (0.0, 2e4),
        "vs": (5e-3, 0.5),
        "c": (0.0, 5e4),
        "m": (0.0, 3e3),
        "fg": (0.0, 3e3),
        "off": (-2e3, 2e3),
    },
}
SOLVED = {"LuGre": "y", "gap-slip": "s"}  # the state found from the first measured force
TOLERANCE = 1e-6  # relative change of the sum of squares; the errors below then move by less than 1 N
WEIGHTINGS = ("plain", "normalised")  # every sample the same; every test the same, over the rms of its force


def run(job):
    """Values of all claims: RMSE in N over the paper's segments; of a quick run what is fitted to harmonics alone."""
    harmonics = {name: _supplied(test) for name, test in tests("d2_h36lb_*").items()}
    quakes = {name: _supplied(tests(f"d2_eq36lb_{name}")[f"d2_eq36lb_{name}"]) for name in QUAKES}
    fits, chosen = _fits(job, harmonics, quakes)
    judged = {"supplied v": quakes, "causal v": {name: _causal(test) for name, test in quakes.items()}}
    errors = {
        (case, v): [_rmse(fits[case, name].law, case, name, tests[name]) for name in QUAKES]
        for v, tests in judged.items()
        for case in dict.fromkeys(case for case, _ in fits)
    }
    values = {}
    for claim, case in (
        ("refit LuGre", "LuGre, leave one out"),
        ("gap-slip, harmonics only", "gap-slip, harmonics"),
        ("gap-slip, leave one out", "gap-slip, leave one out"),
    ):
        if (case, "supplied v") not in errors:
            continue
        supplied, causal = errors[case, "supplied v"], errors[case, "causal v"]
        values |= {f"{claim}, {name}": e for name, e in zip(QUAKES, supplied, strict=True)}
        values |= {f"{claim}, mean": np.mean(supplied), f"{claim}, mean with causal velocity": np.mean(causal)}
    for law in START:
        found = fits[f"{law}, harmonics", QUAKES[0]]
        values[f"{law}, mean NRMSE of the harmonic tests"] = 100 * np.mean(found.nrmse)
    _show(job, fits, errors, quakes, chosen)
    return values


def _supplied(test):
    """The provider's velocity (low-passed forwards and backwards, so not causal) and its derivative."""
    return {"d": test.d, "v": test.v, "f": test.f, "a": np.gradient(test.v) * RATE}


def _causal(test):
    """Velocity from past samples alone: backward difference, then a second-order low-pass."""
    low_pass = butter(2, CUT_OFF, fs=RATE, output="sos")
    v = sosfilt(low_pass, np.diff(test["d"], prepend=test["d"][0]) * RATE)
    return test | {"v": v, "a": np.diff(v, prepend=v[0]) * RATE}


def _measured(law, name, test, weighting=None):
    """A test as the law sees it, whole; or, to be fitted, its first 20 s at 256 Hz."""
    inputs = {key: test[key] for key in ("d", "v", "a")}
    if law == "LuGre":
        inputs["v"] = RIM * test["v"] / np.sqrt(1.0 - (test["d"] / ARM) ** 2)
    if weighting is None:
        return MeasuredTest(1.0 / RATE, inputs, test["f"], SOLVED[law], name=name)
    f = test["f"][:FITTED:EVERY]
    weight = 1.0 if weighting == "plain" else 1.0 / np.sqrt(np.sum(f**2))
    short = {key: signal[:FITTED:EVERY] for key, signal in inputs.items()}
    return MeasuredTest(EVERY / RATE, short, f, SOLVED[law], weight, name)


def _fits(job, harmonics, quakes):
    """Fits by case and by the earthquake they are judged on; and the weighting of each leave-one-out fit."""
    steps = 2 if job.quick else len(QUAKES) * 3 + 4
    done = iter(range(1, steps + 1))

    def fitted(law, training, weighting):
        tests = [_measured(law, name, test, weighting) for name, test in training.items()]
        # motions as recorded, like the fits that are compared with
        found = fit(START[law], tests, FREE[law], starts=1, tolerance=TOLERANCE, noisy_inputs=False)
        job.progress("fitting", next(done) / steps)
        return found

    fits, chosen = {}, {}
    for law in START:
        for weighting in WEIGHTINGS if not job.quick else WEIGHTINGS[:1]:
            # nothing in the harmonic tests can tell which weighting is the better one: plain is the default
            case = f"{law}, harmonics" + (", normalised" if weighting == "normalised" else "")
            found = fitted(law, harmonics, weighting)
            fits |= {(case, name): found for name in QUAKES}
    for name in () if job.quick else QUAKES:
        others = {other: test for other, test in quakes.items() if other != name}
        tried = {weighting: fitted("LuGre", harmonics | others, weighting) for weighting in WEIGHTINGS}
        # chosen by LuGre on the earthquakes that were fitted, and used for both laws: the one left out has no say
        score = {w: np.mean([_rmse(f.law, "LuGre", o, t) for o, t in others.items()]) for w, f in tried.items()}
        chosen[name] = min(WEIGHTINGS, key=lambda weighting: score[weighting])
        fits["LuGre, leave one out", name] = tried[chosen[name]]
        fits["gap-slip, leave one out", name] = fitted("gap-slip", harmonics | others, chosen[name])
    return fits, chosen


def _force(device, case, name, test):
    """Force over a whole record, free-running from the first sample, of which alone the force is known."""
    return predict(device, _measured(case.partition(",")[0], name, test))


def _rmse(device, case, name, test):
    error = _force(device, case, name, test) - test["f"]
    return float(np.sqrt(np.mean(error[SEGMENTS[name[:5]]] ** 2)))


def _show(job, fits, errors, quakes, chosen):
    rows = [[case, v, *(f"{e:.0f}" for e in row), f"{np.mean(row):.0f}"] for (case, v), row in errors.items()]
    columns = ["fitted to", "velocity", *QUAKES, "mean"]
    job.tables.append(Table("RMSE in N over the paper's segments", columns, rows))
    plain = [fits[f"{law}, harmonics", QUAKES[0]] for law in START]
    rows = [[test.name, *(f"{100 * found.nrmse[k]:.1f}" for found in plain)] for k, test in enumerate(plain[0].tests)]
    job.tables.append(Table("NRMSE in % of the harmonic tests, fitted to them", ["test", *START], rows))
    for law, found in zip(START, plain, strict=True):
        rows = [[e.name, e.value, e.unit, e.low, e.high, e.remark] for e in found.estimates.values()]
        job.tables.append(
            Table(f"{law} from the harmonic tests", ["parameter", "value", "unit", "95 % from", "to", "remark"], rows)
        )
    if chosen:
        job.notes.append(
            "Weighting of the leave-one-out fits: " + ", ".join(f"{q} {w}" for q, w in chosen.items()) + "."
        )
    rows = slice(0, FITTED, EVERY)
    time = np.arange(FITTED)[rows] / RATE
    for case in ("measured", *(f"{law}, {'leave one out' if chosen else 'harmonics'}" for law in START)):
        histories = {}
        for name, test in quakes.items():
            f = test["f"] if case == "measured" else _force(fits[case, name].law, case, name, test)
            histories |= {f"{name}.d": test["d"][rows], f"{name}.f": f[rows]}
        units = ["m", "N"] * len(quakes)
        job.recordings[case] = Recording(
            time, np.column_stack(list(histories.values())), tuple(histories), tuple(units)
        )
