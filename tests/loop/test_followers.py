"""Sites that share the parameters of another: the same slots of the bus, and refusals where that cannot be."""

import numpy as np
import pytest

from hyloop.core import Param, block
from hyloop.devices import bilinear, lugre, nonlinear_maxwell
from hyloop.errors import BadInput, UnknownName
from hyloop.integrators import mkr_alpha, newmark_explicit
from hyloop.loop import FreeBlock, Loop, Site
from hyloop.structure import shear_frame

FRAME = shear_frame([4e4] * 3, [4e7] * 3)
DAMPER = {"k": 2e7, "f_y": 4e4}
ROUND_OFF = 1e-11  # relative, over some hundred steps


@block(
    inputs={"d": "m"},
    outputs={"f_y": "N"},
    params={"rate": Param("N/m", 1e6), "base": Param("N", 4e4)},
    reference="test",
)
def weakening(x, u, dt, p):
    """A yield force that falls with the deformation of a measured device."""
    return (p[1] - p[0] * abs(u[0]),), ()


def _loop(shares, sites=(1, 2, 3), updated="damper2.f_y", **options):
    """A measured device and two models; an updater writes the yield force of the first model."""
    devices = [
        Site(f"damper{s}", FRAME.story(s), bilinear(**DAMPER), physical=s == 1, shares=shares.get(f"damper{s}"))
        for s in sites
    ]
    updater = FreeBlock("updater", weakening(), {"d": "damper1.d"}, {"f_y": updated})
    return Loop(FRAME, devices, dt=1 / 256, substeps=4, blocks=[updater], **({"method": mkr_alpha(0.75)} | options))


@pytest.mark.parametrize("method", [mkr_alpha(0.75), newmark_explicit()])
def test_a_follower_is_a_site_whose_parameters_are_written_too(rng, method):
    """The same run without sharing: two updaters that do the same, one for each model."""
    ground = 4.0 * rng.normal(size=1000)
    shared = _loop({"damper3": "damper2"}, method=method).run(ground, every="tick")
    sites = [Site(f"damper{s}", FRAME.story(s), bilinear(**DAMPER), physical=s == 1) for s in (1, 2, 3)]
    twice = [FreeBlock(f"updater{s}", weakening(), {"d": "damper1.d"}, {"f_y": f"damper{s}.f_y"}) for s in (2, 3)]
    apart = Loop(FRAME, sites, method=method, dt=1 / 256, substeps=4, blocks=twice).run(ground, every="tick")
    assert np.ptp(shared["damper2.f_y"]) > 5e3, "nothing was updated"
    for name in ("u.3", "damper2.f", "damper3.f"):
        assert np.array_equal(shared[name], apart[name])
    alone = Loop(FRAME, sites, method=method, dt=1 / 256, substeps=4, blocks=twice[:1]).run(ground, every="tick")
    assert not np.array_equal(shared["damper3.f"], alone["damper3.f"])


def test_states_are_not_shared(rng):
    """Each device is the law alone, driven by its own deformation: with one state for both it would not be."""
    sites = [Site(f"damper{s}", FRAME.story(s), bilinear(**DAMPER), shares={3: "damper2"}.get(s)) for s in (2, 3)]
    loop = Loop(FRAME, sites, method=mkr_alpha(0.75), dt=1 / 256, substeps=4)
    result = loop.run(4.0 * rng.normal(size=500), every="tick")
    for name in ("damper2", "damper3"):
        alone = bilinear(**DAMPER).drive(1 / 1024, d=result[f"{name}.d"][1:])["f"]
        assert np.ptp(result[f"{name}.d"]) > 2 * DAMPER["f_y"] / DAMPER["k"], "it did not yield"
        assert np.array_equal(result[f"{name}.f"][1:], alone)


def test_the_order_of_the_sites_does_not_matter(rng):
    ground = 4.0 * rng.normal(size=500)
    one, other = (_loop({"damper3": "damper2"}, sites).run(ground) for sites in ((1, 2, 3), (3, 1, 2)))
    # forces of the sites are added in another order
    assert np.allclose(one["damper3.f"], other["damper3.f"], rtol=0.0, atol=ROUND_OFF * np.abs(one["damper3.f"]).max())


def test_shared_parameters_are_no_channels():
    loop = _loop({"damper3": "damper2"})
    assert "damper3.f" in loop.channels and "damper2.k" in loop.channels
    assert not {"damper3.k", "damper3.f_y"} & {*loop.channels, *loop.parameters}
    with pytest.raises(BadInput, match=r"damper3\.k: site damper3 shares .* damper2; set damper2\.k instead"):
        loop.copy({"damper3.k": 1e7})


def test_a_copy_with_other_parameters_changes_the_followers(rng):
    ground = 4.0 * rng.normal(size=300)
    loop = _loop({"damper3": "damper2"})
    weak = loop.copy({"damper2.k": 1e7}).run(ground)
    sites = [Site(f"damper{s}", FRAME.story(s), bilinear(**DAMPER), physical=s == 1) for s in (1, 2, 3)]
    twice = [FreeBlock(f"updater{s}", weakening(), {"d": "damper1.d"}, {"f_y": f"damper{s}.f_y"}) for s in (2, 3)]
    apart = Loop(FRAME, sites, method=mkr_alpha(0.75), dt=1 / 256, substeps=4, blocks=twice)
    expected = apart.copy({"damper2.k": 1e7, "damper3.k": 1e7}).run(ground)
    assert np.array_equal(weak["damper3.f"], expected["damper3.f"])
    assert not np.array_equal(weak["damper3.f"], loop.run(ground)["damper3.f"])


def test_a_snapshot_resumes_bit_for_bit(rng):
    ground, loop = 4.0 * rng.normal(size=600), _loop({"damper3": "damper2"})
    whole = loop.run(ground)
    loop.start(ground[0])
    loop.advance(ground[1:300])
    other = _loop({"damper3": "damper2"})
    other.restore(loop.snapshot())
    assert np.array_equal(other.advance(ground[300:])["damper3.f"], whole["damper3.f"][300:])


def _sites(**shares):
    laws = {"a": bilinear(**DAMPER), "b": bilinear(**DAMPER), "c": nonlinear_maxwell(), "d": bilinear()}
    return [Site(name, FRAME.story(1), law, shares=shares.get(name)) for name, law in laws.items()]


@pytest.mark.parametrize(
    ("shares", "kind", "message"),
    [
        ({"b": "x"}, UnknownName, "site b: shares: unknown site 'x'"),
        ({"b": "b"}, UnknownName, "site b: shares: unknown site 'b'.*Allowed: a, c, d"),
        ({"b": "a", "a": "b"}, BadInput, "site a: shares = 'b', which itself shares with 'a'"),
        ({"b": "a", "d": "b"}, BadInput, "site d: shares = 'b', which itself shares with 'a'"),
        ({"c": "a"}, BadInput, "one device is nonlinear_maxwell, the other bilinear"),
        ({"d": "a"}, BadInput, "same parameters"),
    ],
)
def test_refused(shares, kind, message):
    with pytest.raises(kind, match=message):
        Loop(FRAME, _sites(**shares), method=mkr_alpha(0.75), dt=1 / 256)


def test_an_updater_cannot_write_shared_parameters():
    with pytest.raises(BadInput, match=r"updater: output f_y to damper3\.f_y: .* set damper2\.f_y instead"):
        _loop({"damper3": "damper2"}, updated="damper3.f_y")


def test_measured_signals_are_the_last_readings_of_the_chain():
    @block(inputs={"f": "N"}, outputs={"f": "N"}, params={"gain": Param("-", 1.01)}, reference="test")
    def load_cell(x, u, dt, p):
        """A gain."""
        return (p[0] * u[0],), ()

    @block(
        inputs={"d": "m"}, outputs={"f": "N", "f_m": "N", "d_m": "m"}, params={"k": Param("N/m", 1e6)}, reference="test"
    )
    def specimen(x, u, dt, p):
        """A spring that senses itself."""
        return (p[0] * u[0], 1.01 * p[0] * u[0], u[0]), ()

    plain = Site("a", [1.0], lugre())
    assert plain.measured == {"d": "a.d", "f": "a.f"}  # no instrument shows v and a
    sensed = Site("a", [1.0], lugre(), transfer={"sensor": load_cell()})
    assert (sensed.measured["f"], sensed.feedback) == ("a.sensor.f", "a.sensor.f")
    virtual = Site("a", [1.0], specimen())
    assert (virtual.measured["f"], virtual.measured["d"], virtual.feedback) == ("a.f_m", "a.d_m", "a.f")
    both = Site("a", [1.0], specimen(), transfer={"sensor": load_cell()})
    assert both.measured["f"] == "a.sensor.f"
