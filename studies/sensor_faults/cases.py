"""The frame with one measured brace, sensors with faults, and eleven braces that are a network, updated or not."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from hyloop.data import data_folder
from hyloop.errors import BadInput, UnknownName
from hyloop.files.ground_records import read_ground_record
from hyloop.files.load import load_experiment
from hyloop.hazards import GroundMotion, default_motion, find_record
from hyloop.loop import FreeBlock, Loop
from hyloop.metrics import running_rmsd
from hyloop.neural import load_network
from hyloop.study.build import build
from hyloop.transfer import sensor
from hyloop.updating import filtered_network, forgetting_network, pretrain

FOLDER = Path(__file__).parent
ELEMENTS = (2, 4, 6, 8, 10, 12)  # one brace of each story
K0 = 74227e3  # N/m
DURATION = 25.0  # s
ITERATIONS = 1000
PEAK = 10.0  # m/s2, of every motion
REST = 1.0  # s before the motion, in which a load cell shows its offset
BEGUN = 0.01  # part of the Arias intensity before which a record is left out but for its last second
# settings of the updater were chosen on these ...
CHOSEN_ON = (
    "imperial-valley-1940-el-centro-array-9_180",
    "duzce-bolu_1",
    "loma-prieta-capitola_1",
    "cape-mendocino-rio-dell-overpass_1",
    "superstition-hills-poe-road-temp_1",
    "kobe-nishi-akashi_1",
    "northridge-canyon-country-wlc_1",
    "manjil-abbar_1",
    "chi-chi-chy101_2",
    "hector-mine-hector_2",
    "landers-coolwater_2",
)
# ... and judged on these, of which none had been run before: motions drawn to the spectrum of ASCE 7 with these seeds
NEW = tuple(f"synthetic-{seed}" for seed in (9101, 9102, 9103, 9104, 9105, 9106))
# judged on before, with a filter that gave out changes however small: Morgan Hill (1984) from the benchmark of Silva et
# al., and motions drawn likewise
MORGAN = "rths_benchmark/morgan.csv"
DRAWN_BEFORE = tuple(f"synthetic-{seed}" for seed in (9001, 9002, 9003, 9004, 9005))
BEFORE = (MORGAN, *DRAWN_BEFORE)
# records of other events than those of the choice, judged on before with a filter that asked for less proof ...
RECORDS = (
    "friuli-tolmezzo_2",
    "imperial-valley-delta_2",
    "imperial-valley-el-centro-array-11_2",
    "kocaeli-arcelik_2",
    "kocaeli-duzce_2",
    "san-fernando-la-hollywood-stor_2",
)
# ... and their first components, judged on before that, with networks trained on the record alone and weights given out
FORMER = tuple(record[:-1] + "1" for record in RECORDS)
# a brace is the same both ways and keeps its force at rest
TRAINING = {"rest": 0.5, "symmetric": True}
BETA, GAMMA = 1800.0, 800.0  # 1/m


def _brace(**changed):
    return tuple(f"sites.brace1.device.{key}={value}" for key, value in changed.items())


# what the network was trained on; the true device is the first
DEVICES = {
    "right": (),
    "weaker by 23 %": _brace(beta=1.3 * BETA, gamma=1.3 * GAMMA),
    "stronger by 30 %": _brace(beta=BETA / 1.3, gamma=GAMMA / 1.3),
    "softer by 25 %": _brace(k0=0.75 * K0, beta=0.75 * BETA, gamma=0.75 * GAMMA),
    "stiffer by 25 %": _brace(k0=1.25 * K0, beta=1.25 * BETA, gamma=1.25 * GAMMA),
    "sharper": _brace(n=2.0, beta=BETA * (BETA + GAMMA), gamma=GAMMA * (BETA + GAMMA)),
}
FAULTS = {
    "none": lambda peak: {},
    "offset of 1.5 % of the peak": lambda peak: {"offset_f": 0.015 * peak},
    "drift to 3 % of the peak": lambda peak: {"drift_f": 0.03 * peak / DURATION},
    "gain of 2 %": lambda peak: {"gain_f": 1.02},
    "one step late": lambda peak: {"delay_f": 1.0},
}
UPDATERS = {
    "default": lambda network: filtered_network(network),
    "ANN1 anchored": lambda network: forgetting_network(network, anchor=1e-2),
}


def stored(record):
    """The whole of a motion: of the folder of records, of the benchmark of Silva et al., or drawn."""
    if record in NEW or record in DRAWN_BEFORE:
        return default_motion(int(record.rpartition("-")[2]))
    if record == MORGAN:
        path = (data_folder() or FOLDER) / MORGAN
        if not path.is_file():
            raise UnknownName("record", record, [], where="data folder")
        t, a = np.loadtxt(path, delimiter=",", skiprows=1, unpack=True)
        return GroundMotion(a, float(t[1] - t[0]), "Morgan Hill")
    return read_ground_record(find_record(record))


def strong_part(motion, dt):
    """Acceleration of a test, (N, 1): at rest, then the strong part of a motion, scaled to the peak of the file."""
    intensity = np.cumsum(motion.a**2)
    begun = np.searchsorted(intensity, BEGUN * intensity[-1]) * motion.dt
    first = round(max(0.0, round(begun - 1.0, 2)) / motion.dt)
    cut = GroundMotion(motion.a[first : first + round((DURATION - REST) / motion.dt) + 1], motion.dt, motion.name)
    moving = cut.to_peak(PEAK).resampled(dt).a
    return np.concatenate([np.zeros(round(REST / dt)), moving])[:, None]


@dataclass(frozen=True, eq=False)
class Test:
    """The frame, and the motion of its ground, which begins at rest."""

    loop: Loop
    excitation: np.ndarray


@cache
def built(record, changed=()):
    """The frame under a record, with the size of what is measured: root mean squares of d and f, and the peak of f."""
    try:
        motion = stored(record)
    except UnknownName as error:
        raise BadInput(
            f"record {record} is not in the data folder, and this study compares records. HYLOOP_DATA names the folder "
            "with the ground motions; docs/data.md says how to get them."
        ) from error
    loop = build(load_experiment(FOLDER / "frame.toml", changed)).loop
    test = Test(loop, strong_part(motion, loop.dt))
    run = test.loop.run(test.excitation, record=["brace1.d", "brace1.f"])
    size = {key: float(np.sqrt(np.mean(run[f"brace1.{key}"] ** 2))) for key in "df"}
    return test, size, float(np.abs(run["brace1.f"]).max())


def network(folder, device, seed, progress=lambda part: None):
    """A network of a device, trained on its test under El Centro, or read again where it was kept."""
    path = folder / f"symmetric-{device.replace(' ', '-').replace('%', 'percent')}-{seed}.safetensors"
    if not path.is_file():
        made = build(load_experiment(FOLDER / "trained.toml", (*DEVICES[device], f"excitation.duration={DURATION}s")))
        run = made.loop.run(made.excitation, record=["brace1.d", "brace1.f"])
        trained = pretrain(
            run["brace1.d"],
            run["brace1.f"],
            dt=made.loop.dt,
            seed=seed,
            stiffness=K0,
            iterations=ITERATIONS,
            progress=progress,
            **TRAINING,
        )
        folder.mkdir(parents=True, exist_ok=True)
        trained.save(path, seed=seed, data=f"brace1 of trained.toml, {device}")
    return load_network(path)


def instrument(size, snr, seed, **fault):
    """Sensors with a signal-to-noise ratio in dB in both signals, and one fault."""
    noise = {f"noise_{key}": size[key] * 10 ** (-snr / 20) for key in "df"}
    return sensor(**noise, seed=float(seed), **fault)


def loop_of(made, instruments, device=None, updater=None):
    """The frame with instruments at the measured brace and a device law at the others, kept true by an updater."""
    sites = []
    for site in made.loop.sites:
        if site.physical:
            sites.append(replace(site, transfer={"sensor": instruments}))
        elif device is None:
            sites.append(site)
        else:
            sites.append(replace(site, device=device, shares=None if site.name == "brace2" else "brace2"))
    blocks = []
    if device is not None and updater is not None:
        targets = {key: f"brace2.{key}" for key in updater.block.outputs if key in device.params}
        heard = {"d": "brace1.sensor.d", "f_m": "brace1.sensor.f"}
        blocks.append(FreeBlock("updater", updater, heard, targets))
    return Loop(made.loop.structure, sites, method=made.loop.method, dt=made.loop.dt, blocks=blocks)


def forces(loop, made, *more):
    """Force of one brace of each story, (N, 6), nan from a failure on; and the recording."""
    run = loop.run(made.excitation, record=[*(f"brace{k}.f" for k in ELEMENTS), *more], on_fault="stop")
    rows = np.full((len(made.excitation), len(ELEMENTS)), np.nan)
    rows[: len(run.time)] = np.column_stack([run[f"brace{k}.f"] for k in ELEMENTS])
    return rows, run


def errors(exact, ours):
    """RMSD of every story; infinite where the run failed."""
    whole = np.isfinite(ours).all(0)
    return np.array([running_rmsd(exact[:, k], ours[:, k])[-1] if whole[k] else np.inf for k in range(len(whole))])


class Campaign:
    """Ratios of errors with updating over those without; runs that several cases share are made once."""

    def __init__(self, folder):
        self.folder, self._exact, self._alone = folder, {}, {}

    def ratio(self, record, device, seed, fault="none", snr=60.0, updater="default"):
        """Of every story, against the same run with exact braces behind the same sensor."""
        made, size, peak = built(record)
        instruments = instrument(size, snr, seed, **FAULTS[fault](peak))
        case, trained = (record, fault, snr, seed), network(self.folder, device, seed)
        if case not in self._exact:
            self._exact[case] = forces(loop_of(made, instruments), made)[0]
        exact = self._exact[case]
        if (*case, device) not in self._alone:
            alone = forces(loop_of(made, instruments, trained.device()), made)[0]
            self._alone[(*case, device)] = errors(exact, alone)
        updated = forces(loop_of(made, instruments, trained.device(), UPDATERS[updater](trained)), made)[0]
        return errors(exact, updated) / self._alone[(*case, device)]
