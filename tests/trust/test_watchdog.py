"""A network that breaks while the test runs is caught in the loop, and the run ends normally on the fallback."""

import numpy as np
import pytest
from problems.trust import CAPACITY, DT, LEVEL, SECONDS, SUBSTEPS, fallback, frame, ground, loop, network

from hyloop.devices import lugre_exact
from hyloop.errors import BadInput, RunFailed
from hyloop.loop import Guard, Site, Snapshot
from hyloop.neural import FrozenStack
from hyloop.transfer.kinematics import kinematics
from hyloop.trust import Band, Watch, trusted

MOST = 1.1 * CAPACITY  # what the force may not pass, whatever breaks
BREAK = 3.0  # s
CAUGHT = 0.5  # s until the fallback has all of the force: 0.1 s of blending after the doubt has grown
HIDDEN = 1e-6  # N: round-off of (1 - w) f + w f


def spoiled(rng, how, weights):
    return {
        "random numbers": rng.normal(0.0, 3.0, len(weights)),
        "scaled by 50": 50.0 * weights,
        "not a number": np.where(rng.random(len(weights)) < 0.2, np.nan, weights),
        "infinite": np.full(len(weights), np.inf),
        "forgotten": np.zeros(len(weights)),
    }[how].astype(np.float32)


def spoil(made, name, network, how, rng):
    """Write other numbers into the weights of a network in the memory of a running loop."""
    ones = FrozenStack(network.architecture, {k: t + 1.0 for k, t in network.tensors.items()}, network.card)
    own, other = network.block.contents, ones.block.contents
    places = np.flatnonzero(own.view(np.float32) != other.view(np.float32))
    memory = made._state.x[made._memory_of(name, len(own))].view(np.float32)
    memory[places] = spoiled(rng, how, memory[places])


def broken_run(made, name, net, how, rng, motion=None):
    motion = ground() if motion is None else motion
    made.start(motion[0])
    before = made.advance(motion[1 : round(BREAK / DT)], record="*", every="tick")
    spoil(made, name, net, how, rng)
    after = made.advance(motion[round(BREAK / DT) :], record="*", every="tick")
    return before, after


def test_a_sound_network_is_trusted_and_untouched():
    """The guard costs nothing that anyone could see: the same bits as without it."""
    net = network()
    watched, plain = (loop([net], guarded).run(ground(), record="*", every="tick") for guarded in (True, False))
    assert watched["damper2.trust"][1:].min() > Watch.limit and (watched["damper2.fallback"] == 0.0).all()
    for channel in ("damper2.f", "u.1", "u.2"):
        assert np.array_equal(watched[channel], plain[channel])
    assert np.array_equal(watched["damper2.f_model"], plain["damper2.f"])
    assert np.abs(plain["damper2.f"]).max() > 0.9 * LEVEL  # it works at its capacity


@pytest.mark.parametrize("how", ["random numbers", "scaled by 50", "not a number", "infinite", "forgotten"])
@pytest.mark.parametrize("members", [1, 3])
def test_corrupted_weights_are_caught(how, members, rng):
    nets = [network(), network(0.97 * LEVEL), network(1.02 * LEVEL)][:members]
    made = loop(nets)
    before, after = broken_run(made, "damper2", nets[0], how, rng)
    assert (before["damper2.fallback"] == 0.0).all()
    f, share = after["damper2.f"], after["damper2.fallback"]
    assert np.isfinite(f).all() and np.abs(f).max() <= MOST
    if how in ("not a number", "infinite") or members == 1:
        late = round(CAUGHT * SUBSTEPS / DT)
        assert (share[late:] == 1.0).mean() > 0.9 and share[-1] == 1.0
        on_it = share == 1.0
        assert np.abs(f - after["damper2.backup.f"])[on_it].max() < HIDDEN
    assert len(after.time) == SUBSTEPS * (round(SECONDS / DT) - round(BREAK / DT))  # to the end


@pytest.mark.parametrize("how", ["random numbers", "scaled by 50", "not a number"])
def test_without_a_guard_the_same_fault_passes_the_capacity_or_stops_the_run(how, rng):
    net = network()
    try:
        _, after = broken_run(loop([net], guarded=False), "damper2", net, how, rng)
    except RunFailed:
        return
    assert np.abs(after["damper2.f"]).max() > MOST


def test_inputs_outside_the_training_range_are_caught_and_the_network_comes_back():
    """A shock in the middle of a weak motion: away while the inputs are far outside, back when it has been calm."""
    motion = ground(0.8, 12.0)
    motion[round(3 / DT) : round(4 / DT)] *= 8.0
    net = network(ranges={"d": ("m", 0.015), "v": ("m/s", 0.2)})
    made = loop([net], watch=Watch(CAPACITY, apart=CAPACITY)).run(motion, record="*", every="tick")
    f, share, trust, t = (made[key][1:] for key in ("damper2.f", "damper2.fallback", "damper2.trust", "t"))
    assert np.abs(f).max() <= MOST
    outside = trust < 0.25
    assert outside.any() and t[outside].min() > 3.0
    assert share[t < 3.0].max() == 0.0 and share.max() == 1.0 and share[-1] == 0.0
    assert (np.abs(np.diff(share)) <= DT / SUBSTEPS / 0.1 * (1 + 1e-9)).all()


@pytest.mark.parametrize("stiffness", [-2e6, -2e7, -2e8])
def test_a_run_away_network_is_caught(stiffness):
    """A spring that pushes on, and on: what it does makes what it sees larger."""
    most = 0.3
    net = network(level=stiffness, kind="linear", gain=1.0 / 4.0, ranges={"d": ("m", most), "v": ("m/s", 4.0)})
    net = FrozenStack(net.architecture, {**net.tensors, "1.W": 4.0 * net.tensors["1.W"]}, net.card)
    assert net.device().drive(DT, d=np.array([0.001]), v=np.zeros(1))["f"] == pytest.approx(1e-3 * stiffness, rel=1e-5)
    made = loop([net]).run(ground(), record="*", every="tick")
    assert np.abs(made["damper2.f"]).max() <= MOST and made["damper2.fallback"].max() == 1.0
    assert np.isfinite(made["u.2"]).all() and len(made.time) > SECONDS / DT
    if stiffness == -2e8:  # stiffer than the frame, the other way
        with pytest.raises(RunFailed):
            loop([net], guarded=False).run(ground())


@pytest.mark.parametrize("how", ["random numbers", "not a number"])
def test_one_broken_member_of_an_ensemble_shows_in_the_spread(how, rng):
    nets = [network(), network(0.97 * LEVEL), network(1.02 * LEVEL)]
    before, after = broken_run(loop(nets), "damper2.network2", nets[1], how, rng)
    f = [before[name] for name in ("damper2.f_model", "damper2.network2.f", "damper2.network3.f")]
    np.testing.assert_allclose(before["damper2.spread"], np.std(f, axis=0, ddof=1), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(before["damper2.f"], np.mean(f, axis=0), rtol=1e-9, atol=1e-9)
    assert after["damper2.trust"].min() == 0.0 and after["damper2.fallback"].max() == 1.0
    assert np.abs(after["damper2.f"]).max() <= MOST


def test_a_twin_that_errs_widens_the_band():
    """The residual of a law at the measured site enters the score; the device there is 5 % stronger than the twin."""
    band = Band(0.9, 200.0, q=1.0, twin=1.0)
    made = loop([network()], band=band, twin=fallback()).run(ground(), record="*", every="tick")
    residual = made["damper1.f"] - made["damper2.twin.f"]
    fade, square = np.exp(-DT / SUBSTEPS / 1.0), 0.0
    score = [200.0]
    for r in residual[1:]:
        square = fade * square + (1.0 - fade) * r**2
        score.append(200.0 + np.sqrt(square))
    np.testing.assert_allclose(made["damper2.score"][1:], score[1:], rtol=1e-9)
    assert np.max(score) > 600.0
    half = 0.5 * (made["damper2.f_high"] - made["damper2.f_low"])
    np.testing.assert_allclose(half[1:], score[1:], rtol=1e-9)


def test_a_resumed_run_has_the_same_bits(tmp_path, rng):
    """With an ensemble, a twin, and a handover in progress: everything the guard knows is in the snapshot."""
    nets = [network(), network(0.97 * LEVEL)]
    whole, first, second = (
        loop(nets, band=Band(0.9, 200.0, spread=1.0, twin=1.0), twin=fallback(), watch=Watch(CAPACITY, blend=2.0))
        for _ in range(3)
    )
    motion = ground()
    middle = round((BREAK + 0.5) / DT)

    def to_the_middle(made):
        made.start(motion[0])
        made.advance(motion[1 : round(BREAK / DT)])
        spoil(made, "damper2", nets[0], "forgotten", rng)
        made.advance(motion[round(BREAK / DT) : middle])

    for made in (whole, first):
        to_the_middle(made)
    assert 0.0 < first["damper2.fallback"] < 1.0
    first.snapshot().save(tmp_path / "half.npz")
    second.restore(Snapshot.load(tmp_path / "half.npz"))
    wanted, found = (made.advance(motion[middle:], record="*", every="tick") for made in (whole, second))
    assert np.array_equal(wanted.data, found.data)


def test_what_cannot_be_watched_is_refused():
    structure, net = frame(), network()
    site = Site("damper2", structure.story(2), net.device())
    real = Site("damper1", structure.story(1), lugre_exact(), physical=True)
    band, watch = Band(0.9, 200.0), Watch(CAPACITY)
    with pytest.raises(BadInput, match="modelled site"):
        trusted(real, band, watch)
    with pytest.raises(BadInput, match="a guard is for a model"):
        Site("damper1", structure.story(1), lugre_exact(), physical=True, guard=Guard(lugre_exact()))
    with pytest.raises(BadInput, match="no guard"):
        Site("damper2", structure.story(2), net.device(), guard=Guard(kinematics()))
    with pytest.raises(BadInput, match="needs the site it stands at"):
        trusted(site, band, watch, twin=fallback())
    with pytest.raises(BadInput, match="there is none"):
        trusted(site, Band(0.9, 200.0, twin=1.0), watch)
    with pytest.raises(BadInput, match="there is one model"):
        trusted(site, Band(0.9, 200.0, spread=1.0), watch, networks=[net])
    with pytest.raises(BadInput, match="there is no network"):
        trusted(site, Band(0.9, 200.0, range=1.0), watch)
    with pytest.raises(BadInput, match="must be the device"):
        trusted(site, band, watch, networks=[network()])
    with pytest.raises(BadInput, match="same inputs"):
        trusted(site, band, watch, networks=[net, network(ranges={"v": ("m/s", 1.0)})])
    with pytest.raises(BadInput, match="nothing is measured"):
        trusted(site, band, watch, twin=fallback(), at=site)
    with pytest.raises(BadInput, match="not connected"):
        listening = network(ranges={"d": ("m", 1.0), "v": ("m/s", 1.0), "f1": ("N", 1.0)})
        trusted(site, band, watch, fallback=listening.device())
