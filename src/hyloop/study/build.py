"""From an experiment to a loop that is ready to run."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning
from scipy.sparse import csr_array

from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.files.frames.frame import FrameBase, frame_along
from hyloop.files.limits import loop_limits
from hyloop.files.schema import METHODS, Experiment, SiteSpec
from hyloop.files.structures import Damping, OpenSeesScript, ShearFrame, StructureSpec
from hyloop.files.transfers import AxisSpec
from hyloop.hazards import GroundMotion, LoadHistory
from hyloop.loop import Coupled, Derived, FreeBlock, Loop, Site
from hyloop.loop.building import describe_building
from hyloop.neural.resampled import resampled
from hyloop.record import Recording
from hyloop.structure import Model, Structure, caughey, modal, modal_and_stiffness, rayleigh, shear_frame
from hyloop.structure.frames.opensees_script import ScriptModel
from hyloop.structure.frames.wireframe import wireframe
from hyloop.study.blocks import device_block, transfer_block
from hyloop.study.control import controlled
from hyloop.study.excite import check_mass, excite, ground_axes, load_histories, with_patterns
from hyloop.study.following import estimates, followed_model, updaters
from hyloop.study.hearing import check_no_leak, listening
from hyloop.study.kept import Kept
from hyloop.study.trained import check_networks, check_rate
from hyloop.study.trust import check_channels, monitored
from hyloop.study.watching import described_members, watched

__all__ = ["Built", "build"]


@dataclass(frozen=True, eq=False)
class Built:
    """An experiment made ready.

    Attributes
    ----------
    loop : Loop
        Structure, sites and method.
    excitation : ndarray, (N, k)
        A row for each step, the first at t = 0: ground acceleration in m/s2 along each direction of the ground, then
        loads in N or N m (`Structure.excitation_names`).
    motions : tuple of GroundMotion
        The ground motions as they are given, with their names and where they came from.
    loads : LoadHistory or None
        All load histories together.
    notes : tuple of str
        What a reader of the results must know, such as which excitation was used.
    experiment : Experiment
        What it was built from.
    estimates : dict of channel to (low, high)
        Parameters that are updated, and their bounds in SI units.
    building : dict
        Floors, story heights, where devices are, and the nodes and members of a frame, to draw it.
    sources : dict of str
        What else it was built from: name and checksum of a script.
    model : Model or ScriptModel, optional
        Nodes and members of the structure, where it has some.
    """

    loop: Loop
    excitation: np.ndarray
    motions: tuple[GroundMotion, ...]
    loads: LoadHistory | None
    notes: tuple[str, ...]
    experiment: Experiment
    estimates: dict[str, tuple[float, float]]
    building: dict[str, Any]
    sources: dict[str, str]
    model: Model | ScriptModel | None = None

    @property
    def motion(self) -> GroundMotion:
        """The ground motion, where there is one."""
        if len(self.motions) != 1:
            raise BadInput(f"this experiment has {len(self.motions)} ground motions; see motions and loads.")
        return self.motions[0]

    @property
    def excited_by(self) -> str:
        """Names of everything that excites the structure."""
        return " + ".join([*(motion.name for motion in self.motions), *([self.loads.name] if self.loads else [])])

    def recorded(self) -> tuple[list[str], Derived | None]:
        """Channels of the loop that are recorded, and what is derived from its motion, where that is wanted."""
        recording, names = self.experiment.recording, self.loop.channels
        own = [pattern for pattern in recording.channels if any(fnmatchcase(name, pattern) for name in names)]
        wanted = [*own, *self.loop.watched]
        return self.loop.select(wanted) if wanted else [], self.loop.derived() if recording.derived else None

    def periods(self, count: int = 3) -> list[float]:
        """The longest natural periods in s, with the initial stiffness of the devices; none of a part that floats."""
        try:
            found = self.loop.modes(min(count, self.loop.structure.n)).periods
        except (BadInput, LinAlgError):
            return []
        return [float(period) for period in found if np.isfinite(period)]

    def run(self, steps: int | None = None, also: Sequence[str] = ()) -> Recording:
        """Run all of the excitation, or its first steps, and return what the experiment records, and channels `also`.

        Raises
        ------
        RunFailed
            If the response is not finite or a limit is passed.
        """
        rows = self.excitation if steps is None else self.excitation[: steps + 1]
        recording, (own, derived) = self.experiment.recording, self.recorded()
        with np.errstate(all="ignore"):  # a response that is not finite is reported by the loop
            return self.loop.run(rows, record=[*own, *also], every=recording.every, derived=derived is not None)


def build(experiment: Experiment, *, allow_scripts: bool = False, kept: Kept | None = None) -> Built:
    """Build the loop and the excitation of an experiment.

    Parameters
    ----------
    allow_scripts : bool
        Run the OpenSeesPy script that a structure may name; otherwise such an experiment is refused.
    kept : Kept, optional
        Structures and motions of experiments that were built before; those that are the same are taken from there.

    Raises
    ------
    BadInput
        For what only shows when tables meet: a story that does not exist, an unstable step, an unknown channel.
    """
    try:
        return _build(experiment, allow_scripts, Kept() if kept is None else kept)
    except BadInput as error:
        if experiment.source:
            error.args = (f"{experiment.source}: {error}",)
        raise


def _build(experiment: Experiment, allow_scripts: bool, kept: Kept) -> Built:
    integrator = experiment.integrator
    axes = ground_axes(experiment)
    with _blame("structure"):
        frame, model = kept.get(
            experiment.structure, (allow_scripts, axes), lambda: _structure(experiment.structure, allow_scripts, axes)
        )
    check_mass(experiment, frame)
    with _blame("loads"):
        loads = load_histories(experiment, frame)
        frame = frame if loads[0] is None else with_patterns(frame, model, loads[0])
    for name, site in experiment.sites.items():
        with _blame(f"sites.{name}.device.network"):
            check_rate(site, integrator)
    whole = experiment.with_devices  # inherent damping that counts on devices stays when they are taken out
    couplings = {}
    for name, spec in whole.couplings.items():
        with _blame(f"couplings.{name}"):
            couplings[name] = Coupled(name, transfer_block(spec, name, whole))
    every = [_site(frame, model, name, spec, whole, couplings) for name, spec in whole.sites.items()]
    sites = every if whole is experiment else []
    ears: dict[str, FreeBlock] = {}
    for name in experiment.sites:
        with _blame(f"sites.{name}"):
            site, more = listening(experiment, name, sites)
        sites = [site if site.name == one.name else one for one in sites]
        ears |= {block.name: block for block in more}
    if experiment.structure.damping is not None:
        with _blame("structure.damping"):
            frame = frame.with_damping(_damping(frame, experiment.structure.damping, every))
    blocks, behind = list(ears.values()), []
    for name in experiment.sites:
        with _blame(f"sites.{name}.trust"):
            sites, before, after = monitored(experiment, name, sites)
            blocks += before
            behind += after
    for name in experiment.sites:
        with _blame(f"sites.{name}.model"):
            blocks += updaters(experiment, name, sites)
    for name, spec in experiment.blocks.items():
        with _blame(f"blocks.{name}"):
            blocks.append(FreeBlock(name, device_block(spec.block, name, experiment), spec.inputs, spec.outputs))
    for name in experiment.controllers:
        with _blame(f"controllers.{name}"):
            sites, more = controlled(experiment, name, frame, sites)
            blocks += more
    blocks += behind
    with _blame("limits.max_drift"):
        limits = replace(loop_limits(experiment.limits, frame), wind_down=experiment.safety.within)
    with _blame("recording"):
        watch = watched(experiment.recording, model, frame)
    with _blame("integrator.dt, structure, sites and blocks together", _extremes(frame, sites)):
        method = METHODS[integrator.method](**integrator.options)
        loop = Loop(
            frame,
            sites,
            method=method,
            dt=integrator.dt,
            substeps=integrator.substeps,
            blocks=blocks,
            limits=limits,
            watch=watch,
        )
    check_networks(experiment, loop)
    check_no_leak(loop)
    check_channels(experiment, loop)
    names = [*loop.channels, *(loop.derived().names if experiment.recording.derived else ())]
    for pattern in experiment.recording.channels if whole is experiment else ():  # channels of devices went with them
        if not any(fnmatchcase(name, pattern) for name in names):
            raise UnknownName("channel", pattern, names, where="recording.channels")
    if experiment.recording.picture and (not isinstance(model, Model) or model.dimensions != 3):
        raise BadInput(
            'recording.picture: it is recorded of frames in space (kind = "tower", or "frame" with dimensions = 3); '
            "other structures are drawn from their recording. Leave it out."
        )
    with _blame("excitation"):
        excited = excite(experiment, frame, loads, kept)
    building = describe_building(frame, sites)
    if members := described_members(model, loop.watched):
        building["watched"] = members
    if model is not None:
        building |= wireframe(model) if isinstance(model, Model) else model.wireframe()
        building["sites"] |= {
            name: {"nodes": [end.partition(".")[0] for end in spec.between]}
            for name, spec in experiment.sites.items()
            if spec.between is not None
        }
    notes, sources = excited.notes, {}
    if isinstance(model, ScriptModel):
        notes, sources = (*model.notes, *notes), {"script": model.script, "script_sha256": model.sha256}
    found = estimates(experiment)
    return Built(loop, excited.rows, excited.motions, loads[0], notes, experiment, found, building, sources, model)


@contextmanager
def _blame(where: str, remark: str = "") -> Iterator[None]:
    """Name the table in every refusal, and turn the complaints of NumPy and SciPy about its numbers into refusals."""
    try:
        with warnings.catch_warnings(), np.errstate(over="raise", divide="raise", invalid="raise"):
            warnings.simplefilter("error", LinAlgWarning)
            yield
    except BadInput as error:
        if not str(error).startswith((where, f"{where}s.")):  # excitations.NAME
            error.args = (f"{where}: {error}{remark}",)
        raise
    except (ArithmeticError, LinAlgError, LinAlgWarning, ValueError) as error:
        raise BadInput(
            f"{where}: the numbers are too large, too small or too far apart to compute with "
            f"({error}). Check their units.{remark}"
        ) from None


def _structure(
    spec: StructureSpec, allow_scripts: bool, axes: Sequence[str]
) -> tuple[Structure, Model | ScriptModel | None]:
    """The structure, which the ground moves along these axes, and the model it was made of, if it has nodes."""
    if isinstance(spec, OpenSeesScript):
        script = spec.model(allow_scripts, [f"u{axis}" for axis in axes])
        return script.structure, script
    if isinstance(spec, FrameBase):
        model = spec.model()
        return spec.structure(model, [f"u{axis}" for axis in axes]), model
    if isinstance(spec, ShearFrame):
        masses, stiffnesses = (np.broadcast_to(value, spec.stories) for value in (spec.masses, spec.stiffnesses))
        frame = shear_frame(masses, stiffnesses, gravity=spec.gravity, heights=spec.heights)
        return replace(frame, directions=("x",)), None
    heights = () if spec.heights is None else np.broadcast_to(spec.heights, len(spec.floors))
    given = {key: getattr(spec, key) for key in ("M", "K", "C", "floors")}
    chosen = axes or tuple(spec.columns())
    given |= {"influence": np.column_stack([spec.columns()[axis] for axis in chosen]), "directions": chosen}
    return Structure(**given, names=spec.names or (), heights=heights), None


def _damping(frame: Structure, spec: Damping, sites: list[Site]) -> Any:
    extra = csr_array((frame.n, frame.n)) if frame.is_sparse else np.zeros((frame.n, frame.n))
    if spec.devices:
        for site in sites:
            along = csr_array(site.along[None]) if frame.is_sparse else site.along[None]
            extra = extra + site.count * site.stiffness * (along.T @ along)
    if spec.kind == "modal_and_stiffness":
        return modal_and_stiffness(frame, spec.ratio, spec.count, extra)
    if spec.kind == "modal":
        return modal(frame, spec.ratio, extra)
    if spec.kind == "rayleigh":
        return rayleigh(frame, spec.ratio, (spec.modes[0], spec.modes[1]), extra)
    return caughey(frame, np.broadcast_to(spec.ratio, len(spec.modes)), spec.modes, extra)


def _extremes(frame: Structure, sites: list[Site]) -> str:
    """What a person looks at first when the numbers of a model do not go together."""
    remark = f" Masses run from {frame.M.diagonal().min():g} to {frame.M.diagonal().max():g} kg"
    remark += f", stiffnesses of the structure up to {abs(frame.K).max():g} N/m"
    for symbol, unit in (("stiffness", "N/m"), ("damping", "N s/m")):
        sizes = {f"sites.{s.name}": s.count * getattr(s, symbol) * np.abs(s.along).max() ** 2 for s in sites}
        if sizes:
            most = max(sizes, key=lambda name: abs(sizes[name]))
            remark += f"; the largest device {symbol} is that of {most}, {sizes[most]:g} {unit}"
    return f"{remark}."


def _site(
    frame: Structure,
    model: Model | ScriptModel | None,
    name: str,
    spec: SiteSpec,
    experiment: Experiment,
    couplings: dict[str, Coupled],
) -> Site:
    max_d, max_f = (getattr(spec, key) or getattr(experiment.limits, key) or np.inf for key in ("max_d", "max_f"))
    with _blame(f"sites.{name}.{'device' if spec.device else 'follows'}"):
        if spec.device is not None:
            device, shares = device_block(spec.device, name, experiment), None
            device = resampled(device, spec.resample) if spec.resample else device
        else:
            device, shares = followed_model(experiment, spec.follows or "", name)
    transfer = {}
    for role, block in spec.transfer.items():
        with _blame(f"sites.{name}.transfer.{role}"):
            if isinstance(block, AxisSpec):
                transfer[role] = couplings[block.coupled].axis(block.axis)
            else:
                transfer[role] = transfer_block(block, f"{name}.{role}", experiment)
    if spec.interlock is not None:
        with _blame(f"sites.{name}.interlock"):
            transfer["interlock"] = spec.interlock.make()
    with _blame(f"sites.{name}.{_place(spec)}"):
        along = _along(frame, model, spec)
    linear = None
    if spec.linearised is not None:
        with _blame(f"sites.{name}.linearised"):
            believed = spec.model.law if spec.model is not None else device  # a specimen is known by its model alone
            linear = spec.linearised.numbers(believed)
    with _blame(f"sites.{name}"):
        return Site(
            name,
            along,
            device,
            count=spec.count,
            physical=spec.physical,
            transfer=transfer,
            wiring=spec.wiring,
            shares=shares,
            max_d=max_d,
            max_f=max_f,
            linear=linear,
        )


def _place(spec: SiteSpec) -> str:
    return next(key for key in ("story", "between", "along") if getattr(spec, key) is not None)


def _along(frame: Structure, model: Model | ScriptModel | None, spec: SiteSpec) -> np.ndarray:
    if isinstance(model, ScriptModel) and spec.along is None:
        if spec.story is not None:
            return frame.story(spec.story, spec.factor)
        return spec.factor * model.between(spec.between or ())
    if isinstance(model, Model) and spec.along is None:
        return spec.factor * frame_along(model, frame, spec.story, spec.between)
    if spec.story is not None:
        return frame.story(spec.story, spec.factor)
    if spec.between is not None:
        return frame.between(*spec.between, factor=spec.factor)
    along = spec.factor * np.atleast_1d(spec.along)
    if along.shape != (frame.n,):
        raise BadShape(f"got {len(along)} entries; give one for each of the {frame.n} degrees of freedom.")
    return along
