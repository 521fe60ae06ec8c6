"""A perceptron with tanh layers of one width and a linear output, on flat arrays: its value and its gradients.

The weights lie neuron by neuron, each with its bias last, from the first layer to the output, so that the weights
of the output are the last ``width + 1``.
"""

import math

import numpy as np

from hyloop.core.jit import verb

__all__ = ["evaluate", "gradients", "random_weights", "weight_count"]


def weight_count(inputs: int, width: int, depth: int) -> int:
    """Number of weights and biases."""
    return width * (inputs + 1) + (depth - 1) * width * (width + 1) + width + 1


def random_weights(rng: np.random.Generator, inputs: int, width: int, depth: int) -> np.ndarray:
    """Starting weights that spread the active regions of the neurons over inputs in [-1, 1].

    References
    ----------
    Nguyen, Widrow (1990), doi:10.1109/IJCNN.1990.137819.
    """
    w: list[float] = []
    for n in (inputs, *[width] * (depth - 1)):
        size = 0.7 * width ** (1.0 / n)
        for _ in range(width):
            direction = rng.uniform(-1.0, 1.0, n)
            w += [*(size * direction / np.linalg.norm(direction)), size * rng.uniform(-1.0, 1.0)]
    return np.array([*w, *rng.uniform(-0.5, 0.5, width + 1)])


@verb
def evaluate(w, z, a, inputs, width, depth):
    """Output for the inputs `z`; the activations of all layers are left in `a`."""
    k = 0
    for layer in range(depth):
        n = inputs if layer == 0 else width
        for i in range(width):
            s = w[k + n]
            for j in range(n):
                s += w[k + j] * (z[j] if layer == 0 else a[(layer - 1) * width + j])
            a[layer * width + i] = math.tanh(s)
            k += n + 1
    s = w[k + width]
    for j in range(width):
        s += w[k + j] * a[(depth - 1) * width + j]
    return s


@verb
def gradients(w, z, a, g, gz, delta, inputs, width, depth):
    """Derivatives of the output by the weights, into `g`, and by the inputs, into `gz`, after `evaluate`.

    `delta` has room for all activations; it holds the derivatives by the sums that enter the neurons.
    """
    last = (depth - 1) * width
    k = width * (inputs + 1) + (depth - 1) * width * (width + 1)
    for j in range(width):
        g[k + j] = a[last + j]
        delta[last + j] = w[k + j] * (1.0 - a[last + j] * a[last + j])
    g[k + width] = 1.0
    for layer in range(depth - 1, -1, -1):
        n = inputs if layer == 0 else width
        k -= width * (n + 1)
        here, below = layer * width, (layer - 1) * width
        for j in range(n):
            if layer == 0:
                gz[j] = 0.0
            else:
                delta[below + j] = 0.0
        for i in range(width):
            d, row = delta[here + i], k + i * (n + 1)
            for j in range(n):
                if layer == 0:
                    g[row + j] = d * z[j]
                    gz[j] += d * w[row + j]
                else:
                    g[row + j] = d * a[below + j]
                    delta[below + j] += d * w[row + j]
            g[row + n] = d
        if layer > 0:
            for j in range(width):
                delta[below + j] *= 1.0 - a[below + j] * a[below + j]
