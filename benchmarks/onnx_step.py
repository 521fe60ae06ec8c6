"""One step of a network of LSTM layers as an ONNX model, written byte by byte: the peer needs only ONNX Runtime.

Numbers of fields are those of the public schema ``onnx.proto``.
"""

from typing import Any

import numpy as np

from hyloop.neural import FrozenStack

__all__ = ["step_model"]

_FLOAT, _INT64, _ATTRIBUTE_INT = 1, 7, 2
_OPSET, _IR_VERSION = 17, 8


def _varint(n: int) -> bytes:
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def _field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _tensor(name: str, array: np.ndarray) -> bytes:
    kind = _INT64 if array.dtype == np.int64 else _FLOAT
    dims = b"".join(_field(1, n) for n in array.shape)
    return dims + _field(2, kind) + _field(8, name) + _field(9, np.ascontiguousarray(array).tobytes())


def _signal(name: str, shape: tuple[int, ...]) -> bytes:
    dims = b"".join(_field(1, _field(1, n)) for n in shape)
    return _field(1, name) + _field(2, _field(1, _field(1, _FLOAT) + _field(2, dims)))


def _node(kind: str, inputs: list[str], outputs: list[str], **attributes: int) -> bytes:
    data = b"".join(_field(1, a) for a in inputs) + b"".join(_field(2, a) for a in outputs) + _field(4, kind)
    for name, value in attributes.items():
        data += _field(5, _field(1, name) + _field(3, value) + _field(20, _ATTRIBUTE_INT))
    return data


def step_model(network: FrozenStack) -> tuple[bytes, dict[str, np.ndarray]]:
    """The model ``x, h0, c0, h1, ... -> y, new h0, ...`` of LSTM and linear layers, and its inputs at rest.

    Inputs are (1, 1, n), as the network sees them. ONNX orders the gates i o f g.
    """
    nodes, tensors, states = [], {}, {}
    before, k = "x", 0
    for i, stage in enumerate(network.architecture.stages):
        joined = []
        for layer in stage:
            w: dict[str, Any] = {key: network.tensors[f"{k}.{key}"] for key in layer.shapes}
            read = f"read{k}"
            first, last = layer.reads
            tensors |= {f"from{k}": np.array([first]), f"to{k}": np.array([last]), "axis": np.array([2])}
            nodes.append(_node("Slice", [before, f"from{k}", f"to{k}", "axis"], [read]))
            if layer.kind == "lstm":
                order = np.concatenate([np.arange(layer.width) + g * layer.width for g in (0, 3, 1, 2)])
                bias = np.concatenate([w["b"][order], np.zeros(4 * layer.width, np.float32)])
                tensors |= {f"W{k}": w["W"].T[order][None], f"R{k}": w["U"].T[order][None], f"B{k}": bias[None]}
                states |= {f"h{k}": layer.width, f"c{k}": layer.width}
                nodes.append(
                    _node(
                        "LSTM",
                        [read, f"W{k}", f"R{k}", f"B{k}", "", f"h{k}", f"c{k}"],
                        ["", f"new_h{k}", f"new_c{k}"],
                        hidden_size=layer.width,
                    )
                )
                joined.append(f"new_h{k}")
            else:
                tensors |= {f"W{k}": w["W"], f"B{k}": w["b"]}
                nodes += [_node("MatMul", [read, f"W{k}"], [f"m{k}"]), _node("Add", [f"m{k}", f"B{k}"], [f"a{k}"])]
                joined.append(f"a{k}")
            k += 1
        before = f"stage{i}"
        nodes.append(_node("Concat", joined, [before], axis=2))
    outputs = [(before, network.architecture.outputs), *((f"new_{name}", n) for name, n in states.items())]
    inputs = {"x": network.architecture.inputs} | states
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, "step")
    graph += b"".join(_field(5, _tensor(name, array)) for name, array in tensors.items())
    graph += b"".join(_field(11, _signal(name, (1, 1, n))) for name, n in inputs.items())
    graph += b"".join(_field(12, _signal(name, (1, 1, n))) for name, n in outputs)
    model = _field(1, _IR_VERSION) + _field(8, _field(2, _OPSET)) + _field(7, graph)
    return model, {name: np.zeros((1, 1, n), np.float32) for name, n in inputs.items()}
