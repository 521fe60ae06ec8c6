"""Notebooks run from the first cell to the last, in an empty folder and a kernel of their own, and show results."""

import ast
import re
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[1] / "examples"
FOUND = 1e-3  # relative: the noise of 200 N on 4000 samples moves the stiffness by less

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """What the cells of the notebook give, run by Jupyter's own client."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(NOTEBOOKS / "first_day.ipynb", as_version=4)
    folder = str(tmp_path_factory.mktemp("notebook"))
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(cell, kind):
    """What a cell shows as this kind of data."""
    return next(output["data"][kind] for output in cell.outputs if kind in output.get("data", {}))


def test_the_law_of_the_test_is_found(cells):
    table = shown(cells[1], "text/html")
    assert table.startswith("<p><b>bouc_wen predicts")
    k = float(re.search(r"<td>k</td><td>([^<]+)</td>", table)[1])
    assert k == pytest.approx(2e7, rel=FOUND)


def test_results_show_themselves(cells):
    assert "largest story drift" in shown(cells[3], "text/html")
    assert shown(cells[4], "text/html").startswith("<iframe srcdoc=")
    for figure in cells[5:7]:
        assert shown(figure, "image/png")


def test_devices_lower_the_drift(cells):
    drifts = ast.literal_eval(shown(cells[8], "text/plain"))
    assert drifts["two"] < drifts["one"] < drifts["bare"]
    peaks = dict(re.findall(r"(drift\.\d)\s+([\d.e-]+)", shown(cells[7], "text/plain")))
    assert float(peaks["drift.1"]) == pytest.approx(drifts["one"], rel=1e-4)


def test_it_is_kept_without_results():
    """What was shown on one machine does not belong to the source."""
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(NOTEBOOKS / "first_day.ipynb", as_version=4)
    assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in notebook.cells)
