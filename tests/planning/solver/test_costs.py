"""One cost: metres flown along the paths that are built, in wind and around zones."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import asin, hypot, pi

import numpy as np
import pytest

from paddock.compute import arrays
from paddock.errors import InvalidValueError
from paddock.planning.exchange import to_local
from paddock.planning.geometry.path import Path
from paddock.planning.geometry.shapes import InfeasibleError, LineShape, PointShape
from paddock.planning.geometry.zones import CircleZone, PolygonZone, Zone, blocked_by
from paddock.planning.mission.kinematic import KinematicRun, trace
from paddock.planning.mission.mission import Mission
from paddock.planning.qgc_missions import to_plan
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.methods import MethodResult
from paddock.planning.solver.methods.annealing import Schedule, polished, row_cost
from paddock.planning.solver.methods.routing import chosen_headings
from paddock.planning.solver.planner import build, solve
from paddock.planning.solver.problem import MissionSetup, Problem, Task, Vehicle
from paddock.planning.solver.routes import Plan, route_of
from paddock.planning.solver.transits import Transits
from paddock.world.geodesy import Origin

HOME = (0.0, 0.0, 100.0, 0.0)
WALL = PolygonZone("wall", ((-1200.0, 1400.0), (1200.0, 1400.0), (1200.0, 1500.0), (-1200.0, 1500.0)))
WIND = (0.0, 11.0)
METHODS = {
    "greedy": {},
    "annealing": {"steps": 5000.0},
    "routing": {"iterations": 100.0, "polish": 5000.0},
    "cbba": {},
    "hungarian": {},
    "auction": {},
    "clustered_greedy": {},
    "local_search": {},
}
LONG = ("annealing", "routing", "cbba", "hungarian", "auction")  # compiled for wind here only


def aircraft(name: str = "a", range_: float = 11_000.0, z: float = 100.0) -> Vehicle:
    home = (*HOME[:2], z, 0.0)
    return Vehicle(name, home, home, 17.5, 80.0, range_, tightest=60.0, height=z)


def task(name: str, x: float, y: float, z: float | None = None) -> Task:
    return Task(name, PointShape(x, y), z)


def drawn(seed: int, *zones: Zone) -> tuple[Task, ...]:
    """Eight tasks on both sides of the wall."""
    places = np.random.default_rng(seed).uniform((-2000.0, -500.0), (2000.0, 2600.0), (60, 2)).tolist()
    free = [(x, y) for x, y in places if all(zone.distance(x, y) > 100.0 for zone in zones)]
    return tuple(task(f"t{k}", x, y) for k, (x, y) in enumerate(free[:8]))


def disagreement(plan: Plan) -> float:
    """The largest part by which the cost of a tour differs from the metres flown on its path."""
    costs, number = Costs(plan.problem), {task.name: k for k, task in enumerate(plan.problem.tasks)}
    tours = [(costs.tour(a, [number[t] for t in r.tasks])[0], r) for a, r in enumerate(plan.routes) if r.legs]
    for _, route in tours:
        assert route.flown == pytest.approx(sum(leg.path.flown for leg in route.legs))
    return max((abs(cost / route.flown - 1.0) for cost, route in tours), default=0.0)


@pytest.mark.parametrize("method", [pytest.param(m, marks=[pytest.mark.slow] * (m in LONG)) for m in METHODS])
def test_wind_and_a_wall_drop_no_task(method: str) -> None:
    if method == "routing":
        pytest.importorskip("pyvrp")
    tasks = (task("a", -300.0, 2200.0), task("b", 400.0, 2300.0))
    problem = Problem((aircraft("u0"), aircraft("u1")), tasks, (WALL,), WIND, clearance=10.0)
    plan = solve(problem, method, METHODS[method])
    assert plan.done == 2, [undone.reason for undone in plan.undone]
    assert all(route.flown <= 11_000.0 * (1.0 + 1e-9) for route in plan.routes)
    assert all(blocked_by(leg.path, (WALL,)) is None for route in plan.routes for leg in route.legs)
    assert disagreement(plan) < 0.01


@pytest.mark.parametrize("wind", [(0.0, 0.0), WIND, (6.0, -3.0)])
def test_cost_and_path_agree(wind: tuple[float, float]) -> None:
    zones = (WALL, CircleZone("tower", -900.0, 500.0, 250.0), CircleZone("mast", 700.0, 600.0, 60.0))
    for seed in range(3):
        vehicles = (aircraft("u0", 60_000.0), aircraft("u1", 60_000.0))
        plan = solve(Problem(vehicles, drawn(seed, *zones), zones, wind, clearance=10.0), "greedy")
        assert plan.done == 8 and disagreement(plan) < 0.01


def test_cost_and_path_agree_where_turns_overlap() -> None:
    """The second task is left for the end of the wall, 280 m away: too near for two turns of 115 m over the ground."""
    tasks = (task("a", 1700.0, 400.0), task("b", 1014.0, 1168.0), task("c", 47.0, 2446.0))
    costs = Costs(Problem((aircraft(range_=4e4),), tasks, (WALL,), (6.0, -3.0), clearance=10.0))
    flown = [leg.flown for leg in route_of(costs, 0, [0, 1, 2]).legs if leg.kind in ("transit", "return")]
    assert costs.legs(0, [0, 1, 2])[:, 0] == pytest.approx(flown, rel=0.01)


@pytest.mark.parametrize("y", [2200.0, 1700.0])
def test_a_range_of_the_path_is_enough(y: float) -> None:
    """At 1,700 m the way home begins close to the wall: its turn is part of the cost."""
    far = Problem((aircraft(range_=1e6),), (task("a", -300.0 if y > 2000.0 else 0.0, y),), (WALL,), clearance=10.0)
    needed = solve(far, "local_search").routes[0].flown
    assert 2.0 * hypot(1200.0, 1400.0) < needed < 7000.0  # around one end of the wall
    for share, done in ((1.005, 1), (0.995, 0)):
        plan = solve(Problem((aircraft(range_=share * needed),), far.tasks, (WALL,), clearance=10.0), "local_search")
        assert plan.done == done


def test_a_tour_that_is_too_long_loses_one_task() -> None:
    """The farthest of three, 2 x 900 m; the others are on a way of 1,000 m."""
    hover = Vehicle("d", (0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), 10.0, 0.0, 1500.0, moves="hover")
    problem = Problem((hover,), (task("near", 200.0, 0.0), task("far", 0.0, 900.0), task("mid", 500.0, 0.0)))
    plan = build(Costs(problem), MethodResult([[0, 1, 2]]), "greedy")
    assert plan.routes[0].tasks == ("near", "mid") and plan.routes[0].flown == pytest.approx(1000.0)
    assert [undone.task for undone in plan.undone] == ["far"]


def test_what_one_cannot_fly_another_takes() -> None:
    """Both stand at the base; a tour of 1,000 m and 1,800 m does not fit into 1,900 m."""
    hovers = [Vehicle(f"d{k}", (0.0,) * 4, (0.0,) * 4, 10.0, 0.0, 1900.0, moves="hover") for k in range(2)]
    problem = Problem(tuple(hovers), (task("near", 500.0, 0.0), task("far", 0.0, 900.0)))
    plan = build(Costs(problem), MethodResult([[0, 1], []]), "greedy")
    assert sorted(route.tasks for route in plan.routes) == [("far",), ("near",)] and not plan.undone


FIELD = CircleZone("field", 500.0, 0.0, 200.0, ceiling=80.0)


@pytest.mark.parametrize(("z", "length"), [(120.0, 1000.0), (80.0, 1000.0), (40.0, 1038.0)])
def test_a_zone_is_free_above_its_ceiling(z: float, length: float) -> None:
    """Around the disc: two tangents of sqrt(500^2 - 200^2) m and an arc of 2 asin(0.4) 200 m, 1,081 m."""
    start = (0.0, 0.0, z, 0.0)
    hover = Vehicle("d", start, start, 10.0, 0.0, moves="hover")
    costs = Costs(Problem((hover,), (task("a", 1000.0, 0.0),), (FIELD,)))
    around = 2.0 * (500.0**2 - 200.0**2) ** 0.5 + 400.0 * asin(0.4)
    wanted = around if z < 80.0 else length
    assert costs.first[0, 0] == pytest.approx(wanted, rel=0.001)
    assert costs.transits.path(hover, start, (1000.0, 0.0, z, None)).flown == pytest.approx(wanted, rel=0.001)


def test_each_vehicle_and_task_has_the_zones_of_its_height() -> None:
    """Over the field at 120 m, around it at 40 m; a way that climbs past 80 m goes around."""
    low, high = ((0.0, 0.0, z, 0.0) for z in (40.0, 120.0))
    hovers = [Vehicle(f"d{k}", z, z, 10.0, 0.0, moves="hover") for k, z in enumerate((low, high))]
    tasks = (task("as it flies", 1000.0, 0.0), task("low", 1000.0, 0.0, 40.0), task("in it", 500.0, 0.0, 120.0))
    costs = Costs(Problem(tuple(hovers), tasks, (FIELD,)))
    around = 2.0 * (500.0**2 - 200.0**2) ** 0.5 + 400.0 * asin(0.4)
    assert costs.first[:, 0] == pytest.approx([around, 1000.0], rel=0.001)
    assert costs.first[:, 1] == pytest.approx([around, hypot(around, 80.0)], rel=0.001)
    assert costs.first[1, 2] == pytest.approx(500.0)
    assert costs.first[0, 2] == pytest.approx(hypot(300.0, 80.0) + 200.0, rel=0.01)  # it climbs before the field
    plan = solve(costs.problem, "greedy")
    assert plan.done == 3 and plan.routes[1].tasks != ()


LID = CircleZone("lid", 2000.0, 0.0, 300.0, 60.0, 130.0)


@pytest.mark.parametrize("wind", [(0.0, 0.0), (5.0, 3.0)])
@pytest.mark.parametrize("z", [30.0, 150.0])
def test_a_task_under_or_over_a_zone_is_reached_at_its_height(z: float, wind: tuple[float, float]) -> None:
    """Vehicles travel at 100 m, where the zone is closed: they change height outside, and fly in and out level."""
    home = (0.0, 0.0, 100.0, 0.0)
    who = Vehicle("p", home, home, 17.5, 80.0, slope=0.2)
    problem = Problem((who,), (Task("in it", PointShape(2000.0, 0.0), z), task("beside", 1500.0, 900.0)), (LID,), wind)
    plan = solve(problem, "greedy")
    assert plan.done == 2 and disagreement(plan) < 0.01
    run = KinematicRun(Mission(MissionSetup(problem, "greedy"), plan=plan))
    run.finish()
    for poses in (plan.routes[0].path.points(2.0), trace(run, 0.1).poses[:, 0]):
        over = [height for x, y, height, _ in poses.tolist() if LID.contains(x, y)]
        assert len(over) > 100 and max(over) - min(over) < 1e-6 and over[0] == pytest.approx(z)
    slopes = [abs(part.slope) for leg in plan.routes[0].legs for part in leg.path.segments]
    assert max(slopes) <= 0.2 + 1e-9
    mission = {"base": [0, 0, 0], "tasks": [{"point": {"at": [2000, 0]}}]}
    origin = Origin(47.0, 8.0, 400.0)
    text = to_plan(plan.routes[0].path.points(5.0), mission, origin, (0.0, 0.0, 0.0))
    items = [item["params"][4:7] for item in text["mission"]["items"] if item["command"] == 16]
    flown = np.column_stack([to_local([item[:2] for item in items], origin), [item[2] for item in items]])
    for first, other in pairwise(flown):
        for x, y, height in (first + share * (other - first) for share in np.linspace(0.0, 1.0, 50)[:, None]):
            assert LID.distance(x, y) > -2.0 or not 61.0 < height < 129.0  # thinned to 1 m


def test_circles_before_a_zone_are_part_of_the_cost() -> None:
    """300 m before the zone are too few for 70 m down at a slope of 0.2, 350 m: one circle of 2 pi 80 m is added."""
    home = (1400.0, 0.0, 100.0, 0.0)
    who = Vehicle("p", home, home, 17.5, 80.0, slope=0.2)
    costs = Costs(Problem((who,), (Task("low", PointShape(2000.0, 0.0, 0.0), 30.0),), (LID,)))
    sloped = 300.0 + 160.0 * pi
    assert costs.first[0, 0] == pytest.approx(hypot(sloped, 70.0) + 300.0, abs=0.1)
    back = replace(who, home=(2600.0, 0.0, 100.0, 0.0))  # it climbs after the zone
    assert Costs(replace(costs.problem, vehicles=(back,))).home[0, 0] == pytest.approx(
        hypot(sloped, 70.0) + 300.0, abs=0.1
    )


@pytest.mark.parametrize(("wind", "seeds"), [((0.0, 0.0), (2, 4)), ((5.0, 2.0), (2, 5))])
def test_cost_and_path_agree_under_and_over_zones(wind: tuple[float, float], seeds: tuple[int, ...]) -> None:
    """Tasks at three heights, some of them in zones that are closed below 80 m or above 60 m."""
    for seed in seeds:
        draw, zones = np.random.default_rng(seed), list[Zone]()
        for k in range(5):
            x, y, radius = draw.uniform((-1500.0, 300.0, 80.0), (1500.0, 1500.0, 250.0)).tolist()
            limits = {"floor": 60.0} if k % 2 else {"ceiling": 80.0}
            zones.append(CircleZone(f"z{k}", x, y if draw.random() < 0.5 else -y, radius, **limits))
        inner = [task(f"u{k}", zone.x, zone.y, 40.0 if k % 2 else 120.0) for k, zone in enumerate(zones[:3])]
        outer = [replace(task, z=float(draw.choice([40.0, 100.0, 120.0]))) for task in drawn(seed, *zones)]
        vehicles = tuple(Vehicle(f"u{k}", HOME, HOME, 17.5, 80.0, 3e4, slope=0.2, height=100.0) for k in range(2))
        plan = solve(Problem(vehicles, (*inner, *outer), tuple(zones), wind), "greedy")
        assert plan.done == 11 and disagreement(plan) < 0.01


def test_a_zone_above_that_leaves_no_room_to_descend_is_named() -> None:
    """The start is 60 m from the zone: 70 m down take 350 m, and circles to both sides lead into it."""
    home = (1640.0, 0.0, 100.0, 0.0)
    who = Vehicle("p", home, home, 17.5, 80.0, slope=0.2)
    (entry,) = solve(Problem((who,), (Task("low", PointShape(2000.0, 0.0), 30.0),), (LID,)), "greedy").undone
    assert entry.reason == "the no-fly zone 'lid' leaves no room to change height from 100 to 30 m beside it"


def tour_beside_zones(seed: int, wind: tuple[float, float], free: bool = False) -> tuple[Costs, list[int]]:
    """A tour over six tasks in any order among four zones: points with and without a heading and lines, or `free`."""
    draw = np.random.default_rng(seed)
    zones: list[Zone] = []
    for k in range(4):
        (x, y), (a, b), turn = draw.uniform(-1500, 1500, 2), draw.uniform(100.0, 350.0, 2), draw.uniform(0.0, pi)
        corners = arrays.rotated(np.array([(-a, -b), (a, -b), (a, b), (-a, b)]), turn, (x, y))
        square = PolygonZone(f"z{k}", tuple((px, py) for px, py in corners.tolist()))
        zones.append(CircleZone(f"z{k}", float(x), float(y), float(a)) if k % 2 else square)
    zones = [zone for zone in zones if zone.distance(0.0, 0.0) > 250.0]
    tasks: list[Task] = []
    while len(tasks) < 6:
        x, y, heading = (float(part) for part in draw.uniform((-1500, -1500, -pi), (1500, 1500, pi)))
        shape = (PointShape(x, y), PointShape(x, y), PointShape(x, y, heading), LineShape(x, y, heading, 150.0))
        if all(zone.distance(x, y) > 20.0 for zone in zones):
            tasks.append(Task(f"t{len(tasks)}", shape[0 if free else draw.integers(4)]))
    who = Vehicle("u", HOME, HOME, 17.5, 80.0)
    costs = Costs(Problem((who,), tuple(tasks), tuple(zones), wind))
    order = [t for t in draw.permutation(6).tolist() if np.isfinite(costs.jobs(0).cover[t])]
    return costs if free else costs.headed(chosen_headings(costs, [order])), order


CALM, STORM, *OTHERS = [(0.0, 0.0), (-4.58, -10.0), (4.78, 1.48), (-3.69, 3.38), (7.66, 7.89)]
WINDS = [CALM, STORM, *(pytest.param(wind, marks=pytest.mark.slow) for wind in OTHERS)]


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.soak)])
@pytest.mark.parametrize("wind", WINDS)
def test_the_cost_of_any_tour_is_that_of_its_path(wind: tuple[float, float], count: int) -> None:
    """Turns of up to 212 m over the ground beside zones; metres through the air are those of the places on the path."""
    done = 0
    for seed in (*HARD, *range(count)):
        costs, order = tour_beside_zones(seed, wind)
        cost = costs.tour(0, order)[0]
        assert searched(costs, order) == (pytest.approx(cost, rel=0.01) if cost < np.inf else np.inf)
        try:
            path = route_of(costs, 0, order).path
        except InfeasibleError:
            assert cost == np.inf
        else:
            done += 1
            assert cost == pytest.approx(air_metres(path, wind), rel=0.01), seed
    assert done > 0.8 * count


def searched(costs: Costs, order: list[int]) -> float:
    """What a compiled search counts for a tour."""
    schedule = Schedule(1, 1.0, 1.0, 0, False, 7.0)
    return row_cost(costs.fleet, schedule, 0, np.array(order, np.int64), len(order))


def air_metres(path: Path, wind: tuple[float, float]) -> float:
    """Metres through the air at 17.5 m/s, by places a metre of flight apart."""
    places, steps = path.points(1.0)[:, :2], np.append(np.ones(int(path.flown)), path.flown % 1.0)
    air = np.diff(places, axis=0) - steps[:, None] * np.array(wind) / 17.5
    return float(np.hypot(*air.T).sum())


def with_range(costs: Costs, metres: float) -> Costs:
    """The costs of the same tasks for a vehicle of another range."""
    return Costs(replace(costs.problem, vehicles=(replace(costs.problem.vehicles[0], range=metres),)))


HARD = (54, 58, 1)  # where ways over bends alone were up to 45 % longer than the paths


def test_a_search_continues_with_what_was_measured() -> None:
    """The way home of this tour is 930 m shorter on its path than over bends: a search counts it so."""
    costs, order = tour_beside_zones(54, WIND)
    before = searched(costs, order)
    assert costs.measure([order]) and not costs.measure([order])
    flown = air_metres(route_of(costs, 0, order).path, WIND)
    assert before > 1.02 * flown and searched(costs, order) == pytest.approx(flown, rel=0.001)
    other = costs.headed({})  # ways between given headings are still known
    fixed = [t for t in order if not np.isnan(other.jobs(0).leave[t, 2])]
    assert fixed and searched(other, fixed[-1:]) == pytest.approx(other.tour(0, fixed[-1:])[0])


BETWEEN = [
    *(((-3.69, 3.38), 7), ((7.66, 7.89), 18)),
    *(
        pytest.param(*case, marks=pytest.mark.slow)
        for case in (((-3.69, 3.38), 43), ((7.66, 7.89), 21), ((4.78, 1.48), 1))
    ),
]


@pytest.mark.parametrize(("wind", "seed"), BETWEEN)
def test_tours_with_any_heading_cost_what_is_flown(wind: tuple[float, float], seed: int) -> None:
    """Tasks so close to zones that the next way begins with more than one turn; metres through the air, by position."""
    costs, order = tour_beside_zones(seed, wind, free=True)
    flown = air_metres(route_of(costs, 0, order).path, wind)
    assert costs.tour(0, order)[0] == pytest.approx(flown, rel=0.001)
    assert with_range(costs, 1.002 * flown).fits(0, order)
    assert not with_range(costs, 0.998 * flown).fits(0, order)


@pytest.mark.slow  # compiles the search for wind
@pytest.mark.parametrize(("wind", "seed"), BETWEEN)
def test_a_search_keeps_tours_with_any_heading_within_their_range(wind: tuple[float, float], seed: int) -> None:
    costs, order = tour_beside_zones(seed, wind, free=True)
    flown = air_metres(route_of(costs, 0, order).path, wind)
    assert len(polished(with_range(costs, 1.002 * flown), [order], 200)[0]) == 6


def test_a_zone_needs_a_floor_below_its_ceiling() -> None:
    with pytest.raises(InvalidValueError, match="zone 'z': its floor must be below its ceiling, not 80 and 50 m"):
        CircleZone("z", 0.0, 0.0, 10.0, 80.0, 50.0)


def inside_length(path: Path, zone: Zone) -> float:
    """Metres over the ground inside a zone."""
    points = path.points(0.5)[:, :2]
    steps = np.hypot(*np.diff(points, axis=0).T)
    return float(steps[[zone.contains(*p) for p in (0.5 * (points[1:] + points[:-1])).tolist()]].sum())


def test_a_home_in_a_zone_is_reached_and_left_by_the_shortest_way() -> None:
    """Home is 10 m inside the western border of a zone of 2 km; the vehicle is 800 m east of the zone."""
    zone = PolygonZone("new", ((-10.0, -1000.0), (1990.0, -1000.0), (1990.0, 1000.0), (-10.0, 1000.0)))
    home, away = (0.0, 0.0, 50.0, pi), (2800.0, 100.0, 50.0, pi)
    hover = Vehicle("d", home, home, 10.0, 0.0, moves="hover")
    transits = Transits(Problem((hover,), (), (zone,), clearance=10.0))
    back, out = transits.path(hover, away, home), transits.path(hover, home, (2800.0, 100.0, 50.0, None))
    for path in (back, out):
        assert inside_length(path, zone) == pytest.approx(10.0, abs=0.6)
    assert back.end[:2] == pytest.approx((0.0, 0.0), abs=1e-9)
    east = (0.0, 0.0, 50.0, 0.0)
    plane = Vehicle("p", east, east, 17.5, 80.0)
    assert inside_length(transits.path(plane, away, east), zone) == pytest.approx(10.0, abs=0.6)


def undone(problem: Problem) -> str:
    (entry,) = solve(problem, "greedy").undone
    return entry.reason


def test_reasons_are_measured() -> None:
    tasks = (task("a", 0.0, -3000.0),)
    still = solve(Problem((aircraft(range_=1e6),), tasks), "local_search").routes[0].flown
    windy = solve(Problem((aircraft(range_=1e6),), tasks, wind=WIND), "local_search").routes[0].flown
    assert windy > 1.5 * still  # 3 km against and with 11 m/s at 17.5 m/s: 17.5^2 / (17.5^2 - 11^2) = 1.65
    assert undone(Problem((aircraft(range_=7000.0),), tasks, wind=WIND)) == (
        f"it takes {windy:,.0f} m there and back in 11 m/s of wind ({still:,.0f} m in still air), "
        "a has a range of 7,000 m left"
    )
    assert undone(Problem((aircraft(range_=5000.0),), tasks, wind=WIND)) == (
        f"it takes {windy:,.0f} m there and back, a has a range of 5,000 m left"
    )
    around = Problem((aircraft(range_=4000.0), aircraft("b", 3000.0)), (task("a", 0.0, 2200.0),), (WALL,))
    path = solve(replace(around, vehicles=(aircraft(range_=1e6),)), "local_search").routes[0].flown
    assert undone(around) == f"it takes {path:,.0f} m there and back, a has a range of 4,000 m left"


def test_a_busy_vehicle_is_the_reason_only_where_all_are() -> None:
    hover = Vehicle("d", (0.0,) * 4, (0.0,) * 4, 10.0, 0.0, 2000.0, moves="hover")
    tasks = (task("a", 900.0, 0.0), task("b", -900.0, 0.0))
    assert undone(Problem((hover,), tasks)) == (
        "d would fly 3,600 m with it beside its other task, it has a range of 2,000 m left; no vehicle is idle"
    )
    late = (task("a", 900.0, 0.0), replace(task("b", -900.0, 0.0), closes=100.0))
    far = replace(hover, range=1e6)
    assert solve(Problem((far,), late), "greedy").done == 2  # b first
    both = (replace(task("a", 900.0, 0.0), closes=100.0), late[1])
    assert undone(Problem((far,), both)) == (
        "no vehicle has time in its window from 0 to 100 s beside its other tasks; no vehicle is idle"
    )


def test_a_reason_names_the_nearest_idle_vehicle_and_drives_rovers() -> None:
    """Both tasks are 900 m away; the second rover has a range of 1,700 m."""
    rover = Vehicle("r", (0.0,) * 4, (0.0,) * 4, 2.0, 0.0, 2000.0, moves="ground")
    tasks = (task("a", 900.0, 0.0), task("b", -900.0, 0.0))
    assert undone(Problem((rover, replace(rover, name="s", range=1700.0)), tasks)) == (
        "r would drive 3,600 m with it beside its other task, it has a range of 2,000 m left; "
        "nearest idle vehicle: it takes 1,800 m there and back, s has a range of 1,700 m left"
    )


def test_a_reason_names_the_vehicle_that_needs_least() -> None:
    """Four side by side in strong wind: which one needs least is decided by the paths, not by estimates."""
    fleet = tuple(
        Vehicle(f"u{k}", (0.0, y, 100.0, 0.5 * np.pi), (0.0, 0.0, 100.0, 0.0), 15.0, 100.0, 4500.0)
        for k, y in enumerate((-100.0, -33.3, 33.3, 100.0))
    )
    problem = Problem(fleet, (task("near", -868.85, 159.38), task("far", -1267.67, 162.5)), wind=(-7.048, 8.446))
    (entry,) = solve(problem, "greedy").undone
    lengths = {
        who.name: solve(
            replace(problem, vehicles=(replace(who, range=1e6),), tasks=problem.tasks[1:]), "local_search"
        ).total
        for who in fleet
    }
    least = min(lengths, key=lambda name: lengths[name])
    assert entry.reason.startswith(f"it takes {lengths[least]:,.0f} m there and back")
    assert f", {least} has a range of 4,500 m left" in entry.reason and entry.reason.count("has a range") == 1


@pytest.mark.parametrize("wind", [(0.0, 0.0), WIND])
def test_the_metres_of_a_reason_are_the_range_that_is_enough(wind: tuple[float, float]) -> None:
    """The method chooses the heading of a task that it plans: the reason states the path that it would build."""
    problem = Problem((aircraft(range_=500.0),), (task("a", 1300.0, 700.0),), (WALL,), wind, clearance=10.0)
    (entry,) = solve(problem, "local_search").undone
    metres = float(entry.reason.split(" m there")[0].split()[-1].replace(",", ""))
    for more, done in ((1.0, 1), (-1.0, 0)):
        plan = solve(replace(problem, vehicles=(aircraft(range_=metres + more),)), "local_search")
        assert plan.done == done
        assert [route.flown for route in plan.routes if route.legs] == pytest.approx([metres] * done, abs=0.5)


@pytest.mark.parametrize(
    "method", ["greedy", "clustered_greedy", "local_search", pytest.param("hungarian", marks=pytest.mark.slow)]
)
def test_tasks_beside_zones_are_done_in_wind(method: str) -> None:
    """One is 17 m from a mast: with most headings there is no room for a turn after it."""
    zones = (WALL, CircleZone("tower", -900.0, 500.0, 250.0), CircleZone("mast", 700.0, 600.0, 60.0))
    places = [
        (153, 564),
        (-524, 661),
        (1950, 1462),
        (697, 523),
        (720, -119),
        (-1793, 2136),
        (-1964, 2534),
        (1308, 1934),
    ]
    tasks = tuple(task(f"t{k}", float(x), float(y)) for k, (x, y) in enumerate(places))
    plan = solve(Problem((aircraft("u0", 16e3), aircraft("u1", 16e3)), tasks, zones, WIND, clearance=10.0), method)
    assert plan.done == 8, plan.undone
    for route in plan.routes:
        assert route.flown <= 16e3 and route.flown == pytest.approx(sum(leg.path.flown for leg in route.legs))
        assert all(blocked_by(leg.path, zones) is None for leg in route.legs)
