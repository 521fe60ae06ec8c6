"""Networks in plain NumPy and double precision, written from the textbook, one sample at a time."""

import numpy as np


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def outputs(architecture, tensors, inputs):
    """Outputs (samples, outputs) of a network from rest; `inputs` are (samples, inputs) as the network sees them."""
    layers = [
        {name: np.asarray(tensors[f"{k}.{name}"], dtype=float) for name in layer.shapes}
        for k, layer in enumerate(architecture.layers)
    ]
    h = [np.zeros(layer.width) for layer in architecture.layers]
    c = [np.zeros(layer.width) for layer in architecture.layers]
    rows = []
    for x in np.asarray(inputs, dtype=float):
        k = 0
        for stage in architecture.stages:
            joined = []
            for layer in stage:
                w, u = layers[k], x[slice(*layer.reads)]
                if layer.kind == "lstm":
                    i, f, g, o = np.split(u @ w["W"] + h[k] @ w["U"] + w["b"], 4)
                    c[k] = sigmoid(f) * c[k] + sigmoid(i) * np.tanh(g)
                    h[k] = sigmoid(o) * np.tanh(c[k])
                elif layer.kind == "gru":
                    (r, z, n), (hr, hz, hn) = np.split(u @ w["W"] + w["b"], 3), np.split(h[k] @ w["U"], 3)
                    r, z = sigmoid(r + hr), sigmoid(z + hz)
                    h[k] = (1 - z) * np.tanh(n + r * (hn + w["r"])) + z * h[k]
                else:
                    a = u @ w["W"] + w["b"]
                    h[k] = {"tanh": np.tanh, "relu": lambda a: np.maximum(a, 0.0), "linear": lambda a: a}[layer.kind](a)
                joined.append(h[k])
                k += 1
            x = np.concatenate(joined)
        rows.append(x)
    return np.array(rows)


def random_tensors(architecture, rng):
    """Weights of a size that keeps the gates busy."""
    return {
        name: (rng.normal(size=shape) / np.sqrt(shape[0] if len(shape) == 2 else 10.0)).astype(np.float32)
        for name, shape in architecture.shapes.items()
    }
