"""A quick look at a recording: histories over time, a panel for each unit."""

from typing import TYPE_CHECKING, Any

from hyloop.errors import BadInput

if TYPE_CHECKING:
    from hyloop.record.recording import Recording

__all__ = ["plot_recording"]

_MOST = 40  # curves; more cannot be told apart


def plot_recording(recording: "Recording") -> Any:
    """Draw all channels of a recording; returns the Matplotlib figure."""
    from matplotlib.figure import Figure

    if len(recording.names) > _MOST:
        raise BadInput(
            f"plot: {len(recording.names)} channels are too many to see. Name some, as in plot('u.*', 'damper1.f')."
        )
    units = list(dict.fromkeys(recording.units))
    figure = Figure(figsize=(9.0, 1.0 + 2.0 * len(units)), layout="constrained")
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
