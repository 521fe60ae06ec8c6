r"""The paper's own protocol for its LuGre row: segments, restart from the measured force, sign of the measured force.

The model is Eqs. (8)-(11) with Table 4, the force taken after the update of y, and the velocity of the drum rim,

.. math:: v_r = 1.5\, v / \sqrt{1 - (x / 4\,\mathrm{in})^2} ,

which the paper does not mention. :math:`F_c, F_s` follow the sign of the *measured* force at every sample:
information a model in a live test does not have. Printed Eq. (3) lacks the exponential.
"""

import math

import numpy as np

from hyloop.metrics import mae, nrmse, rmse, rrse, snr, trac

from .tests36 import RATE, segment

TABLE_4 = {"sigma0": 2047e3, "sigma1": 24845.0, "sigma2": 0.0, "Fc_pos": 14261.0, "Fs_pos": 14281.0,
           "Fc_neg": 19763.0, "Fs_neg": 20392.0, "vs": 0.01}  # fmt: skip
ARM, RIM = 4 * 0.0254, 1.5  # m; the rim of the drum lies this much further out than the joint of the actuator
METRICS = {"SNR": snr, "MAE": mae, "RMSE": rmse, "RRSE": rrse, "NRMSE": nrmse, "TRAC": trac}
UNITS = {"SNR": "dB", "MAE": "N", "RMSE": "N", "RRSE": "-", "NRMSE": "-", "TRAC": "-"}
# Tables 8, 11, 12, 13, 14, 15, column "Standard LuGre"
PRINTED = {
    "DuzceDBE": (3.30, 823.27, 1306.36, 0.6930, 0.0554, 0.7598),
    "DuzceMCE": (4.20, 1244.75, 1892.02, 0.6340, 0.0484, 0.7089),
    "ImperialValleyDBE": (7.13, 1327.36, 2040.92, 0.4404, 0.0582, 0.8482),
    "ImperialValleyMCE": (6.00, 1831.51, 2969.81, 0.5075, 0.0755, 0.8265),
    "KocaeliDBE": (3.17, 2418.63, 3131.42, 0.7939, 0.1208, 0.5421),
    "KocaeliMCE": (5.00, 2484.33, 3340.78, 0.6284, 0.0937, 0.7154),
}


def rim_velocity(d, v):
    """Velocity of the drum rim from deformation and velocity of the actuator."""
    return RIM * v / np.sqrt(1.0 - (d / ARM) ** 2)


def printed_protocol(v, f, dt=1.0 / RATE, table=TABLE_4):
    """Force of LuGre over a segment from rim velocity and *measured* force, of which the first value is the start."""
    p, y = table, f[0]
    out = np.empty(len(v))
    for n, (v_n, f_n) in enumerate(zip(v, f, strict=True)):
        side = "pos" if f_n > 0.0 else "neg"
        Fc, Fs = p[f"Fc_{side}"], p[f"Fs_{side}"]
        g = Fc + (Fs - Fc) * math.exp(-((v_n / p["vs"]) ** 2))
        k = math.exp(-p["sigma0"] * abs(v_n) / g * dt)
        y = math.copysign(g, v_n) * (1.0 - k) + k * y if v_n != 0.0 else y  # Eq. (8)
        out[n] = (1.0 - p["sigma1"] * abs(v_n) / g) * y + (p["sigma1"] + p["sigma2"]) * v_n  # Eq. (9)
    return out


def printed_row(quakes):
    """All six metrics of the LuGre model for every earthquake, by (metric, earthquake)."""
    values = {}
    for name, test in quakes.items():
        signals = test.signals("zero-phase")
        part = {key: signal[segment(name)] for key, signal in signals.items()}
        predicted = printed_protocol(rim_velocity(part["d"], part["v"]), part["f"])
        values |= {(metric, name): measure(part["f"], predicted) for metric, measure in METRICS.items()}
    return values
