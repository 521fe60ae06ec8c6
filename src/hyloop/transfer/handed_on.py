"""The device of a site whose force is made elsewhere: by a specimen with several axes, or inside an actuator."""

from hyloop.core.block import Param, block

__all__ = ["handed_on"]


@block(
    inputs={"f": "N"},
    outputs={"f": "N"},
    params={
        "k": Param("N/m", 0.0, 0.0, about="initial stiffness, declared to the integration method"),
        "c": Param("N s/m", 0.0, 0.0, about="initial damping, declared to the integration method"),
    },
    reference="Newton's third law.",
    linear=lambda k, c: (k, c),
)
def handed_on(x, u, dt, p):
    r"""Hand on the force of the block before it in the chain of the site.

    .. math:: f = f_{before}

    That is a coupled ``specimen`` with several axes, or an actuator with the specimen inside, such as
    ``servo_hydraulic``. The stiffness and damping do not enter the force; integration methods that linearise devices
    need them.
    """
    return (u[0],), ()
