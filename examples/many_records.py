"""One frame with and without dampers under ten motions: ten pairs of recordings, and a page with all of them."""

import tomllib
from pathlib import Path

import hyloop
from hyloop.data import data_folder
from hyloop.hazards import index_records
from hyloop.report import write_catalogue

FRAME = Path(__file__).parents[1] / "experiments" / "friction_frame.toml"
OUT = Path("out/ten")

# what changes from run to run: ten synthetic motions, or ten records where this machine has some
changes = {f"synthetic-{seed}": {"seed": seed} for seed in range(1, 11)}
synthetic = tomllib.loads(FRAME.read_text(encoding="utf-8"))["excitation"]["kind"] == "synthetic"
if data_folder():
    strong = [record for record in index_records() if 3.0 < record.pga < 6.0]  # m/s2
    if len(strong) >= 10:
        motion = 'kind = "record", name = "{}"'
        changes = {r.name: {"excitation": "{" + motion.format(r.name) + "}"} for r in strong[:10]}

if "synthetic-1" in changes and not synthetic:
    raise SystemExit(f"{FRAME.name}: a seed changes synthetic motions only; all ten would be equal. Name ten records.")

ratios = []
for name, change in changes.items():
    damped = hyloop.run(FRAME, change, out=OUT / f"{name}.h5", force=True)
    bare = hyloop.run(FRAME, change, out=OUT / f"{name}-bare.h5", force=True, bare=True)
    drifts = [abs(run.select("drift.*").data).max() for run in (bare, damped)]  # of all stories
    ratios.append(drifts[1] / drifts[0])
    print(f"{name:45} {1e3 * drifts[0]:6.1f} mm without, {1e3 * drifts[1]:6.1f} mm with dampers")
print(f"with over without: {sum(ratios) / len(ratios):.2f}, from {min(ratios):.2f} to {max(ratios):.2f}")
print("page:", write_catalogue(OUT / "catalogue.html", OUT, "A frame with and without dampers"))
