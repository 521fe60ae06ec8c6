"""The chains of the sites, connected: what every block reads, and in which order the blocks run."""

from collections.abc import Callable, Sequence

from hyloop.errors import BadInput
from hyloop.loop.coupled import Coupled, numbered
from hyloop.loop.site import ROLES, STOP, Site

__all__ = ["coupled_blocks", "place_sites"]

Place = Callable[..., None]  # place(prefix, instance, sources of its inputs, targets of its outputs)


def coupled_blocks(sites: Sequence[Site]) -> list[Coupled]:
    """Blocks that sites share, each once, in the order in which the sites name them."""
    return list({id(axis.coupled): axis.coupled for site in sites for axis in site.axes.values()}.values())


def place_sites(sites: Sequence[Site], place: Place) -> None:
    """Connect the blocks of the sites and place them in the order they run.

    Sites run one after another, each its whole chain; those that a coupled block joins run together, role by role.
    """
    for joined in _joined(sites):
        roles = _roles(joined)
        available = {site.name: {key: f"{site.name}.{key}" for key in ("d", "v", "a")} for site in joined}
        for role in ROLES:
            for coupled in roles.get(role, ()):
                _place_coupled(coupled, role, joined, available, place)
            for site in joined:
                if role in site.chain:
                    _place_own(site, role, available[site.name], place)
            for site in joined:
                available[site.name] |= site.given.get(role, {})


def _joined(sites: Sequence[Site]) -> list[list[Site]]:
    """Sites in groups that share no coupled block with each other; a site without one is a group of its own."""
    groups: list[list[Site]] = []
    for site in sites:
        mine = coupled_blocks([site])
        shared = [group for group in groups if any(one in mine for one in coupled_blocks(group))]
        if shared:  # all go to the place of the first
            shared[0][:] = [*(other for group in shared for other in group), site]
            groups = [group for group in groups if not any(group is late for late in shared[1:])]
        else:
            groups.append([site])
    return groups


def _roles(sites: Sequence[Site]) -> dict[str, list[Coupled]]:
    """Coupled blocks by role; refuses one whose axes are not all at one site each, in one role."""
    found: dict[str, list[Coupled]] = {}
    for coupled in coupled_blocks(sites):
        held = [
            (axis.number, site.name, role)
            for site in sites
            for role, axis in site.axes.items()
            if axis.coupled is coupled
        ]
        roles = sorted({role for _, _, role in held})
        if len(roles) > 1:
            raise BadInput(f"{coupled.name} stands as {' and '.join(roles)}; give it one role at all of its sites.")
        for number in range(1, coupled.axes + 1):
            places = [name for k, name, _ in held if k == number]
            if len(places) != 1:
                said = f"stands at {' and '.join(places)}" if places else "stands at no site"
                raise BadInput(
                    f"{coupled.name}: axis {number} of {coupled.axes} {said}. Give each axis to one site; all of them "
                    "physical, or none."
                )
        found.setdefault(roles[0], []).append(coupled)
    return found


def _place_coupled(
    coupled: Coupled, role: str, sites: Sequence[Site], available: dict[str, dict[str, str]], place: Place
) -> None:
    holders = {
        site.axes[role].number: site for site in sites if role in site.axes and site.axes[role].coupled is coupled
    }
    sources = {}
    for key in coupled.block.block.inputs:
        signal, number = numbered(key) or ("", 0)
        site = holders[number]
        sources[key] = _source(site, coupled.block.block.name, signal, available[site.name], role)
    place(coupled.name, coupled.block, sources, {})


def _place_own(site: Site, role: str, available: dict[str, str], place: Place) -> None:
    instance = site.chain[role]
    known = available | _further(site, role)
    sources = {key: _source(site, instance.block.name, key, known, role) for key in instance.block.inputs}
    place(site.prefix(role), instance, sources, site.renamed(role))


def _further(site: Site, role: str) -> dict[str, str]:
    """Channels of inputs that come from elsewhere than from the chain before the block."""
    if role == "interlock":  # what the structure wants, whatever a compensator makes of it
        return {"wanted": f"{site.name}.d", "stop": STOP}
    return dict(site.wiring if role == "device" else site.guard.wiring if role == "guard" and site.guard else {})


def _source(site: Site, law: str, key: str, available: dict[str, str], role: str) -> str:
    """Channel of an input: from the chain before it, or as last measured where its name ends in ``_m``."""
    if key in available:
        return available[key]
    if key == "f" and role == "actuator":  # what pushes back is the force itself and not its reading
        return f"{site.name}.f"
    signal, measured = key.removesuffix("_m"), site.measured
    if signal == key or role in ("device", "guard"):
        raise BadInput(f"site {site.name}: input {key} of {law} is not connected. Name a channel for it in wiring.")
    # what the structure wants is there before any block runs: read as a measurement it would be of this very tick
    wanted = [f"{site.name}.{name}" for name in ("d", "v", "a")]
    shown = {name: channel for name, channel in measured.items() if channel not in wanted}
    if signal not in shown:
        raise BadInput(
            f"site {site.name}: input {key} of {law}: nothing at this site measures {signal}; measured are "
            f"{', '.join(shown)}. Give the site an actuator or a sensor that shows {signal}."
        )
    return shown[signal]
