"""The network of the tested brace."""

from hyloop.updating import pretrain

from .cases import K0


def trained(dt, d, f, seed, iterations):
    """A network trained on deformation and force of the tested brace."""
    return pretrain(d, f, dt=dt, seed=seed, stiffness=K0, iterations=iterations)
