"""What the reference shows, in its order: titles, a sentence, and tables."""

from hyloop.files import (
    compensators,
    controllers,
    excitations,
    loads,
    opensees,
    structures,
    training,
    transfers,
    trust,
    updaters,
    wind,
)
from hyloop.files.cluster import Cluster
from hyloop.files.column_map import ColumnMap, ColumnSpec
from hyloop.files.damping import Damping
from hyloop.files.design import Design
from hyloop.files.fields import Table
from hyloop.files.frames import frame, members, sections
from hyloop.files.frames.tower import TowerFrame
from hyloop.files.hearing import LinkSpec
from hyloop.files.ida import Ida
from hyloop.files.interlock import InterlockSpec, Safety
from hyloop.files.laws import DeviceSpec
from hyloop.files.limits import Limits
from hyloop.files.pace import Pace
from hyloop.files.recording import Recording, SectionSpec
from hyloop.files.rehearsal import Rehearsal
from hyloop.files.schema import BlockSpec, Experiment, Integrator
from hyloop.files.sites import Linearised, SiteSpec
from hyloop.files.sweep import Sweep
from hyloop.files.tune import Tune
from hyloop.files.updater import Velocity

__all__ = ["PAGES", "WORDS"]

PAGES: list[tuple[str, str, dict[str, type[Table]]]] = [
    (
        "Experiments",
        '`hyloop run FILE`. `include = ["base.toml"]` takes over other files first; `--set key.path=value` changes a '
        "value.",
        {
            "An experiment": Experiment,
            "[integrator]": Integrator,
            "[recording]": Recording,
            "[recording.sections]": SectionSpec,
            "[limits]": Limits,
            "[rehearsal]": Rehearsal,
            "[sweep]": Sweep,
            "[design]": Design,
            "[ida]": Ida,
            "[pace]": Pace,
            "[safety]": Safety,
            "[tune]": Tune,
            "[cluster]": Cluster,
        },
    ),
    (
        "Structures",
        "`[structure]` is one of these, told apart by `kind`.",
        {
            "shear_frame": structures.ShearFrame,
            "matrices": structures.Matrices,
            "frame": frame.Frame,
            "plane_frame": frame.PlaneFrame,
            "tower": TowerFrame,
            "opensees": opensees.OpenSeesScript,
            "units of an opensees script": opensees.ScriptUnits,
            "damping": Damping,
        },
    ),
    (
        "Parts of a frame",
        "Tables of a model file (`hyloop model FILE`); in an experiment they stand under `[structure]`: "
        "`[structure.sections.beam]`. [frames.md](frames.md) explains them.",
        {
            "[grid]": frame.Grid,
            "[supports]": frame.Supports,
            "[materials.NAME], elastic": sections.ElasticMaterial,
            "[materials.NAME], bilinear": sections.BilinearMaterial,
            "[materials.NAME], steel": sections.SteelMaterial,
            "[materials.NAME], concrete": sections.ConcreteMaterial,
            "[materials.NAME], kent_park": sections.KentPark,
            "[sections.NAME], elastic": sections.ElasticSectionSpec,
            "[sections.NAME], rectangle": sections.Rectangle,
            "[sections.NAME], rc_rectangle": sections.RcRectangle,
            "bars of an rc_rectangle": sections.Bars,
            "[members.NAME], elastic": members.ElasticMembers,
            "[members.NAME], fibre": members.FibreMembers,
            "[members.NAME], brace": members.Braces,
            "[members.NAME], lean_on": members.LeanOns,
            "[members.NAME], link": members.Links,
            "[members.NAME], device": members.Devices,
            "[floors.NAME]": members.Floor,
            "[[masses]]": members.Mass,
            "[[loads]]": members.Load,
        },
    ),
    (
        "Excitations",
        "`[excitation]` is one of the first five, told apart by `kind`; `[excitations.NAME]` are several at once, each "
        "with its direction. Loads act with ground motions or alone. [excitations.md](excitations.md) explains them.",
        {
            "record": excitations.Record,
            "synthetic": excitations.Synthetic,
            "harmonic": excitations.Harmonic,
            "sweep": excitations.Sweep,
            "noise": excitations.Noise,
            "[loads.NAME], table": loads.TableLoad,
            "[loads.NAME], harmonic": loads.HarmonicLoad,
        },
    ),
    (
        "Wind",
        "`[loads.NAME]` with these kinds is wind on a building with rigid floors; [wind.md](wind.md) explains them.",
        {
            "[loads.NAME], wind": wind.Wind,
            "coefficients of wind": wind.WindFactors,
            "[loads.NAME], pressures": wind.Pressures,
        },
    ),
    (
        "Devices",
        'A site is a place and what stands there. `like = "damper1"` takes over everything of another site that is not '
        "said.",
        {
            "[sites.NAME]": SiteSpec,
            "device": DeviceSpec,
            "linearised of a site": Linearised,
            "[sites.NAME.interlock]": InterlockSpec,
            "[sites.NAME.link]": LinkSpec,
            "[sites.NAME.trust]": trust.TrustSpec,
            "band of a trust table": trust.BandSpec,
            "fallback of a trust table": trust.FallbackSpec,
            "twin of a trust table": trust.TwinSpec,
            "[blocks.NAME]": BlockSpec,
        },
    ),
    (
        "Transfer systems",
        "`[sites.NAME.transfer.ROLE]`, with the role compensator, actuator or sensor, is one of these, told apart by "
        "`law`; `hyloop laws` lists them. A block that several sites share stands in `[couplings.NAME]`, and each of "
        "its sites has one axis of it. [transfer.md](transfer.md) explains them.",
        {
            "a block with parameters alone": transfers.PlainBlock,
            "an identified rig": transfers.RigSpec,
            "transfer_function": transfers.TransferFunction,
            "zeros_poles": transfers.ZerosPoles,
            "state_space": transfers.StateSpace,
            "transfer_matrix": transfers.TransferMatrix,
            "an entry of a transfer_matrix": transfers.PlantSpec,
            "linear_specimen": transfers.LinearSpecimen,
            "an axis of a coupled block": transfers.AxisSpec,
            "compensator ats": compensators.AdaptiveTimeSeries,
            "compensator conditional_ats": compensators.ConditionalAdaptiveTimeSeries,
            "compensator amb": compensators.AdaptiveModelBased,
            "compensator unscented_inverse": compensators.UnscentedInverse,
            "compensator inverse": compensators.Inverse,
            "compensator phase_lead": compensators.PhaseLead,
            "compensator pi_lead": compensators.PiLead,
            "compensator extrapolation": compensators.Extrapolation,
        },
    ),
    (
        "Models that follow a measured device",
        "`[sites.NAME.model]` of a physical site is one of these, told apart by `updater`; the sites that follow have "
        '`follows = "NAME"`.',
        {
            "constant": updaters.Constant,
            "unscented": updaters.Unscented,
            "velocity of a model": Velocity,
            "ensemble": updaters.Ensemble,
            "recursive_least_squares": updaters.LeastSquares,
            "frozen_network": updaters.FixedNetwork,
            "filtered_network": updaters.FilteredNetwork,
            "forgetting_network": updaters.ForgettingNetwork,
        },
    ),
    (
        "Controllers",
        "`[controllers.NAME]` is one of these, told apart by `kind`; [semi_active.md](semi_active.md) explains them. A "
        "constant command needs none: it is a parameter of the device.",
        {
            "passive_off": controllers.PassiveOff,
            "passive_on": controllers.PassiveOn,
            "skyhook": controllers.Skyhook,
            "clipped_optimal": controllers.ClippedOptimal,
        },
    ),
    (
        "Trainings",
        "`hyloop train FILE`; [networks.md](networks.md) has the whole way.",
        {
            "A training": training.TrainingFile,
            "[network]": training.NetworkSpec,
            "[data]": training.DataSpec,
            "tests of the data": training.TestSpec,
            "[split]": training.SplitSpec,
            "[scaling]": training.ScalingSpec,
            "[training]": training.Schedule,
        },
    ),
    (
        "Mapping tables",
        "`hyloop identify ... --columns FILE` names the columns of a laboratory's files; [lab_data.md](lab_data.md).",
        {"Signals of a file": ColumnMap, "A signal": ColumnSpec},
    ),
]

# of keys that say it themselves, and so have no sentence where they are checked
WORDS = {
    "A": "Area.",
    "E": "Modulus of elasticity.",
    "G": "Shear modulus.",
    "Iy": "Second moment of area about the other axis.",
    "R0": "Curvature of the transition in the first cycle.",
    "a1": "Isotropic hardening in compression.",
    "a2": "Isotropic hardening in compression, plastic strain for it in yield strains.",
    "a3": "Isotropic hardening in tension.",
    "a4": "Isotropic hardening in tension, plastic strain for it in yield strains.",
    "amplitude": "Largest acceleration.",
    "area": "Area of the section.",
    "b": "Modulus after yield over E.",
    "base": "Feet of the columns.",
    "cR1": "Change of the curvature with the plastic strain.",
    "cR2": "Change of the curvature with the plastic strain.",
    "column_hinges": "Length of the plastic hinges of the columns; default: fibres all along.",
    "column_interior": "Name of the elastic section between the hinges of the columns.",
    "count": "Number of bars.",
    "depth": "Height of the section.",
    "diameter": "Of a bar.",
    "duration": "How long it lasts.",
    "epochs": "How often all data are gone through.",
    "fixed": "Nodes that neither move nor turn.",
    "frequency": "Of the sine.",
    "fy": "Yield stress.",
    "high": "Highest frequency.",
    "hoop_yield": "Yield stress of the hoops.",
    "inputs": "Of the inputs.",
    "law": "How the frequency rises.",
    "low": "Lowest frequency.",
    "mass": "Mass of the floor.",
    "material": "Name of a material.",
    "nodes": "Names of nodes; * and ? stand for any letters.",
    "outputs": "Of the outputs.",
    "pdelta": "Whether P-Delta counts.",
    "pinned": "Nodes that turn but do not move.",
    "poisson": "Poisson's ratio.",
    "rate": "Learning rate.",
    "rigid_floors": "Whether floors are rigid in their plane.",
    "rms": "Root mean square of the acceleration.",
    "rx": "About x.",
    "ry": "About y.",
    "rz": "About z.",
    "stories": "Number of stories.",
    "title": "Heading of the page.",
    "ux": "Along x.",
    "uy": "Along y.",
    "uz": "Along z.",
    "width": "Width of the section.",
}
