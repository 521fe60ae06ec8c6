"""Compensators, actuators and sensors of experiment files; `hyloop.files.transfer` tells how to add one."""

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Discriminator, Field, GetPydanticSchema, PlainValidator, Tag, WithJsonSchema, model_validator

from hyloop.core import Block, Instance
from hyloop.errors import BadInput
from hyloop.files import compensators as _compensators  # noqa: F401 - enters its classes into MAKERS
from hyloop.files.fields import Quantity, Table, refuse
from hyloop.files.laws import LAWS, DeviceSpec
from hyloop.files.rig_file import is_rig_file
from hyloop.files.rig_spec import RigSpec
from hyloop.files.transfer import BLOCKS, MAKERS, Entry, Made
from hyloop.transfer import (
    Plant,
    delay,
    first_order_lag,
    linear_specimen,
    link,
    second_order_lag,
    sensor,
    servo_hydraulic,
    state_space,
    transfer_function,
    transfer_matrix,
    zeros_poles,
)

__all__ = ["BLOCKS", "MAKERS", "AxisSpec", "PlainBlock", "RigSpec", "TransferSpec", "roles_of"]

BLOCKS["delay"] = Entry(delay, "actuator")
BLOCKS["first_order_lag"] = Entry(first_order_lag, "actuator")
BLOCKS["second_order_lag"] = Entry(second_order_lag, "actuator")
BLOCKS["servo_hydraulic"] = Entry(servo_hydraulic, "actuator")
BLOCKS["sensor"] = Entry(sensor, "sensor")
BLOCKS["link"] = Entry(link({"d": "m", "f": "N"}), "sensor")

Numbers = Annotated[tuple[float, ...], Quantity("-", depth=1)]
Matrix = Annotated[tuple[tuple[float, ...], ...], Quantity("-", depth=2)]


def _root(given: Any) -> list[complex]:
    """One root in rad/s: a number, a pair of real and imaginary part, or a text; ``-50+-63j`` stands for two."""
    if isinstance(given, (list, tuple)) and len(given) == 2 and all(isinstance(part, (int, float)) for part in given):
        return [complex(*given)]
    if isinstance(given, complex) or (isinstance(given, (int, float)) and not isinstance(given, bool)):
        return [complex(given)]
    text = given.replace(" ", "") if isinstance(given, str) else ""
    try:
        if "+-" in text:
            one = complex(text.replace("+-", "+"))
            return [one, one.conjugate()]
        return [complex(text)]
    except ValueError:
        raise BadInput(
            f"got {given!r}, wanted a number in rad/s such as -40, a pair [-50, 63], or a text such as '-50+63j', or "
            "'-50+-63j' for both of a pair."
        ) from None


def _roots(given: Any) -> tuple[complex, ...]:
    if not isinstance(given, (list, tuple)):
        raise BadInput(f"got {given!r}, wanted a list such as [-40, '-50+-63j'].")
    return tuple(root for item in given for root in _root(item))


Roots = Annotated[
    Any,
    PlainValidator(_roots),
    WithJsonSchema(
        {
            "type": "array",
            "items": {
                "anyOf": [{"type": "number"}, {"type": "string"}, {"type": "array", "items": {"type": "number"}}]
            },
        }
    ),
]


class _Linear(Made):
    """A linear plant: how its command moves between ticks, and its limits."""

    hold: Literal["line", "step"] = "line"
    """How the command moves between ticks: on a straight line, or held by a converter, which costs a tick."""
    stroke: Annotated[float, Quantity("m", above=0.0)] | None = None
    """Largest deformation; there the piston stands."""
    velocity: Annotated[float, Quantity("m/s", above=0.0)] | None = None
    """Largest velocity."""
    rate: Annotated[float, Quantity("m/s", above=0.0)] | None = None
    """Largest rate of the command."""
    delay: Annotated[float, Quantity("s", low=0.0)] | None = None
    """Dead time by which the plant hears its command late; of a plant with one axis."""


class TransferFunction(_Linear):
    """An actuator with a transfer function from its coefficients; see `hyloop.transfer.transfer_function`."""

    law: Literal["transfer_function"]
    numerator: Numbers
    """Coefficients in s (rad/s), highest power first."""
    denominator: Numbers
    """Coefficients in s (rad/s), highest power first."""
    _function: ClassVar[Callable[..., Instance]] = transfer_function


class ZerosPoles(_Linear):
    """An actuator with a transfer function from its zeros and poles; see `hyloop.transfer.zeros_poles`."""

    law: Literal["zeros_poles"]
    zeros: Roots = ()
    """In rad/s: numbers, pairs [real, imaginary], or texts; "-50+-63j" stands for a pair of roots."""
    poles: Roots
    """In rad/s, as the zeros."""
    gain: Annotated[float, Quantity("-")] | None = None
    """Factor in front of the zeros; left out, it follows from `slow`."""
    slow: Annotated[float, Quantity("-", above=0.0)] = 1.0
    """Motion over command when all is slow, where no gain is given."""
    _function: ClassVar[Callable[..., Instance]] = zeros_poles


class StateSpace(_Linear):
    """An actuator, or one of several axes, from the matrices of its state space; see `hyloop.transfer.state_space`."""

    law: Literal["state_space"]
    A: Matrix
    """Rows of the matrix of the states; time in s."""
    B: Matrix
    """Rows of the matrix of the commands: a row for each state."""
    C: Matrix
    """Rows of the matrix of the motions: a column for each state."""
    D: Matrix | None = None
    """Rows of the feed-through; zero if not given."""
    _function: ClassVar[Callable[..., Instance]] = state_space


class PlantSpec(Table):
    """One entry of a transfer matrix, by coefficients or by zeros and poles."""

    numerator: Numbers | None = None
    """Coefficients in s (rad/s), highest power first."""
    denominator: Numbers | None = None
    """Coefficients in s (rad/s), highest power first."""
    zeros: Roots = ()
    """In rad/s: numbers, pairs [real, imaginary], or texts; "-50+-63j" stands for a pair of roots."""
    poles: Roots = None
    """In rad/s, as the zeros."""
    gain: Annotated[float, Quantity("-")] | None = None
    """Factor in front of the zeros."""

    @property
    def plant(self) -> Plant:
        """The entry as a plant."""
        if self.poles is not None and self.gain is not None and self.denominator is None:
            return Plant.from_zeros(self.zeros, self.poles, self.gain)
        if self.numerator is not None and self.denominator is not None and self.poles is None:
            return Plant.from_coefficients(self.numerator, self.denominator)
        raise BadInput("give numerator and denominator, or poles and gain, with zeros where there are any.")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        try:
            _ = self.plant
        except BadInput as error:
            said = str(error)
            refuse(next((key for key in type(self).model_fields if said.startswith(key)), "poles"), error)
        return self


class TransferMatrix(_Linear):
    """Several axes in one plant, each entry a transfer function; see `hyloop.transfer.transfer_matrix`."""

    law: Literal["transfer_matrix"]
    entries: Annotated[
        tuple[Annotated[tuple[PlantSpec, ...], Field(strict=False)], ...], Field(strict=False, min_length=1)
    ]
    """Rows of entries: in row i and column j the motion of axis i for the command of axis j."""
    _function: ClassVar[Callable[..., Instance]] = transfer_matrix

    @property
    def options(self) -> dict[str, Any]:
        return {**super().options, "entries": [[entry.plant for entry in row] for row in self.entries]}


class LinearSpecimen(Made):
    """A linear specimen with several axes; see `hyloop.transfer.linear_specimen`."""

    role: ClassVar[str] = "specimen"
    law: Literal["linear_specimen"]
    K: Annotated[Any, Quantity("N/m", depth=2)]
    """Rows of the stiffness of its axes."""
    C: Annotated[Any, Quantity("N s/m", depth=2)] = None
    """Rows of the damping."""
    M: Annotated[Any, Quantity("kg", depth=2)] = None
    """Rows of the mass."""
    _function: ClassVar[Callable[..., Instance]] = linear_specimen


def _plain_laws() -> list[str]:
    return sorted({*LAWS, *BLOCKS})


class PlainBlock(DeviceSpec):
    """A block of a transfer system and its parameters; those not given keep their defaults."""

    law: Annotated[str | None, WithJsonSchema({"type": "string", "enum": _plain_laws()})] = None
    """Name of the block, such as "delay"; a device law is taken too."""

    @classmethod
    def laws(cls) -> dict[str, Block]:
        return {**LAWS, **{name: entry.block for name, entry in BLOCKS.items()}}

    @classmethod
    def names(cls) -> list[str]:
        return [*BLOCKS, *MAKERS]  # device laws are possible, but rarely meant

    @property
    def role(self) -> str | None:
        """The role it is for; None for a device law, which may stand anywhere."""
        return BLOCKS[self.law].role if self.law in BLOCKS else None

    @property
    def outputs(self) -> dict[str, str]:
        """Signals that it gives, with their units."""
        return dict(self.block.outputs)


class AxisSpec(Table):
    """One axis of a block that several sites share."""

    coupled: str
    """Name of a table in `couplings`."""
    axis: Annotated[int, Field(ge=1)]
    """Number of the axis; the first is 1."""
    role: ClassVar[None] = None
    file: ClassVar[None] = None
    outputs: ClassVar[dict[str, str]] = {}  # known when the experiment is built

    def make(self) -> Instance:
        """Refused: it has no block of its own."""
        raise BadInput("an axis stands at a site; give the block itself here, with a law.")


PLAIN, AXIS, RIG = "(block)", "(axis)", "(rig)"  # tags in places of errors, which `messages` leaves out


def _which(given: Any) -> str:
    """Which table it is."""
    if isinstance(given, Table):
        tags = {AxisSpec: AXIS, RigSpec: RIG}
        return str(getattr(given, "law", "")) if isinstance(given, Made) else tags.get(type(given), PLAIN)
    if isinstance(given, dict) and ("coupled" in given or "axis" in given):
        return AXIS
    if isinstance(given, dict) and "law" not in given and is_rig_file(given.get("file")):
        return RIG
    law = given.get("law") if isinstance(given, dict) else None
    return law if isinstance(law, str) and law in MAKERS else PLAIN


def _any_block(source: Any, handler: Any) -> Any:
    """Schema of a table that is a plain block, an axis, or one of all that are made."""
    tables = {PLAIN: PlainBlock, AXIS: AxisSpec, RIG: RigSpec, **MAKERS}
    union = reduce(or_, (Annotated[table, Tag(name)] for name, table in tables.items()))
    return handler.generate_schema(Annotated[union, Discriminator(_which)])


TransferSpec = Annotated[PlainBlock | AxisSpec | RigSpec | Made, GetPydanticSchema(_any_block)]


def roles_of(name: str) -> str:
    """The role that a block of a transfer system is for."""
    return BLOCKS[name].role if name in BLOCKS else MAKERS[name].role
