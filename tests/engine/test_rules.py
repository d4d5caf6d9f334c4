"""The rules in a run: times, penalties, scores and standings of cars whose motion is known."""

from collections.abc import Callable
from math import atan, cos, pi, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.track.race_log import read_entry
from paddock.world.archive import pack, unpack

RATE = 100
FRONT, REAR = 0.8, 0.8  # m: axles from the centre of gravity
NOSE = 0.82 * (FRONT + REAR)  # of the body of a car
RADIUS = 20.0  # m, of the middle of the round track
CAR = {
    "model": "car.kinematic",
    "parameters": {
        "cg_to_front": FRONT, "cg_to_rear": REAR, "track_front": 1.2, "track_rear": 1.2, "drag_coefficient": 0.0,
        "rolling_resistance": 0.0, "engine_brake": 0.0, "steer_rate_max": 1000.0, "steer_max": 1.0,
    },
}  # fmt: skip


def steer_for(radius: float) -> float:
    """Return the road-wheel angle with which the rear axle drives on a circle."""
    return atan((FRONT + REAR) / radius)


@pytest.fixture(scope="module")
def round_track(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the file of a round track, driven to the left; its line is where the angle is 0."""
    rows = ["tag,x,y,direction,x_variance,y_variance,xy_covariance", f"car_start,{RADIUS},0,{pi / 2},0,0,0"]
    for k in range(40):
        for colour, radius in (("blue", RADIUS - 2.0), ("yellow", RADIUS + 2.0)):
            a = 2 * pi * (k + 0.5) / 40
            rows.append(f"{colour},{radius * cos(a)},{radius * sin(a)},0,0,0,0")
    path = tmp_path_factory.mktemp("tracks") / "round.csv"
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def car(name: str, speed: float, angle: float = -0.3, radius: float = RADIUS, **fields: Any) -> dict[str, Any]:
    """Return a car on a circle about the origin, at an angle before the line."""
    far = (radius**2 + REAR**2) ** 0.5  # of the centre of gravity, if the rear axle is on the circle
    ahead = atan(REAR / radius)
    pose = [far * cos(angle), far * sin(angle), angle + pi / 2 - ahead]
    commands = {"steer": steer_for(radius)}
    return {"name": name, **CAR, "pose": pose, "speed": speed, "commands": commands, **fields}


def scenario(track: str, rules: Any, *cars: dict[str, Any], **sections: Any) -> dict[str, Any]:
    clock = {"rate": RATE, "pace": 0, **sections.pop("clock", {})}
    return {"name": "race", "clock": clock, "track": track, "rules": rules, "vehicles": list(cars), **sections}


def events(sim: Simulation, *kinds: str) -> list[tuple[str, str, str]]:
    return [(event.kind, event.subject, event.detail) for event in sim.events.since() if event.kind in kinds]


def set_pose(sim: Simulation, pose: list[float]) -> None:
    x, y, yaw = pose
    sim.vehicles.place("red", [x, y, 0.0, yaw], 10.0)


def lap_of(speed: float, radius: float = RADIUS) -> float:
    return 2 * pi * radius / speed


def test_laps_of_a_round_track(round_track: str) -> None:
    """Laps of a car on a circle last as long as the circle is long, and sectors add up to the lap."""
    rules = {"discipline": "trackdrive", "laps": 2, "stop_distance": 0}
    with paddock.load(scenario(round_track, rules, car("red", 10.0))) as sim:
        sim.step(2800)
        row = sim.race.standings()["red"]
        assert row.status == "finished"
        assert row.lap_times == pytest.approx([lap_of(10.0)] * 2, abs=1e-9)
        assert row.result == pytest.approx(2 * lap_of(10.0), abs=1e-9)
        for lap, sectors in zip(row.lap_times, row.sector_times, strict=True):
            assert len(sectors) == 3
            assert sum(sectors) == pytest.approx(lap, abs=1e-12)
        assert [kind for kind, _, _ in events(sim, "lap", "sector", "started", "finished")] == [
            "started", *["sector", "sector", "sector", "lap"] * 2, "finished",
        ]  # fmt: skip
        seen = sim.snapshot()["red"]
        assert (seen["race.lap"], seen["race.position"], seen["race.status"]) == (2.0, 1.0, 2.0)
        assert seen["race.best_lap"] == row.best_lap


def test_acceleration_from_a_rolling_start() -> None:
    """75 m at a constant speed of 20 m/s take 3.75 s; then it does not stop within 100 m."""
    single = {"name": "red", **CAR, "pose": [-8.0, 0.0, 0.0], "speed": 20.0}
    with paddock.load(scenario("acceleration", "acceleration", single)) as sim:
        sim.step(500)
        row = sim.race.standings()["red"]
        assert row.result == pytest.approx(3.75, abs=1e-9)
        assert row.sector_times[0] == pytest.approx([1.25] * 3, abs=1e-9)
        started = events(sim, "started")[0][2]
        assert started == f"at {(8.0 - NOSE) / 20.0:.9f} s"
        sim.step(500)
        row = sim.race.standings()["red"]
        assert (row.status, row.reason, row.result) == ("dnf", "unsafe stop", None)


def test_acceleration_from_the_staging_line() -> None:
    """Without a pose the car is staged 0.30 m before the line: at a constant acceleration, times are square roots."""
    single = {"name": "red", **CAR, "commands": {"throttle": 0.5}}
    with paddock.load(scenario("acceleration", "acceleration", single)) as sim:
        assert sim.snapshot()["red"].position[0] + NOSE == pytest.approx(-0.3)
        sim.step(100)
        acceleration = sim.snapshot()["red"].speed
        assert acceleration > 0.5
        sim.step(1400)
        row = sim.race.standings()["red"]
        wanted = (2 * 75.3 / acceleration) ** 0.5 - (2 * 0.3 / acceleration) ** 0.5
        assert row.time == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(("ahead", "point"), [(-NOSE - 0.5, NOSE), (-0.5, 0.0), (0.5, -NOSE)])
def test_the_point_that_is_timed(ahead: float, point: float) -> None:
    """A car before the line is timed by its front; one over it by its pose, or its rear, so that it starts, too."""
    single = {"name": "red", **CAR, "pose": [ahead, 0.0, 0.0], "speed": 20.0}
    with paddock.load(scenario("acceleration", "acceleration", single)) as sim:
        sim.step(500)
        assert events(sim, "started")[0][2] == f"at {-(ahead + point) / 20.0:.9f} s"
        assert sim.race.standings()["red"].lap_times == pytest.approx([3.75], abs=1e-9)


def skidpad(sim: Simulation, first: int = -1) -> None:
    """Drive two circles to one side, two to the other, and stop; commands change as the rear axle is at the line."""
    speed, radius = 8.0, 9.125
    steer, lap = steer_for(radius), 2 * pi * radius / speed
    enter = (15.0 + REAR) / speed
    for time, inputs in (
        (enter, {"steer": first * steer}),
        (enter + 2 * lap, {"steer": -first * steer}),
        (enter + 4 * lap, {"steer": 0.0, "brake": 0.6}),
    ):
        sim.command("red", at_tick=round(time * RATE), **inputs)
    sim.step(round((enter + 4 * lap + 4.0) * RATE))


SKIDPAD = {"name": "red", **CAR, "pose": [-15.0, 0.0, 0.0], "speed": 8.0}


def test_skidpad_score() -> None:
    """The score is the mean of laps 2 and 4, here circles of a known lateral acceleration; the car stops in time."""
    with paddock.load(scenario("skidpad", "skidpad", SKIDPAD)) as sim:
        skidpad(sim)
        row = sim.race.standings()["red"]
        wanted = 2 * pi * 9.125 / 8.0
        assert (row.status, row.laps, row.cones) == ("stopped", 4, 0)
        assert row.lap_times[1] == pytest.approx(wanted, abs=1e-8)
        assert row.lap_times[3] == pytest.approx(wanted, abs=1e-8)
        assert row.result == pytest.approx(wanted, abs=1e-8)
        lateral = (2 * pi / row.result) ** 2 * 9.125
        assert lateral == pytest.approx(8.0**2 / 9.125, rel=1e-8)  # v^2/r
        assert row.time != pytest.approx(sum(row.lap_times) / 4, abs=1e-3)


def test_skidpad_to_the_wrong_side() -> None:
    with paddock.load(scenario("skidpad", "skidpad", SKIDPAD)) as sim:
        skidpad(sim, first=1)
        row = sim.race.standings()["red"]
        assert (row.status, row.laps, row.reason) == ("dnf", 0, "wrong circle")


CONE = {"cone": {"center": [RADIUS + 1.2, 0.0], "radius": 0.114, "height": 0.325, "mass": 1.0}, "name": "cone_on_track"}


@pytest.mark.parametrize("contact", [False, True])
def test_a_cone_costs_two_seconds(round_track: str, contact: bool) -> None:
    """A cone beside the line is hit once: 2 s, whether it is knocked over or, without contact, only overlapped."""
    rules = {"discipline": "autocross", "stop_distance": 0}
    tree = scenario(round_track, rules, car("red", 10.0, radius=RADIUS + 0.8), world={"obstacles": [CONE]})
    tree["contact"] = contact
    with paddock.load(tree) as sim:
        sim.step(1500)
        row = sim.race.standings()["red"]
        assert row.cones == 1
        assert row.result == pytest.approx(row.time + 2.0, abs=1e-12)
        assert len(events(sim, "cone_hit")) == 1
        assert events(sim, "cone_hit")[0][2].startswith("cone_on_track")


def test_a_lap_that_cuts_the_track_is_refused_with_an_event(round_track: str) -> None:
    """A small circle beside the line crosses it again without a lap."""
    rules = {"discipline": "trackdrive", "off_course_penalty": 0}
    with paddock.load(scenario(round_track, rules, car("red", 10.0))) as sim:
        while not events(sim, "started"):
            sim.step(1)
        sim.command("red", steer=steer_for(3.0))
        sim.step(250)  # 25 m: a circle of 3 m has 18.8 m
        assert sim.race.standings()["red"].laps == 0
        ((kind, subject, text),) = events(sim, "lap_refused")
        entry = read_entry(kind, subject, text)
        assert entry is not None and (entry.lap, entry.car) == (1, "red") and 0.0 <= entry.value < 5.0
        sim.restore(sim.save())


def test_a_counted_cone_passes_its_car_on(round_track: str) -> None:
    """A cone that is down and counted knocks over another one: that one counts for the same car."""
    far = {"name": "far", "cone": {**CONE["cone"], "center": [0.0, 60.0]}}  # type: ignore[dict-item]
    rules = {"discipline": "autocross", "stop_distance": 0}
    red = car("red", 10.0, radius=RADIUS + 0.8)
    tree = scenario(round_track, rules, red, world={"obstacles": [CONE, far]}, contact=True)
    with paddock.load(tree) as sim:
        sim.step(200)
        hits = events(sim, "cone_hit")
        assert len(hits) == 1
        name = hits[0][2].partition(" in lap ")[0]
        sim.vehicles.place(name, [-0.6, 60.0, 0.1, 0.0], 12.0)
        sim.restore(sim.save())
        sim.step(200)
        hits = events(sim, "cone_hit")
        assert [hit[1] for hit in hits] == ["red", "red"] and hits[1][2].partition(" in lap ")[0] != name


@pytest.mark.parametrize(("penalty", "status"), [(10.0, "finished"), ("dnf", "dnf")])
def test_off_course(round_track: str, penalty: float | str, status: str) -> None:
    """All wheels outside the circle of 22 m: an excursion of 10 s, or the end."""
    rules = {"discipline": "autocross", "off_course_penalty": penalty, "stop_distance": 0}
    with paddock.load(scenario(round_track, rules, car("red", 10.0))) as sim:
        sim.command("red", at_tick=300, steer=0.0)
        sim.step(500)
        assert sim.race.standings()["red"].off_course == 1
        if status == "dnf":
            assert sim.race.standings()["red"].reason == "left the course"
            assert sim.snapshot()["red"]["race.status"] == 5.0
            return
        set_pose(sim, car("red", 10.0, angle=2.5)["pose"])
        sim.command("red", steer=steer_for(RADIUS))
        sim.step(1300)
        row = sim.race.standings()["red"]
        assert (row.status, row.off_course) == ("finished", 1)
        assert row.result == pytest.approx(row.time + 10.0 + 2.0 * row.cones, abs=1e-12)


def test_limits(round_track: str) -> None:
    """A car that stands does not start in time, one that is slow does not finish in time."""
    rules = {"discipline": "autocross", "time_limit": 5.0, "start_limit": 2.0}
    with paddock.load(scenario(round_track, rules, car("slow", 10.0), car("still", 0.0, 1.0))) as sim:
        sim.step(800)
        rows = sim.race.standings()
        assert [(row.name, row.reason) for row in rows.rows] == [
            ("slow", "time limit"), ("still", "did not start in time"),
        ]  # fmt: skip


def race(track: str, **sections: Any) -> dict[str, Any]:
    cars = [car(name, speed, angle) for name, speed, angle in (("a", 10.0, -0.2), ("b", 12.0, -0.5), ("c", 8.0, -0.4))]
    return scenario(track, {"discipline": "race", "laps": 3}, *cars, **sections)


def test_race_order_gaps_and_flag(round_track: str) -> None:
    """b overtakes a; gaps are the differences at the line; after the winner all finish at their next crossing."""
    with paddock.load(race(round_track)) as sim:
        sim.step(1)
        assert [row.name for row in sim.race.standings().rows] == ["a", "c", "b"]
        sim.step(2599)
        rows = sim.race.standings()
        left_x, left_y = sim.world.track.gates[0].left
        line = atan(left_y / left_x)  # the angle of the start line
        nose = atan((REAR + NOSE) / RADIUS) - atan(REAR / RADIUS)  # of the foremost point ahead of the pose
        first = {name: (line - angle - nose) * RADIUS / speed for name, speed, angle in
                 (("a", 10.0, -0.2), ("b", 12.0, -0.5), ("c", 8.0, -0.4))}  # fmt: skip
        # on the circle through the foremost point all angles grow at the rate of the rear axle
        wanted = {name: first[name] + 2 * lap_of(speed) for name, speed in (("a", 10.0), ("b", 12.0))}
        assert [row.name for row in rows.rows] == ["b", "a", "c"]
        assert rows["a"].laps == rows["b"].laps == 2
        assert rows.fastest_lap == ("b", 2, pytest.approx(lap_of(12.0), abs=1e-9))
        assert rows["a"].gap > 0.0 == rows["b"].gap
        sim.step(700)
        rows = sim.race.standings()
        assert rows["b"].status == "finished"
        assert rows["b"].result == pytest.approx(first["b"] + 3 * lap_of(12.0), abs=1e-4)
        assert wanted["b"] < wanted["a"]
        sim.step(800)
        rows = sim.race.standings()
        assert [(row.name, row.laps, row.status) for row in rows.rows] == [
            ("b", 3, "finished"), ("a", 3, "finished"), ("c", 2, "finished"),
        ]  # fmt: skip
        assert rows["a"].gap == pytest.approx(first["a"] + 3 * lap_of(10.0) - rows["b"].result, abs=1e-4)
        snapshot = sim.snapshot()
        assert [snapshot[name]["race.position"] for name in "abc"] == [2.0, 1.0, 3.0]


def _hash_after(tree: dict[str, Any], steps: Callable[[Simulation], None]) -> str:
    with paddock.load(tree) as sim:
        steps(sim)
        return sim.state_hash()


def test_cars_are_found_again_after_a_restore(round_track: str) -> None:
    """A restore sets the number of changes of the fleets back: the next change must not look like the last one."""
    cars = [car(name, 8.0, angle) for name, angle in (("red", -0.3), ("blue", -0.7), ("green", -1.1))]
    tree = scenario(round_track, {"discipline": "race", "laps": 3}, *cars)
    with paddock.load(tree) as sim, paddock.load(tree) as fresh:
        sim.step(20)
        blob = sim.save()
        sim.remove("red")
        sim.step(20)
        sim.restore(blob)
        fresh.restore(blob)
        for run in (sim, fresh):
            run.remove("green")
            run.step(200)
        assert sim.state_hash() == fresh.state_hash()
        gone = [row.name for row in sim.race.standings().rows if row.status == "dnf"]
        assert gone == ["green"]


def test_independent_of_grouping_and_restore(round_track: str) -> None:
    """Single ticks, one call, and a restore in the middle of a lap lead to the same state."""
    tree = race(round_track)

    def single(sim: Simulation) -> None:
        for _ in range(1400):
            sim.step(1)

    def restored(sim: Simulation) -> None:
        sim.step(700)
        blob = sim.save()
        sim.step(300)
        sim.restore(blob)
        assert sim.race.standings()["b"].laps == 0
        sim.step(700)

    def reset(sim: Simulation) -> None:
        sim.step(900)
        sim.reset()
        assert sim.race.standings()["a"].progress < 0.0
        sim.step(1400)

    wanted = _hash_after(tree, lambda sim: sim.step(1400))
    assert _hash_after(tree, single) == wanted
    assert _hash_after(tree, restored) == wanted
    assert _hash_after(tree, reset) == wanted


def test_crafted_states_are_refused(round_track: str) -> None:
    def change(path: str, value: Callable[[Any], Any]) -> Callable[[dict[str, Any]], None]:
        return lambda tree: tree["race"].__setitem__(path, value(tree["race"][path]))

    def with_value(row: int, value: float) -> Callable[[Any], Any]:
        def changed(table: Any) -> Any:
            table = table.copy()
            table[row, 0] = value
            return table

        return changed

    with paddock.load(race(round_track)) as sim:
        sim.step(1400)
        saved = sim.save()
        wanted = sim.state_hash()
        for craft in (
            change("names", lambda names: ["x", *names[1:]]),
            change("ids", lambda ids: ids + 5),
            change("table", with_value(7, 9.0)),
            change("table", with_value(8, 7.0)),
            change("table", with_value(5, 1e9)),
            change("table", with_value(10, 1e9)),
            change("table", with_value(6, np.nan)),
            change("log", lambda log: np.full((6, 3), 99.0)),
            change("log", lambda log: log[:, :-1]),
            change("first_at", lambda times: [time + 1e6 for time in times]),
            change("counted", lambda ids: [4]),
            lambda tree: tree.pop("race"),
        ):
            tree = unpack(saved)
            craft(tree)
            with pytest.raises(PaddockError):
                sim.restore(pack(tree))
            assert sim.state_hash() == wanted
        sim.restore(saved)


def test_removed_and_broken_cars(round_track: str) -> None:
    """A car that is removed, or whose state is not finite, did not finish; it stays in the standings."""
    with paddock.load(race(round_track, on_nan="remove")) as sim:
        sim.step(100)
        sim.remove("a")
        sim.step(1)
        sim.engine.world.fleets["c"].state[0, 0] = np.nan
        sim.step(1)
        rows = sim.race.standings()
        assert [(row.name, row.status, row.reason) for row in rows.rows][1:] == [
            ("a", "dnf", "removed"), ("c", "dnf", "removed"),
        ]  # fmt: skip
        blob = sim.save()
        sim.step(5)
        sim.restore(blob)
        assert sim.race.standings() == rows
    with paddock.load(race(round_track)) as sim:
        sim.step(10)
        sim.engine.world.fleets["c"].state[0, 0] = np.nan
        with pytest.raises(PaddockError, match="the run has ended"):
            sim.step(1)
        assert sim.race.standings()["c"].reason == "state not finite"


def test_a_jump_crosses_no_gate(round_track: str) -> None:
    with paddock.load(scenario(round_track, "trackdrive", car("red", 10.0))) as sim:
        sim.step(5)
        set_pose(sim, car("red", 10.0, angle=0.5)["pose"])
        sim.step(20)
        assert sim.race.standings()["red"].status == "waiting"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"track": None}, "rules need a track"),
        ({"rules": "slalom"}, "slalom"),
        ({"rules": "acceleration"}, "acceleration needs an open track"),
        ({"track": "skidpad"}, "rules.discipline: trackdrive cannot be driven on .* a skidpad: choose skidpad$"),
        ({"rules": {"discipline": "race", "vehicles": ["rad"]}}, "did you mean 'red'"),
        ({"rules": {"discipline": "race", "vehicles": ["red", "red"]}}, "listed twice"),
        ({"rules": {"discipline": "skidpad", "laps": 3}}, "skidpad has 4 laps, not 3"),
        ({"rules": {"discipline": "race", "cone_penalty": -1}}, "cone_penalty"),
        ({"rules": {"discipline": "race", "off_course_penalty": "dns"}}, "off_course_penalty: a penalty is a number"),
        (
            {"rules": {"discipline": "race", "off_course_penalty": "DNF"}},
            r"a penalty is a number of seconds >= 0, or dnf, not 'DNF' \(did you mean 'dnf'\?\)$",
        ),
        ({"vehicles": [{"name": "one", "model": "quad", "pose": [0, 0, 5, 0]}]}, "no vehicle takes part"),
    ],
)
def test_mistakes(round_track: str, change: dict[str, Any], message: str) -> None:
    tree = {**scenario(round_track, "trackdrive", car("red", 10.0)), **change}
    if tree["track"] is None:
        del tree["track"]
    with pytest.raises(PaddockError, match=message):
        paddock.load(tree)


def test_open_track_needs_another_discipline(tmp_path: Path) -> None:
    path = tmp_path / "open.yaml"
    path.write_text(
        "track: acceleration\nrules:\n  discipline: race\nvehicles:\n  - {name: red, model: car.kinematic}\n"
    )
    with pytest.raises(PaddockError, match=r"open\.yaml:3:15: race needs a closed track"):
        paddock.load(path)


def test_fleets_members_and_others(round_track: str) -> None:
    """Named members of a fleet take part, the others are hidden; threads and other vehicles change no time."""
    grid = {"name": "cars", **CAR, "count": 3, "spawn": {"circle": {"radius": 20}}, "commands": {"throttle": 0.1}}
    rules = {"discipline": "race", "laps": 1, "vehicles": ["cars[1]", "red"]}
    with paddock.load(scenario(round_track, rules, car("red", 10.0), grid)) as sim:
        sim.step(700)
        assert sim.snapshot().fleet("cars")["race.status"].tolist() == [-1.0, 1.0, -1.0]
        assert sorted(row.name for row in sim.race.standings().rows) == ["cars[1]", "red"]
        alone = sim.race.standings()["red"]
    with paddock.load(scenario(round_track, {**rules, "vehicles": ["red"]}, car("red", 10.0))) as sim:
        sim.step(700)
        assert sim.race.standings()["red"].sector_times == alone.sector_times


def test_cars_that_join_later(round_track: str) -> None:
    with paddock.load(race(round_track)) as sim:
        sim.step(200)
        sim.spawn(**car("d", 10.0))
        sim.step(100)
        row = sim.race.standings()["d"]
        assert row.status == "running" and row.position == 4
        blob, wanted = sim.save(), sim.race.standings()
        sim.step(300)
        sim.restore(blob)
        assert sim.race.standings() == wanted
