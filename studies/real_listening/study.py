"""Networks trained on virtual specimens hear one real test and predict another; deaf ones, filters, fixed laws."""

import numpy as np

from hyloop.record import Recording
from hyloop.report.page import Table
from hyloop.study.seeds import Seeds

from . import filters, pairs, work
from .judging import ADAPTED, ADAPTED_DEAF, BLIND, DEAF, HEARS, Networks
from .networks import LISTENING
from .shared import hearing, sessions
from .tables import pooled, quartiles, table
from .work import EARTHQUAKES

QUICK_SESSION = "d3 30 lb"
QUICK_NOTE = f"The quick run judges {QUICK_SESSION} with one network of each kind and without LuGre friction."
DRAWN = ("d3 30 lb", "d2 0 lb", "d1 80 lb")


def run(job):
    """Values of all claims."""
    every = sessions.load(sessions.PATTERNS)
    kinds = ("gap-slip",) if job.quick else tuple(hearing.BLOCKS)
    seeds = 1 if job.quick else None
    fitted = (sessions.BASE,) if job.quick else (sessions.BASE, sessions.SWAPPED)
    made = job.work("laws", [work.laws_task(session, kinds) for session in fitted])
    base = made[f"laws of {sessions.BASE}"]
    if job.quick:
        job.notes.append(QUICK_NOTE)
        laws: dict = {QUICK_SESSION: base}
    else:  # where the base session is judged, laws come from another one
        laws = dict.fromkeys(every, base) | {sessions.BASE: made[f"laws of {sessions.SWAPPED}"], EARTHQUAKES: base}
    done = job.work("pairs", [work.errors_task(session, laws[session], seeds) for session in laws])
    found = {session: done[f"pairs of {session}"] for session in laws}
    values = _judged(job, every, {s: errors for s, errors in found.items() if s != EARTHQUAKES})
    if EARTHQUAKES in found and ADAPTED in found[EARTHQUAKES]:
        values |= _adapted(job, found)
    _draw(job, every, found)
    return values


def _ratio(errors, model, other):
    """Median over pairs of a model over that of another, for every seed of the first."""
    one, two = (quartiles(errors[m])[1] for m in (model, other))
    return _seeds(one / (two if len(one) == len(two) else two.mean()))


def _seeds(values):
    return Seeds.of(values) if len(values) > 1 else float(values[0])


def _judged(job, every, found):
    """Tables and claims about networks that no real test has trained."""
    spread = 100 * float(np.median([*sessions.spread().values()]))
    every_pair = pooled(found)
    of = {g: pooled(found, lambda s, p, g=g: _group(every, s, p) == g) for g in (pairs.CLOCK, pairs.UNRELATED)}
    of = {g: errors for g, errors in of.items() if errors[HEARS]}
    job.tables.append(table("NRMSE in %, median over pairs (quartiles), all sessions", {"all": every_pair, **of}))
    job.tables.append(table("NRMSE in %, median over pairs (quartiles), by session", found))
    values = {}
    for where, errors in {"all pairs": every_pair, **of}.items():
        for other in (DEAF, filters.CUKF, filters.FIXED_LUGRE, filters.FIXED_GAP, filters.FACTORS, BLIND):
            if other in errors and not job.quick:
                values[f"{where}: listening over {other}"] = _ratio(errors, HEARS, other)
    if not job.quick:
        values["all pairs: listening over the run-to-run spread"] = _seeds(quartiles(every_pair[HEARS])[1] / spread)
    for session, errors in found.items():
        values[f"{session}: listening over the run-to-run spread"] = _seeds(quartiles(errors[HEARS])[1] / spread)
    better = {
        other: 100 * np.mean([(e.mean() < every_pair[other][pair].mean()) for pair, e in every_pair[HEARS].items()])
        for other in every_pair
        if other != HEARS
    }
    rows = [[other, f"{share:.0f}"] for other, share in better.items()]
    job.tables.append(Table("Pairs in which the listening network is nearer, in %", ["than", "pairs [%]"], rows))
    medians = {model: quartiles(errors)[1].mean() for model, errors in every_pair.items()}
    pairs_ = len(every_pair[HEARS])
    job.numbers.append((f"{medians[HEARS]:.1f} %", f"median error of the network that hears, {pairs_} real pairs"))
    rival = f"the same network, another session heard; {filters.FACTORS}: {medians[filters.FACTORS]:.1f} %"
    job.numbers.append((f"{medians[DEAF]:.1f} %", f"{rival}; run-to-run spread {spread:.1f} %"))
    return values


def _group(every, session, pair):
    return pairs.group(*(every[session][name] for name in pair))


def _adapted(job, found):
    """Networks adapted to the harmonics of the base session: other sessions, and its earthquakes by laws of its own."""
    own, some = found[EARTHQUAKES], {s: errors for s, errors in found.items() if s != sessions.BASE}
    errors = pooled(some)
    head = "NRMSE in %, pairs that had no part in the adaptation"
    by = {"other sessions": pooled({s: e for s, e in some.items() if s != EARTHQUAKES})}
    job.tables.append(table(head, {"all": errors, **by, EARTHQUAKES: own}))
    spread = 100 * float(np.median([*sessions.spread().values()]))
    where = "pairs without the adaptation"
    return {
        f"{where}: adapted over listening": _ratio(errors, ADAPTED, HEARS),
        f"{where}: adapted over adapted and deaf": _ratio(errors, ADAPTED, ADAPTED_DEAF),
        f"{where}: adapted over {filters.FACTORS}": _ratio(errors, ADAPTED, filters.FACTORS),
        f"{where}: adapted over the run-to-run spread": _seeds(quartiles(errors[ADAPTED])[1] / spread),
        f"{EARTHQUAKES}: adapted over {filters.FIXED_GAP}": _ratio(own, ADAPTED, filters.FIXED_GAP),
    }


def _draw(job, every, found):
    """The pair with the median error of some sessions: measured, listening, deaf."""
    chosen = {}
    for session in DRAWN:
        if session in found:
            each = sorted(found[session][HEARS].items(), key=lambda item: item[1].mean())
            chosen[session] = each[len(each) // 2][0]
    cases, networks = {"measured": {}, HEARS: {}, DEAF: {}}, Networks(job.folder / "networks", 1)
    for session, (heard, judged) in chosen.items():
        seen = pairs.signals(every[session][judged])
        wrong = pairs.signals(pairs.deaf_to(session, heard, every))
        forces = {"measured": seen[:, 0]}
        for case, other in ((HEARS, pairs.signals(every[session][heard])), (DEAF, wrong)):
            forces[case] = networks.answer(LISTENING, pairs.run(other, seen))[0]
        names = " after ".join(sessions.short(name).replace(".", ",") for name in (judged, heard))
        for case, f in forces.items():
            cases[case] |= {f"{session}, {names}.d": seen[:, 1], f"{session}, {names}.f": f}
    for case, histories in cases.items():
        rows = slice(0, min(len(h) for h in histories.values()), 4)
        columns = np.column_stack([h[rows] for h in histories.values()])
        job.recordings[case] = Recording(
            4 * np.arange(len(columns)) / sessions.RATE, columns, tuple(histories), ("m", "N") * len(chosen)
        )
