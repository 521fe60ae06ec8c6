"""A trained block in a controller that ticks at another rate than it was trained at."""

from dataclasses import replace

import numpy as np
import pytest
from oracles.networks import random_tensors

from hyloop.devices import lugre
from hyloop.errors import BadInput
from hyloop.neural import Card, FrozenStack, Signal, mlp, ocp_nn
from hyloop.neural.guided import FrozenGuidedLaw, Head
from hyloop.neural.resampled import resampled

TICK = 1 / 1024
SIGNALS = tuple(Signal(key, "m", 0.0, 1.0, -1.0, 1.0) for key in ("d1", "v1", "d"))
# Largest difference to the network at its own rate, over the range of its force, where that turns fast (it crosses a
# third of its range in ten samples). Measured: held 1.6 %, the change in half of its samples; on a line 0.12 %; at 512
# Hz 0.005 %, because a smooth motion is nearly straight between its samples.
HELD, LINE, SLOW = 0.02, 2e-3, 1e-4
SHARED = 0.02  # phases take a tenth of their memory from the one before


def network(dt=TICK):
    architecture = ocp_nn(2, 1) if dt else mlp(3)
    tensors = random_tensors(architecture, np.random.default_rng(3))
    return FrozenStack(architecture, tensors, Card(SIGNALS, (Signal("f", "N", 10.0, 1e-3),), dt=dt))


def rms(values):
    return np.sqrt(np.mean(values**2))


def smooth(rate, seconds=3.0, start=1):
    """The same motion at any rate."""
    t = np.arange(start, round(seconds * rate) + 1) / rate
    phases = np.random.default_rng(4).uniform(0, 6, (3, 3))
    return {
        key: sum(np.sin(2 * np.pi * hertz * t + phase) for hertz, phase in zip((0.5, 1.0, 2.5), row, strict=True))
        for key, row in zip(("d1", "v1", "d"), phases, strict=True)
    }


def test_at_its_own_rate_nothing_changes():
    u, own = smooth(1024), network()
    found, wanted = resampled(own.device()).drive(TICK, **u), own.drive(TICK, **u)
    assert all(np.array_equal(found[key], wanted[key]) for key in ("f", "outside"))
    assert resampled(network(0.0).device()).block.tick is None  # no memory: as it is


@pytest.mark.parametrize("m", [2, 3, 5])
def test_in_a_faster_controller_it_hears_every_mth_sample(m):
    u, own = smooth(1024 * m), network()
    wanted = own.drive(TICK, **{key: values[::m] for key, values in u.items()})
    held = resampled(own.device()).drive(TICK / m, **u)
    for key in ("f", "outside"):
        assert np.array_equal(held[key], np.repeat(wanted[key], m)[: len(held[key])])  # to the bit
    on_lines = resampled(own.device(), "line").drive(TICK / m, **u)
    slope = np.diff(wanted["f"], prepend=wanted["f"][0])
    line = np.repeat(wanted["f"], m) + np.tile(np.arange(m) / m, len(slope)) * np.repeat(slope, m)
    np.testing.assert_allclose(on_lines["f"], line[: len(held["f"])], rtol=1e-12, atol=1e-9)
    assert np.array_equal(on_lines["outside"], held["outside"])  # a count is no line


@pytest.mark.parametrize("m", [2, 4])
def test_in_a_slower_controller_it_hears_straight_lines(m):
    u, own = smooth(1024 / m), network()
    between = {}
    for key, values in u.items():
        last = np.concatenate([values[:1], values[:-1]])
        parts = [(i / m) * values + (1.0 - i / m) * last for i in range(1, m + 1)]
        between[key] = np.column_stack(parts).ravel()
    wanted = own.drive(TICK, **between)
    found = resampled(own.device()).drive(m * TICK, **u)
    for key in ("f", "outside"):
        assert np.array_equal(found[key], wanted[key][m - 1 :: m])


def test_it_is_close_to_the_network_at_its_own_rate():
    """What resampling costs, for one smooth motion seen at three rates."""
    own = network()
    wanted, settled = own.drive(TICK, **smooth(1024))["f"], 512
    size = np.ptp(wanted)

    def off(device, rate):
        found = device.drive(1 / rate, **smooth(rate))["f"]
        k = max(1, rate // 1024)
        found, truth = (found[k - 1 :: k], wanted) if rate >= 1024 else (found, wanted[1::2])
        return np.abs(found - truth)[settled:].max() / size

    held, line = off(resampled(own.device()), 2048), off(resampled(own.device(), "line"), 2048)
    slow = off(resampled(own.device()), 512)
    assert line < held < HELD and line < LINE and slow < SLOW


@pytest.mark.parametrize("rate", [1000.0, 1536.0, 700.0, 1024.0 * 33])
def test_rates_without_a_whole_number_between_are_refused(rate):
    with pytest.raises(BadInput, match=r"was trained at 1024 Hz and can be resampled to whole multiples or fractions"):
        resampled(network().device()).drive(1 / rate, **smooth(64))
    with pytest.raises(BadInput, match="none of"):
        resampled(network().device(), "cubic")


@pytest.mark.parametrize("m", [1, 2, 4, 32])
def test_in_phases_every_tick_is_answered_as_at_its_own_rate(m):
    """Each phase is nearly the network alone with every m-th sample; together they count all ticks outside."""
    u, own = smooth(1024 * m, seconds=0.5), network()
    found = resampled(own.device(), "phases").drive(TICK / m, **u)
    alone = [own.drive(TICK, **{key: values[k::m] for key, values in u.items()}) for k in range(m)]
    for k, each in enumerate(alone):
        assert rms(found["f"][k::m] - each["f"]) <= (0.0 if m == 1 else SHARED) * np.ptp(each["f"])
    assert found["outside"][-1] == sum(each["outside"][-1] for each in alone) > 0.0
    assert np.all(np.diff(found["outside"]) >= 0.0)


def guided():
    """A LuGre law with stiffness and damping from a random network."""
    architecture = ocp_nn(2, 1, outputs=2)
    tensors = random_tensors(architecture, np.random.default_rng(5))
    inputs = (*SIGNALS, Signal("v", "m/s", 0.0, 1.0, -1.0, 1.0))
    law = lugre()
    return FrozenGuidedLaw(
        law.block,
        np.array(list(law.params.values())),
        {"sigma0": Head(), "sigma1": Head()},
        architecture,
        tensors,
        Card(inputs, (Signal("f", "N"),), dt=TICK),
    )


def test_a_guided_law_runs_in_phases_too():
    own = guided()
    u = smooth(4096, seconds=0.5)
    u["v"] = np.gradient(u["d"]) * 4096
    found = resampled(own.device(), "phases").drive(TICK / 4, **u)["f"]
    for k in range(4):
        alone = own.device().drive(TICK, **{key: a[k::4] for key, a in u.items()})["f"]
        assert rms(found[k::4] - alone) <= SHARED * np.ptp(alone)


def test_phases_that_were_driven_apart_come_together():
    """One phase hears something else for a while; afterwards its force is that of the others again."""
    m, u, own = 8, {key: np.zeros(8 * 400) for key in ("d1", "v1", "d")}, network()
    apart = {key: values.copy() for key, values in u.items()}
    apart["d"][2 : 8 * 20 : m] = 2.0
    quiet, driven = (resampled(own.device(), "phases").drive(TICK / m, **each)["f"] for each in (u, apart))
    off = np.abs(driven - quiet)
    assert off[2 : 8 * 20 : m].max() > 100 * off[-m:].max()


def test_laws_of_phases_come_together_too():
    """The state of a guided law is shared like the memory of its network: backlash of one phase alone does not last."""
    own, m = guided(), 8
    u = {key: np.zeros(8 * 400) for key in ("d1", "v1", "d", "v")}
    u["v"][2 : 8 * 20 : m] = 0.5  # one phase alone is driven
    f = resampled(own.device(), "phases").drive(TICK / m, **u)["f"]
    apart = np.ptp(f.reshape(-1, m), axis=1)
    assert apart[:20].max() > 1e3 and apart[-1] < 0.1 * apart[:20].max()


def test_what_cannot_share_its_memory_does_not_run_in_phases():
    device = replace(network().block, constant=(0, 0))()
    with pytest.raises(BadInput, match="cannot run in phases; stacks and guided laws can"):
        resampled(device, "phases")
    assert resampled(device, "hold").block.name == "network"
