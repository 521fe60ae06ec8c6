"""A frame with a measured damper and a network in place of the other, small enough to break in many ways."""

import numpy as np

from hyloop.devices import lugre_exact
from hyloop.integrators import newmark_explicit
from hyloop.loop import Loop, Site
from hyloop.neural import Card, FrozenStack, Signal, mlp
from hyloop.structure import rayleigh, shear_frame
from hyloop.trust import Band, Watch, trusted

DT, SUBSTEPS, SECONDS = 1 / 256, 4, 8.0
LEVEL, CAPACITY = 18e3, 20e3
SLOPE = 0.005  # m/s, velocity at which the damper has three quarters of its force
RANGES = {"d": ("m", 0.03), "v": ("m/s", 0.4)}


def network(level=LEVEL, kind="tanh", gain=1.0 / SLOPE, ranges=RANGES, about=None):
    """f = level tanh(v gain), as weights; with kind "linear" and its slope in d, a spring."""
    signals = tuple(Signal(key, unit, 0.0, 1.0 / most, -most, most) for key, (unit, most) in ranges.items())
    architecture = mlp(len(signals), width=4, depth=1, kind=kind)
    tensors = {
        f"{k}.{key}": np.zeros(shape, np.float32)
        for k, layer in enumerate(architecture.layers)
        for key, shape in layer.shapes.items()
    }
    heard = list(ranges).index("v" if kind == "tanh" else "d")
    tensors["0.W"][heard, 0] = gain * signals[heard].low * -1.0
    tensors["1.W"][0, 0] = level * 1e-4
    return FrozenStack(architecture, tensors, Card(signals, (Signal("f", "N", 0.0, 1e-4),), about=about or {}))


def frame():
    bare = shear_frame([4e4] * 2, [4e7] * 2)
    return bare.with_damping(rayleigh(bare, 0.02))


def ground(rms=1.5, seconds=SECONDS, seed=1):
    """Noise below 6 Hz, in m/s2."""
    n = round(seconds / DT)
    spectrum = np.fft.rfft(np.random.default_rng(seed).normal(size=n))
    spectrum[np.fft.rfftfreq(n, DT) > 6.0] = 0.0
    a = np.fft.irfft(spectrum, n)
    return rms * a / a.std()


def fallback(level=LEVEL):
    """Friction that slips after some hundredths of a millimetre: near to what the network is."""
    same = dict.fromkeys(("Fc_pos", "Fs_pos", "Fc_neg", "Fs_neg"), level)
    return lugre_exact(sigma0=3e8, sigma1=2e4, **same)


def loop(networks, guarded=True, band=None, twin=None, watch=None):
    """The measured damper of the first story and the networks in the second."""
    structure = frame()
    measured = Site("damper1", structure.story(1), fallback(1.05 * LEVEL), physical=True)
    site, blocks = Site("damper2", structure.story(2), networks[0].device()), []
    if guarded:
        made = trusted(
            site,
            band or Band(0.9, 500.0, q=2.0, spread=1.0 if len(networks) > 1 else 0.0, range=5e3),
            watch or Watch(CAPACITY),
            networks=networks,
            fallback=fallback(),
            twin=twin,
            at=None if twin is None else measured,
        )
        site, blocks = made.site, [*made.twin, *made.blocks]
    return Loop(structure, [measured, site], method=newmark_explicit(), dt=DT, substeps=SUBSTEPS, blocks=blocks)
