"""Speed of networks: one step of the frozen OCP-NN beside ONNX Runtime and PyTorch, and one training update."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np

from benchmarks.measure import interleaved, report
from benchmarks.onnx_step import step_model
from benchmarks.torch_networks import torch_module, torch_ocp_nn
from hyloop.neural import Card, FrozenStack, Signal, ocp_nn

__all__ = ["lstm", "lstm_train"]

DT, CALLS, TICKS, PEER_TICKS = 1 / 1024, 200, 50, 200
BATCH, STEPS = 10, 6000  # of the paper
# glibc then keeps freed memory, in one arena for all threads, instead of giving it back page by page
RETAINED = {
    "MALLOC_MMAP_THRESHOLD_": "4000000000",
    "MALLOC_TRIM_THRESHOLD_": "8000000000",
    "MALLOC_TOP_PAD_": "1000000000",
    "MALLOC_ARENA_MAX": "1",
}
ONE_CORE = {"OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}


def _network() -> FrozenStack:
    rng, architecture = np.random.default_rng(0), ocp_nn()
    tensors = {
        name: (rng.normal(size=shape) / np.sqrt(max(shape[0], 10))).astype(np.float32)
        for name, shape in architecture.shapes.items()
    }
    card = Card(tuple(Signal(f"u{k}", "N") for k in range(5)), (Signal("f", "N"),), dt=DT)
    return FrozenStack(architecture, tensors, card)


def _onnx_job(network: FrozenStack, u: np.ndarray, wanted: np.ndarray) -> Any:
    try:
        onnxruntime: Any = import_module("onnxruntime")
    except ImportError:
        return None
    model, rest = step_model(network)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = list(rest)[1:]

    def job() -> np.ndarray:
        feed, times, y = dict(rest), np.empty(PEER_TICKS), np.empty(PEER_TICKS)
        for k in range(PEER_TICKS):
            feed["x"] = u[k].reshape(1, 1, -1)
            begin = perf_counter_ns()
            out = session.run(None, feed)
            times[k] = perf_counter_ns() - begin
            y[k] = out[0][0, 0, 0]
            feed = dict(zip(["x", *names], [feed["x"], *out[1:]], strict=True))
        assert np.allclose(y, wanted[:PEER_TICKS], rtol=0, atol=1e-5), "the peer is another network"
        return times * 1e-9

    return job


def _torch_job(network: FrozenStack, u: np.ndarray, wanted: np.ndarray) -> Any:
    torch = torch_module()
    if torch is None:
        return None
    torch.set_num_threads(1)  # the kindest choice for one step
    model = torch_ocp_nn(torch, network.tensors)

    def job() -> np.ndarray:
        state, times, y = None, np.empty(PEER_TICKS), np.empty(PEER_TICKS)
        with torch.inference_mode():
            for k in range(PEER_TICKS):
                x = torch.from_numpy(u[k].reshape(1, 1, -1))
                begin = perf_counter_ns()
                out, state = model(x, state)
                times[k] = perf_counter_ns() - begin
                y[k] = float(out)
        assert np.allclose(y, wanted[:PEER_TICKS], rtol=0, atol=1e-5), "the peer is another network"
        return times * 1e-9

    return job


def lstm() -> dict[str, Any]:
    """One step of the OCP-NN called from compiled code, `TICKS` at a time; peers are called from Python."""
    network = _network()
    u = np.random.default_rng(1).normal(size=(PEER_TICKS, 5)).astype(np.float32)
    device = network.device()
    wanted = device.drive(DT, **{f"u{k}": u[:, k] for k in range(5)})["f"]
    signals = {f"u{k}": u[:TICKS, k].astype(float) for k in range(5)}

    def job() -> np.ndarray:
        times = np.empty(CALLS)
        for i in range(CALLS):
            begin = perf_counter_ns()
            device.drive(DT, **signals)
            times[i] = (perf_counter_ns() - begin) / TICKS
        return times * 1e-9

    jobs = {"hyloop": job, "ONNX Runtime": _onnx_job(network, u, wanted), "PyTorch": _torch_job(network, u, wanted)}
    return report("lstm", interleaved({name: run for name, run in jobs.items() if run}, repeats=11))


def lstm_train() -> dict[str, Any]:
    """One update (loss, gradient, Adam) of the OCP-NN on one core; in ``retained`` with memory kept by the allocator.

    Both are measured in processes of their own, because the allocator reads its settings when a process starts.
    """
    plain, retained = (_training_process(extra) for extra in ({}, RETAINED))
    return plain | {"retained": retained}


def _training_process(extra: dict[str, str]) -> dict[str, Any]:
    root = Path(__file__).parents[1]
    script = "import json\nfrom benchmarks.networks import _updates\nprint(json.dumps(_updates()))\n"
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        cwd=root,
        capture_output=True,
        text=True,
        env=os.environ | ONE_CORE | extra,
    )
    return json.loads(done.stdout.splitlines()[-1])


def _updates() -> dict[str, Any]:
    import jax
    import jax.numpy as jnp
    import optax

    from hyloop.learn.networks.stack import thaw

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rng, network = np.random.default_rng(2), _network()
    x, y = (rng.normal(size=(BATCH, STEPS, n)).astype(np.float32) for n in (5, 1))
    optimiser = optax.adam(1e-3)

    def ours(path: str) -> Any:
        @jax.jit
        def update(stack, state, x, y):
            loss, slope = jax.value_and_grad(lambda s: jnp.mean((s(x, path=path)[0] - y) ** 2))(stack)
            change, state = optimiser.update(slope, state)
            return optax.apply_updates(stack, change), state, loss

        stack: Any = thaw(network)
        state, data = optimiser.init(stack), (jnp.asarray(x), jnp.asarray(y))
        return lambda: jax.block_until_ready(update(stack, state, *data))[-1]

    jobs: dict[str, Any] = {"hyloop": ours("compiled"), "JAX scan": ours("scan")}
    losses = [float(job()) for job in jobs.values()]
    torch = torch_module()
    if torch is not None:
        torch.set_num_threads(1)
        model = torch_ocp_nn(torch, network.tensors)
        adam, data = torch.optim.Adam(model.parameters()), (torch.tensor(x), torch.tensor(y))

        def update() -> Any:
            adam.zero_grad()
            loss = ((model(data[0])[0] - data[1]) ** 2).mean()
            loss.backward()
            adam.step()
            return loss

        losses.append(float(update().detach()))
        jobs["PyTorch"] = update
    assert np.allclose(losses, losses[0], rtol=1e-5), "the peers are other networks"
    return report("lstm-train", interleaved({name: _silent(job) for name, job in jobs.items()}, repeats=9), unit="ms")


def _silent(job: Any) -> Any:
    """A job whose result is not taken for its times."""

    def run() -> None:
        job()

    return run
