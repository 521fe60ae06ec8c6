"""Every benchmark by name; ``hyloop bench`` runs them."""

from collections.abc import Callable
from typing import Any

from benchmarks import engine, filters, networks, tower
from benchmarks.cluster import cluster
from benchmarks.differentiable import differentiable
from benchmarks.growth import growth
from benchmarks.ida import ida
from benchmarks.moment_frame import moment_frame
from benchmarks.ocp_nn import ocp_nn_tick
from benchmarks.paced import paced
from benchmarks.recording import recording
from benchmarks.sparse import sparse
from benchmarks.sweep import sweep
from benchmarks.tower_loop import tower_loop
from benchmarks.transfer import transfer

__all__ = ["BENCHMARKS"]

BENCHMARKS: dict[str, Callable[[], dict[str, Any]]] = {
    "tick": engine.tick,
    "live": engine.live,
    "start": engine.start,
    "transfer": transfer,
    "tower": tower.tower,
    "tower-loop": tower_loop,
    "growth": growth,
    "sparse": sparse,
    "recording": recording,
    "moment-frame": moment_frame,
    "ida": ida,
    "cukf": filters.cukf,
    "updaters": filters.updaters,
    "network-updates": filters.network_updates,
    "ocp-nn": ocp_nn_tick,
    "sweep": sweep,
    "differentiable": differentiable,
    "cluster": cluster,
    "paced": paced,
    "lstm": networks.lstm,
    "lstm-train": networks.lstm_train,
}
