r"""How late a rig may be: the delay at which a hybrid test begins to grow by itself.

A restoring force that comes late pushes where it should pull: to first order a spring *k* behind a delay
:math:`\tau` is a spring beside a dashpot :math:`-k\tau`. Let *G* be the compliance of the structure at the sites
(deformation for a force there), with all other devices, and *D* the linearised force of the devices for a deformation.
With a common delay :math:`\tau` between structure and specimens a free vibration neither decays nor grows where

.. math:: \det\left(I + e^{-\mathrm{j}\omega\tau} D(\omega)\, G(\omega)\right) = 0, \qquad D = \operatorname{diag}\left(
    n\,(k + \mathrm{j}\omega c)\right)

that is, where an eigenvalue of *D G* has modulus 1, and the delay turns it to -1. The smallest such delay is critical.
*G* is that of the loop's own integration method in the steps it makes, by the z-transform of its recurrence, so that
its numerical damping counts; of an implicit method it is that of the equation of motion itself.

References
----------
.. [1] Horiuchi, Inoue, Konno, Namita (1999), "Real-time hybrid experimental system with actuator delay compensation and
   its application to a piping system with energy absorber", doi:10.1002/(SICI)1096-9845(199910)28:10<1121::AID-EQE858>
   3.0.CO;2-O.
.. [2] Wallace, Sieber, Neild, Wagg, Krauskopf (2005), "Stability analysis of real-time dynamic substructuring using
   delay differential equation models", doi:10.1002/eqe.513.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import splu

from hyloop.errors import BadInput, UnknownName
from hyloop.integrators import Method
from hyloop.loop.loop import Loop
from hyloop.loop.site import Site

__all__ = ["CriticalDelay", "critical_delay", "linearised"]

_MODES = 24  # of a larger model, which its modes then stand for
_NEAR = np.geomspace(1e-5, 0.7, 60)  # distances from a natural frequency, in terms of it: resonances may be sharp
_WIDE = 800  # frequencies over the whole range
_FINE = 200  # frequencies between two of the others, where the modulus passes 1
_AT_ONCE = 256  # frequencies that are solved for together


class CriticalDelay(NamedTuple):
    """Delay in s from which on a test grows by itself, infinite if there is none, and the frequency in Hz of it."""

    delay: float
    frequency: float
    sites: tuple[str, ...]


def linearised(site: Site) -> tuple[float, float]:
    """Stiffness and damping of the untouched device of a site; of one that hands on, those inside its actuator."""
    k, c = site.device.stiffness, site.device.damping
    actuator = site.chain.get("actuator")
    if site.device.block.name == "handed_on" and k == 0.0 and actuator is not None:
        k, c = actuator.params.get("k", 0.0), actuator.params.get("c", 0.0)
    return k, c


def critical_delay(loop: Loop, sites: str | Sequence[str] | None = None) -> CriticalDelay:
    """The delay between structure and specimen from which on the test grows by itself.

    Parameters
    ----------
    loop : Loop
        What is planned. Its transfer systems do not count: the delay stands in place of them.
    sites : str or sequence of str, optional
        Sites that are late, all by the same time; the others are ideal. By default the physical ones.

    Notes
    -----
    Devices count with their initial stiffness and damping. A device that yields or slides is softer then, so this is
    the worst case, which a test meets in its small motions.
    """
    late = _late(loop, sites)
    M, C, K, L = _matrices(loop, late)
    D = np.array([np.multiply(site.count, linearised(site)) for site in late])
    if not D.any():
        raise BadInput(
            f"{', '.join(site.name for site in late)}: the law declares no initial stiffness or damping, so that no "
            "critical delay can be predicted. Find it by simulation, with actuators of the law 'delay'."
        )
    compliance = _compliance(loop.method, M, C, K, L, loop.dt, _devices(loop, L, late))

    def loci(omega: np.ndarray) -> np.ndarray:
        gains = D[:, 0] + 1j * omega[:, None] * D[:, 1]
        return np.linalg.eigvals(gains[:, :, None] * compliance(omega))

    best = CriticalDelay(np.inf, np.nan, tuple(site.name for site in late))
    grid = _grid(M, K, loop.dt)
    values = loci(grid)
    outside = np.sum(np.abs(values) > 1.0, axis=1)
    for i in np.flatnonzero(np.diff(outside)):
        fine = np.linspace(grid[i], grid[i + 1], _FINE)
        for omega, angle in _crossings(fine, loci(fine)):
            delay = np.mod(angle + np.pi, 2.0 * np.pi) / omega
            if delay < best.delay:
                best = best._replace(delay=float(delay), frequency=float(omega / (2.0 * np.pi)))
    return best


def _late(loop: Loop, sites: str | Sequence[str] | None) -> list[Site]:
    named = {site.name: site for site in loop.sites}
    wanted = [sites] if isinstance(sites, str) else sites
    if wanted is None:
        wanted = [name for name, site in named.items() if site.physical]
        if not wanted:
            raise BadInput("no site is physical, so nothing comes late; name the sites whose delay is meant.")
    for name in wanted:
        if name not in named:
            raise UnknownName("site", name, named, where="critical_delay")
    return [named[name] for name in wanted]


def _matrices(loop: Loop, late: Sequence[Site]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Mass, damping and stiffness with the devices that are not late, and the direction of each late site."""
    structure = loop.structure
    K, C = structure.initial_stiffness, structure.C
    L = np.column_stack([site.along for site in late])
    others = [site for site in loop.sites if site not in late]
    A = np.column_stack([np.zeros((structure.n, 0)), *(site.along[:, None] for site in others)])
    k, c = (np.array([s.count * linearised(s)[i] for s in others]) for i in (0, 1))
    if structure.n <= _MODES:
        full = [part.toarray() if hasattr(part, "toarray") else part for part in (structure.M, C, K)]
        return full[0], full[1] + (A * c) @ A.T, full[2] + (A * k) @ A.T, L
    shapes = _shapes(loop, sparse.csr_array((A * k) @ sparse.csr_array(A).T), L)
    B = shapes.T @ A
    M, C, K = (shapes.T @ (part @ shapes) for part in (structure.M, C, K))
    return M, C + (B * c) @ B.T, K + (B * k) @ B.T, shapes.T @ L


def _shapes(loop: Loop, devices: Any, L: np.ndarray) -> np.ndarray:
    """The lowest modes without the late devices, and the shapes that forces at the late sites press in.

    Without the latter a stiff device would meet a structure that is too stiff there.
    """
    structure = loop.structure
    modes = structure.modes(devices, _MODES)
    shift = modes.omega[modes.omega > 0.0].min() ** 2  # a structure that floats has no static shape
    system = sparse.csc_array(structure.initial_stiffness + devices + shift * structure.M)
    pressed = np.asarray(splu(system).solve(L))
    pressed = pressed - modes.shapes @ (modes.shapes.T @ (structure.M @ pressed))
    masses = np.sqrt(np.maximum(np.sum(pressed * (structure.M @ pressed), axis=0), np.finfo(float).tiny))
    return np.hstack([modes.shapes, pressed / masses])


def _devices(loop: Loop, L: np.ndarray, late: Sequence[Site]) -> tuple[np.ndarray, np.ndarray]:
    """Damping and stiffness of the late devices, which the method counts with although they come late."""
    k, c = (np.array([s.count * getattr(s.device, key) for s in late]) for key in ("stiffness", "damping"))
    return (L * c) @ L.T, (L * k) @ L.T


def _compliance(
    method: Method, M: np.ndarray, C: np.ndarray, K: np.ndarray, L: np.ndarray, dt: float, late: tuple[Any, Any]
) -> Callable[[np.ndarray], np.ndarray]:
    r"""Deformations of the sites for forces there, as a function of the angular frequency.

    With :math:`z = e^{\mathrm{j}\omega\Delta t}` the recurrence at the top of `hyloop.core.kernel` becomes
    :math:`u = U w`, :math:`v = V w`, and one equation for w.
    """
    o = method.operators(M, C, K, dt, Cm=C + late[0], Km=K + late[1])
    implicit, eye = len(o.M) > 0, np.eye(len(M))
    plain = len(o.P) == 0  # then U and V are numbers, and products of matrices are saved
    P, one_to_one, times = (np.ones((1, 1)), 1.0, np.multiply) if plain else (o.P, eye, np.matmul)
    A = eye if implicit else np.linalg.inv(o.A)
    B = o.B if len(o.B) else np.zeros_like(M)

    def one(omega: np.ndarray) -> np.ndarray:
        if implicit:  # nearly the equation itself
            s = 1j * omega[:, None, None]
            return L.T @ np.linalg.solve(K + s * C + s**2 * M, L.astype(complex)[None])
        z = np.exp(1j * omega * dt)[:, None, None]
        V = (o.w_to_v * P + o.w_to_v_after * z * one_to_one) / (z - 1.0)
        U = (dt * V + o.w_to_u * P) / (z - 1.0)
        inertia = (z * A + B) / ((1.0 - o.alpha_f) * z + o.alpha_f)
        w = np.linalg.solve(z * inertia + z * times(K, U) + times(C, V + o.w_to_v * P), z * L)
        return L.T @ times(U, w)

    def many(omega: np.ndarray) -> np.ndarray:
        parts = np.array_split(omega, -(-len(omega) // _AT_ONCE))
        return np.concatenate([one(part) for part in parts])

    return many


def _grid(M: np.ndarray, K: np.ndarray, dt: float) -> np.ndarray:
    """Angular frequencies: over the whole range, and close to resonances."""
    squares = np.linalg.eigvals(np.linalg.solve(M, K)) if np.linalg.matrix_rank(M) == len(M) else np.array([])
    natural = np.sqrt(np.abs(np.real(squares)))
    highest = np.pi / dt * (1.0 - 1e-6)
    wide = np.geomspace(1e-3 * min(natural.min(initial=highest), highest), highest, _WIDE)
    near = natural[:, None] * np.concatenate([1.0 - _NEAR, [1.0], 1.0 + _NEAR])
    grid = np.unique(np.concatenate([wide, near.ravel()]))
    return grid[(grid > 0.0) & (grid <= highest)]


def _crossings(omega: np.ndarray, values: np.ndarray) -> list[tuple[float, float]]:
    """Frequencies at which the modulus of an eigenvalue passes 1, with its angle there, by interpolation."""
    found = []
    for i in np.flatnonzero(np.diff(np.sum(np.abs(values) > 1.0, axis=1))):
        before, after = values[i], values[i + 1]
        same = linear_sum_assignment(np.abs(before[:, None] - after))[1]
        for a, b in zip(before, after[same], strict=True):
            first, last = np.log(np.abs(a)), np.log(np.abs(b))
            if first * last <= 0.0 and first != last:
                part = first / (first - last)
                angle = np.angle(a) + part * np.angle(b / a)
                found.append((omega[i] + part * (omega[i + 1] - omega[i]), float(angle)))
    return found
