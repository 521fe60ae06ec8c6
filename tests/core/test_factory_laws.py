"""Laws made by a function: their numbers are part of what is compiled, so two of them are never taken for one."""

import numpy as np

from hyloop.core import Param, block


def tripled(factor):
    @block(inputs={"d": "m"}, outputs={"f": "N"}, params={"k": Param("N/m", 1.0)}, reference="test")
    def law(x, u, dt, p):
        return (factor * p[0] * u[0],), ()

    return law


def test_two_laws_of_one_factory_differ():
    d = np.array([1.0, 2.0])
    for factor in (2.0, 3.0, 5.0):
        assert tripled(factor)(k=10.0).drive(0.01, d=d)["f"].tolist() == [10 * factor, 20 * factor]
