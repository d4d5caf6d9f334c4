"""`paddock plan`: options, output, files and errors."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sys
from collections.abc import Callable
from math import hypot, log10
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from paddock.cli.main import exit_code
from paddock.planning import from_scenario
from paddock.planning.from_scenario import setup_of
from paddock.planning.solver.planner import solve
from paddock.planning.solver.problem import Problem
from paddock.record.mission_report import document
from paddock.scenario import load_scenario

SMALL = ("--seed", "3", "--uavs", "2", "--tasks", "5", "--method", "greedy")
FAR = """\
name: far
seed: 1
world: {origin: [47.0, 8.0, 400.0]}
mission:
  speed: 17.5
  turn_radius: 80
  range: 6000
  method: greedy
  tasks:
    - {name: near, point: {at: [500, 0]}}
    - {name: strip, line: {at: [600, 300], heading: 0.0, length: 150}}
    - {name: beyond, point: {at: [9000, 0]}}
"""
FILES = {
    *("report.html", "plan.json", "metrics.csv", "tasks.csv", "series.csv", "scenario.yaml", "routes.geojson"),
    *("routes.png", "gantt.png", "costs.png", "timeline.png"),
}

Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run `paddock plan ...` in an empty folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = exit_code(["plan", *arguments])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def far(tmp_path: Path) -> str:
    """A mission with a task out of reach."""
    (tmp_path / "far.yaml").write_text(FAR)
    return "far.yaml"


class Planned(NamedTuple):
    """A plan of FAR with all its files, which several tests read."""

    numbers: dict[str, Any]
    err: str
    folder: Path


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    folder = tmp_path_factory.mktemp("planned")
    (folder / "far.yaml").write_text(FAR)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert exit_code(["plan", "far.yaml", "--parquet", "--json", "--output", "out"]) == 0
    return Planned(json.loads(out.getvalue()), err.getvalue(), folder / "out")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_random_mission_becomes_a_table_and_a_folder(ask: Ask, tmp_path: Path) -> None:
    code, out, err = ask(*SMALL)
    assert (code, err) == (0, "")
    assert "5 of 5 tasks" in out and "uav[1]" in out and "mission_3_plan/report.html" in out
    written = contents(tmp_path / "mission_3_plan")
    assert set(written) >= FILES
    assert all(written[name].startswith(b"\x89PNG") for name in FILES if name.endswith(".png"))
    assert ask(*SMALL, "--output", "again")[0] == 0
    assert contents(tmp_path / "again") == written  # the same bytes


def test_the_numbers_are_those_of_the_plan(planned: Planned) -> None:
    numbers = planned.numbers
    assert planned.err == ""
    setup = setup_of(load_scenario(FAR))
    plan = solve(setup.problem, "greedy")
    assert (numbers["total_m"], numbers["makespan_s"], numbers["done"]) == (plan.total, plan.makespan, plan.done)
    assert numbers["undone"] == [{"task": entry.task, "reason": entry.reason} for entry in plan.undone]
    assert [row["task"] for row in numbers["undone"]] == ["beyond"]
    assert set(numbers["files"]) == set(contents(planned.folder))
    written = json.loads((planned.folder / "plan.json").read_text())
    assert written["total_m"] == plan.total and written["undone"] == numbers["undone"]
    assert "compute_s" not in (planned.folder / "plan.json").read_text()
    page = (planned.folder / "report.html").read_text()
    assert all(name in page for name in ("near", "strip", "beyond")) and "47.0" in page


def test_the_computing_time_includes_the_division_of_fields(
    ask: Ask, far: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock that advances by 5 s whenever fields are divided, and by nothing else."""
    now, divide = [0.0], from_scenario.split_fields

    def slow(problem: Problem) -> Problem:
        now[0] += 5.0
        return divide(problem)

    monkeypatch.setattr(document, "perf_counter", lambda: now[0])
    monkeypatch.setattr(from_scenario, "split_fields", slow)
    _, out, _ = ask(far, "--no-files", "--json")
    assert json.loads(out)["compute_s"] == pytest.approx(5.0, abs=0.5) and now == [5.0]


def test_undone_tasks_are_printed_and_fail_a_strict_run(ask: Ask, tmp_path: Path, far: str) -> None:
    code, out, _ = ask(far, "--no-files")
    assert code == 0
    assert "not done (1)" in out and "beyond: it takes" in out
    assert ask(far, "--no-files", "--strict")[0] == 1
    assert not (tmp_path / "far_plan").exists()


def test_metrics_are_written_as_tables(planned: Planned) -> None:
    from pyarrow import parquet

    numbers = planned.numbers["metrics"]
    for table, name in (("agents", "metrics"), ("tasks", "tasks")):
        with (planned.folder / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        written = parquet.read_table(planned.folder / f"{name}.parquet").to_pylist()
        assert (
            [row["name"] for row in rows] == [row["name"] for row in written] == [row["name"] for row in numbers[table]]
        )
    assert [task["latency"] for task in numbers["tasks"]] == [row["completed"] for row in written]
    series = parquet.read_table(planned.folder / "series.parquet").to_pydict()
    assert series == numbers["series"] and series["done"][-1] == 2


def test_parquet_needs_pyarrow(ask: Ask, tmp_path: Path, far: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, out, err = ask(far, "--parquet", "--output", "again")
    assert (code, out) == (2, "") and err == (
        "paddock: error: Parquet needs pyarrow: pip install 'paddock[analysis]'\n"
    )
    assert not (tmp_path / "again").exists()


def test_files_for_maps_and_ground_stations(planned: Planned) -> None:
    written = contents(planned.folder)
    features = json.loads(written["routes.geojson"])["features"]
    kinds = {feature["properties"].get("kind") for feature in features}
    assert {"base", "point", "line", "route"} <= kinds
    plans = [json.loads(text) for name, text in written.items() if name.endswith(".plan")]
    assert plans and all(plan["fileType"] == "Plan" for plan in plans)
    assert load_scenario(written["scenario.yaml"].decode()).name == "far"


def test_methods_are_compared(ask: Ask, tmp_path: Path) -> None:
    code, out, _ = ask(*SMALL[:6], "--methods", "greedy,hungarian", "--json", "--output", "out")
    assert code == 0
    numbers = json.loads(out)
    rows = numbers["comparison"]
    assert {row["method"] for row in rows} == {"greedy", "hungarian"}
    assert [row["total_m"] for row in rows] == sorted(row["total_m"] for row in rows)
    assert numbers["method"] == rows[0]["method"] and numbers["total_m"] == rows[0]["total_m"]
    assert all(row["compute_s"] > 0.0 for row in rows)
    assert "compare.png" in numbers["files"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Methods compared" in page and "hungarian" in page and "compute" not in page
    _, table, err = ask(*SMALL, "--methods", "hungarian", "--no-files")
    assert err == "paddock: greedy is added to the comparison because of --method\n"
    assert "computed in" in table and "method greedy" in table  # --method is shown


def test_a_random_mission_is_written_as_yaml(ask: Ask, tmp_path: Path) -> None:
    code, out, err = ask("--generate", *SMALL)
    assert (code, err) == (0, "")
    scenario = load_scenario(out)
    assert scenario.mission is not None
    assert (scenario.seed, len(scenario.mission.tasks), scenario.mission.method.name) == (3, 5, "greedy")
    assert sum(entry.count for entry in scenario.vehicles) == 2
    code, out, err = ask("--generate", "drawn.yaml", *SMALL)
    assert (code, out) == (0, "") and "next: paddock plan drawn.yaml" in err
    assert yaml.safe_load((tmp_path / "drawn.yaml").read_text())["seed"] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["drawn.yaml"]
    before = (tmp_path / "drawn.yaml").read_bytes()
    code, _, err = ask("drawn.yaml", "--generate", "--seed", "4")
    assert code == 2 and err == "paddock: error: drawn.yaml already exists; --generate does not overwrite\n"
    assert (tmp_path / "drawn.yaml").read_bytes() == before
    planned = json.loads(ask("drawn.yaml", "--no-files", "--json")[1])
    both = json.loads(ask("--generate", *SMALL, "--no-files", "--json")[1])
    assert planned["total_m"] == both["total_m"]


def test_the_seed_and_the_objective_can_be_chosen(ask: Ask) -> None:
    numbers = json.loads(ask(*SMALL, "--objective", "makespan", "--no-files", "--json")[1])
    assert (numbers["objective"], numbers["seed"], numbers["tasks"]) == ("makespan", 3, 5)


def test_a_plan_within_a_time_is_repeated_by_its_scenario(ask: Ask, tmp_path: Path) -> None:
    code, table, _ = ask("--seed", "3", "--uavs", "2", "--tasks", "5", "--time", "0.2s", "--output", "timed")
    steps = load_scenario(tmp_path / "timed" / "scenario.yaml").to_dict()["mission"]["method"]["local_search"]["steps"]
    assert code == 0 and f"method local_search, {steps:,} steps, " in table
    assert ask("timed/scenario.yaml", "--output", "again")[0] == 0
    assert (tmp_path / "timed" / "plan.json").read_bytes() == (tmp_path / "again" / "plan.json").read_bytes()


def test_tasks_are_imported_from_geojson(ask: Ask, tmp_path: Path, far: str) -> None:
    feature = {
        "type": "Feature",
        "properties": {"name": "barn"},
        "geometry": {"type": "Point", "coordinates": [8.001, 47.001]},
    }
    (tmp_path / "farm.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    numbers = json.loads(ask(far, "--import-tasks", "farm.geojson", "--json", "--no-files")[1])
    assert (numbers["tasks"], numbers["done"]) == (4, 3)
    alone = json.loads(ask("--import-tasks", "farm.geojson", "--json", "--no-files", "--method", "greedy")[1])
    assert (alone["scenario"], alone["tasks"], alone["done"]) == ("farm", 1, 1)


def test_a_qgroundcontrol_plan_sets_the_origin(
    ask: Ask, planned: Planned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # pictures take long
    file = next(path for path in sorted(planned.folder.glob("*.plan")))
    code, out, _ = ask("--import-tasks", str(file), "--method", "greedy", "--output", "again", "--json")
    assert code == 0 and json.loads(out)["done"] > 0
    origin = yaml.safe_load((tmp_path / "again" / "scenario.yaml").read_text())["world"]["origin"]
    assert origin[:2] == pytest.approx([47.0, 8.0], abs=1e-9)


EVENTS = """\
  events:
    - {at: 5, task: {name: late, point: {at: [300, 200]}}}
    - {at: 8, damage: "uav[0]"}
    - {at: 10, zone: {name: fire, circle: {at: [-2000, 0], radius: 100}}}
"""


def test_a_mission_with_events_is_also_flown(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.record.mission_report.animation.SECONDS", 0.4)
    (tmp_path / "far.yaml").write_text(FAR + EVENTS)
    code, out, _ = ask("far.yaml", "--output", "out", "--json", "--animate", "film.gif")
    assert code == 0
    numbers = json.loads(out)
    assert (numbers["tasks"], numbers["done"]) == (3, 2)  # as it was planned
    flown = numbers["outcome"]
    assert (flown["tasks"], flown["done"]) == (4, 3)
    assert [row["task"] for row in flown["undone"]] == ["beyond"]
    assert {(5.0, "new task late"), (10.0, "new no-fly zone fire")} <= {(r["at_s"], r["what"]) for r in flown["story"]}
    assert any(row["at_s"] == 8.0 and row["what"].startswith("uav[0] is damaged") for row in flown["story"])
    assert json.loads((tmp_path / "out" / "plan.json").read_text())["outcome"] == flown
    late = next(task for task in flown["metrics"]["tasks"] if task["name"] == "late")
    assert late["added"] == 5.0 and late["latency"] == late["completed"] - 5.0
    assert {"flown_metrics.csv", "flown_tasks.csv", "flown_series.csv"} <= set(contents(tmp_path / "out"))
    assert "<h2>Events</h2>" in (tmp_path / "out" / "report.html").read_text()
    assert (tmp_path / "film.gif").stat().st_size > 10_000
    assert "With its events: 3 of 4 tasks" in ask("far.yaml", "--no-files")[1]


def test_an_animation(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.record.mission_report.animation.SECONDS", 0.4)
    code, out, _ = ask(*SMALL, "--no-files", "--animate", "film.gif")
    assert code == 0 and out.endswith("film.gif\n")
    assert (tmp_path / "film.gif").read_bytes().startswith(b"GIF89a")


def test_without_matplotlib_everything_but_pictures_is_written(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, _ = ask(*SMALL, "--output", "out")
    assert code == 0 and "no plots: pictures need matplotlib: pip install 'paddock[plan]'" in out
    written = contents(tmp_path / "out")
    assert {"plan.json", "metrics.csv", "report.html"} <= set(written)
    assert not any(name.endswith(".png") for name in written)


MISTAKES: dict[str, tuple[list[str], str]] = {
    "nothing": ([], "give a scenario file, a demo name, or --seed, --uavs or --tasks to generate a mission: "
                "e.g. paddock plan survey, or paddock plan --seed 3 --uavs 4 --tasks 20"),
    "no file": (["none.yaml"], "none.yaml: no such scenario file or demo; "),
    "no mission": (["race"], "race: scenario 'race' has no mission; add a `mission` section with tasks"),
    "method": (["far.yaml", "--method", "greedi"],
               "--method: unknown planning method 'greedi'; did you mean 'greedy'?"),
    "methods": (["far.yaml", "--methods", "greedy,nope"], "--methods: unknown planning method 'nope'; "),
    "no methods": (["far.yaml", "--methods", ","],
                   "--methods takes comma-separated names, e.g. greedy,auction"),
    "objective": (["far.yaml", "--objective", "fast"], "--objective: unknown objective 'fast'; valid: makespan, total"),
    "uavs of a file": (["far.yaml", "--uavs", "3"],
                       "--uavs applies to generated missions only; edit the scenario file instead"),
    "uavs": (["--uavs", "0"], "--uavs must be in 1..10,000, not 0"),
    "no tasks": (["--tasks", "0"], "--tasks must be in 1.."),
    "tasks": (["--tasks", "1.5"], "invalid value for --tasks: must be an integer, not '1.5'"),
    "seed": (["--seed", "-1"], "--seed must be in 0..2^64-1, not -1"),
    "film": (["far.yaml", "--animate", "a.avi"], "an animation is a .mp4 or a .gif file, not 'a.avi'"),
    "both": (["far.yaml", "--output", "a", "--no-files"], "--output and --no-files are mutually exclusive"),
    "folder": (["far.yaml", "--output", "far.yaml"], "--output takes a folder, not 'far.yaml'"),
    "generate": (["drawn", "--generate"], "--generate writes a .yaml file, not 'drawn'"),
    "parquet": (["far.yaml", "--parquet", "--no-files"],
                "--parquet and --no-files are mutually exclusive"),
    "time": (["far.yaml", "--time", "soon"], "--time takes seconds in 0..1,000,000, e.g. 10s, not 'soon'"),
    "clock": (["far.yaml", "--time", "3", "--method", "greedy"],
              "--time: method 'greedy' cannot stop after a time; valid: local_search, routing"),
    "times": (["far.yaml", "--time", "3", "--compare"],
              "--time applies to one method: leave out --compare and --methods"),
    "import": (["far.yaml", "--import-tasks", "none.geojson"], "none.geojson: "),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_usage_errors_are_one_line(case: str, ask: Ask, far: str) -> None:
    arguments, message = MISTAKES[case]
    code, out, err = ask(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"paddock: error: {message}") and err.count("\n") == 1


EMPTY = "vehicles: []\nmission: {method: greedy, tasks: [{point: {at: [50, 0]}}, {point: {at: [90, 0]}}]}\n"


def test_no_tasks_and_no_vehicles(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "idle.yaml").write_text("vehicles: [{name: u, model: fixed_wing}]\nmission: {tasks: []}\n")
    numbers: dict[str, Any] = json.loads(ask("idle.yaml", "--json", "--output", "a")[1])
    assert (numbers["tasks"], numbers["done"], numbers["undone"]) == (0, 0, [])
    (tmp_path / "empty.yaml").write_text(EMPTY)
    numbers = json.loads(ask("empty.yaml", "--json", "--output", "b")[1])
    assert (numbers["done"], len(numbers["undone"]), numbers["total_m"]) == (0, 2, 0)


def test_strict_applies_to_the_outcome_of_events(ask: Ask, tmp_path: Path) -> None:
    near = "".join(line for line in FAR.splitlines(keepends=True) if "beyond" not in line)
    (tmp_path / "near.yaml").write_text(near + "  events:\n    - {at: 0, damage: uav}\n")
    code, out, _ = ask("near.yaml", "--no-files", "--strict")
    assert code == 1
    assert "2 of 2 tasks" in out and "With its events: 0 of 2 tasks" in out and "near not done: " in out


def test_routing_is_reduced_in_comparisons_and_this_is_reported(ask: Ask) -> None:
    pytest.importorskip("pyvrp")
    out = ask(*SMALL[:6], "--methods", "greedy,routing", "--no-files")[1]
    assert "routing, reduced for the comparison: iterations 1,000 instead of 4,000, polish 50,000 instead of" in out
    assert "reduced for" not in ask(*SMALL[:6], "--method", "routing", "--no-files")[1]


def test_a_scenario_that_cannot_run_is_planned_with_a_warning(ask: Ask, tmp_path: Path) -> None:
    quad = "vehicles: [{name: quad, model: quad, pose: [0, 0, 0], sensors: [{imu: {rate: 1000}}]}]\n"
    mission = "mission: {method: greedy, tasks: [{name: a, point: {at: [50, 0]}}]}\n"
    (tmp_path / "fast.yaml").write_text(quad + mission)
    code, out, err = ask("fast.yaml", "--no-files")
    assert code == 0 and "1 drone completes 1 of 1 task " in out
    assert err.startswith("paddock: warning: `paddock run` would reject this scenario: ") and err.count("\n") == 1


def test_without_vehicles_there_is_no_table(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text(EMPTY)
    out = ask("empty.yaml", "--no-files")[1]
    assert "0 of 2 tasks" in out and "home at" not in out


def test_generate_takes_no_scenario(ask: Ask) -> None:
    code, _, err = ask("--generate", "a.yaml", "survey")
    assert code == 2 and err.endswith("unexpected argument 'survey': --generate takes no scenario, it creates one\n")


RADIO = """\
name: line
radio:
  types: {t: {bandwidth: 1.0e+6, noise_figure: 0, duty: 0, power: 20, sensitivity: -80.05}}  # 1 km in free space
  hysteresis: 0
  stations: [{name: base, position: [0, 0, 50], radio: t}]
vehicles:
  - {name: scout, model: quad, pose: [0, 0, 50, 0], radio: t}
mission: {base: [0, 0, 50, 0], altitude: 50, speed: 10, method: greedy, tasks: [{point: {at: [2000, 0]}}]}
"""


def test_contact_with_stations_is_predicted(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "line.yaml").write_text(RADIO)
    code, out, err = ask("line.yaml", "--json")
    radio = json.loads(out)["radio"]
    [route] = radio["routes"]
    assert code == 0 and err == "" and radio["stations"] == ["base"]
    assert route["vehicle"] == "scout" and 0.4 < route["contact_share"] < 0.52
    far = hypot(*route["lowest_position_m"][:2])  # 100.05 dB are lost in 1 km, kTB of 1 MHz is -113.97 dBm
    assert far > 1990.0 and route["lowest_sinr_db"] == pytest.approx(133.97 - 100.05 - 20 * log10(far / 1e3), abs=0.02)
    assert route["lowest_at_s"] == pytest.approx(200.0, abs=10.0) and 190.0 < route["longest_gap_s"] < 230.0
    assert json.loads((tmp_path / "line_plan" / "plan.json").read_text())["radio"] == radio
    assert (tmp_path / "line_plan" / "contact.png").stat().st_size > 10_000
    assert "Radio contact" in (tmp_path / "line_plan" / "report.html").read_text()
    code, out, err = ask("line.yaml", "--no-files")
    assert code == 0 and "lowest SINR" in out and f"{route['lowest_sinr_db']:.1f} dB" in out


def test_without_a_station_a_line_says_that_contact_is_not_predicted(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "line.yaml").write_text(RADIO.replace("stations: [{name: base, position: [0, 0, 50], radio: t}]", ""))
    code, out, err = ask("line.yaml", "--no-files")
    assert code == 0 and "SINR" not in out and "1 of 1 task" in out
    assert err == "paddock: line.yaml:3:3: no link figures: there is no station; add `stations` to `radio`\n"


APART = """\
name: apart
radio: {range: 400, stations: [{name: base, position: [0, 0, 5]}]}
vehicles:
  - {name: e, count: 2, model: point, spawn: {grid: {spacing: 5, z: 20, origin: [900, 0]}}, radio: default}
  - {name: w, count: 2, model: point, spawn: {grid: {spacing: 5, z: 20}}, radio: default}
mission:
  via: radio
  method: cbba
  altitude: 20
  speed: 10
  separation: null
  tasks: [{name: a, point: {at: [300, 0]}}, {name: b, point: {at: [600, 0]}}]
"""


def test_a_mission_over_radio_is_negotiated_by_its_vehicles(ask: Ask, tmp_path: Path) -> None:
    """Two pairs 900 m apart with radios of 400 m: each wins both tasks, and sends one message per vehicle and round."""
    (tmp_path / "apart.yaml").write_text(APART)
    code, out, err = ask("apart.yaml", "--no-files", "--json")
    printed = json.loads(out)
    notes = printed["notes"]
    assert code == 0 and err == ""
    assert "2 tasks with several winners; there are 2 groups that do not hear each other" in notes["over radio"]
    assert notes["messages"] >= 4 * notes["rounds"] and notes["messages"] % 4 == 0
    assert printed["metrics"]["done"] == 2  # each once
    _, out, _ = ask("apart.yaml", "--no-files")
    assert "over radio the vehicles did not agree after" in out
    (tmp_path / "near.yaml").write_text(APART.replace("range: 400", "range: 4000"))
    _, out, _ = ask("near.yaml", "--no-files")
    assert "over radio the vehicles agreed after" in out
