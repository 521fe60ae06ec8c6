"""Two hundred damaged experiment files: each runs, or is refused with a message that names the key."""

import json
import math
import re
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyloop.errors import BadInput, RunFailed
from hyloop.files.load import load_experiment, read_experiment
from hyloop.study.build import build

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
MUTATIONS, STEPS = 200, 5


def _base(name):
    data = read_experiment(EXPERIMENTS / f"{name}.toml")
    signal = data["excitation"].get("fallback", data["excitation"])
    signal["duration"] = "2 s"  # a short motion is made quickly
    return data


BASES = [_base("friction_frame"), _base("six_story_brb"), _base("following_dampers")]
VALUES = [
    math.nan,
    math.inf,
    -math.inf,
    0,
    -1,
    -0.5,
    1e-300,
    1e12,
    1e300,
    10**18,
    "12 parsec",
    "3 kg",
    "3 N",
    "3 s",
    "-4 m",
    "",
    "none",
    "1/0 s",
    True,
    False,
    [],
    [1, 2],
    [[1.0]],
    ["x"],
    {},
    {"a": 1},
]


def _toml(value):
    """A value as TOML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return json.dumps(value)


def _paths(table, above=()):
    for key, value in table.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from _paths(value, (*above, key))


@st.composite
def mutations(draw):
    data = deepcopy(draw(st.sampled_from(BASES)))
    path = draw(st.sampled_from(list(_paths(data))))
    table = data
    for key in path[:-1]:
        table = table[key]
    key = path[-1]
    names = [key]
    match draw(st.sampled_from(["delete", "rename", "replace", "replace", "replace", "add"])):
        case "delete":
            gone = table.pop(key)
        case "rename":
            names.append(draw(st.sampled_from([key + "x", key[:-1] or "x", key.upper(), "x y"])))
            gone = table[names[1]] = table.pop(key)
        case "replace":
            gone, table[key] = table[key], draw(st.sampled_from(VALUES))
        case _:
            names, gone = [draw(st.sampled_from(["x", "like", "kind", "law", "draw", "seed", "level"]))], None
            table[names[0]] = draw(st.sampled_from(VALUES))
    # numbers of several tables that do not go together: the site, or the table; a whole table gone: what needs it
    names += [".".join(path[:depth]) for depth in range(2, len(path))]
    names += path[:1] if path[0] in ("structure", "integrator") else []
    names += [".".join(other) for other in _paths(data) if len(other) > 1] if isinstance(gone, dict) else []
    return data, names


outcomes: dict[str, int] = {"ran": 0, "refused": 0, "stopped": 0}


@settings(max_examples=MUTATIONS, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(mutations())
def test_runs_or_is_refused_with_the_key(tmp_path, mutation):
    data, names = mutation
    file = tmp_path / "mutated.toml"
    file.write_text("\n".join(f"{json.dumps(key)} = {_toml(value)}" for key, value in data.items()), encoding="utf-8")
    try:
        build(load_experiment(file)).run(STEPS)
        outcomes["ran"] += 1
    except BadInput as error:
        outcomes["refused"] += 1
        lines = str(error).splitlines()
        assert lines[0].startswith(str(file))
        # as a word of its own: "x" is in "excitation" too
        assert any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", str(error)) for name in names), error
    except RunFailed as error:
        outcomes["stopped"] += 1
        assert "step" in str(error)


@pytest.mark.parametrize("outcome", ["ran", "refused"])
def test_mutations_were_neither_all_harmless_nor_all_refused(outcome):
    if not sum(outcomes.values()):
        pytest.skip("the mutations were not run")
    assert outcomes[outcome] > MUTATIONS // 20
