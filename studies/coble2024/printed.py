r"""The paper's own protocol: segments, restart from the measured force, sign of the measured force.

The model is Eqs. (8)-(11) with Table 4, the force taken after the update of y, and the velocity of the drum rim,

.. math:: v_r = 1.5\, v / \sqrt{1 - (x / 4\,\mathrm{in})^2} ,

which the paper does not mention. :math:`F_c, F_s` follow the sign of the *measured* force at every sample:
information a model in a live test does not have. Printed Eq. (3) lacks the exponential.
"""

import numpy as np

from hyloop.core.block import block
from hyloop.devices import lugre_exact
from hyloop.metrics import mae, nrmse, rmse, rrse, snr, trac

from .tests36 import RATE, segment

TABLE_4 = {
    "sigma0": 2047e3,
    "sigma1": 24845.0,
    "sigma2": 0.0,
    "Fc_pos": 14261.0,
    "Fs_pos": 14281.0,
    "Fc_neg": 19763.0,
    "Fs_neg": 20392.0,
    "vs": 0.01,
}
ARM, RIM = 4 * 0.0254, 1.5  # m; the rim of the drum lies this much further out than the joint of the actuator
METRICS = {"SNR": snr, "MAE": mae, "RMSE": rmse, "RRSE": rrse, "NRMSE": nrmse, "TRAC": trac}
UNITS = {"SNR": "dB", "MAE": "N", "RMSE": "N", "RRSE": "-", "NRMSE": "-", "TRAC": "-"}
# Tables 8, 11, 12, 13, 14, 15, columns "Standard LuGre" and "Physics-ML"
PRINTED = {
    "DuzceDBE": (3.30, 823.27, 1306.36, 0.6930, 0.0554, 0.7598),
    "DuzceMCE": (4.20, 1244.75, 1892.02, 0.6340, 0.0484, 0.7089),
    "ImperialValleyDBE": (7.13, 1327.36, 2040.92, 0.4404, 0.0582, 0.8482),
    "ImperialValleyMCE": (6.00, 1831.51, 2969.81, 0.5075, 0.0755, 0.8265),
    "KocaeliDBE": (3.17, 2418.63, 3131.42, 0.7939, 0.1208, 0.5421),
    "KocaeliMCE": (5.00, 2484.33, 3340.78, 0.6284, 0.0937, 0.7154),
}
PRINTED_ML = {
    "DuzceDBE": (10.98, 321.97, 539.62, 0.2862, 0.0229, 0.9261),
    "DuzceMCE": (3.58, 1345.64, 2031.00, 0.6805, 0.0519, 0.6693),
    "ImperialValleyDBE": (9.67, 1092.86, 1524.07, 0.3289, 0.0435, 0.9051),
    "ImperialValleyMCE": (8.45, 1499.87, 2239.42, 0.3827, 0.0570, 0.8919),
    "KocaeliDBE": (8.20, 1347.35, 1754.26, 0.4447, 0.0677, 0.8587),
    "KocaeliMCE": (9.82, 1334.72, 1917.32, 0.3607, 0.0538, 0.8977),
}


@block(
    inputs={"v": "m/s", "side": "-"},
    outputs={"f": "N"},
    state={"y": "N"},
    params=lugre_exact.params,
    reference="Coble et al. 2024, eqs. 5-12, doi:10.1016/j.ymssp.2024.111522",
    linear=lambda sigma0, sigma1, sigma2, **_: (sigma0, sigma1 + sigma2),
)
def told_lugre(x, u, dt, p):
    r"""`lugre_exact` that is told the side of the *measured* force, ``side`` positive or negative.

    As the authors' program does, the new y is kept within :math:`\pm F_s` of that side, but not in its rate. For LuGre
    with Table 4 it matters in Kocaeli MCE only, where measured and predicted force change sides apart. SI units.
    """
    v, sigma0, sigma1, sigma2 = u[0], p[0], p[1], p[2]
    Fc = np.where(u[1] > 0.0, p[3], p[5])
    Fs = np.where(u[1] > 0.0, p[4], p[6])
    g = Fc + (Fs - Fc) * np.exp(-(v / p[7]) * (v / p[7]))
    k = np.exp(-sigma0 * np.abs(v) / g * dt)  # Eq. (11)
    y = np.where(v > 0.0, 1.0, -1.0) * g * (1.0 - k) + k * x[0]  # Eq. (8)
    rate = v - np.abs(v) / g * y
    y = np.clip(y, -Fs, Fs)
    return (y + sigma1 * rate + sigma2 * v,), (y,)  # Eq. (9)


def rim_velocity(d, v):
    """Velocity of the drum rim from deformation and velocity of the actuator."""
    return RIM * v / np.sqrt(1.0 - (d / ARM) ** 2)


def told(name, test):
    """Rim velocity, side of the measured force, and measured force over the segment of an earthquake."""
    part = {key: signal[segment(name)] for key, signal in test.signals("zero-phase").items()}
    return rim_velocity(part["d"], part["v"]), np.sign(part["f"]), part["f"]


def scores(f, predicted) -> dict[str, float]:
    """All six metrics."""
    return {metric: measure(f, predicted) for metric, measure in METRICS.items()}


def printed_row(quakes):
    """All six metrics of the LuGre model for every earthquake, by (metric, earthquake)."""
    values = {}
    for name, test in quakes.items():
        v, side, f = told(name, test)
        predicted = told_lugre(**TABLE_4, initial={"y": f[0]}).drive(1.0 / RATE, v=v, side=side)["f"]
        values |= {(metric, name): value for metric, value in scores(f, predicted).items()}
    return values


def lugre_free(test):
    """LuGre with Table 4 as a live test could run it: causal velocity, friction by its sign, from the first force."""
    signals = test.signals("causal")
    law = lugre_exact(**TABLE_4, initial={"y": test.f[0]})
    return law.drive(test.dt, v=rim_velocity(signals["d"], signals["v"]))["f"]
