"""The public data sets hyloop can use, as plain data: what they are, whose, under which licence, and where from.

A checksum is given only where the published bytes have been seen. Where there is none, the first download is trusted
and its checksum written down beside the files (`hyloop.data.ledger`); every later use is held to it.
"""

from dataclasses import dataclass, field

from hyloop.errors import UnknownName

__all__ = ["DATA_SETS", "DataSet", "Download", "data_set"]


@dataclass(frozen=True)
class Download:
    """One file to fetch.

    Attributes
    ----------
    url : str
    file : str
        Name under which it is stored in the folder of its set.
    sha256 : str, optional
        Checksum of the published file, or None where it is not known.
    unpack : bool
        A zip archive, of which the content is kept and not the archive.
    keep : tuple of str
        Endings of the files kept from an archive; empty keeps all.
    members : dict of str to str
        Checksums that are known of files in an archive, by their path below its top folder.
    """

    url: str
    file: str
    sha256: str | None = None
    unpack: bool = False
    keep: tuple[str, ...] = ()
    members: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DataSet:
    """A set of published measurements.

    Attributes
    ----------
    name : str
        Name of the set, of its folder, and of the source of tests (``name:PATTERN``).
    title, source, licence, citation : str
    size : int, optional
        Bytes to download, about, where known.
    downloads : tuple of Download
    example : str
        A command that uses it.
    """

    name: str
    title: str
    source: str
    licence: str
    citation: str
    downloads: tuple[Download, ...]
    example: str
    size: int | None = None


_BANDED = "ARTS-Laboratory/Dataset-Friction-Damper-with-Backlash"
_BANDED_COMMIT = "0e09aa9d950760277e31c08cd93fd01f39a5af09"
_MR = "DanielMaurelE/vRTHS_AMBC_MRdamper"
_MR_COMMIT = "5b174646f17316f63c8c95a12048178030094a0d"
_AUGMENTATION = "JanHHoekstra/Model-Augmentation-Public"
_AUGMENTATION_COMMIT = "097aa706f918fcf5468d5720d12dfdfa7c0d2f38"


def _archive(repository: str, commit: str) -> str:
    """Address of the tree of one commit as a zip file; GitHub packs it anew, so its bytes have no lasting checksum."""
    return f"https://codeload.github.com/{repository}/zip/{commit}"


DATA_SETS: dict[str, DataSet] = {
    data.name: data
    for data in (
        DataSet(
            "brfd",
            "Tests of the banded rotary friction damper (NHERI Lehigh, 2022-2023), 1024 Hz",
            f"https://github.com/{_BANDED}, commit {_BANDED_COMMIT[:7]}; paper doi:10.1016/j.ymssp.2024.111522",
            "CC BY-SA 4.0",
            "D. Coble, P. Huggins, L. Cao, J. Ricles, A. Downey, Dataset-Friction-Damper-with-Backlash, GitHub, 2022, "
            f"https://github.com/{_BANDED}",
            (
                Download(
                    _archive(_BANDED, _BANDED_COMMIT),
                    "published",
                    unpack=True,
                    keep=(".json", ".md"),
                    members={
                        "data/dataset-2/characterization datasets/2Hz36lbtension0.5amplitude.json": (
                            "30db5d48cbf6eed80e2838e5185a0b26eb9108aac64fc2dcdf0e2dcbedd7c4be"
                        )
                    },
                ),
            ),
            "hyloop identify gap_slip brfd:d2_h36lb_1Hz_1in --free kp,Fc_pos --start s",
        ),
        DataSet(
            "boucwen",
            "Bouc-Wen hysteretic benchmark (Noël and Schoukens), simulated, 750 Hz",
            f"4TU.ResearchData, doi:10.4121/12967592; estimation record from https://github.com/{_AUGMENTATION}, "
            f"commit {_AUGMENTATION_COMMIT[:7]}",
            "CC BY-SA 4.0",
            "J.P. Noël and M. Schoukens, Hysteretic benchmark with a dynamic nonlinearity, 4TU.ResearchData, "
            "doi:10.4121/12967592",
            (
                Download(  # the address that the package nonlinear_benchmarks uses
                    "https://data.4tu.nl/file/7060f9bc-8289-411e-8d32-57bef2740d32/cd40469c-5064-4968-ae59-88cbb850264b",
                    "published",
                    unpack=True,
                    keep=(".mat", ".pdf", ".txt"),
                ),
                *(
                    Download(
                        f"https://raw.githubusercontent.com/{_AUGMENTATION}/{_AUGMENTATION_COMMIT}/data/bouc_wen/{file}",
                        file,
                    )
                    for file in ("uest_multisine.mat", "yest_multisine.mat")
                ),
            ),
            'in a training file: source = "boucwen:estimation", inputs = ["u"], outputs = ["y"]',
            5_600_000,
        ),
        DataSet(
            "mr_damper",
            "Tests of a magnetorheological damper at constant currents (UTFSM, Chile), 200 and 1000 Hz",
            f"https://github.com/{_MR}, commit {_MR_COMMIT[:7]}",
            "MIT",
            f"M. Quiroz, D. Maurel and the Fermandois group, UTFSM, https://github.com/{_MR}",
            (Download(_archive(_MR, _MR_COMMIT), "published", unpack=True, keep=("A.txt", "validacion.mat", ".md")),),
            "hyloop identify nonlinear_viscous mr_damper:sine_10mm_1Hz_0.5A --free C,alpha --guess C=2000",
        ),
    )
}


def data_set(name: str) -> DataSet:
    """A data set by its name."""
    if name not in DATA_SETS:
        raise UnknownName("data set", name, DATA_SETS)
    return DATA_SETS[name]
