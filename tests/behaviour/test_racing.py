"""The racing driver: its line and lap time, passing, queueing, and recovery; and the traffic that it sees."""

from typing import Any

import numpy as np
import pytest

import paddock
from paddock.behaviour.paths import circuit, path_points
from paddock.behaviour.racing_line import Pace, Space, build_track, choose_lines, look_around, place_vehicles
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.scenario import load_scenario

OVAL = {"oval": {"straight": 120, "radius": 40}}
DRIVER = {"path": OVAL, "width": 12, "speed": 20, "lateral": 5, "line": 0}


def car(
    name: str, pose: list[float], model: str = "car.kinematic", speed: float = 0.0, **options: Any
) -> dict[str, Any]:
    return {
        "name": name,
        "model": model,
        "preset": "sports",
        "pose": pose,
        "speed": speed,
        "driver": {"racing": {**DRIVER, **options}},
    }


def race(*cars: dict[str, Any], **more: Any) -> Simulation:
    return paddock.load({"clock": {"rate": 200}, "every": {"behaviour": 4}, "vehicles": list(cars), **more})


def offset(x: float, y: float) -> float:
    """Offset to the left of the middle of OVAL, which has its infield on the left."""
    beyond = max(abs(x) - 60.0, 0.0)
    return 40.0 - float(np.hypot(beyond, y))


def test_keeps_its_line_and_the_lap_time_of_the_speed_profile() -> None:
    with race(car("red", [0, -40, 0], speed=14.0)) as sim:
        passed, worst = [], 0.0
        for _ in range(1000):
            x, y = sim.snapshot()["red"].position[:2]
            sim.step(20)
            to = sim.snapshot()["red"].position
            if x < 0.0 <= to[0] and y < 0.0:
                passed.append(sim.time)
            worst = max(worst, abs(offset(*to[:2])))
    assert worst < 0.6
    # bends at sqrt(lateral * radius) = 14.1 m/s; on the straights 3 m/s2 up and 5 m/s2 down again
    bend = np.sqrt(5.0 * 40.0)
    peak = np.sqrt(bend**2 + 2.0 * 120.0 / (1 / 3.0 + 1 / 5.0))
    assert peak > 20.0  # so that it reaches its top speed
    level = 120.0 - (20.0**2 - bend**2) * (1 / 6.0 + 1 / 10.0)
    ideal = 2.0 * (np.pi * 40.0 / bend + (20.0 - bend) * (1 / 3.0 + 1 / 5.0) + level / 20.0)
    laps = np.diff(passed)
    assert len(laps) >= 2 and np.all(laps > 0.97 * ideal) and np.all(laps < 1.08 * ideal)


def test_least_curvature_line_touches_the_inner_edge_and_is_faster() -> None:
    middle = path_points({"oval": {"straight": 120, "radius": 40, "spacing": 4}})
    pace = Pace(60.0, 6.0, 4.0, 6.0)
    track = build_track(middle, 4.0, 1.0, pace)
    assert np.abs(track[:, 7]).max() == pytest.approx(4.0)
    assert track[np.argmax(middle[:, 0]), 7] > 3.9  # inside at the apex
    # in the middle of a half circle nothing is gained by leaving the inner edge
    assert track[:, 3].min() == pytest.approx(np.sqrt(6.0 * 36.0), rel=0.01)
    assert lap_time(track) < 0.97 * lap_time(build_track(middle, 4.0, 0.0, pace))


def lap_time(track: Any) -> float:
    """The time (s) around the line at the planned speeds."""
    line = track[:, :2] + track[:, 7:8] * track[:, 4:6]
    speed = 0.5 * (track[:, 3] + np.roll(track[:, 3], -1))
    return float((np.linalg.norm(np.roll(line, -1, axis=0) - line, axis=1) / speed).sum())


def test_passes_a_slower_car_of_another_fleet_without_contact() -> None:
    slow, fast = car("slow", [30, -40, 0], speed=6.0, model="car.kinematic"), car("fast", [0, -40, 0], speed=12.0)
    slow["driver"]["racing"]["speed"] = 7
    with race(slow, fast, contact=True) as sim:
        lead = []
        for _ in range(20):
            sim.step(200)
            laps = [sim.engine.programs[name].fleet.tables["memory"][:2, 0] for name in ("fast", "slow")]
            lead.append(laps[0][1] > laps[1][1] or (laps[0][1] == laps[1][1] and laps[0][0] > laps[1][0]))
            for name in ("fast", "slow"):
                assert abs(offset(*sim.snapshot()[name].position[:2])) < 6.0 - 0.9
        assert lead[-1] and not lead[0]
        assert not [event for event in sim.events.since() if event.kind == "contact"]


def test_queues_behind_a_slower_car_where_the_track_is_too_narrow() -> None:
    slow, fast = car("slow", [30, -40, 0], speed=6.0, width=4), car("fast", [0, -40, 0], speed=14.0, width=4)
    slow["driver"]["racing"]["speed"] = 7
    with race(slow, fast, contact=True) as sim:
        sim.step(200 * 20)
        gap = np.linalg.norm(sim.snapshot()["slow"].position - sim.snapshot()["fast"].position)
        assert 4.6 < gap < 12.0 and sim.snapshot()["fast"].speed == pytest.approx(7.0, abs=0.6)
        assert not [event for event in sim.events.since() if event.kind == "contact"]


@pytest.mark.parametrize(
    "model",
    [
        "car.kinematic",
        *(pytest.param(f"car.{m}", marks=pytest.mark.slow) for m in ("bicycle", "double_track", "full")),
    ],
)
def test_turns_round_and_leaves_a_wall(model: str) -> None:
    walls = [{"wall": {"points": [[-80, y], [80, y]], "thickness": 0.4}} for y in (-46.6, -33.4)]
    wrong, stuck = car("wrong", [0, -40, 3.0], model), car("stuck", [30, -43.8, -1.2], model)
    with race(wrong, stuck, contact=True, world={"obstacles": walls}) as sim:
        sim.step(200 * 20)
        for name in ("wrong", "stuck"):
            shot = sim.snapshot()[name]
            assert shot.speed > 8.0 and abs(offset(*shot.position[:2])) < 6.6, (model, name)
            assert sim.engine.programs[name].fleet.tables["memory"][3, 0] == 0.0  # not still


def test_looking_equals_plain_python() -> None:
    random = np.random.default_rng(4)
    track = build_track(path_points(OVAL), 4.0, 0.9, Pace(30.0, 6.0, 4.0, 6.0))
    poses = np.zeros((13, 12))
    at = random.integers(0, len(track), 12)
    poses[:2] = (track[at, :2] + random.uniform(-4, 4, (12, 1)) * track[at, 4:6]).T
    poses[7:9] = random.normal(0.0, 10.0, (2, 12))
    space, shifts = Space(4.0, 4.6, 2.6, 60.0, 5.0), random.uniform(-2, 2, 5)
    spots, targets = np.empty((6, 12)), np.empty((2, 5))
    place_vehicles.plain(poses, track, spots)
    choose_lines.plain(5, spots, np.argsort(spots[0], kind="stable"), shifts, track, space, targets)
    assert np.array_equal(look_around(poses, 5, shifts, track, space), targets)
    assert (targets[1] < 1e3).any() and (targets[0] != 0.0).any()


def test_circuit_is_smooth_and_passes_through_its_corners() -> None:
    corners = np.array([[100 * np.cos(a), 100 * np.sin(a), 2.0] for a in np.arange(16) * np.pi / 8])
    curve = circuit(corners, 2.0)
    assert np.linalg.norm(curve[:, :2], axis=1) == pytest.approx(100.0, abs=0.1)
    gaps = np.linalg.norm(np.roll(curve, -1, axis=0) - curve, axis=1)
    assert gaps == pytest.approx(gaps[0], rel=1e-3) and gaps.sum() == pytest.approx(2 * np.pi * 100, rel=1e-3)
    assert all(np.linalg.norm(curve - corner, axis=1).min() < 1.01 for corner in corners)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"circuit": {}}, "path 'circuit' needs points"),
        ({"circuit": {"points": [[0, 0], [9, 0]]}}, "at least three points"),
        ({"circuit": {"points": [[0, 0], [9, 0], [9, 9]], "spacing": 0}}, "spacing must lie in 0.01 to"),
        ({"circuit": {"points": [[0, 0], [9, 0], [9, 9]], "spcing": 1}}, "did you mean 'spacing'"),
        ({"circit": {}}, "did you mean 'circuit'"),
    ],
)
def test_wrong_circuits(shape: dict[str, Any], message: str) -> None:
    with pytest.raises(PaddockError, match=message):
        path_points(shape, "path")


@pytest.mark.parametrize("cars", [1, 3])
def test_racers_that_stand_behind_a_parked_car_drive_around_it(cars: int) -> None:
    """Half a metre behind it, with others behind them: they back off far enough to steer past, within 20 s."""
    tree = load_scenario("race").to_dict()
    entries = {entry["name"]: entry for entry in tree["vehicles"]}
    guest, racers = entries["guest"], entries["saloons"] | {"count": cars}
    x, y, _ = guest["pose"]
    racers["spawn"] = {"poses": [[x - 5.1 - 5.2 * k, y, 0.0] for k in range(cars)]}
    with paddock.load({**tree, "vehicles": [guest, racers]}) as sim:
        for _ in range(20):
            sim.step(500)
            if (sim.snapshot().fleet("saloons").position[:, 0] > x + 10.0).all():
                break
        assert (sim.snapshot().fleet("saloons").position[:, 0] > x + 10.0).all()
        assert np.abs(sim.snapshot()["guest"].position[:2] - (x, y)).max() < 0.05  # hardly touched
