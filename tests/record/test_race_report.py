"""A race in recordings: verification, standings at any time, the report, and drivers that fail."""

import json
import re
import threading
from dataclasses import replace
from math import cos, pi, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock import record
from paddock.cli.main import exit_code
from paddock.errors import InvalidValueError, PaddockError
from paddock.record import Recorder, open_run, verify
from paddock.record.race import car_traces, recorded_standings
from paddock.record.run_report import write_race_report
from paddock.track import load

RADIUS = 22.0  # m, of the middle of a round track
DRIVE = {"pure_pursuit": {"path": "track", "speed": 10, "lateral": 9, "lookahead": 2.5, "lookahead_time": 0.2}}
CARS = [
    {"name": "red", "model": "car.kinematic", "preset": "driverless", "speed": 8, "behaviour": DRIVE},
    {"name": "lost", "model": "car.kinematic", "preset": "driverless", "spawn": {"track": {"first": 1}},
     "speed": 8, "commands": {"throttle": 0.3}},
]  # fmt: skip
SCENARIO: dict[str, Any] = {
    "name": "evening",
    "clock": {"rate": 60, "pace": 0},
    "contact": True,
    "rules": {"discipline": "autocross", "off_course_penalty": "dnf"},
    "vehicles": CARS,
}


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The race on a round track, to the left, with cones on both sides."""
    rows = [f"car_start,{RADIUS},0,{pi / 2}"]
    for k in range(36):
        for colour, radius in (("blue", RADIUS - 2.0), ("yellow", RADIUS + 2.0)):
            angle = 2 * pi * (k + 0.5) / 36
            rows.append(f"{colour},{radius * cos(angle)},{radius * sin(angle)},0")
    path = tmp_path_factory.mktemp("tracks") / "round.csv"
    path.write_text("\n".join(rows) + "\n")
    return {**SCENARIO, "track": str(path)}


@pytest.fixture(scope="module")
def recording(scenario: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A recorded lap of a car on the track and the short way of another off it, and the standings of the run."""
    path = tmp_path_factory.mktemp("race") / "run.mcap"
    with paddock.load(scenario) as sim:
        with Recorder(sim, path, rate=20):
            sim.step(60 * 18)
        return path, sim.race.standings()


def test_the_run(recording: tuple[Path, Any]) -> None:
    """The red car completes the lap; the other one leaves the course, over cones."""
    red, lost = recording[1]["red"], recording[1]["lost"]
    assert red.laps == 1 and red.cones == 0 and red.off_course == 0
    assert (lost.status, lost.reason) == ("dnf", "left the course")
    assert lost.cones > 0


def test_verified(recording: tuple[Path, Any]) -> None:
    result = verify(recording[0])
    assert result.same, result.lines()
    assert result.hashes > 10


def test_standings_of_a_recording(recording: tuple[Path, Any]) -> None:
    """At the end they are those of the run; before, no lap is known."""
    path, wanted = recording
    with open_run(path) as run:
        standings = recorded_standings(run.scenario, run.sample(-1), run.events())
        assert standings is not None
        assert [row.name for row in standings.rows] == [row.name for row in wanted.rows]
        for name in ("red", "lost"):
            first, other = standings[name], wanted[name]
            assert first.lap_times == pytest.approx(other.lap_times, abs=1e-9)
            for sectors, wanted_sectors in zip(first.sector_times, other.sector_times, strict=True):
                assert sectors == pytest.approx(wanted_sectors, abs=1e-9)
            same = ("position", "id", "status", "laps", "cones", "off_course", "penalty", "reason", "progress", "gap")
            assert [getattr(first, key) for key in same] == [getattr(other, key) for key in same]
        early = recorded_standings(run.scenario, run.sample(100), [e for e in run.events() if e.tick <= 300])
        assert early is not None and early["red"].laps == 0 and early["red"].status == "running"


def test_traces_of_a_lap(scenario: dict[str, Any], recording: tuple[Path, Any]) -> None:
    """The distance of a lap is that of the track, and the speed over it takes the time of the lap."""
    path, standings = recording
    track = load(scenario["track"])
    with open_run(path) as run:
        red = next(car for car in car_traces(run, standings, track, 2) if car.name == "red")
    lap = red.best
    assert lap is not None and lap.seconds == pytest.approx(standings["red"].lap_times[0])
    assert lap.distance[-1] == pytest.approx(track.length, abs=0.2)  # at the line, between two samples
    assert (lap.time[0], lap.time[-1]) == pytest.approx((0.0, lap.seconds), abs=1e-9)
    way = np.sum(0.5 * (lap.speed[1:] + lap.speed[:-1]) * np.diff(lap.time))
    assert way == pytest.approx(track.length, rel=0.02)
    course = np.unwrap(np.arctan2(np.gradient(lap.y), np.gradient(lap.x)))
    sideways = lap.speed * np.gradient(course, lap.time) / 9.80665  # of the path through the recorded places
    assert np.median(np.abs(sideways - lap.left)) < 0.05
    assert np.median(lap.left) == pytest.approx(np.median(lap.speed) ** 2 / RADIUS / 9.80665, rel=0.05)


def test_report(recording: tuple[Path, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, wanted = recording
    folder = tmp_path / "report"
    assert exit_code(("replay", str(path), "--report", str(folder))) == 0
    names = capsys.readouterr().out.split()
    assert names == ["report.md", "results.json", "speed.png", "gg.png", "line.png"]
    for name in names[2:]:
        data = (folder / name).read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) > 10_000
    text = (folder / "report.md").read_text()
    assert f"{wanted['red'].lap_times[0]:.3f}" in text
    assert "DNF: left the course" in text and "cone: cones\\_" in text
    numbers = json.loads((folder / "results.json").read_text())
    assert numbers["rows"][0]["name"] == "red"
    assert numbers["rows"][0]["lap_times"] == pytest.approx(list(wanted["red"].lap_times), abs=1e-9)
    assert sum(entry["kind"] == "cone_hit" for entry in numbers["log"]) == wanted["lost"].cones


def test_mistakes_of_the_verb(recording: tuple[Path, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(("replay", str(recording[0]), "--report", "x", "--metrics")) != 0
    assert "--metrics and --report are mutually exclusive" in capsys.readouterr().err


def test_run_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run with --report records, reports and prints the leaderboard."""
    path = tmp_path / "race.yaml"
    path.write_text(
        "name: short\nclock: {rate: 60}\ntrack: acceleration\nrules: acceleration\nvehicles:\n"
        "  - {name: red, model: car.kinematic, preset: driverless, commands: {throttle: 1.0}}\n"
    )
    out = tmp_path / "out"
    assert exit_code(("run", str(path), "--headless", "--seconds", "8", "--report", str(out))) == 0
    text = capsys.readouterr().out
    assert "acceleration on acceleration, 1 lap:" in text
    assert re.search(r"1 red +1 +\d\.\d{3} +0 +0", text)
    assert (out / "report.md").exists() and (out / "run.mcap").exists()
    path.write_text("vehicles:\n  - {name: red, model: car.kinematic}\n")
    assert exit_code(("run", str(path), "--headless", "--seconds", "1", "--report", str(out))) != 0
    assert "has no section `rules`" in capsys.readouterr().err


def test_no_race_to_report(small: Any, tmp_path: Path) -> None:
    with small, Recorder(small, tmp_path / "run.mcap"):
        small.step(10)
    with pytest.raises(PaddockError, match="has no race to report"):
        write_race_report(tmp_path / "run.mcap", tmp_path)


def test_a_driver_that_fails(scenario: dict[str, Any], tmp_path: Path) -> None:
    """NaN is refused with one line, a late reply has one line, the car brakes, and the report has both."""
    single = {"name": "red", "model": "car.kinematic", "preset": "driverless", "speed": 5.0}
    sync = {"every": 20, "timeout": 0.2, "on_timeout": "brake"}
    tree = {**scenario, "contact": False, "vehicles": [single], "clock": {"rate": 60, "pace": 0, "sync": sync}}
    refused: list[str] = []
    with paddock.load(tree) as sim:
        claim = sim.control.claim("red", source="team")

        def drive() -> None:
            while (request := claim.wait(5.0)) is not None:
                try:
                    claim.reply(request.tick, {"red": {"throttle": float("nan") if request.tick >= 40 else 0.2}})
                except InvalidValueError as error:
                    refused.append(str(error))
                    claim.release()

        thread = threading.Thread(target=drive)
        thread.start()
        with Recorder(sim, tmp_path / "run.mcap"):
            sim.step(45)
            thread.join(10.0)
            silent = sim.control.claim("red", source="silent")
            sim.step(21)
            silent.release()
        events = [(event.kind, event.subject, event.detail) for event in sim.events.since()]
        assert sim.vehicles.inspect("red")["command"]["brake"] == 1.0
    assert len(refused) == 1 and "\n" not in refused[0] and "throttle" in refused[0] and "nan" in refused[0]
    late = ("barrier_timeout", "silent", "no reply within 0.2 s: brake (red)")
    assert events.count(late) == 1
    write_race_report(tmp_path / "run.mcap", tmp_path / "report")
    text = (tmp_path / "report" / "report.md").read_text()
    assert "- silent: barrier_timeout: no reply within 0.2 s: brake (red)" in text
    assert "still on track" in text or "did not start" in text
    assert verify(tmp_path / "run.mcap").same


def test_laps_of_a_recording(recording: tuple[Path, Any]) -> None:
    """The lap of the red car lasts as long as in the standings, and its way is once round the middle."""
    path, wanted = recording
    laps = record.laps(path)
    assert list(laps) == [row.name for row in wanted.rows]
    lap = laps["red"].best
    assert lap is not None and lap.seconds == pytest.approx(wanted["red"].lap_times[0], abs=1e-9)
    assert lap.distance[-1] == pytest.approx(2 * pi * RADIUS, rel=0.02)
    assert np.hypot(lap.x, lap.y) == pytest.approx(RADIUS, abs=1.5)
    assert np.median(lap.left) == pytest.approx(10.0**2 / RADIUS / 9.81, rel=0.1)


def test_a_track_is_drawn_on_axes(recording: tuple[Path, Any]) -> None:
    with open_run(recording[0]) as run:
        axes = record.plot_track(run.track)
    points = np.concatenate([line.get_xydata() for line in axes.get_lines() if line.get_linestyle() == "None"])
    assert len(points) == 72
    assert np.hypot(*points.T).round(2).tolist() == [RADIUS - 2.0] * 36 + [RADIUS + 2.0] * 36
    assert axes.get_aspect() == 1.0


def test_standings_in_a_notebook(recording: tuple[Path, Any]) -> None:
    standings = recording[1]
    shown = replace(standings, rows=(replace(standings.rows[0], name="<b>red"), *standings.rows[1:]))
    html = shown._repr_html_()
    assert html.count("<tr>") == 3 and "<td>&lt;b&gt;red</td>" in html and "<b>red" not in html
    assert f"<td>{standings['red'].best_lap:.3f}</td>" in html and "dnf: left the course" in html
    assert str(standings).splitlines()[0].split()[:3] == ["car", "laps", "best"]
