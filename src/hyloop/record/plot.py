"""A quick look at a recording: histories over time, a panel for each unit, and loops of devices."""

from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from hyloop.errors import BadInput, UnknownName

if TYPE_CHECKING:
    from hyloop.record.recording import Recording

__all__ = ["plot_hysteresis", "plot_recording"]

_MOST = 40  # curves; more cannot be told apart


@cache
def _shown() -> Any:
    """A figure that a notebook shows by itself, whether pyplot is in use there or not."""
    from matplotlib.figure import Figure

    class Shown(Figure):
        def _repr_png_(self) -> bytes:
            picture = BytesIO()
            self.savefig(picture, format="png", dpi=110)
            return picture.getvalue()

    return Shown


def _figure(**settings: Any) -> Any:
    return _shown()(layout="constrained", **settings)


def plot_recording(recording: "Recording") -> Any:
    """Draw all channels of a recording; returns the Matplotlib figure."""
    if len(recording.names) > _MOST:
        raise BadInput(
            f"plot: {len(recording.names)} channels are too many to see. Name some, as in plot('u.*', 'damper1.f')."
        )
    units = list(dict.fromkeys(recording.units))
    figure = _figure(figsize=(9.0, 1.0 + 2.0 * len(units)))
    axes = figure.subplots(len(units), 1, sharex=True, squeeze=False)[:, 0]
    for axis, unit in zip(axes, units, strict=True):
        for name in (n for n, u in zip(recording.names, recording.units, strict=True) if u == unit):
            axis.plot(recording.time, recording[name], linewidth=0.9, label=name)
        axis.set_ylabel(unit)
        axis.grid(alpha=0.3)
        axis.legend(loc="upper right", fontsize="small", ncols=4)
    axes[-1].set_xlabel("time, s")
    if recording.fault:
        figure.suptitle(f"stopped: {recording.fault}", fontsize="small")
    return figure


def plot_hysteresis(recording: "Recording", sites: tuple[str, ...]) -> Any:
    """Draw force over deformation of sites, of all of them where none is named; returns the Matplotlib figure."""
    names = set(recording.names)
    known = [n[:-2] for n in recording.names if n.endswith(".d") and f"{n[:-2]}.f" in names]
    for site in sites:
        if site not in known:
            raise UnknownName("site", site, known)
    shown = list(sites or known)
    if not shown:
        raise BadInput("hysteresis: no site has both its deformation and its force recorded (X.d and X.f).")
    if len(shown) > _MOST:
        raise BadInput(f"hysteresis: {len(shown)} sites are too many to see. Name some, as in hysteresis('damper1').")
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    figure = _figure(figsize=(3.4 * columns, 2.8 * rows))
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axis, site in zip(axes, shown, strict=False):
        axis.plot(1e3 * recording[f"{site}.d"], 1e-3 * recording[f"{site}.f"], linewidth=0.8)
        axis.set(title=site, xlabel="deformation, mm", ylabel="force, kN")
        axis.grid(alpha=0.3)
    for axis in axes[len(shown) :]:
        axis.set_visible(False)
    return figure
