"""Fields are swept around holes and zones, with turns that vehicles can fly; coverage and crossings measured apart."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from itertools import pairwise
from math import cos, hypot, pi, remainder, sin, tau

import numpy as np
import pytest
import shapely
from scipy.spatial import cKDTree
from shapely import LineString, Point, Polygon
from shapely.geometry.base import BaseGeometry

from paddock.errors import InvalidValueError
from paddock.planning import plan
from paddock.planning.from_scenario import setup_of
from paddock.planning.geometry.path import Path, ends_at
from paddock.planning.geometry.polygon import PolygonShape, swept
from paddock.planning.geometry.shapes import CALM, AreaShape, Drift, InfeasibleError, PointShape
from paddock.planning.geometry.sweep import subtract
from paddock.planning.geometry.zones import CircleZone, PolygonZone, Zone
from paddock.planning.metrics import foreseen, measure
from paddock.planning.mission.kinematic import KinematicRun
from paddock.planning.mission.mission import Mission
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.planner import solve, split_fields
from paddock.planning.solver.problem import MissionSetup, Problem, Task, Vehicle
from paddock.record.mission_report.text import fields_covered
from paddock.scenario import load_scenario
from paddock.world.state import load, save

Points = list[tuple[float, float]]
SQUARE: Points = [(0, 0), (600, 0), (600, 600), (0, 600)]
HOLE: Points = [(230, 250), (350, 250), (350, 370), (230, 370)]
YOU: Points = [(0, 0), (700, 0), (700, 600), (500, 600), (500, 200), (200, 200), (200, 600), (0, 600)]
TOWER = CircleZone("tower", 300.0, 300.0, 70.0)


def track(path: Path) -> LineString:
    return LineString(path.sample(0.5)[:, :2])


def swath_share(path: Path, spacing: float, field: BaseGeometry) -> float:
    """The share of a grid of places in a field beside the rows of a path, not beyond their ends."""
    assert path.rows is not None
    low_x, low_y, high_x, high_y = field.bounds
    grid = np.stack(np.meshgrid(np.arange(low_x + 1, high_x, 2.0), np.arange(low_y + 1, high_y, 2.0)), axis=-1)
    grid = grid.reshape(-1, 2)
    places = grid[shapely.contains_xy(field, grid[:, 0], grid[:, 1])]
    covered = np.zeros(len(places), bool)
    for first, other in path.rows:
        ahead = (other - first) / np.linalg.norm(other - first)
        along, across = (places - first) @ ahead, (places - first) @ (-ahead[1], ahead[0])
        covered |= (along >= 0.0) & (along <= np.linalg.norm(other - first)) & (np.abs(across) <= 0.5 * spacing)
    return float(covered.mean())


def inside(path: Path, area: BaseGeometry) -> float:
    """Metres of a path inside an area, its border apart."""
    return float(track(path).intersection(area.buffer(-0.05)).length)


def raster_share(paths: list[Path], spacing: float, field: BaseGeometry) -> float:
    """The share of a grid of places in a field that lie within half a spacing of flown paths."""
    low_x, low_y, high_x, high_y = field.bounds
    grid = np.stack(np.meshgrid(np.arange(low_x, high_x, 4.0), np.arange(low_y, high_y, 4.0)), axis=-1).reshape(-1, 2)
    places = grid[shapely.contains_xy(field, grid[:, 0], grid[:, 1])]
    flown = cKDTree(np.concatenate([path.sample(1.0)[:, :2] for path in paths]))
    return float((flown.query(places)[0] <= 0.5 * spacing + 0.1).mean())


def can_be_flown(path: Path, radius: float) -> None:
    """No gaps, no kinks, no turn tighter than the radius."""
    for first, other in pairwise(path.segments):
        x, y, _, heading = ends_at(first)
        assert hypot(other.x - x, other.y - y) < 1e-6
        assert abs(remainder(other.heading - heading, tau)) < 1e-6
    assert max(abs(segment.curvature) for segment in path.segments) <= (1.0 + 1e-9) / radius


@pytest.mark.parametrize(
    ("radius", "share"),
    [
        pytest.param(15.0, 0.995, marks=pytest.mark.slow),
        (80.0, 0.98),
        pytest.param(132.0, 0.97, marks=pytest.mark.slow),
    ],
)
def test_a_hole_is_left_out_and_no_turn_crosses_it(radius: float, share: float) -> None:
    shape = PolygonShape(SQUARE, [HOLE], 30.0, turns="outside")
    path = shape.path(radius)
    can_be_flown(path, radius)
    assert inside(path, Polygon(HOLE)) == 0.0
    measured = raster_share([path], 30.0, Polygon(SQUARE, [HOLE]))
    assert measured >= share
    assert swept(shape, path, ()).share == pytest.approx(swath_share(path, 30.0, Polygon(SQUARE, [HOLE])), abs=0.005)


@pytest.mark.parametrize(
    "zone",
    [
        TOWER,
        CircleZone("beside", 700.0, 300.0, 60.0),
        *(
            pytest.param(zone, marks=pytest.mark.slow)
            for zone in (
                CircleZone("edge", 600.0, 300.0, 90.0),
                PolygonZone("block", ((100, 100), (260, 140), (240, 300), (120, 280))),
            )
        ),
    ],
    ids=lambda zone: zone.name,
)
def test_a_zone_is_left_out_with_its_clearance(zone: Zone) -> None:
    shape = PolygonShape(SQUARE, (), 30.0, turns="outside")
    path = shape.path(60.0, 0.0, (zone,), 20.0)
    can_be_flown(path, 60.0)
    closed = Polygon(zone.outline())
    assert track(path).distance(closed) >= 20.0 - 0.05
    assert raster_share([path], 30.0, Polygon(SQUARE) - closed.buffer(20.0)) >= 0.97


def test_a_zone_in_a_hole_is_no_obstacle_to_the_task() -> None:
    mast = CircleZone("mast", 290.0, 310.0, 30.0)
    path = PolygonShape(SQUARE, [HOLE], 30.0, turns="outside").path(40.0, 0.0, (mast,))
    assert inside(path, Polygon(HOLE)) == 0.0
    assert raster_share([path], 30.0, Polygon(SQUARE, [HOLE])) >= 0.98


def test_turns_stay_in_the_field_where_the_margin_leaves_room() -> None:
    shape = PolygonShape(SQUARE, [HOLE], 30.0, margin=80.0)
    path = shape.path(60.0)
    assert track(path).difference(Polygon(SQUARE).buffer(0.1)).length == 0.0
    assert inside(path, Polygon(HOLE)) == 0.0
    swept = Polygon(SQUARE, [HOLE]).buffer(-80.0, join_style="mitre")
    assert raster_share([path], 30.0, swept) >= 0.99


def test_a_vehicle_that_turns_on_the_spot_stays_in_a_field_of_any_form() -> None:
    path = PolygonShape(YOU, spacing=30.0).path(0.0)
    assert track(path).difference(Polygon(YOU).buffer(0.75 * 30.0 + 0.1)).length == 0.0
    assert raster_share([path], 30.0, Polygon(YOU)) >= 0.99


@pytest.mark.parametrize("radius", [30.0, 80.0])
def test_turns_outside_reach_as_far_as_their_radius_needs(radius: float) -> None:
    shape = PolygonShape(SQUARE, spacing=30.0, turns="outside")
    path = shape.path(radius)
    beyond = max(Polygon(SQUARE).distance(Point(x, y)) for x, y in path.sample(2.0)[:, :2])
    assert beyond <= (1.0 + 3.0**0.5) * radius + 0.1  # a bulb between neighbours; wider turns need one radius
    assert swept(shape, path, ())[1] == pytest.approx(beyond, abs=1.0) and beyond >= radius


PENTAGON: Points = [(-900, 700), (-250, 850), (-180, 1250), (-600, 1400), (-980, 1150)]
ELL: Points = [(0, 0), (1200, 0), (1200, 500), (600, 500), (600, 1100), (0, 1100)]
MEADOW: Points = [(300, 0), (1500, 0), (1500, 1000), (300, 1000)]
BARN: Points = [(700, 350), (1000, 350), (1000, 650), (700, 650)]
POND = CircleZone("pond", 1250.0, 250.0, 90.0)


@pytest.mark.parametrize(
    ("outline", "wind", "margin", "share"),
    [
        (PENTAGON, (0.0, 0.0), 0.0, 0.97),
        pytest.param(ELL, (0.0, 0.0), 0.0, 0.97, marks=pytest.mark.slow),
        pytest.param(PENTAGON, (5.0, 0.0), 0.0, 0.94, marks=pytest.mark.slow),
        pytest.param(ELL, (0.0, 5.0), 0.0, 0.94, marks=pytest.mark.slow),
        pytest.param(ELL, (-3.5, 3.5), 40.0, 0.84, marks=pytest.mark.slow),
    ],
)
def test_turns_stay_inside_with_any_margin(
    outline: Points, wind: tuple[float, float], margin: float, share: float
) -> None:
    """80 m in still air, 106 m over the ground in wind: rows are shortened, passes along the edges cover the rest."""
    shape, start = PolygonShape(outline, spacing=90.0, margin=margin, turns="inside"), (-500.0, 0.0, 0.0, 0.0)
    plane = Vehicle("u", start, start, 17.5, 80.0)
    path = Costs(Problem((plane,), (Task("field", shape),), wind=wind)).coverage(0, 0)
    assert isinstance(path, Path)
    assert track(path).difference(Polygon(outline).buffer(0.1)).length == 0.0
    assert raster_share([path], 90.0, Polygon(outline)) >= share


@pytest.mark.slow
@pytest.mark.parametrize("wind", [(5.0, 0.0), (0.0, 9.0)])
def test_turns_stay_between_a_hole_a_zone_and_the_outline_in_wind(wind: tuple[float, float]) -> None:
    shape, start = PolygonShape(MEADOW, [BARN], 60.0, margin=80.0, turns="inside"), (0.0, -200.0, 0.0, 0.0)
    plane = Vehicle("u", start, start, 17.5, 80.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = Costs(Problem((plane,), (Task("field", shape),), (POND,), wind=wind)).coverage(0, 0)
    assert isinstance(path, Path)
    assert track(path).difference(Polygon(MEADOW).buffer(0.1)).length == 0.0
    assert inside(path, Polygon(BARN)) == 0.0 and track(path).distance(Point(1250.0, 250.0)) >= 89.9


def test_a_field_narrower_than_the_turns_is_left_or_refused() -> None:
    """150 m wide, for circles of 160 m."""
    lane = [(0, 0), (900, 0), (900, 150), (0, 150)]
    shape = PolygonShape(lane, spacing=40.0)
    share, outside, _ = swept(shape, shape.path(80.0), ())
    assert share > 0.99 and 0.0 < outside <= (1.0 + 3.0**0.5) * 80.0
    with pytest.raises(InfeasibleError, match="no row with turns of 80 m fits inside its outline"):
        PolygonShape(lane, spacing=40.0, turns="inside").path(80.0)
    with pytest.raises(InvalidValueError, match="turns is 'in'; valid: auto, inside, outside"):
        PolygonShape(lane, spacing=40.0, turns="in")  # type: ignore[arg-type]


def test_turns_are_chosen_by_metres_for_each_covered_area() -> None:
    """A star with turns outside, where those inside leave its points out; a large field for small turns inside."""
    angles = np.arange(10) * pi / 5 + pi / 2
    reach = np.where(np.arange(10) % 2 == 0, 600.0, 250.0)
    points = [(float(r * cos(a)), float(r * sin(a))) for r, a in zip(reach, angles, strict=True)]
    paths = {turns: PolygonShape(points, spacing=40.0, turns=turns).path(80.0) for turns in ("inside", "outside")}
    shape = PolygonShape(points, spacing=40.0)
    path = shape.path(80.0)
    assert path.flown == paths["outside"].flown
    lengths = {turns: way.flown / swath_share(way, 40.0, Polygon(points)) for turns, way in paths.items()}
    assert lengths["outside"] < lengths["inside"]
    share, outside, alternative = swept(shape, path, ())
    assert share > 0.999 and outside > 80.0
    other = 100.0 * swath_share(paths["inside"], 40.0, Polygon(points))
    match = re.fullmatch(r"([\d.]+) km; turns inside: at most ([\d.]+) %", alternative)
    assert match is not None and float(match[1]) == pytest.approx(path.flown / 1000.0, abs=0.06)
    assert other - 0.5 <= float(match[2]) < 95.0  # not all rows are connected by turns inside
    large = PolygonShape([(0, 0), (1000, 0), (1000, 700), (0, 700)], spacing=30.0)
    inner = swept(large, large.path(20.0), ())
    assert inner.share > 0.99 and inner.outside < 0.01 and "; turns outside: 100.0 % in " in inner.alternative


def test_what_rounding_leaves_between_two_blocks_is_no_part_of_a_row() -> None:
    """Such a part has no direction: a turn at its end would be at NaN."""
    assert subtract([(0.0, 230.0)], [(0.0, 100.0), (100.0 + 1e-9, 229.99999986631377)]) == []
    assert subtract([(0.0, 230.0)], [(0.0, 100.0), (130.0, 230.0)]) == [(100.0, 130.0)]


def test_passes_of_an_area_are_flown_in_another_order_where_turns_are_wide() -> None:
    area = AreaShape(0.0, 0.0, 0.3, 400.0, 90.0, 6)
    path = area.path(132.0)
    can_be_flown(path, 132.0)
    assert path.start[:2] == pytest.approx((0.0, 0.0), abs=1e-9)
    c, s = cos(0.3), sin(0.3)
    rows = [(-s * 90.0 * k, c * 90.0 * k) for k in range(6)]
    lines = [LineString([(x, y), (x + 400.0 * c, y + 400.0 * s)]) for x, y in rows]
    flown = track(path).buffer(0.01)
    assert all(flown.covers(line) for line in lines)
    bulb = 132.0 * (pi + 4.0 * np.arccos((45.0 + 132.0) / 264.0))  # between neighbours, analytic
    assert path.length < 6 * 400.0 + 5 * bulb - 500.0


def test_an_area_is_swept_around_a_zone() -> None:
    area, tower = AreaShape(0.0, 0.0, 0.0, 500.0, 60.0, 8, left=False), CircleZone("tower", 250.0, -200.0, 50.0)
    path = area.path(30.0, 0.0, (tower,))
    assert inside(path, Polygon(tower.outline())) == 0.0
    assert raster_share([path], 60.0, Polygon(area.outline()) - Polygon(tower.outline())) >= 0.98


def test_a_field_inside_a_zone_names_the_zone() -> None:
    with pytest.raises(InfeasibleError, match="it lies in the no-fly zone 'all'"):
        PolygonShape(SQUARE, spacing=30.0).path(30.0, 0.0, (CircleZone("all", 300.0, 300.0, 900.0),))


def scenario(task: dict[str, object], count: int = 1, **mission: object) -> dict[str, object]:
    fleet = {
        "name": "uav",
        "count": count,
        "model": "fixed_wing",
        "preset": "survey",
        "spawn": {"grid": {"spacing": 30}},
    }
    base = {"base": [-300, -300, 0], "altitude": 60, "speed": 17.5, "turn_radius": 100, "method": "greedy"}
    wind = mission.pop("wind", [0, 0, 0])
    return {
        "world": {"wind": wind},
        "vehicles": [fleet],
        "mission": base | {"tasks": [{"name": "field"} | task]} | mission,
    }


def test_in_wind_rows_are_ordered_so_that_turns_can_be_held() -> None:
    area = {"at": [0, 0], "heading": 0.4, "length": 500, "spacing": 200, "passes": 5}
    problem = setup_of(load_scenario(scenario({"area": area}, wind=[3, 4, 0]))).problem
    path = Costs(problem).coverage(0, 0)
    tightest = problem.vehicles[0].tightest
    assert isinstance(path, Path) and tightest is not None
    for segment in path.segments:  # in the air, or held over the ground: no faster than the tightest turn in the air
        held = (1.0 + 5.0 / 17.5) / (tightest * (9 / 7) ** 2)
        most = 1.0 / tightest if segment.drift_x or segment.drift_y else held / segment.pace
        assert abs(segment.curvature) <= most * 1.001
    assert raster_share([path], 200.0, Polygon(AreaShape(0, 0, 0.4, 500, 200, 5).outline())) >= 0.99


@pytest.mark.parametrize("wind", [(5.0, 0.0), pytest.param((0.0, 5.0), marks=pytest.mark.slow)])
def test_turns_stay_in_the_field_in_wind(wind: tuple[float, float]) -> None:
    """Turns that drift upwind reach 57 m beyond rows across the wind; those held over the ground take up to 361 m."""
    shape, start = PolygonShape(SQUARE, spacing=40.0, margin=80.0), (-500.0, 0.0, 0.0, 0.0)
    task, plane = Task("field", shape), Vehicle("u", start, start, 17.5, 80.0)
    path = Costs(Problem((plane,), (task,), wind=wind)).coverage(0, 0)
    assert isinstance(path, Path)
    assert track(path).difference(Polygon(SQUARE).buffer(0.1)).length == 0.0
    for segment in path.segments:  # 80 m in the air, or turned no faster over the ground than that at any course
        assert abs(segment.curvature) <= (1.0 if segment.drift_x or segment.drift_y else (7 / 9) ** 2) / 80.0 * 1.001
    ends = np.array([ends_at(segment)[:2] for segment in path.segments])
    assert np.hypot(*(ends[:-1] - path.table[1:, :2]).T).max() < 1e-6
    assert raster_share([path], 40.0, Polygon(SQUARE).buffer(-80.0, join_style="mitre")) >= 0.99


def star(seed: int) -> tuple[Points, float, float]:
    """A star-shaped outline of 6 to 9 corners, most of them with concave ones; a turn radius and a spacing (m)."""
    draw = np.random.default_rng(seed)
    corners, radius, spacing, size = int(draw.integers(6, 10)), *draw.uniform((15, 25, 250), (40, 60, 500)).tolist()
    angles, reach = np.sort(draw.uniform(0.0, tau, corners)), size * draw.uniform(0.35, 1.0, corners)
    return [(float(r * cos(a)), float(r * sin(a))) for r, a in zip(reach, angles, strict=True)], radius, spacing


@pytest.mark.parametrize(
    "seeds",
    [(56, 0, 1), *(pytest.param(range(k, k + 20), marks=pytest.mark.soak, id=f"{k}") for k in range(0, 200, 20))],
)
@pytest.mark.parametrize("wind", [pytest.param(0.0, marks=pytest.mark.slow), 0.3])
def test_paths_stay_inside_concave_fields_and_cover_what_is_reported(seeds: Sequence[int], wind: float) -> None:
    """The margin is as wide as turns over the ground; the share is counted on a grid, without any turn."""
    checked = 0
    for seed in seeds:
        outline, radius, spacing = star(seed)
        field, held = Polygon(outline), radius * (1.0 + wind) ** 2
        if not field.is_valid or field.buffer(-held).is_empty:
            continue
        shape = PolygonShape(outline, spacing=spacing, margin=held)
        drift = Drift(radius, 0.8 * wind, 0.6 * wind) if wind else CALM
        try:
            path = shape.path(held, drift=drift)
        except InfeasibleError:
            continue
        checked += 1
        assert path.rows is not None
        apart = shapely.distance(field, shapely.points(path.sample(0.5)[:, :2]))
        assert apart.max() < 0.05, seed
        flown = cKDTree(path.sample(0.25)[:, :2])
        rows = [first + np.linspace(0.0, 1.0, 400)[:, None] * (other - first) for first, other in path.rows]
        assert flown.query(np.concatenate(rows))[0].max() < 0.2  # they are flown
        assert swept(shape, path, ()).share == pytest.approx(swath_share(path, spacing, field), abs=0.01), seed
    assert checked >= 0.6 * len(seeds)


def test_a_wider_margin_never_covers_more() -> None:
    """Rows count, not the straight parts of turns; in wind as in still air."""
    start = (-500.0, 0.0, 0.0, 0.0)
    plane, last = Vehicle("u", start, start, 17.5, 80.0), 1.0
    for margin in (110.0, 120.0, 140.0):  # turns over the ground need 106 m
        shape = PolygonShape(SQUARE, spacing=40.0, angle=0.0, margin=margin)
        path = Costs(Problem((plane,), (Task("field", shape),), wind=(5.0, 0.0))).coverage(0, 0)
        assert isinstance(path, Path)
        share = swept(shape, path, ())[0]
        assert share < last and share == pytest.approx(swept(shape, shape.path(80.0), ())[0], abs=0.01)
        assert share >= ((600.0 - 2.0 * margin) / 600.0) ** 2 - 1e-4  # what is left inside the margin
        last = share


@pytest.mark.parametrize("course", [0.785, pytest.param(2.5, marks=pytest.mark.slow)])
def test_turns_stay_inside_a_margin_as_wide_as_they_are_in_diagonal_wind(course: float) -> None:
    """5 m/s at 17.5 m/s: turns of 64 m in the air need up to 64 (1 + 5 / 17.5)^2 = 106 m over the ground."""
    outline, wind, last = ((0.0, 0.0), (1000.0, 0.0), (1000.0, 800.0), (0.0, 800.0)), 5.0 / 17.5, 1.0
    for margin in (110.0, 160.0):
        shape = PolygonShape(outline, spacing=60.0, margin=margin)
        path = shape.path(105.8, drift=Drift(80.0, wind * cos(course), wind * sin(course)))
        share, outside, _ = swept(shape, path, ())
        assert outside == 0.0 and share < last
        assert share >= (1000.0 - 2.0 * margin) * (800.0 - 2.0 * margin) / 800_000.0 - 1e-4  # all inside the margin
        last = share


def test_the_covered_share_of_a_margin_is_reported() -> None:
    planned = plan(scenario({"polygon": {"outline": SQUARE, "spacing": 30, "margin": 17, "turns": "outside"}}))
    task = foreseen(planned).tasks[0]
    path = next(leg.path for leg in planned.routes[0].legs if leg.kind == "coverage")
    assert re.fullmatch(
        r"fields covered: field 8\d\.\d % \(turns up to \d+ m outside\)", fields_covered(foreseen(planned))
    )
    assert task.outside is not None and task.outside >= 100.0 - 17.0  # a radius of 100 m, less the margin
    assert task.covered == pytest.approx((566.0 / 600.0) ** 2, abs=1e-3)
    assert task.covered == pytest.approx(swath_share(path, 30.0, Polygon(SQUARE)), abs=0.01)


def test_a_field_that_was_begun_around_a_zone_goes_on_after_a_new_task_and_a_restart() -> None:
    home = (-200.0, -200.0, 50.0, 0.0)
    field = Task("field", PolygonShape(SQUARE, spacing=60.0, turns="outside"))
    setup = MissionSetup(Problem((Vehicle("p", home, home, 15.0, 40.0),), (field,), (TOWER,)), "greedy")

    def run(*, saved: bool) -> tuple[object, ...]:
        run = KinematicRun(Mission(setup))
        run.advance(150.0)
        run.mission.add_task(Task("point", PointShape(-100.0, 300.0)))
        run.advance(20.0)
        if saved:
            kept, run = save(run), KinematicRun(Mission(setup))
            load(run, kept)
            run.rebuild()
        run.finish()
        covered = [task.covered for task in measure(run.mission).tasks]
        assert covered[0] is not None and covered[0] > 0.95 and covered[1] is None
        return run.mission.log, run.time, run.mission.vehicles[0].travelled

    assert run(saved=True) == run(saved=False)


def test_a_field_beyond_the_range_of_one_is_split_among_several() -> None:
    outline = [(0, 0), (2000, 0), (2000, 1200), (900, 1200), (0, 700)]
    planned = plan(scenario({"polygon": {"outline": outline, "spacing": 100, "turns": "outside"}}, 3, range=14_000))
    assert [task.name for task in planned.problem.tasks] == ["field[0]", "field[1]", "field[2]"]
    assert planned.done == 3 and not planned.undone
    assert all(len(route.tasks) == 1 and route.flown <= 14_000 for route in planned.routes)
    paths = [leg.path for route in planned.routes for leg in route.legs if leg.kind == "coverage"]
    assert raster_share(paths, 100.0, Polygon(outline)) >= 0.99
    assert all((task.covered or 0.0) >= 0.99 for task in foreseen(planned).tasks)


def test_an_area_beyond_the_range_of_one_is_split_by_passes() -> None:
    area = {"at": [0, 0], "heading": 0.0, "length": 2000, "spacing": 200, "passes": 7}
    planned = plan(scenario({"area": area}, 2, range=16_000))
    parts = [task.shape for task in planned.problem.tasks]
    assert planned.done == len(parts) == 2
    whole = shapely.union_all([Polygon(part.outline()) for part in parts])
    assert whole.symmetric_difference(Polygon(AreaShape(0, 0, 0, 2000, 200, 7).outline())).area < 1e-3


def test_bands_of_unequal_length_where_equal_ones_do_not_fit() -> None:
    """Twenty rows, of which an aircraft does three or four: six aircraft are enough, seven equal bands are not."""
    outline = [(200, -600), (1400, -600), (1400, 600), (200, 600)]
    planned = plan(scenario({"polygon": {"outline": outline, "spacing": 60, "turns": "outside"}}, 6, range=9_000))
    assert len(planned.problem.tasks) == planned.done == 6 and not planned.undone
    assert all(len(route.tasks) == 1 and route.flown <= 9_000 for route in planned.routes)
    paths = [leg.path for route in planned.routes for leg in route.legs if leg.kind == "coverage"]
    assert raster_share(paths, 60.0, Polygon(outline)) >= 0.99


def test_vehicles_of_different_ranges_have_bands_of_different_size() -> None:
    """Bands that only the vehicle of the longest range can do would leave the others idle."""
    field = Task("field", PolygonShape([(0, 0), (2000, 0), (2000, 1200), (0, 1200)], spacing=100.0, turns="outside"))
    home = (-200.0, -200.0, 60.0, 0.0)
    ranges = (18_000.0, 12_000.0, 7_000.0)
    vehicles = [Vehicle(f"v{k}", home, home, 15.0, 50.0, range=most) for k, most in enumerate(ranges)]
    planned = solve(split_fields(Problem(tuple(vehicles), (field,))), "routing")
    assert not planned.undone and [len(route.tasks) for route in planned.routes] == [1, 1, 1]
    assert all(route.flown <= most for route, most in zip(planned.routes, ranges, strict=True))


def test_what_a_fleet_cannot_do_of_a_field_is_one_part() -> None:
    """A square of 2.5 km for four aircraft: each does as much as it can, the rest is undone."""
    outline = [(200, -1250), (2700, -1250), (2700, 1250), (200, 1250)]
    planned = plan(scenario({"polygon": {"outline": outline, "spacing": 60, "turns": "outside"}}, 4, range=20_000))
    assert len(planned.problem.tasks) == 5 and planned.done == 4 and len(planned.undone) == 1
    assert all(17_000 < route.flown <= 20_000 for route in planned.routes)


def test_a_field_inside_a_zone_is_not_divided(recwarn: pytest.WarningsRecorder) -> None:
    zone = {"name": "shut", "circle": {"at": [300, 300], "radius": 900}}
    planned = plan(scenario({"polygon": {"outline": SQUARE, "spacing": 60}}, 2, range=9_000, zones=[zone]))
    assert [undone.task for undone in planned.undone] == ["field"] and not recwarn.list


def test_the_reason_names_the_wind_where_turns_are_wider_in_it() -> None:
    circle = {"circle": {"at": [500, 0], "heading": 0.0, "radius": 100}}
    (undone,) = plan(scenario(circle, wind=[4, 3, 0], turn_radius=80)).undone
    assert undone.reason == (
        "a circle of 100 m is too tight in 5 m/s of wind, where uav turns with 133 m (80 m in still air)"
    )  # 80 (1 + 5 / 17.5)^2 = 132.24, rounded up


def test_a_field_too_far_away_is_reported_whole() -> None:
    outline = [(x + 40_000, y) for x, y in SQUARE]
    planned = plan(scenario({"polygon": {"outline": outline, "spacing": 100}}, 2, range=17_000))
    assert [undone.task for undone in planned.undone] == ["field"]
