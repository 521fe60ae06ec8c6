"""Sites that follow a measured device: which model stands there, and what keeps it true."""

from collections.abc import Sequence
from typing import Any

from hyloop.core import Instance
from hyloop.errors import BadInput
from hyloop.files.laws import LAWS
from hyloop.files.schema import Experiment
from hyloop.loop import FreeBlock, Site
from hyloop.transfer.kinematics import CUTOFF, kinematics
from hyloop.updating import noise_level

__all__ = ["described_models", "estimates", "followed_model", "listening_cutoff", "updaters"]

_NOISES = ("ukf_noise", "enkf_noise", "rls_noise")  # settings of updaters, which are channels like any parameter
_SHARE = 0.25  # of the controller rate, the largest cut-off: nearer to half of it differences are noise alone


def followed_model(experiment: Experiment, leader: str, name: str) -> tuple[Instance, str | None]:
    """The model of a physical site as it stands at `name`, and the place whose parameters it shares (None: its own)."""
    model = experiment.sites[leader].model
    assert model is not None  # checked when the file was loaded
    first = _holders(experiment, leader)[0]
    return model.law, None if first == name else first


def updaters(experiment: Experiment, name: str, sites: Sequence[Site]) -> list[FreeBlock]:
    """What updates the model of a physical site: it reads measured signals there and nothing else.

    Its estimates overwrite the parameters of the first follower, which the others share; without a follower they
    are only recorded. Before it stands what makes a velocity and an acceleration of the measured deformation, where it
    needs them and no instrument gives them. None where the model is constant.
    """
    model = experiment.sites[name].model
    block = model.make() if model else None
    if model is None or block is None:
        return []
    site = next(site for site in sites if site.name == name)
    measured, derived = site.measured, _derived(site, block)
    sources = {**measured, **derived, "f_m": measured["f"]}
    missing = [key for key in block.block.inputs if key not in sources]
    if missing:
        raise BadInput(
            f"{block.block.name} needs {', '.join(missing)}, which is not measured there; measured are "
            f"{', '.join(measured)}, and v and a follow from d. Choose a model that needs nothing else."
        )
    holders = _holders(experiment, name)[:1]
    targets = {key: f"{first}.{key}" for first in holders for key in block.block.outputs if key in model.law.params}
    updating = [FreeBlock(f"{name}.model", block, {key: sources[key] for key in block.block.inputs}, targets)]
    if model.unknown_noise is not None:  # it overwrites the noise that the updater was made with
        setting = next(key for key in block.params if key in _NOISES)
        level = noise_level(**model.unknown_noise)
        updating.insert(
            0, FreeBlock(f"{name}.noise", level, {"f_m": measured["f"]}, {"noise": f"{name}.model.{setting}"})
        )
    if not derived:
        return updating
    rate = experiment.integrator.substeps / experiment.integrator.dt
    cutoff = listening_cutoff(experiment, name)
    if cutoff > _SHARE * rate:
        raise BadInput(
            f"velocity.cutoff: {cutoff:g} Hz is more than a quarter of the controller rate, {rate:g} Hz; give at most "
            f"{_SHARE * rate:g} Hz."
        )
    listening = kinematics(cutoff=cutoff)
    return [FreeBlock(f"{name}.kinematics", listening, {"d": measured["d"]}, role="ear"), *updating]


def listening_cutoff(experiment: Experiment, name: str) -> float:
    """Cut-off in Hz of velocities that are made of the deformation measured at a site."""
    model, rate = experiment.sites[name].model, experiment.integrator.substeps / experiment.integrator.dt
    return min(CUTOFF, _SHARE * rate) if model is None or model.cutoff is None else model.cutoff


def _derived(site: Site, block: Instance) -> dict[str, str]:
    """Channels of velocity and acceleration that a block needs and no instrument of the site gives."""
    needed = [key for key in ("v", "a") if key in block.block.inputs and key not in site.measured]
    return {key: f"{site.name}.kinematics.{key}" for key in needed}


def estimates(experiment: Experiment) -> dict[str, tuple[float, float]]:
    """Channel of every parameter that is updated, and its bounds in SI units."""
    found = {}
    for name, site in experiment.sites.items():
        if site.model is None:
            continue
        holder, own = next(iter(_holders(experiment, name)), f"{name}.model"), site.model.law.params
        for key, pair in site.model.limits.items():  # those of a sensor are no follower's
            found[f"{holder if key in own else f'{name}.model'}.{key}"] = pair
    return found


def described_models(experiment: Experiment, sites: Sequence[Site]) -> dict[str, dict[str, Any]]:
    """What a recording keeps of every model of a measured device, so that its force can be found without updating."""
    found = {}
    for name, spec in experiment.sites.items():
        if spec.model is None:
            continue
        law, site = spec.model.law, next(site for site in sites if site.name == name)
        measured = site.measured | (_derived(site, law) if spec.model.make() is not None else {})
        known = LAWS.get(law.block.name) is law.block  # a law by name; a network has weights instead
        inputs = {key: measured[key] for key in ("d", "f", *law.block.inputs) if key in measured}
        found[name] = {"inputs": inputs, "followers": _followers(experiment, name)}
        if known:
            found[name] |= {"law": law.block.name, "parameters": {key: float(v) for key, v in law.params.items()}}
    return found


def _followers(experiment: Experiment, leader: str) -> list[str]:
    return [name for name, site in experiment.sites.items() if site.follows == leader]


def _holders(experiment: Experiment, leader: str) -> list[str]:
    """Sites and blocks beside sites (`hyloop.trust`) where the model stands; the first has the parameters."""
    found = _followers(experiment, leader)
    for name, site in experiment.sites.items():
        beside = {"backup": getattr(site.trust, "fallback", None), "twin": getattr(site.trust, "twin", None)}
        found += [f"{name}.{role}" for role, spec in beside.items() if getattr(spec, "follows", None) == leader]
    return found
