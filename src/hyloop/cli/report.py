"""The command `report`: a page from one recording, a comparison of several, or a catalogue of a folder."""

from collections.abc import Sequence
from pathlib import Path

from hyloop.cli.console import console, open_page, progress_bars
from hyloop.errors import BadInput
from hyloop.record import Recording
from hyloop.report.catalogue_page import write_catalogue
from hyloop.report.comparison_page import comparison_name, write_comparison
from hyloop.report.figures import save_figures
from hyloop.report.page import check_folder, check_page
from hyloop.report.run_page import write_report

__all__ = ["run_report"]


def run_report(files: Sequence[Path], out: Path | None, title: str, figures: Path | None, show: bool) -> None:
    """Write the page; its name comes from the recordings unless one is given."""
    if out is not None:
        check_page(out)
    if figures is not None:
        check_folder(figures, "figures are written")
    if any(file.is_dir() for file in files):
        open_page(_catalogue(files, out, title, figures), show)
        return
    recordings = _named(files)
    if len(files) == 1:
        ((name, recording),) = recordings.items()
        target = out or files[0].with_suffix(".html")
        title = title or str(recording.attributes.get("title") or name)
        page = write_report(target, recordings, title=title, notes=recording.notes)
    else:
        target = out or files[0].parent / comparison_name(files)
        page = write_comparison(target, recordings, title or " and ".join(recordings))
    open_page(page, show)
    console.print(f"report: {page}", markup=False)
    if figures is not None:
        for path in save_figures(figures, recordings):
            console.print(f"figure: {path}", markup=False)


def _catalogue(files: Sequence[Path], out: Path | None, title: str, figures: Path | None) -> Path:
    if len(files) > 1:
        raise BadInput("report takes one folder, or recordings; give the folder alone, or files such as out/*.h5.")
    if figures is not None:
        raise BadInput("--figures draws recordings, not a folder; name the recordings, such as out/*.h5.")
    target = out or files[0] / "catalogue.html"
    with progress_bars() as update:
        page = write_catalogue(target, files[0], title or f"Recordings in {files[0].resolve().name}", update)
    console.print(f"report: {page}", markup=False)
    return page


def _named(files: Sequence[Path]) -> dict[str, Recording]:
    """Recordings by file name, or by path where two have the same name."""
    stems = [file.stem for file in files]
    if len(set(files)) != len(files):
        raise BadInput("report: a recording is given twice. Name each once.")
    names = [file.stem if stems.count(file.stem) == 1 else file.with_suffix("").as_posix() for file in files]
    return {name: Recording.load(file) for name, file in zip(names, files, strict=True)}
