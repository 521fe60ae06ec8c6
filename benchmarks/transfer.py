"""What a transfer system adds to a tick: actuator and sensor over the ideal site, on the frame of `frame8`."""

from collections.abc import Mapping
from typing import Any

from benchmarks import frame8
from benchmarks.measure import interleaved, report
from hyloop import Instance, Loop, Site
from hyloop.devices import bouc_wen
from hyloop.transfer import delay, first_order_lag, sensor, servo_hydraulic
from hyloop.transfer.compensators import ats

__all__ = ["transfer"]

REPEATS = 41
SOFT = 1e5  # N/m: behind a lag a stiffer brace feeds more energy into the frame than its damping takes out


def _loop(chain: Mapping[str, Instance]) -> Loop:
    ideal = frame8.loop()
    (site,) = ideal.sites
    return ideal.replace(sites=[Site(site.name, site.along, bouc_wen(k=SOFT), physical=True, transfer=chain)])


def chains() -> dict[str, dict[str, Instance]]:
    """Transfer systems to be timed, the one that counts first."""
    noisy = sensor(noise_d=1e-6, noise_f=10.0)
    tau = 0.01  # s
    adaptive = ats(dt=frame8.DT, a=(1.0, tau, tau**2 / 2))
    return {
        "ATS, lag and sensor": {"compensator": adaptive, "actuator": first_order_lag(tau=tau), "sensor": noisy},
        "lag and sensor": {"actuator": first_order_lag(tau=0.01), "sensor": noisy},
        "delay and sensor": {"actuator": delay(tau=0.012), "sensor": noisy},
        "servo-hydraulic and sensor": {"actuator": servo_hydraulic(external=1.0, k=SOFT), "sensor": noisy},
        "quiet sensor alone": {"sensor": sensor()},
    }


def transfer() -> dict[str, Any]:
    """Time that each adds to a tick, as differences of neighbouring runs; the ideal tick beside them."""
    motion, loops = frame8.ground(), {name: _loop(chain) for name, chain in chains().items()}

    def job(loop: Loop) -> Any:
        return lambda: loop.run(motion, record=["brace.f", "u.8"])

    jobs = {"ideal": job(_loop({}))} | {name: job(loop) for name, loop in loops.items()}
    times = interleaved(jobs, repeats=REPEATS, per_call=frame8.STEPS)
    added = {f"{name}, added": times[name] - times["ideal"] for name in loops}
    return report("transfer", added | {"ideal tick itself": times["ideal"]})
