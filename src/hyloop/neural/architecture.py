"""What a network is made of: stages one after another, each of one or more layers side by side.

Every layer of a stage reads a range of what the stage before it gives; the outputs of the layers of a stage are joined.
The OCP-NN of Malik et al. is four stages: two LSTM layers of 16 side by side, two of 48 one after another, a linear
output.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyloop.errors import BadInput, OutOfBounds, UnknownName

__all__ = ["GATES", "KINDS", "Architecture", "Layer", "mlp", "ocp_nn", "recurrent"]

# vectors that one layer computes from its inputs: an LSTM has input, forget, candidate and output, in this order;
# a GRU reset, update and candidate
GATES = {"linear": 1, "tanh": 1, "relu": 1, "lstm": 4, "gru": 3}
KINDS = tuple(GATES)
_LARGEST = 1024


@dataclass(frozen=True)
class Layer:
    """One layer: its kind, its width, and the range of inputs it reads (``(0, n)`` where it reads all n)."""

    kind: str
    width: int
    reads: tuple[int, int]

    @property
    def inputs(self) -> int:
        return self.reads[1] - self.reads[0]

    @property
    def recurrent(self) -> bool:
        return self.kind in ("lstm", "gru")

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the weights: ``W`` (inputs, gates x width), ``U`` (width, gates x width) and ``b``.

        A GRU has ``r`` too, the bias of the recurrent part of its candidate, which the reset gate multiplies.
        """
        n = GATES[self.kind] * self.width
        shapes: dict[str, tuple[int, ...]] = {"W": (self.inputs, n)}
        if self.recurrent:
            shapes["U"] = (self.width, n)
        shapes["b"] = (n,)
        if self.kind == "gru":
            shapes["r"] = (self.width,)
        return shapes


@dataclass(frozen=True)
class Architecture:
    """Number of inputs, and the stages; see the top of the file.

    Parameters
    ----------
    inputs : int
        Number of inputs.
    stages : sequence of sequences
        Layers of every stage, as `Layer` or as ``(kind, width)`` or ``(kind, width, (first, last))``, where the layer
        reads inputs first ... last - 1 of its stage.
    """

    inputs: int
    stages: tuple[tuple[Layer, ...], ...]

    def __init__(self, inputs: int, stages: Sequence[Sequence[Any]]) -> None:
        made, size = [], _whole(inputs, "inputs")
        for k, stage in enumerate(stages):
            layers = tuple(_layer(spec, size, f"stage {k + 1}") for spec in stage)
            if not layers:
                raise BadInput(f"architecture: stage {k + 1} has no layer; give at least one.")
            made.append(layers)
            size = sum(layer.width for layer in layers)
        if not made:
            raise BadInput("architecture: no stage given; give at least one.")
        object.__setattr__(self, "inputs", int(inputs))
        object.__setattr__(self, "stages", tuple(made))

    @property
    def outputs(self) -> int:
        return sum(layer.width for layer in self.stages[-1])

    @property
    def recurrent(self) -> bool:
        """Whether any layer has memory, so that the network has learned one sampling interval."""
        return any(layer.recurrent for layer in self.layers)

    @property
    def layers(self) -> list[Layer]:
        """All layers, stage by stage."""
        return [layer for stage in self.stages for layer in stage]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of every tensor by name: ``"0.W"`` is W of the first layer."""
        return {f"{k}.{key}": shape for k, layer in enumerate(self.layers) for key, shape in layer.shapes.items()}

    def as_json(self) -> dict[str, Any]:
        return {
            "inputs": self.inputs,
            "stages": [[[a.kind, a.width, list(a.reads)] for a in stage] for stage in self.stages],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Architecture":
        return cls(data["inputs"], data["stages"])


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _LARGEST:
        raise OutOfBounds(f"architecture: {name} = {value!r} must be a whole number in 1..{_LARGEST}.")
    return value


def _layer(spec: Any, size: int, where: str) -> Layer:
    if isinstance(spec, Layer):
        spec = (spec.kind, spec.width, spec.reads)
    kind, width, *rest = spec
    if kind not in GATES:
        raise UnknownName("kind of layer", str(kind), KINDS, where=f"architecture, {where}")
    first, last = rest[0] if rest else (0, size)
    if not 0 <= first < last <= size:
        raise OutOfBounds(
            f"architecture, {where}: a layer reads ({first}, {last}), but its stage has {size} inputs. "
            f"Give 0 <= first < last <= {size}."
        )
    return Layer(kind, _whole(width, f"width in {where}"), (int(first), int(last)))


def mlp(inputs: int, outputs: int = 1, *, width: int = 32, depth: int = 2, kind: str = "tanh") -> Architecture:
    """A perceptron with `depth` hidden layers."""
    return Architecture(inputs, [*[[(kind, width)]] * depth, [("linear", outputs)]])


def recurrent(inputs: int, outputs: int = 1, *, width: int = 48, depth: int = 3, kind: str = "lstm") -> Architecture:
    """A stack of LSTM or GRU layers with a linear output; the defaults are the offline network of Malik et al."""
    return Architecture(inputs, [*[[(kind, width)]] * depth, [("linear", outputs)]])


def ocp_nn(measured: int = 4, own: int = 1, outputs: int = 1, *, kind: str = "lstm") -> Architecture:
    """The network that listens to a physical device and answers for another one.

    Parameters
    ----------
    measured : int
        Inputs from the physical device, the first ones: force, deformation and the two actuator forces in the paper.
    own : int
        Inputs of the modelled device, the last ones: its deformation.

    References
    ----------
    Malik, Cao, Ricles and Downey (2025), Online cyber-physical neural network model for real-time hybrid simulation,
    Fig. 5.
    """
    n = measured + own
    return Architecture(
        n, [[(kind, 16, (0, measured)), (kind, 16, (measured, n))], [(kind, 48)], [(kind, 48)], [("linear", outputs)]]
    )
