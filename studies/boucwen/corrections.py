"""The law with a learned correction: Dahl's friction whose stiffnesses a network gives from the size of the force."""

from hyloop.learn.physics.layers import physics_layer

from . import fits, models
from .oscillators import dahl_oscillator
from .records import RATE

FILES = ("corrections.py", *fits.FILES)
WIDTH, REACH, FORCE_SEEN = 10, 10.0, 50.0  # -, -, N
TRIALS = (70, 8)


def corrected(params, seed):
    """The law from where it stood alone, but with one stiffness; the network learns to tell the two apart."""
    k = 0.5 * (params["k_out"] + params["k_back"])
    return physics_layer(
        dahl_oscillator(**params | {"k_out": k, "k_back": k}),
        ("k_out", "k_back"),
        features={"z_mid": FORCE_SEEN},
        constant=("m", "c", "k", "rho"),
        width=WIDTH,
        depth=1,
        reach=REACH,
        dt=1 / (RATE * models.LAW_TICKS),
        seed=seed,
    )


def fitted(source, seed, params, trials=TRIALS):
    """Arrays of the law with its network."""
    return models.arrays(fits.fitted(corrected(params, seed), source, "law and network", trials))
