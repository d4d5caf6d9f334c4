"""The report of a plan, against a plan whose numbers were worked out by hand.

One aircraft flies east at 10 m/s: 1,000 m to a point, 500 m to a line of 200 m, 500 m home. A second one stays.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import combinations
from math import inf, pi
from pathlib import Path as File
from typing import Any

import numpy as np
import pytest
from numba.core import event
from PIL import Image
from pymap3d import enu2geodetic

from paddock.errors import MissingFeatureError
from paddock.planning import plan as plan_of
from paddock.planning.geometry.path import Path, Pose, line
from paddock.planning.geometry.polygon import PolygonShape
from paddock.planning.geometry.shapes import LineShape, PointShape
from paddock.planning.geometry.zones import CircleZone
from paddock.planning.metrics import ClosestApproach, done_times, foreseen, to_csv
from paddock.planning.solver.problem import MissionSetup, Problem, Task, Vehicle
from paddock.planning.solver.routes import Leg, Plan, Route, Undone
from paddock.record.mission_report import document as methods
from paddock.record.mission_report.document import Trial, comparison, document, draw_comparison, ranked
from paddock.record.mission_report.files import ReportParts, draw_costs, draw_gantt, draw_timeline, report_html
from paddock.record.mission_report.map_figure import draw_routes
from paddock.record.mission_report.text import (
    clock,
    closeness,
    computing,
    course,
    distance,
    duration,
    latitude,
    longitude,
    spent,
    summary,
    wind_note,
)
from paddock.record.reports import ALARM, COLOURS, png, styled, svg
from paddock.world.geodesy import Origin

NASTY = '<b>&"'
REASON = "it is <far> & \"wide\" 'of' us"
DRAWINGS: dict[str, Callable[..., Any]] = {
    "routes": draw_routes,
    "gantt": draw_gantt,
    "timeline": draw_timeline,
    "costs": draw_costs,
}


def _leg(kind: str, task: str | None, x: float, metres: float, begins: float) -> Leg:
    start: Pose = (x, 0.0, 50.0, 0.0)
    path = Path([line(x, 0.0, 0.0, metres, 50.0)] if metres else (), start)
    ends = begins + metres / 10.0
    return Leg(kind, task, metres, begins, ends, start, path.end, lambda: path)  # type: ignore[arg-type]


def by_hand(name: str = "survey_1", reason: str = REASON) -> Plan:
    home: Pose = (2200.0, 0.0, 50.0, 0.0)
    vehicles = (
        Vehicle("uav[0]", (0.0, 0.0, 50.0, 0.0), home, 10.0, 80.0, 4400.0),
        Vehicle("uav[1]", home, home, 10.0, 80.0),
    )
    tasks = (
        Task("here", PointShape(1000.0, 0.0, None)),
        Task(name, LineShape(1500.0, 0.0, 0.0, 200.0)),
        Task("away", PointShape(0.0, 9000.0, 0.5 * pi)),
    )
    legs = (
        _leg("transit", "here", 0.0, 1000.0, 0.0),
        _leg("coverage", "here", 1000.0, 0.0, 100.0),
        _leg("transit", name, 1000.0, 500.0, 100.0),
        _leg("coverage", name, 1500.0, 200.0, 150.0),
        _leg("return", None, 1700.0, 500.0, 170.0),
    )
    problem = Problem(vehicles, tasks, (CircleZone("tower", 1100.0, 600.0, 200.0),), (0.0, 3.0), "total", 5)
    routes = (Route("uav[0]", legs, 10.0), Route("uav[1]", (), 10.0))
    return Plan(problem, "by_hand", routes, (Undone("away", reason),), {"rounds": 3})


def picture(name: str, plan: Plan) -> bytes:
    with styled() as figures:
        return png(DRAWINGS[name](figures, plan, "mission"))


def ink(content: bytes, colour: str) -> int:
    """Pixels of exactly a colour."""
    pixels = np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))
    return int((pixels == [int(colour[k : k + 2], 16) for k in (1, 3, 5)]).all(axis=2).sum())


# words ---------------------------------------------------------------------------------------------------------------


def test_numbers_are_readable() -> None:
    assert [distance(metres) for metres in (0.0, 850.4, 999.6, 41_340.0)] == ["0 m", "850 m", "1.0 km", "41.3 km"]
    assert [duration(s) for s in (0.0, 59.4, 59.6, 860.0, 7500.0)] == [
        "0 s", "59 s", "1 min 00 s", "14 min 20 s", "2 h 05 min",
    ]  # fmt: skip
    assert [clock(s) for s in (0.0, 9.0, 860.0, 3599.6, 7509.0)] == ["0:00", "0:09", "14:20", "1:00:00", "2:05:09"]


def test_headings_are_clockwise_from_north() -> None:
    assert [course(heading) for heading in (0.0, 0.5 * pi, pi, -0.5 * pi)] == ["090°", "000°", "270°", "180°"]
    assert course(0.5 * pi + 1e-9) == "000°"
    assert wind_note((3.0, 0.0)) == "wind 3 m/s from 270°"
    assert wind_note((0.0, 0.0)) == ""
    assert (latitude(-35.5), longitude(139.25)) == ("35.50000° S", "139.25000° E")


def test_computing_times() -> None:
    assert [computing(s) for s in (0.00356, 0.0269, 3.64)] == ["3.56 ms", "26.9 ms", "3.6 s"]


# numbers -------------------------------------------------------------------------------------------------------------


def test_usage_of_each_vehicle() -> None:
    flies, stays = foreseen(by_hand()).vehicles
    assert (flies.tasks, flies.distance, flies.rested, flies.range_used) == (2, 2200.0, 220.0, 0.5)
    assert (spent(flies), spent(stays)) == ((150.0, 20.0, 0.0, 50.0, 0.0), (0.0, 0.0, 0.0, 0.0, 220.0))
    assert (stays.tasks, stays.distance, stays.range_used, stays.rested) == (0, 0.0, None, None)


def said_of(plan: Plan) -> str:
    return summary(foreseen(plan), plan.problem.vehicles)


def test_summary_in_a_sentence() -> None:
    plan = by_hand()
    assert said_of(plan) == (
        "1 of 2 aircraft completes 2 of 3 tasks in 3 min 40 s; 2.2 km in total; uav[0] uses 50 % of its range."
    )
    nothing = Plan(replace(plan.problem, tasks=()), "x", (Route("uav[0]", (), 10.0), Route("uav[1]", (), 10.0)))
    assert said_of(nothing) == "2 aircraft complete 0 of 0 tasks; there are no tasks."
    empty = Plan(Problem((), ()), "x", ())
    assert said_of(empty) == "0 vehicles complete 0 of 0 tasks; there are no tasks."


def test_the_closest_approach_is_reported_only_if_it_is_too_close() -> None:
    plan = by_hand()
    setup = MissionSetup(plan.problem, separation=(50.0, 20.0))
    near = replace(foreseen(plan), separation=ClosestApproach(12.4, 495.0, "uav[0]", "uav[1]"))
    assert closeness(near, setup).startswith(
        "uav[0] and uav[1] come closest: 12 m at 8:15 (in the plan, which does not"
    )
    assert "20 m vertical or 50 m horizontal separation" in closeness(near, setup)
    assert closeness(near, replace(setup, separation=None)) == "uav[0] and uav[1] come closest: 12 m at 8:15."
    assert closeness(near, replace(setup, separation=(10.0, 20.0))) == ""
    assert closeness(foreseen(plan, apart=True), setup) == ""  # only one is ever under way


def test_the_document_is_json_with_the_plan_s_numbers() -> None:
    plan = by_hand()
    values = json.loads(json.dumps(document(plan, "mission", foreseen(plan)), allow_nan=False))
    assert (values["scenario"], values["method"], values["seed"]) == ("mission", "by_hand", 5)
    assert (values["total_m"], values["makespan_s"], values["done"], values["tasks"]) == (2200.0, 220.0, 2, 3)
    assert values["undone"] == [{"task": "away", "reason": REASON}]
    assert values["agents"][1]["range_m"] is None
    assert [leg["flown_m"] for leg in values["routes"][0]["legs"]] == [1000.0, 0.0, 500.0, 200.0, 500.0]
    assert values["routes"][0]["tasks"] == ["here", "survey_1"]
    assert values["metrics"]["agents"][0]["range_used"] == 0.5
    assert [task["completed"] for task in values["metrics"]["tasks"]] == [100.0, 170.0, None]
    assert values["metrics"]["series"] == {
        "time": [0.0, 100.0, 150.0, 170.0, 220.0],
        "distance": [0.0, 1000.0, 1500.0, 1700.0, 2200.0],
        "done": [0, 1, 1, 2, 2],
    }


def test_metrics_as_a_table() -> None:
    first, second = csv.DictReader(to_csv(foreseen(by_hand()), "agents").splitlines())
    names = ("name", "distance", "range_used", "tasks", "rested", "waited", "transit_s", "busy_s", "returning_s")
    assert [first[name] for name in names] == ["uav[0]", "2200.0", "0.5", "2", "220.0", "0.0", "150.0", "20.0", "50.0"]
    assert (second["status"], second["rested"], second["range_used"], second["idle_s"]) == ("idle", "", "", "220.0")


def test_tasks_are_counted_when_they_are_done() -> None:
    assert done_times(by_hand()).tolist() == [100.0, 170.0]


# comparison ----------------------------------------------------------------------------------------------------------


def test_computing_time_excludes_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]

    def solve(*arguments: object) -> Plan:
        with event.trigger_event("numba:compile"):
            now[0] += 7.0
            with event.trigger_event("numba:compile"):  # of a function that the first one calls
                now[0] += 3.0
        now[0] += 2.0
        return by_hand()

    monkeypatch.setattr(event, "timer", lambda: now[0])
    monkeypatch.setattr(methods, "perf_counter", lambda: now[0])
    monkeypatch.setattr(methods, "solve", solve)
    (trial,) = methods.compare(by_hand().problem, ["greedy"], {}, lambda share: None)
    assert trial.seconds == 2.0


def test_methods_are_ranked_by_tasks_done_then_by_the_objective() -> None:
    plan = by_hand()
    all_done = replace(plan, undone=())
    longer = replace(all_done, routes=(*plan.routes, Route("uav[2]", plan.routes[0].legs[:1], 10.0)))
    trials = [
        Trial("short", plan),
        Trial("none", None, problem="not here"),
        Trial("long", longer),
        Trial("b", all_done),
    ]
    assert [trial.method for trial in ranked(trials, "total")] == ["b", "long", "short", "none"]
    assert [trial.method for trial in ranked(trials, "makespan")] == ["b", "long", "short", "none"]
    rows = comparison(ranked(trials, "total"), timed=False)
    assert rows[1] == {"method": "long", "total_m": 3200.0, "makespan_s": 220.0, "done": 2, "undone": 0}
    assert rows[3] == {"method": "none", "problem": "not here"}
    assert "compute_s" in comparison(trials, timed=True)[0]


# pictures ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [name if name == "routes" else pytest.param(name, marks=pytest.mark.slow) for name in DRAWINGS]
)
def test_pictures_are_not_empty_and_reproducible(name: str) -> None:
    signs = "$x_{$ \\frac"  # of mathematics, which a task may be called
    first = picture(name, by_hand(signs))
    assert first == picture(name, by_hand(signs))
    assert Image.open(io.BytesIO(first)).size[0] == 1440
    assert ink(first, "#ffffff") > 100_000
    if name in ("routes", "gantt"):
        assert ink(first, COLOURS[0]) > 200


def test_undone_tasks_and_zones_are_on_the_map() -> None:
    plan = by_hand()
    assert ink(picture("routes", plan), ALARM) > 300
    clear = replace(plan, undone=(), problem=replace(plan.problem, zones=()))
    assert ink(picture("routes", clear), ALARM) == 0


def test_the_gantt_is_solid_while_a_task_is_done() -> None:
    """20 s of 220 s are solid: the part of the bar's pixels that have the full colour."""
    pixels = np.asarray(Image.open(io.BytesIO(picture("gantt", by_hand()))).convert("RGB")).astype(int)
    solid = (abs(pixels - [0x00, 0x72, 0xB2]) <= 2).all(axis=2)
    pale = (abs(pixels - [0xA6, 0xCE, 0xE4]) <= 3).all(axis=2)  # 35 % of the colour on white
    row = int(solid.sum(axis=1).argmax())
    assert solid[row].sum() / pale[row].sum() == pytest.approx(20.0 / 150.0, rel=0.15)


def test_empty_plans_are_drawn() -> None:
    nothing = Plan(Problem((), ()), "x", ())
    for name in DRAWINGS:
        assert picture(name, nothing)
    assert "there are no tasks" in report_html(nothing, "empty")


def test_without_matplotlib_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingFeatureError, match=r"pip install 'paddock\[plan\]'"), styled():
        pass


# the report ----------------------------------------------------------------------------------------------------------


class Reader(HTMLParser):
    """Collects text, and checks that every tag is closed in its turn."""

    VOID = ("meta", "br", "img", "use", "path", "rect", "image")

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.words: list[str] = []
        self.tags: set[str] = set()
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.ids += [str(value) for key, value in attrs if key == "id"]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.ids += [str(value) for key, value in attrs if key == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@cache
def full_report(name: str, times: int = 1) -> str:
    plan = by_hand(name)
    trials = (Trial(plan.method, plan), Trial("missing", None, problem=f"{NASTY} is not installed"))
    with styled() as figures:
        pictures = {name: svg(draw(figures, plan, NASTY)) for name, draw in DRAWINGS.items()}
        pictures["compare"] = svg(draw_comparison(figures, trials, NASTY))
    origin = Origin(35.0, 139.0, 0.0)
    settings = [("reserve", NASTY)]
    return report_html(plan, NASTY, f"{NASTY}!", ReportParts(origin, settings, trials, pictures))


def test_user_text_is_escaped() -> None:
    page = full_report(NASTY)
    reader = read(page)
    words = "".join(reader.words)
    for said in ("here", NASTY, "away", REASON, "uav[1]", "tower", f"{NASTY} (line)", f"{NASTY} is not installed"):
        assert said in words
    assert "<b>&" not in page
    assert "far" not in reader.tags
    assert "<td>it is &lt;far&gt; &amp; &#34;wide&#34; &#39;of&#39; us</td>" in page


def test_the_report_is_self_contained() -> None:
    page = full_report(NASTY)
    reader = read(page)
    assert not reader.tags & {"script", "link", "iframe", "img"}
    assert "src=" not in page and "url(http" not in page and "@import" not in page
    assert "prefers-color-scheme: dark" in page
    assert len(reader.ids) == len(set(reader.ids))
    assert str(File(__file__).parents[1]) not in page


def test_the_report_lists_legs_with_times_and_places() -> None:
    words = " ".join("".join(read(full_report(NASTY)).words).split())
    assert said_of(by_hand(NASTY)) in words
    assert "to here (point)" in words and "return to base" in words
    for cell in ("1:40", "2:30", "2:50", "3:40", "1,000 m", "090°", "wind"):
        assert cell in words
    north, east, _ = enu2geodetic(1000.0, 0.0, 0.0, 35.0, 139.0, 0.0)
    assert f"{north:.5f}° N" in words and f"{east:.5f}° E" in words
    assert "3 m/s from 180°" in words and "10 m/s" in words and "80 m" in words


@pytest.mark.slow
def test_the_report_is_reproducible() -> None:
    assert full_report(NASTY, 1) == full_report(NASTY, 2)


def test_a_report_without_pictures_gives_the_reason() -> None:
    page = report_html(by_hand(), "mission", parts=ReportParts(missing="pictures need matplotlib"))
    assert "pictures need matplotlib" in page and "<svg" not in page


def test_ranges_without_limit_are_shown() -> None:
    plan = by_hand()
    free = replace(plan.problem, vehicles=tuple(replace(vehicle, range=inf) for vehicle in plan.problem.vehicles))
    assert "no limit" in report_html(replace(plan, problem=free), "mission")


def test_the_map_shows_what_is_swept_and_names_do_not_overlap() -> None:
    """A field in parts and points 10 m apart; the swept area on the map is the share that the metrics report."""
    outline = [[300, 200], [1500, 100], [1700, 900], [800, 1300], [200, 800]]
    points = [{"name": name, "point": {"at": [310 + 10 * k, 230]}} for k, name in enumerate(("gate", "barn", "well"))]
    field = {"name": "meadow", "polygon": {"outline": outline, "spacing": 80, "margin": 100}}
    mission = {"base": [0, 0, 100, 0], "range": 12000, "turn_radius": 100, "tasks": [field, *points]}
    start = {"line": {"start": [0, 0, 100], "end": [0, 100, 100]}}
    aircraft = {"name": "u", "count": 2, "model": "fixed_wing", "spawn": start}
    planned = plan_of({"vehicles": [aircraft], "mission": mission}, "greedy")
    parts = {task.name: task.covered for task in foreseen(planned).tasks if task.covered is not None}
    assert len(parts) > 1
    with styled() as figure_class:
        figure = draw_routes(figure_class, planned, "meadow")
    figure.draw_without_rendering()
    (axes,) = figure.axes
    names = [text for text in axes.texts if text.get_text() in {task.name for task in planned.problem.tasks}]
    boxes = [text.get_window_extent() for text in names]
    assert len(boxes) == len(planned.problem.tasks)
    assert not any(first.overlaps(other) for first, other in combinations(boxes, 2))
    drawn = {patch.get_gid(): patch.get_path() for patch in axes.patches if patch.get_gid()}
    for task in planned.problem.tasks:
        assert isinstance(task.shape, PolygonShape) == (f"margin {task.name}" in drawn)
        if isinstance(task.shape, PolygonShape) and task.name in parts:
            area = 0.0
            for ring in drawn[f"swept {task.name}"].to_polygons():  # holes have the other direction
                x, y = np.array(ring).T
                area += 0.5 * (np.dot(x[:-1], y[1:]) - np.dot(x[1:], y[:-1]))
            assert abs(area) == pytest.approx(parts[task.name] * task.shape.area.area, rel=1e-6)
