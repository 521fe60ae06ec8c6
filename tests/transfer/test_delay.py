"""A delay: whole ticks exact, parts of a tick to the order of the interpolation."""

import numpy as np
import pytest

from hyloop import Loop, Site, shear_frame
from hyloop.devices import spring
from hyloop.errors import BadInput
from hyloop.integrators import mkr_alpha
from hyloop.transfer import delay
from hyloop.transfer.delay import LONGEST

ORDER = 0.1  # by which the order seen at two steps may differ from that of the theory


@pytest.mark.parametrize("ticks", [0, 1, 12, LONGEST])
def test_whole_ticks_are_exact(ticks, rng):
    d, dt = rng.normal(size=3 * LONGEST), 0.001  # 0.012/0.001 is not 12 in binary
    late = delay(tau=ticks * dt).drive(dt, d=d)["d"]
    assert np.array_equal(late[ticks:], d[: len(d) - ticks]) and not late[:ticks].any()


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("ticks", [1.4, 7.37])
def test_parts_of_a_tick_have_the_order_of_the_polynomial(order, ticks):
    def error(n):
        t = np.arange(1, n + 1) / n
        smooth = lambda t: np.where(t > 0, np.sin(2 * np.pi * 2 * t) ** 8, 0.0)  # noqa: E731
        late = delay(tau=ticks / n, order=float(order)).drive(1 / n, d=smooth(t))["d"]
        return np.abs(late - smooth(t - ticks / n)).max()

    assert np.log2(error(800) / error(1600)) == pytest.approx(order + 1, abs=ORDER)


def test_velocity_and_acceleration_are_differences(rng):
    r = delay(tau=0.0024).drive(0.001, d=rng.normal(size=50))
    d = np.concatenate([[0.0, 0.0], r["d"]])
    np.testing.assert_allclose(r["v"], np.diff(d[1:]) / 1e-3, rtol=1e-12)
    np.testing.assert_allclose(r["a"], np.diff(d, 2) / 1e-6, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tau": 4e-4}, "tau = 0.0004 s is shorter than a tick of 0.001 s. Give 0 or at least a tick"),
        ({"tau": 5.0}, "tau = 5 s is 5000 ticks of 0.001 s; at most 1024"),
        ({"order": 2.5}, "order = 2.5 must be a whole number"),
    ],
)
def test_refused(settings, message):
    with pytest.raises(BadInput, match=f"delay: {message}"):
        delay(**settings).drive(1e-3, d=np.zeros(3))
    frame = shear_frame([1e4], [4e6])
    site = Site("a", frame.story(1), spring(), transfer={"actuator": delay(**settings)})
    with pytest.raises(BadInput, match=rf"a\.actuator: {message}"):
        Loop(frame, [site], method=mkr_alpha(0.75), dt=2e-3, substeps=2)


def test_a_changed_parameter_is_checked_too():
    frame = shear_frame([1e4], [4e6])
    site = Site("a", frame.story(1), spring(), transfer={"actuator": delay(tau=0.01)})
    loop = Loop(frame, [site], method=mkr_alpha(0.75), dt=1e-3)
    assert loop.copy({"a.actuator.tau": 0.02})["a.actuator.tau"] == 0.02
    with pytest.raises(BadInput, match=r"a\.actuator: tau = 0.0005 s is shorter than a tick"):
        loop.copy({"a.actuator.tau": 5e-4})
