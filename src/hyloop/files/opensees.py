"""Structures that an OpenSeesPy script builds, in experiment files."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from hyloop.errors import BadInput
from hyloop.files.damping import Damping
from hyloop.files.fields import Quantity, Table, refuse
from hyloop.files.units import UNITS
from hyloop.structure.frames.opensees_script import ScriptModel, run_script

__all__ = ["OpenSeesScript", "ScriptUnits"]


class ScriptUnits(Table):
    """Units in which a script's numbers are; time is in s, and the mass follows: force times s2 over length."""

    length: str = "m"
    """Such as "mm" or "in"."""
    force: str = "N"
    """Such as "kN" or "kip"."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        for key, unit in (("length", "m"), ("force", "N")):
            given = getattr(self, key)
            if given not in UNITS or UNITS[given].dimension != UNITS[unit].dimension:
                same = [name for name, other in UNITS.items() if other.dimension == UNITS[unit].dimension]
                refuse(key, BadInput(f"got '{given}', which is no unit of {key}; known are {', '.join(same)}."))
        return self


class OpenSeesScript(Table):
    """A model that a function of an OpenSeesPy script builds; the script runs only with ``--allow-scripts``."""

    kind: Literal["opensees"]
    script: str
    """Python file, relative to this one. It runs in a process of its own, from its own folder."""
    function: str = "build"
    """Function of the script that builds the model with openseespy.opensees; what it returns is not looked at."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the function by name: numbers, texts, lists and tables as they stand here."""
    units: ScriptUnits = ScriptUnits()
    """Units of the script's numbers; default N and m."""
    ground: Literal["ux", "uy", "uz"] = "ux"
    """Direction of the ground motion, where the excitation does not say it, and of the stories."""
    linearise: bool = False
    """Of a model that is not linear take the tangent stiffness in the state the script leaves; else it is refused."""
    timeout: Annotated[float, Quantity("s", above=0.0, high=86400.0)] = 60.0
    """Time after which the script is stopped."""
    condense: Annotated[tuple[str, ...], Field(strict=False)] | None = None
    """Condense all degrees of freedom without mass, but for those named here ([]: but for none)."""
    damping: Damping | None = None
    """Where the script gives none (rayleigh)."""

    @model_validator(mode="after")
    def _plain(self) -> Self:
        try:
            json.dumps(self.arguments)
        except TypeError as error:
            refuse("arguments", BadInput(f"{error}; give numbers, texts, lists and tables."))
        return self

    def model(self, allowed: bool, directions: Sequence[str] = ()) -> ScriptModel:
        """Run the script, if that is allowed."""
        where = "structure.script"
        if not allowed:
            raise BadInput(
                f"{where}: '{self.script}' is a program and would run on this machine with your rights. Read it, and "
                "if you trust it, add --allow-scripts to the command."
            )
        length, force = UNITS[self.units.length].size, UNITS[self.units.force].size
        options: dict[str, Any] = {"ground": self.ground, "directions": directions}
        options |= {"linearise": self.linearise, "timeout": self.timeout}
        try:
            made = run_script(Path(self.script), self.function, self.arguments, length=length, force=force, **options)
            made = made if self.condense is None else made.condensed(self.condense)
        except BadInput as error:
            error.args = (f"{where}: {error}",)
            raise
        given = made.structure.C.nnz if made.structure.is_sparse else made.structure.C.any()
        if given and self.damping is not None:
            raise BadInput("structure.damping: the script gives damping too (rayleigh); give one of them.")
        return made
