"""Hear one real test, predict another: what calibrating and updating gain in sessions that no law was fitted to."""

from functools import partial

import numpy as np

from hyloop.identification import predict
from hyloop.record import Recording
from hyloop.report.page import Table

from . import semi_active, tension
from .hearing import BLOCKS, fitted
from .network import Listener, trained
from .pairs import CALIBRATED, KINDS, NONE, QUICK, UPDATED, errors, factors_table, quartiles, table
from .sessions import BASE, PATTERNS, SEMI_ACTIVE, SWAPPED, load, measured, short, spread

OWN = f"{BASE}, earthquakes by the law of the same session"
DRAWN = ("d3 30 lb", "d2 0 lb", SEMI_ACTIVE)  # sessions of which a pair is drawn
QUICK_SESSION = "d3 30 lb"
QUICK_NOTE = f"The quick run judges {QUICK_SESSION} by gap-slip alone, in full; nothing else is run."


def run(job):
    """Values of all claims."""
    tests = load((BASE, QUICK_SESSION) if job.quick else PATTERNS)
    own = _laws(job, BASE, tests, ("gap-slip",) if job.quick else tuple(BLOCKS))
    values, scale = _spread(job)
    if job.quick:
        job.notes.append(QUICK_NOTE)
        laws = {QUICK_SESSION: own}
        found, made = _sessions(job, tests, laws, QUICK)
    else:
        # where the base session is judged, the laws come from another one
        laws = {session: own for session in tests} | {BASE: _laws(job, SWAPPED, tests, tuple(BLOCKS))}
        found, made = _sessions(job, tests, laws, tuple(KINDS), Listener(trained(job.kept)))
        found[OWN], made[OWN] = _own(job, tests[BASE], own)
        laws[OWN] = own
    job.tables.insert(0, table(found))
    job.tables.append(factors_table(made, laws))
    values |= _judged(found, scale)
    if not job.quick:
        # levels can be compared where they are factors on one law
        values |= tension.study(job, tests, made | {BASE: made[OWN]})
        values |= semi_active.study(job, tests[SEMI_ACTIVE], own["gap-slip"])
    _draw(job, tests, found, made, laws)
    _head(job, found, scale)
    return values


def _laws(job, session, tests, kinds):
    """Laws fitted to the harmonic tests of one session, and a table of them."""
    harmonics = [test for test in tests[session].values() if not test.event]
    laws = {}
    for k, kind in enumerate(kinds):
        found = fitted(kind, harmonics)
        laws[kind] = found.law
        rows = [[e.name, e.value, e.unit, e.low, e.high, e.remark] for e in found.estimates.values()]
        title = f"{kind} from the harmonic tests of {session}, NRMSE in them {100 * np.mean(found.nrmse):.1f} %"
        head = ["parameter", "value", "unit", "95 % from", "to", "remark"]
        job.tables.append(Table(title, head, rows, folded=True))
        job.progress(f"laws of {session}", (k + 1) / len(kinds))
    return laws


def _sessions(job, tests, laws, models, network=None):
    """Errors of all pairs and the laws made, by session."""
    found, made = {}, {}
    for session in laws:
        # the network was trained on the base session: what it says of that is no prediction
        heard = network if session != BASE else None
        found[session], made[session] = errors(
            tests[session], laws[session], models, None, heard, partial(job.progress, session)
        )
    return found, made


def _own(job, tests, laws):
    """Earthquakes of the base session by laws of its harmonic tests: hearing one test more gains little or nothing."""
    quakes = [name for name, test in tests.items() if test.event]
    models = [model for model in KINDS if "refitted" not in model]
    return errors(tests, laws, models, quakes, None, partial(job.progress, "earthquakes"))


def _spread(job):
    """Claims about the run-to-run spread, and its median."""
    found = spread()
    rows = [[name, f"{100 * value:.2f}"] for name, value in found.items()]
    title = "Run-to-run spread: force of the same command at 30 lb, d2 against d3, NRMSE in %"
    job.tables.append(Table(title, ["test", "NRMSE [%]"], rows))
    least, largest = (100.0 * x for x in (min(found.values()), max(found.values())))
    return {"run-to-run spread, least": least, "run-to-run spread, largest": largest}, np.median([*found.values()])


def _median(found, session, model):
    return quartiles(found[session][model].values())[1]


def _judged(found, scale):
    """Claims about single sessions: gains, and errors over the spread."""
    values = {}
    for session in found:
        if session == OWN:
            continue
        none = _median(found, session, NONE)
        values[f"{session}, calibrated over none"] = _median(found, session, CALIBRATED) / none
        values[f"{session}, updated over none"] = _median(found, session, UPDATED) / none
        best = min(_median(found, session, model) for model in (CALIBRATED, UPDATED))
        values[f"{session}, better of the two over the spread"] = best / (100.0 * scale)
    return values


def _head(job, found, scale):
    """Numbers for the top of the page: over all pairs of sessions that no law was fitted to."""
    sessions = [session for session in found if session != OWN]
    pooled = {m: np.median([e for s in sessions for e in found[s][m].values()]) for m in (NONE, CALIBRATED)}
    pairs = sum(len(found[s][NONE]) for s in sessions)
    job.numbers.append((f"{100 * pooled[NONE]:.1f} %", f"median error of the law of another session, {pairs} pairs"))
    text = f"the same calibrated by one heard test; run-to-run spread {100 * scale:.1f} %"
    job.numbers.append((f"{100 * pooled[CALIBRATED]:.1f} %", text))


def _draw(job, tests, found, made, laws):
    """One pair of some sessions, that with the median error of the calibrated law: measured, none, calibrated."""
    chosen = {}
    for session in DRAWN:
        if session in found:
            each = sorted(found[session][CALIBRATED].items(), key=lambda item: item[1])
            chosen[session] = each[len(each) // 2][0]
    for case in ("measured", NONE, CALIBRATED):
        histories = {}
        for session, (heard, judged) in chosen.items():
            test = measured("gap-slip", tests[session][judged])
            law = laws[session]["gap-slip"] if case == NONE else made[session][CALIBRATED, heard]
            f = test.f if case == "measured" else predict(law, test)
            motions = [short(name).removeprefix("d4_").replace(".", ",") for name in (judged, heard)]
            site = f"{session}, {' after '.join(motions)}"  # a point would end the name of a site
            histories |= {f"{site}.d": test.inputs["d"], f"{site}.f": f}
        rows = slice(0, min(len(h) for h in histories.values()), 4)
        n = len(next(iter(histories.values()))[rows])
        columns = [h[rows] for h in histories.values()]
        units = ("m", "N") * len(chosen)
        job.recordings[case] = Recording(4 * np.arange(n) / 1024, np.column_stack(columns), tuple(histories), units)
