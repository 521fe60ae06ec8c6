"""The portal of the examples in OpenSeesPy, in experiment files that tests change."""

from pathlib import Path

from hyloop.files.load import load_experiment
from hyloop.study.build import build

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
PORTAL = EXPERIMENTS / "models" / "portal.py"
K, F_Y, ALPHA = 40e6, 60e3, 0.05


def portal(tmp_path, more="", rotary=0.0, **changes):
    """The example with other lines at the end of its script's function, and other keys of its structure."""
    text = PORTAL.read_text("utf-8").replace("    gravity(weight)\n", f"    gravity(weight)\n{more}", 1)
    text = text.replace("mass, mass, 0.0)", "mass, mass, ROTARY)").replace("E = 200e9", f"E, ROTARY = 200e9, {rotary}")
    (tmp_path / "portal.py").write_text(text, "utf-8")
    keys = {"kind": "'opensees'", "script": "'portal.py'"} | changes
    table = "\n".join(f"{key} = {value}" for key, value in keys.items())
    path = tmp_path / "portal.toml"
    path.write_text(
        f"""
[structure]
{table}
[integrator]
method = "newmark"
dt = 0.005
[excitation]
kind = "noise"
rms = "2.5 m/s2"
low = 0.5
high = 8.0
duration = "10 s"
[sites.damper1]
between = [1, 4]
device = {{ law = "bilinear", k = {K}, f_y = {F_Y}, alpha = {ALPHA} }}
""",
        "utf-8",
    )
    return path


def built(path, *overrides):
    return build(load_experiment(path, overrides), allow_scripts=True)
