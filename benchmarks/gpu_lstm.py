"""One training update of the OCP-NN (10 histories of 6000 steps) on a GPU, beside PyTorch's cuDNN LSTM; prints JSON.

Run from the checkout: ``PYTHONPATH=src:. python benchmarks/gpu_lstm.py``. Not in the catalogue, because it needs a GPU.
Where there is none it measures the CPU and says so. ``agreement`` compares losses and gradients of the GPU with plain
JAX on the CPU of the same machine.
"""

import json
from time import perf_counter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from benchmarks.measure import interleaved, report
from benchmarks.torch_networks import torch_module, torch_ocp_nn
from hyloop.learn.networks.stack import Stack
from hyloop.neural.architecture import ocp_nn

BATCH, STEPS, REPEATS, UPDATES = 10, 6000, 9, 20


def _loss(stack: Stack, x: Any, y: Any, path: str) -> Any:
    return jnp.mean((stack(x, path=path)[0] - y) ** 2)


def _ours(stack: Any, x: np.ndarray, y: np.ndarray, path: str) -> Any:
    optimiser = optax.adam(1e-3)

    @jax.jit
    def update(stack, state, x, y):
        loss, slope = jax.value_and_grad(_loss)(stack, x, y, path)
        change, state = optimiser.update(slope, state)
        return optax.apply_updates(stack, change), state, loss

    state, data = optimiser.init(stack), (jnp.asarray(x), jnp.asarray(y))

    def job() -> None:
        jax.block_until_ready(update(stack, state, *data))

    return job


def _torch(stack: Stack, x: np.ndarray, y: np.ndarray, tf32: bool) -> Any:
    name = "cuda" if jax.default_backend() == "gpu" else "cpu"
    torch = torch_module()
    if torch is None:
        return None
    model = torch_ocp_nn(torch, stack.tensors, name)
    adam, data = torch.optim.Adam(model.parameters()), (torch.tensor(x, device=name), torch.tensor(y, device=name))

    def job() -> None:
        torch.backends.cudnn.allow_tf32 = tf32
        adam.zero_grad()
        ((model(data[0])[0] - data[1]) ** 2).mean().backward()
        adam.step()
        if name == "cuda":
            torch.cuda.synchronize()

    return job


def _agreement(stack: Stack, x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Losses of `UPDATES` updates, and the first gradient: the device's fastest path against plain JAX on the CPU."""

    def losses(device: Any, path: str) -> tuple[list[float], Any, float]:
        with jax.default_device(device):
            # large steps, so that the losses move; the same histories every time
            model, optimiser = jax.device_put(stack, device), optax.adam(1e-2)
            state, data = optimiser.init(model), jax.device_put((x, y), device)
            evaluate, found, first = jax.jit(jax.value_and_grad(lambda s, a, b: _loss(s, a, b, path))), [], None
            begin = perf_counter()
            for _ in range(UPDATES):
                loss, slope = evaluate(model, *data)
                first = slope if first is None else first
                change, state = optimiser.update(slope, state)
                model = optax.apply_updates(model, change)
                found.append(float(loss))
            return found, jax.tree.map(np.asarray, first), perf_counter() - begin

    device, slope, seconds = losses(jax.devices()[0], "auto")
    host, exact, host_seconds = losses(jax.devices("cpu")[0], "scan")
    pairs = zip(jax.tree.leaves(slope), jax.tree.leaves(exact), strict=True)
    return {
        "loss_first": host[0],
        "loss_last": host[-1],
        "largest_relative_difference_of_losses": float(np.max(np.abs(np.array(device) / np.array(host) - 1))),
        "largest_relative_difference_of_gradients": max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs),
        "seconds_device": seconds,
        "seconds_host": host_seconds,
    }


def main() -> None:
    rng, stack = np.random.default_rng(0), Stack(ocp_nn(), key=jax.random.key(0))
    x = rng.normal(size=(BATCH, STEPS, 5)).astype(np.float32)
    y = (0.3 * np.cumsum(x[..., :1], axis=1) / np.sqrt(np.arange(1, STEPS + 1))[:, None]).astype(np.float32)
    jobs = {
        "hyloop": _ours(stack, x, y, "auto"),
        "JAX scan": _ours(stack, x, y, "scan"),
        "PyTorch": _torch(stack, x, y, False),
        "PyTorch with TF32": _torch(stack, x, y, True),
    }
    times = interleaved({name: job for name, job in jobs.items() if job}, repeats=REPEATS)
    about = {"device": str(jax.devices()[0]), "jax": jax.__version__, "agreement": _agreement(stack, x, y)}
    print(json.dumps(report("gpu-lstm", times, unit="ms") | about, indent=2))


if __name__ == "__main__":
    main()
