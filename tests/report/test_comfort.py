"""Comfort on the page of a run: the numbers of the metric, and a sentence that says what holds."""

import numpy as np

from hyloop.metrics import comfort
from hyloop.record import Recording
from hyloop.report.comfort import comfort_sections
from hyloop.report.run_page import write_report

T = np.arange(0.0, 40.0, 0.05)
ABOUT = {
    "floors": ["floor1", "floor2", "floor3"],
    "plan": [30.0, 50.0],
    "master": [0.0, 0.0],
    "frequency": 0.2,
    "criterion": "nbcc-residence",
}


def recording(size, **about):
    """Two floors with accelerations; of the third only two are recorded."""
    channels = {}
    for k in (1, 2):
        s = k * size * np.sin(2 * np.pi * 0.2 * T)
        channels |= {f"a.floor{k}.ux": s, f"a.floor{k}.uz": 0.5 * s, f"a.floor{k}.ry": 0.005 * s}
    channels |= {"a.floor3.ux": T, "a.floor3.uz": T}
    units = ["rad/s2" if name.endswith("ry") else "m/s2" for name in channels]
    data = np.column_stack(list(channels.values()))
    return Recording(T, data, tuple(channels), tuple(units), {"comfort": ABOUT | about})


def test_a_section_with_the_numbers_of_the_metric():
    one = recording(0.05)
    (section,) = comfort_sections({"wind": one})
    found = comfort(one, ["floor1", "floor2"], 30.0, 50.0, frequency=0.2, criterion="nbcc-residence")
    assert [row[0] for row in section.tables[0].rows] == ["floor2", "floor1"]  # as a building stands
    assert section.tables[0].rows[0] == found[1].row()
    assert f"{found[1].corner_peak:.3g} milli-g" in section.text[0]
    assert "is met everywhere" in section.text[0] and "wind of 10 years" in section.text[0]
    (section,) = comfort_sections({"wind": recording(0.15)})
    assert "is not met by 2 floors" in section.text[0] and section.tables[0].rows[0][-1] == "no"


def test_where_there_is_nothing_to_say():
    plain = Recording(T[:5], np.zeros((5, 1)), ("u.1",), ("m",))
    assert comfort_sections({"plain": plain}) == []
    assert comfort_sections({"wind": recording(0.05, floors=["floor3"])}) == []


def test_a_frequency_of_which_the_criterion_says_nothing():
    (section,) = comfort_sections({"wind": recording(0.05, criterion="iso10137-office", frequency=0.03)})
    assert "0.06 to 5 Hz" in section.text[0] and not section.tables


def test_the_page_has_it(tmp_path):
    page = write_report(tmp_path / "wind.html", {"wind": recording(0.05)}, title="Wind").read_text("utf-8")
    assert "nbcc-residence" in page and "floor2" in page
