"""The stiffness a law declares to the integration methods is the slope of its force at the start."""

import numpy as np
import pytest

from hyloop.devices import bilinear, bouc_wen, bouc_wen_baber_noori, giuffre_menegotto_pinto, prandtl_ishlinskii, spring

SMALL = 1e-9  # m, far below every yield deformation here
SLOPE = 1e-5  # relative: the laws are curved, in proportion to SMALL over their yield deformation
# no parameter at a value, such as 1, at which a product and a quotient are the same
DEVICES = [
    spring(k=3e6),
    bilinear(k=3e6, alpha=0.3, f_y=7e3),
    bouc_wen(k=3e6, alpha=0.3, d_y=4e-3, A=1.4),
    bouc_wen_baber_noori(k0=3e6, alpha=0.3, A0=1.7),
    giuffre_menegotto_pinto(k=3e6, f_y=7e3, b=0.05),
    prandtl_ishlinskii(3)(k_e=3e5, w0=1e6, w1=2e6, w2=4e6),
]


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.block.name)
def test_declared_stiffness_is_the_first_slope(device):
    force = device.drive(1e-3, d=np.array([SMALL]))["f"][0]
    assert device.stiffness == pytest.approx(force / SMALL, rel=SLOPE)
