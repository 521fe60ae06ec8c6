"""Run benchmarks and print a table, or JSON with ``--json``."""

import argparse
import json

from rich.console import Console
from rich.table import Table

from benchmarks import engine

BENCHMARKS = {"tick": engine.tick, "live": engine.live, "start": engine.start}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], help="benchmarks to run (default: all)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    console = Console(stderr=True)
    results = []
    for name in options.names or BENCHMARKS:
        with console.status(f"{name}: {BENCHMARKS[name].__doc__}"):
            results.append(BENCHMARKS[name]())
    if options.json:
        print(json.dumps(results, indent=2))
        return
    table = Table(title="ratio = time of the peer / time of hyloop")
    for column in ("benchmark", "median", "p99", "p99.9", "unit", "peer", "its median", "ratio"):
        table.add_column(column, justify="left" if column in ("benchmark", "unit", "peer") else "right")
    for result in results:
        numbers = [f"{result[key]:.3g}" for key in ("median", "p99", "p999")]
        peers = result["peers"] or {"-": None}
        for k, (peer, value) in enumerate(peers.items()):
            own = [result["name"], *numbers, result["unit"]] if k == 0 else [""] * 5
            table.add_row(*own, peer, *([f"{value['median']:.3g}", f"{value['ratio']:.1f}"] if value else ["", ""]))
    Console().print(table)


if __name__ == "__main__":
    main()
