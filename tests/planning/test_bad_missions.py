"""Impossible missions: a one-line error, or a plan that lists undone tasks with reasons."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddock.cli.main import exit_code

HEAD = "name: bad\nseed: 1\nmission:\n  method: greedy\n  speed: 17.5\n  turn_radius: 80\n"
NEAR = "{name: near, point: {at: [500, 0]}}"
RunPlan = Callable[..., tuple[int, str, str]]


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunPlan:
    """Run `paddock plan` on a mission: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def run(text: str, *options: str) -> tuple[int, str, str]:
        (tmp_path / "bad.yaml").write_text(text)
        code = exit_code(["plan", "bad.yaml", "--no-files", *(options or ("--json",))])
        return code, *capsys.readouterr()

    return run


REFUSED = {
    "circle tighter than the radius": (
        "  tasks:\n    - {name: a, circle: {at: [300, 0], heading: 0, radius: 50}}\n",
        "8:7: task 'a': a circle of 50 m is too tight: uav[0] turns with 80 m\n",
    ),
    "new task tighter than the radius": (
        "  events:\n    - {at: 5, task: {name: a, circle: {at: [300, 0], heading: 0, radius: 50}}}\n",
        "8:7: task 'a': a circle of 50 m is too tight: uav",
    ),
    "polygon that crosses itself": (
        "  tasks:\n    - {name: a, polygon: {outline: [[0, 0], [400, 400], [400, 0], [0, 400]], spacing: 80}}\n",
        "8:7: polygon: the outline crosses or touches itself at (200, 200)",
    ),
    "zone that crosses itself": (
        "  zones:\n    - {name: z, polygon: [[0, 500], [400, 900], [400, 500], [0, 900]]}\n",
        "8:7: zone 'z': its border crosses or touches itself at (200, 700)",
    ),
    "hole outside": (
        "  tasks:\n    - {name: a, polygon: {outline: [[0, 0], [400, 0], [400, 400]], spacing: 80, "
        "holes: [[[900, 900], [950, 900], [950, 950]]]}}\n",
        "8:7: polygon: hole 0 reaches outside the outline",
    ),
    "polygon without area": (
        "  tasks:\n    - {name: a, polygon: {outline: [[0, 0], [400, 0], [800, 0]], spacing: 80}}\n",
        "8:7: polygon: the outline from (0.0, 0.0) on has no area",
    ),
    "NaN place": ("  tasks: [{name: a, point: {at: [.nan, 0]}}]\n", "7:34: '.nan' is not a finite number"),
    "infinite place": ("  tasks: [{name: a, point: {at: [.inf, 0]}}]\n", "7:34: '.inf' is not a finite number"),
    "NaN heading": (
        "  tasks: [{name: a, line: {at: [0, 0], heading: .nan, length: 100}}]\n",
        "7:49: '.nan' is not a finite number",
    ),
    "NaN corner": (
        "  tasks: [{name: a, polygon: {outline: [[0, 0], [.nan, 0], [4, 4]], spacing: 80}}]\n",
        "7:50: '.nan' is not a finite number",
    ),
    "removed zone that is closed later": (
        "  zones: [{name: yard, circle: {at: [0, 900], radius: 50}}]\n  events:\n"
        "    - {at: 5, remove_zone: yart}\n    - {at: 9, zone: {name: yart, circle: {at: [0, 900], radius: 50}}}\n",
        "9:7: unknown zone 'yart'; did you mean 'yard'?",
    ),
    "NaN zone": (
        "  zones: [{name: z, circle: {at: [0, .nan], radius: 100}}]\n",
        "7:38: '.nan' is not a finite number",
    ),
    "no range": ("  range: 0\n", "7:10: mission.range must be > 0, not 0"),
    "reserve that leaves nothing": ("  reserve: 30000\n", "7:12: a reserve of 30000 m leaves nothing of 20000 m"),
    "window the wrong way round": (
        "  tasks: [{name: a, point: {at: [300, 0]}, window: [20, 10]}]\n",
        "7:52: a window must start before it ends",
    ),
    "two of a name": (f"  tasks: [{NEAR}, {NEAR}]\n", "7:55: name 'near' is already used at bad.yaml:7:18"),
    "damage of an unknown vehicle": (
        '  events: [{at: 8, damage: "uav[9]"}]\n',
        "7:28: unknown vehicle 'uav[9]': the last is uav[3]",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_missions_are_refused_in_one_line(case: str, planned: RunPlan) -> None:
    mission, message = REFUSED[case]
    code, out, err = planned(HEAD + mission)
    assert (code, out) == (2, "")
    assert err.startswith(f"paddock: error: bad.yaml:{message}") and err.count("\n") == 1


UNDONE = {
    "task in a zone": (
        f"  tasks: [{NEAR}, {{name: a, point: {{at: [900, 900]}}}}]\n"
        "  zones: [{name: tower, circle: {at: [900, 900], radius: 150}}]\n",
        {"a": "it lies in the no-fly zone 'tower'"},
    ),
    "line through a zone": (
        f"  tasks: [{NEAR}, {{name: a, line: {{at: [500, 900], heading: 0, length: 900}}}}]\n"
        "  zones: [{name: tower, circle: {at: [900, 900], radius: 150}}]\n",
        {"a": "it leads through the no-fly zone 'tower'"},
    ),
    "out of range": (
        f"  range: 3000\n  tasks: [{NEAR}, {{name: a, point: {{at: [3000, 0]}}}}]\n",
        {"a": "it takes"},
    ),
    "too late": (
        f"  tasks: [{NEAR}, {{name: a, point: {{at: [3000, 0]}}, window: [0, 10]}}]\n",
        {"a": "no vehicle can be there before its window closes at 10 s"},
    ),
    "no vehicle": (f"  tasks: [{NEAR}]\nvehicles: []\n", {"near": "no vehicle is able to do anything"}),
    "range too short": (f"  range: 1\n  tasks: [{NEAR}]\n", {"near": "it takes"}),
    "all is closed": (
        f"  tasks: [{NEAR}]\n  zones: [{{name: all, circle: {{at: [0, 0], radius: 5000}}}}]\n",
        {"near": "it lies in the no-fly zone 'all'"},
    ),
    "nothing to do": ("  tasks: []\n", {}),
    "fewer tasks than vehicles": (f"  tasks: [{NEAR}]\n", {}),
}


@pytest.mark.parametrize("case", UNDONE)
def test_undone_tasks_are_listed_with_their_reasons(case: str, planned: RunPlan) -> None:
    mission, reasons = UNDONE[case]
    code, out, err = planned(HEAD + mission)
    assert (code, err) == (0, "")
    result: dict[str, Any] = json.loads(out)
    assert [entry["task"] for entry in result["undone"]] == list(reasons)
    assert all(entry["reason"].startswith(reasons[entry["task"]]) for entry in result["undone"])
    assert result["done"] + len(result["undone"]) == result["tasks"]
    states = {task["name"]: task["state"] for task in result["metrics"]["tasks"]}
    assert all((state == "undone") == (name in reasons) for name, state in states.items())


@pytest.mark.parametrize("method", ["annealing", "auction", "cbba", "clustered_greedy", "greedy", "hungarian"])
def test_every_method_lists_undone_tasks(method: str, planned: RunPlan) -> None:
    mission = UNDONE["task in a zone"][0].replace("radius: 150", "radius: 151")
    code, out, _ = planned(HEAD + mission, "--json", "--method", method)
    result = json.loads(out)
    assert (code, result["done"]) == (0, 1)
    assert result["undone"] == [{"task": "a", "reason": "it lies in the no-fly zone 'tower'"}]


@pytest.mark.parametrize("at", [0, 8])
def test_when_all_vehicles_are_damaged_no_task_is_done(at: int, planned: RunPlan) -> None:
    code, out, err = planned(HEAD + f"  tasks: [{NEAR}]\n  events: [{{at: {at}, damage: uav}}]\n")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert (result["done"], result["outcome"]["done"]) == (1, 0)
    assert result["outcome"]["undone"] == [{"task": "near", "reason": "no vehicle is able to do anything"}]
    assert {vehicle["status"] for vehicle in result["outcome"]["metrics"]["agents"]} == {"damaged"}


def test_tasks_added_too_late_are_listed(planned: RunPlan) -> None:
    late = "{at: 3, task: {name: late, point: {at: [200, 200]}}}"
    code, out, _ = planned(HEAD + f"  replan: false\n  tasks: [{NEAR}]\n  events: [{late}]\n", "--strict")
    assert code == 1 and "late not done: it was added after planning, and replanning is off" in out


def test_a_wind_that_is_too_strong_for_a_vehicle_that_joins(planned: RunPlan) -> None:
    joins = "{at: 1, vehicle: {name: q, model: quad, pose: [0, 0, 100, 0]}}"
    text = (
        HEAD.replace("  speed: 17.5\n", "") + f"  tasks: [{NEAR}]\n  events: [{joins}]\nworld: {{wind: [15, 0, 0]}}\n"
    )
    code, out, err = planned(text)
    assert (code, out) == (2, "") and "vehicle 'q': a wind of 15 m/s leaves no way forward" in err
    assert err.startswith("paddock: error: bad.yaml:7:12: ") and err.count("\n") == 1
