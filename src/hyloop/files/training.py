"""What a training file may say: network, data, split, scaling and schedule; checked when the file is loaded."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from hyloop.errors import BadInput, UnknownName
from hyloop.files.fields import Quantity, Table, refuse
from hyloop.files.load import read_experiment, with_overrides
from hyloop.files.messages import explain
from hyloop.neural.architecture import Architecture, mlp, ocp_nn, recurrent
from hyloop.neural.card import SCALINGS

__all__ = [
    "DataSpec",
    "NetworkSpec",
    "ScalingSpec",
    "Schedule",
    "SplitSpec",
    "TestSpec",
    "TrainingFile",
    "load_training",
]

Names = Annotated[tuple[str, ...], Field(strict=False)]
Positive = Annotated[float, Quantity("-", above=0.0)]


class NetworkSpec(Table):
    """Kind and size of the network; see `hyloop.neural.architecture`."""

    kind: Literal["lstm", "gru", "mlp", "ocp_nn"]
    width: Annotated[int, Field(ge=1, le=1024)] = 48
    """Units in a layer (not for ocp_nn, whose sizes are those of the paper)."""
    depth: Annotated[int, Field(ge=1, le=16)] = 3
    """Hidden layers (not for ocp_nn)."""
    dropout: Annotated[float, Quantity("-", low=0.0, high=0.95)] = 0.0
    """Part of the outputs of every hidden layer left out at random in training; 0.1 in Malik et al. (2025)."""
    measured: Annotated[int, Field(ge=1)] | None = None
    """For ocp_nn: how many inputs, the first ones, come from the measured device; the others are the model's own."""

    @model_validator(mode="after")
    def _parallel(self) -> Self:
        if (self.measured is None) == (self.kind == "ocp_nn"):
            says = "is missing; say how many of the inputs are measured" if self.kind == "ocp_nn" else "is for ocp_nn"
            refuse("measured", BadInput(f"{says}."))
        return self

    def architecture(self, inputs: int, outputs: int) -> Architecture:
        """The layers."""
        if self.measured is not None:  # an ocp_nn
            if self.measured >= inputs:
                raise BadInput(
                    f"network.measured: got {self.measured}, but of the {inputs} inputs at least one must "
                    "be the model's own."
                )
            return ocp_nn(self.measured, inputs - self.measured, outputs)
        if self.kind == "mlp":
            return mlp(inputs, outputs, width=self.width, depth=self.depth)
        return recurrent(inputs, outputs, width=self.width, depth=self.depth, kind=self.kind)


class ReadingSpec(Table):
    """How files of tests are read, as far as they do not tell; recordings and published tests do."""

    t: str | None = None
    """Column of the times, by name or number; default: the one called t or time."""
    rate: Annotated[float, Quantity("Hz", above=0.0)] | None = None
    """Sampling rate of files without times."""
    units: dict[str, str] = Field(default_factory=dict)
    """Units of columns for which the file states none, by signal or column: {d = "mm", f = "kN"}."""
    factors: dict[str, Annotated[float, Quantity("-")]] = Field(default_factory=dict)
    """Factors on signals, for instance {f = -1} where tension and compression are swapped."""
    decimal: Literal["comma", "point"] | None = None
    """Decimal sign of texts that do not tell."""


class TestSpec(ReadingSpec):
    """Where tests are read from; what is said here of a file goes before what [data] says of all."""

    source: str
    """A recording (.h5), a CSV or another file of a laboratory, relative to the training file, or a published test by
    name, such as brfd:ID, in which * stands for any letters."""
    event: str | None = None
    """What caused these tests; by default the earthquake where it is known, else the name of each test."""


def _same_names(given: Any) -> Any:
    """A list of names is short for channels that have the names of the signals."""
    return (
        {name: name for name in given} if isinstance(given, list) and all(isinstance(n, str) for n in given) else given
    )


Signals = Annotated[dict[str, str], BeforeValidator(_same_names), Field(min_length=1)]


class DataSpec(ReadingSpec):
    """What is learned from."""

    inputs: Signals
    """Channel of every input, such as {d = "damper1.d"}; a list where the channels have the names of the signals."""
    outputs: Signals
    """Channel of every output."""
    tests: Annotated[tuple[TestSpec, ...], Field(strict=False, min_length=1)]
    every: Annotated[int, Field(ge=1)] = 1
    """Take every n-th sample only."""

    @model_validator(mode="after")
    def _names(self) -> Self:
        for key in ("inputs", "outputs"):
            for name in getattr(self, key):
                if not name.isidentifier():
                    refuse(
                        key,
                        BadInput(
                            f"'{name}' cannot name a signal; name it in letters and digits, as in {{d = \"{name}\"}}."
                        ),
                    )
        for where in (self, *self.tests):
            for name in where.factors:
                if name not in (*self.inputs, *self.outputs):
                    refuse("factors", UnknownName("signal", name, [*self.inputs, *self.outputs]))
        for name in self.outputs:
            if name in self.inputs:
                refuse("outputs", BadInput(f"'{name}' is an input too; give it another name."))
        return self


class SplitSpec(Table):
    """Events set aside; * stands for any letters. All others are trained on."""

    validation: Names = ()
    """Training is stopped, and the best epoch chosen, by these."""
    test: Names = ()
    """Reported, and used for nothing else."""


def _scaling(given: Any) -> Any:
    if given not in SCALINGS:
        raise UnknownName("scaling", str(given), SCALINGS)
    return given


class ScalingSpec(Table):
    """Scaling of the signals, found on training events only."""

    inputs: Annotated[str, BeforeValidator(_scaling)] = "min-max"
    outputs: Annotated[str, BeforeValidator(_scaling)] = "min-max"


class Schedule(Table):
    """Epochs, batches, learning rate and seeds."""

    epochs: Annotated[int, Field(ge=1)]
    batch: Annotated[int, Field(ge=1)] = 10
    """Histories in a batch."""
    window: Annotated[int, Field(ge=2)] | None = None
    """Samples in a window of truncated backpropagation through time; whole histories where it is left out."""
    schedule: Literal["constant", "staircase", "cosine"] = "constant"
    """Course of the learning rate; see `hyloop.learn.training.schedules`."""
    rate: Positive = 1e-3
    factor: Annotated[float, Quantity("-", above=0.0, high=1.0)] = 0.99
    """Staircase: the rate is multiplied by it ..."""
    every: Annotated[int, Field(ge=1)] = 10
    """... after so many epochs."""
    warmup: Annotated[int, Field(ge=0)] = 0
    """Cosine: updates in which the rate rises."""
    final: Annotated[float, Quantity("-", low=0.0)] = 0.0
    """Cosine: rate at the end."""
    weight_decay: Annotated[float, Quantity("-", low=0.0)] = 0.0
    """Above 0: AdamW."""
    clip: Positive | None = None
    """Largest norm of the gradient."""
    patience: Annotated[int, Field(ge=1)] | None = None
    """Stop after so many epochs without a lower validation loss."""
    seeds: Annotated[tuple[Annotated[int, Field(ge=0, lt=2**32)], ...], Field(strict=False, min_length=1)] = (0,)
    """The same training once for every seed."""
    checkpoint_every: Annotated[int, Field(ge=1)] = 10
    """Epochs between checkpoints."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(set(self.seeds)) != len(self.seeds):
            refuse("seeds", BadInput(f"got {list(self.seeds)}; each seed may stand there once."))
        if self.final > self.rate:
            refuse("final", BadInput(f"got {self.final:g}, must not exceed the rate {self.rate:g}."))
        return self


class TrainingFile(Table):
    """One training: network, data, split, scaling and schedule."""

    network: NetworkSpec
    data: DataSpec
    training: Schedule
    split: SplitSpec = SplitSpec()
    scaling: ScalingSpec = ScalingSpec()
    title: str = ""
    output: str | None = None
    """Network to write; default out/<name of the file>.safetensors."""

    @model_validator(mode="after")
    def _stopping(self) -> Self:
        if self.training.patience is not None and not self.split.validation:
            refuse("split.validation", BadInput("is missing; training.patience stops on validation events only."))
        if self.training.window is not None and self.network.kind == "mlp":
            refuse("training.window", BadInput("an mlp has no memory to carry from window to window; leave it out."))
        return self


def load_training(path: str | PathLike[str], overrides: Sequence[str] = ()) -> TrainingFile:
    """Read and check a training file; includes and overrides are those of `hyloop.files.load.load_experiment`.

    Raises
    ------
    BadInput
        With the file and one line for each problem: key path, what was given, what is allowed.
    """
    path = Path(path)

    def make(data: dict[str, Any]) -> TrainingFile:
        _place_sources(data, path.parent)
        return TrainingFile.model_validate(data)

    def say(error: ValidationError, data: dict[str, Any]) -> str:
        return f"{path}: " + "\n".join(explain(error, data))

    return with_overrides(read_experiment(path), overrides, TrainingFile.model_fields, make, say)


def _place_sources(data: dict[str, Any], folder: Path) -> None:
    """Files of tests are relative to the training file."""
    table = data.get("data")
    tests = table.get("tests") if isinstance(table, dict) else None
    for test in tests if isinstance(tests, list) else ():
        if isinstance(test, dict) and isinstance(source := test.get("source"), str) and ":" not in source:
            test["source"] = str(folder / source)
