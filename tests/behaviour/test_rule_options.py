"""Options of behaviours: errors name the location in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

import paddock
from paddock.behaviour.rule import find_rule, rule_names

HEAD = """\
vehicles:
  - {name: lead, model: point}
  - name: it
    model: quad
    pose: [0, 0, 9, 0]
"""


def test_all_rules_are_listed() -> None:
    shipped = {"flock", "follow", "formation", "goto", "hold", "orbit", "patrol", "pure_pursuit", "pursue", "waypoints"}
    shipped |= {"racing"}
    assert shipped <= set(rule_names())
    for name in shipped:
        rule = find_rule(name)
        assert rule.name == name and rule.summary


@pytest.mark.parametrize(
    ("written", "at", "message"),
    [
        ("behaviour: {flock: {radus: 9}}", "9}", "unknown flock option 'radus'; did you mean 'radius'?"),
        ("behaviour: {waypoints: {pth: [[0, 0, 0]]}}", "[[0", "unknown waypoints option 'pth'; did you mean 'path'?"),
        (
            "behaviour: {waypoints: {q: 1}}",
            "1}",
            "unknown waypoints option 'q'; valid: avoid, path, slow_within, speed, tolerance",
        ),
        ("behaviour: {flock: {radius: -9}}", "-9", "flock option 'radius' must lie in 0.01 to 10000 m, not -9"),
        ("behaviour: {flock: {radius: big}}", "big", "flock option 'radius' must be a finite number, not 'big'"),
        ("behaviour: flok", "flok", "unknown behaviour 'flok'; did you mean 'flock'?"),
        ("driver: {goto: {x: 1}}", "{goto", "goto option 'y' has no default: give a value"),
        ("driver: {follow: {distance: 1}}", "{follow", "behaviour 'follow' needs a target: the name of a vehicle"),
        ("driver: {follow: {target: laed}}", "laed}", "unknown vehicle 'laed'; did you mean 'lead'?"),
        ("driver: {follow: {target: 7}}", "7}", "target must be the name of a vehicle, not 7"),
        ("driver: {hold: {target: lead}}", "lead}", "behaviour 'hold' takes no target"),
        ("driver: {hold: {path: [[0, 0], [1, 1]]}}", "[[0, 0], [1", "behaviour 'hold' takes no path"),
        ("driver: {patrol: {speed: 3}}", "{patrol", "behaviour 'patrol' needs a path: a list of points or a shape"),
        (
            "driver: {patrol: {path: [[0, 0]]}}",
            "[[0, 0]]}}",
            "a path needs at least two points [x, y] or [x, y, z], not [[0, 0]]",
        ),
        ("driver: {patrol: {path: {ovel: {}}}}", "{ovel", "unknown path shape 'ovel'; did you mean 'oval'?"),
        (
            "driver: {formation: {shape: lime}}",
            "lime}",
            "unknown formation option shape 'lime'; did you mean 'line'?",
        ),
        (
            "driver: {goto: {x: 1.0e+300, y: 0}}",
            "1.0e",
            "goto option 'x' must lie in -1e+07 to 1e+07 m, not 1e+300",
        ),
        ("driver: {orbit: {z: -2.0e+7}}", "-2.0", "orbit option 'z' must lie in -1e+07 to 1e+07 m, not -2e+07"),
        (
            "driver: {formation: {y: 1.0e+8}}",
            "1.0e",
            "formation option 'y' must lie in -1e+07 to 1e+07 m, not 1e+08",
        ),
        (
            "driver: {waypoints: {path: [[0, 0], [1.0e+300, 1]]}}",
            "[[0, 0], [1.0",
            "a path's points lie within 1e+07 m of the origin",
        ),
        (
            "driver: {patrol: {path: {circle: {x: 1.0e+300}}}}",
            "{circle",
            "path 'circle': x must lie within 1e+07, not 1e+300",
        ),
        (
            "driver: {patrol: {path: {circle: {radius: 10000, spacing: 0.5}}}}",
            "{circle",
            "path 'circle': a path has at most 100,000 points, not 125,664",  # 2 pi 10000 / 0.5
        ),
        ("driver: {orbit: {direction: up}}", "up}", "unknown orbit option direction 'up'; valid: left, right"),
    ],
)
def test_errors_name_the_location(tmp_path: Path, written: str, at: str, message: str) -> None:
    file = tmp_path / "race.yaml"
    file.write_text(f"{HEAD}    {written}\n")
    with pytest.raises(paddock.PaddockError) as caught:
        paddock.load(file)
    location, _, text = str(caught.value).partition(": ")
    assert text == message
    assert location.endswith(f"race.yaml:6:{5 + written.index(at)}")


def test_choices_are_written_by_name() -> None:
    scenario = {"vehicles": [{"name": "it", "model": "point", "behaviour": {"formation": {"shape": "sphere"}}}]}
    options = paddock.load(scenario).engine.programs["it"].control.behaviour.options
    assert options[0] == 4.0
