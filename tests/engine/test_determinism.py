"""Same seed, same bytes: only the scenario and the log of actions determine a run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paddock
from paddock.compute.threads import available_threads
from paddock.engine.simulation import Simulation, replayed
from paddock.scenario import load_scenario
from paddock.world.ring import RingWriter

TICKS = 240
Make = Callable[..., Simulation]


def digest_of(make: Make, ticks: int = TICKS, **changes: Any) -> str:
    sim = make(**changes)
    sim.step(ticks)
    return sim.state_hash()


@pytest.fixture
def expected(commanded: Make) -> str:
    return digest_of(commanded)


def test_two_runs_agree_and_two_seeds_do_not(commanded: Make, expected: str) -> None:
    assert digest_of(commanded) == expected
    assert digest_of(commanded, seed=8) != expected


def test_another_seed_moves_random_spawns_and_sensor_noise_but_not_the_rest(load_mixed: Make) -> None:
    first, two = load_mixed(seed=1), load_mixed(seed=2)
    for sim in (first, two):
        sim.step(48)
    assert not np.array_equal(first.snapshot().fleet("birds").position, two.snapshot().fleet("birds").position)
    assert first.vehicles.sensors("red")["wheel_speed"] != two.vehicles.sensors("red")["wheel_speed"]
    assert np.array_equal(first.snapshot()["red"].position, two.snapshot()["red"].position)


@pytest.mark.skipif(available_threads() < 2, reason="needs two cores")
@pytest.mark.parametrize(
    ("model", "sensors"),
    [
        ("point", []),
        pytest.param("quad", [], marks=pytest.mark.slow),
        pytest.param("quad", [{"gnss": {"rate": 20}}], marks=pytest.mark.slow),
    ],
)
def test_threads_do_not_matter(threads: Callable[[int | None], None], model: str, sensors: list[Any]) -> None:
    scenario = {
        "every": {"behaviour": 4},
        "vehicles": [
            {
                "name": "swarm",
                "count": 1100,
                "model": model,
                "spawn": {"random": {"low": [-80, -80, 10], "high": [80, 80, 30]}},
                "speed": 4,
                "behaviour": {"flock": {"range": 100}},
                "sensors": sensors,
            }
        ],
    }
    hashes = set()
    for count in (1, 2, None):
        threads(count)
        sim = paddock.load(scenario)
        sim.step(120)
        assert np.isfinite(sim.snapshot().fleet("swarm").position).all()
        hashes.add(sim.state_hash())
    assert len(hashes) == 1


@given(cuts=st.lists(st.integers(0, TICKS), max_size=12))
@settings(max_examples=12, deadline=None)
def test_step_grouping_does_not_matter_for_any_split(cuts: list[int]) -> None:
    sim = prepared()
    for low, high in pairwise([0, *sorted(cuts), TICKS]):
        sim.step(high - low)
    assert sim.state_hash() == whole_run()


def test_step_grouping_one_tick_at_a_time(commanded: Make, expected: str) -> None:
    sim = commanded()
    for _ in range(TICKS):
        sim.step()
    assert sim.state_hash() == expected


def test_watchers_snapshots_and_recordings_do_not_matter(commanded: Make, expected: str) -> None:
    sim = commanded()
    seen: dict[int, list[int]] = {5: [], 7: []}
    for period, ticks in seen.items():
        sim.clock.watch(lambda snapshot, ticks=ticks: ticks.append(snapshot.tick), every=period)
    with RingWriter() as ring:
        sim.clock.watch(ring.publish, every=3)
        rng = np.random.default_rng(3)
        while sim.tick < TICKS:
            sim.step(int(min(rng.integers(1, 20), TICKS - sim.tick)))
            sim.snapshot()
    assert sim.state_hash() == expected
    assert seen == {5: list(range(5, TICKS + 1, 5)), 7: list(range(7, TICKS + 1, 7))}  # each at its own period


def test_reading_the_state_does_not_matter(commanded: Make, expected: str) -> None:
    sim = commanded()
    for _ in range(TICKS // 3):
        sim.step(3)
        sim.vehicles.inspect("birds[3]")
        sim.vehicles.sensors("birds")
        sim.vehicles.sensors(1)
        sim.state_hash()
        sim.save()
    assert sim.state_hash() == expected


def test_pace_and_run_do_not_matter(commanded: Make, expected: str) -> None:
    sim = commanded()
    sim.run(until=0.25, pace=0)
    sim.run(until=0.5, pace=20)
    sim.clock.pace = 100
    sim.run(until=1.0)
    assert (sim.tick, sim.time) == (TICKS, 1.0)
    assert sim.state_hash() == expected


def test_declaration_order_does_not_matter(commanded: Make, expected: str) -> None:
    from_back = load_scenario(commanded().scenario.to_dict()).vehicles[::-1]
    assert digest_of(commanded, vehicles=[entry.model_dump(exclude_defaults=True) for entry in from_back]) == expected


def test_an_unrelated_fleet_changes_neither_trajectories_nor_readings(commanded: Make) -> None:
    alone = commanded()
    extra = {
        "name": "aaa",
        "count": 30,
        "model": "quad",
        "spawn": {"random": {"low": [-20, -20, 10], "high": [20, 20, 30]}},
        "behaviour": {"flock": {}},
        "sensors": ["imu", "gnss"],
    }
    vehicles = [entry.model_dump(exclude_defaults=True) for entry in alone.scenario.vehicles]
    crowded = commanded(vehicles=[extra, *vehicles])
    for sim in (alone, crowded):
        sim.step(TICKS)
    for name in ("birds", "red", "scouts", "dog"):
        first, two = alone.engine.world.fleets[name], crowded.engine.world.fleets[name]
        assert np.array_equal(first.state[:, : first.n], two.state[:, : two.n])
        for kind, readings in alone.vehicles.sensors(name).items():
            for reading, value in readings.items():
                assert np.array_equal(value, crowded.vehicles.sensors(name)[kind][reading], equal_nan=True)


def test_members_that_join_or_leave_do_not_change_the_draws_of_the_others(load_mixed: Make) -> None:
    first, two = load_mixed(), load_mixed()
    two.spawn(
        name="late", count=3, model="quad", spawn={"line": {"start": [90, 0, 9], "end": [99, 0, 9]}}, sensors=["imu"]
    )
    two.remove("scouts[0]")
    for sim in (first, two):
        sim.step(60)
    assert np.array_equal(first.vehicles.sensors("birds")["imu"]["ax"], two.vehicles.sensors("birds")["imu"]["ax"])


def restored_equals_uninterrupted(sim: Simulation, other: Simulation, ticks: int) -> None:
    """Save, go on; restore here and elsewhere, go on: all three agree."""
    blob, digest = sim.save(), sim.state_hash()
    sim.step(ticks)
    after = sim.state_hash()
    for goes_on in (sim, other):
        goes_on.restore(blob)
        assert goes_on.state_hash() == digest
        goes_on.step(ticks)
        assert goes_on.state_hash() == after


@given(point=st.integers(0, 200), ticks=st.integers(0, 90))
@settings(max_examples=15, deadline=None)
def test_restore_and_step_equals_step_from_any_point(point: int, ticks: int) -> None:
    sim, fresh = prepared(), paddock.load(prepared().scenario)
    sim.step(point)
    restored_equals_uninterrupted(sim, fresh, ticks)


def test_restore_with_queued_commands_pending_failsafe_and_delayed_samples(commanded: Make) -> None:
    sim, fresh = commanded(), commanded(seed=99)
    sim.step(45)  # the scouts time out at ticks 70 and 100; the gnss sample of tick 24 arrives at tick 60
    sim.command("red", brake=0.2)  # not even collected yet
    restored_equals_uninterrupted(sim, fresh, 120)
    assert [event.kind for event in sim.events.since()].count("failsafe") == 5


def test_restore_after_spawns_and_removals(commanded: Make) -> None:
    sim, fresh = commanded(), commanded()
    sim.step(20)
    sim.remove("birds[3]")
    sim.spawn(name="late", model="fixed_wing", pose=[0, 0, 50, 0], behaviour={"orbit": {"radius": 150, "z": 50}})
    sim.spawn(fleet="scouts", count=6, spawn={"circle": {"radius": 30}})
    sim.step(5)
    restored_equals_uninterrupted(sim, fresh, 60)
    assert [len(fleet) for fleet in fresh.snapshot()] == [11, 1, 1, 1, 11]
    sim.remove("late")
    sim.restore(fresh.save())
    assert sim.state_hash() == fresh.state_hash()


def test_restore_after_a_target_was_lost_does_not_report_it_again(commanded: Make) -> None:
    sim, fresh = commanded(), commanded()
    sim.step(16)
    sim.remove("red")
    sim.step(16)
    restored_equals_uninterrupted(sim, fresh, 50)
    assert [event.kind for event in fresh.events.since()].count("target_lost") == 1


def test_restore_before_a_loss_reports_it_again(commanded: Make) -> None:
    sim = commanded()
    sim.step(16)
    blob = sim.save()
    for _ in range(2):
        sim.restore(blob)
        sim.remove("red")
        sim.step(16)
        assert [event.kind for event in sim.events.since()].count("target_lost") == 1


def test_a_failed_restore_changes_nothing(commanded: Make) -> None:
    sim = commanded()
    sim.step(10)
    before, blob = sim.state_hash(), bytearray(sim.save())
    blob[100] ^= 1
    with pytest.raises(paddock.PaddockError):
        sim.restore(bytes(blob))
    slower = paddock.load({"clock": {"rate": 100}, "vehicles": []})
    with pytest.raises(paddock.PaddockError, match=r"saved with ticks at 100\.0 Hz, this simulation has 240"):
        sim.restore(slower.save())
    assert sim.state_hash() == before


def test_reset_equals_a_fresh_load(commanded: Make, load_mixed: Make) -> None:
    sim = commanded()
    sim.step(77)
    sim.spawn(model="point")
    sim.remove("red")
    sim.reset(seed=8)
    assert sim.state_hash() == load_mixed(seed=8).state_hash()
    sim.step(60)
    assert sim.state_hash() == digest_of(load_mixed, 60, seed=8)
    sim.reset(seed=load_mixed().scenario.seed)
    assert sim.state_hash() == load_mixed().state_hash()
    assert sim.snapshot().run == 2


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, True, "8"])
def test_reset_refuses_an_invalid_seed(commanded: Make, seed: Any) -> None:
    sim = commanded()
    before = sim.state_hash()
    with pytest.raises(paddock.PaddockError, match=r"a seed is a whole number in 0 to 2\*\*64 - 1, not "):
        sim.reset(seed)
    assert sim.state_hash() == before


@pytest.mark.parametrize("seed", [0, 2**63, 2**64 - 1])
def test_every_seed_can_be_saved_and_restored(load_mixed: Make, seed: int) -> None:
    sim, other = load_mixed(seed=seed), load_mixed()
    other.restore(sim.save())
    assert other.engine.world.seed == seed and other.state_hash() == sim.state_hash()


def eventful(sim: Simulation) -> Simulation:
    """Commands, spawns, removals, a refusal, failsafes."""
    sim.step(20)
    sim.spawn(name="late", count=2, model="point", spawn={"random": {"low": [0, 0, 5], "high": [9, 9, 9]}}, timeout=0.1)
    sim.command("late", vx=2.0, at_tick=30)
    sim.command("late[1]", vx=1.0, at_tick=60, source="tablet")
    sim.command("scouts", vz=np.arange(5.0), at_tick=50)
    sim.command("scouts[3]", vz=0.5, at_tick=120)
    sim.step(25)
    sim.remove("late[1]")
    sim.spawn(fleet="scouts", pose=[7, 7, 0])
    sim.step(100)
    sim.remove("scouts[1]")
    return sim


def test_the_log_replays_the_run(commanded: Make) -> None:
    sim = eventful(commanded())
    kinds = [event.kind for event in sim.events.since()]
    assert kinds.count("refused") == 2 and "failsafe" in kinds and "recovered" in kinds
    sim.step(30)
    again = replayed(sim.scenario, sim.control.log.complete(), sim.tick)
    assert again.events.since() == sim.events.since()
    assert again.state_hash() == sim.state_hash()
    assert again.control.log.complete() != []


def test_the_log_of_a_reset_run_replays_with_its_seed(commanded: Make) -> None:
    sim = commanded()
    sim.reset(seed=4)
    eventful(sim).step(1)
    assert replayed(sim.scenario, sim.control.log.complete(), sim.tick, seed=4).state_hash() == sim.state_hash()


def test_a_log_after_a_restore_is_not_complete(commanded: Make) -> None:
    sim = commanded()
    sim.step(50)
    blob = sim.save()
    sim.step(50)
    sim.restore(blob)
    with pytest.raises(paddock.PaddockError, match="begins with the state restored at tick 50, not with tick 0"):
        sim.control.log.complete()
    sim.reset()
    assert sim.control.log.complete() == []


def test_commands_from_other_threads_are_logged_with_their_ticks_and_replay(commanded: Make) -> None:
    sim = commanded()
    done = threading.Event()

    def post(who: int) -> None:
        for k in range(40):
            sim.command("scouts", vx=float(who), vy=0.1 * k, source=f"thread {who}")
        done.set()

    posting = [threading.Thread(target=post, args=(who,)) for who in range(3)]
    for thread in posting:
        thread.start()
    while not done.is_set():
        sim.step(1)
    for thread in posting:
        thread.join()
    sim.step(120)
    log = sim.control.log.complete()
    assert len(log) == 3 * 40 + 4
    assert [posted.tick for posted in log] == sorted(posted.tick for posted in log)
    for who in range(3):  # each sender's commands stay in order
        sent = [posted.action.inputs["vy"] for posted in log if posted.source == f"thread {who}"]
        assert sent == [0.1 * k for k in range(40)]
    assert replayed(sim.scenario, log, sim.tick).state_hash() == sim.state_hash()


PROGRAM = """
import paddock
sim = paddock.load({
    "seed": 5, "every": {"behaviour": 8},
    "vehicles": [
        {"name": "birds", "count": 9, "model": "quad", "spawn": {"random": {"low": [-9, -9, 9], "high": [9, 9, 19]}},
         "spread": {"mass": 0.1}, "behaviour": {"flock": {}}, "sensors": ["imu", "gnss", "barometer"]},
        {"name": "dots", "count": 4, "model": "point", "spawn": {"random": {"low": [9, 9, 9], "high": [19, 19, 19]}},
         "spread": {"speed_max": 0.1, "acceleration_max": 0.1}, "commands": {"vx": 9, "vy": 1}},
        {"name": "red", "model": "car.kinematic", "speed": 5, "commands": {"throttle": 0.2, "steer": 0.1}},
    ],
})
sim.command("red", steer=-0.1, brake=0.1, at_tick=50)
sim.step(120)
sim.spawn(model="point")
print(sim.state_hash())
"""


def test_processes_and_hash_seeds_do_not_matter() -> None:
    """This process and another one, with a hash seed that differs from this one's."""
    seed = "0" if os.environ.get("PYTHONHASHSEED") == "12345" else "12345"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(paddock.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    here: dict[str, Any] = {}
    exec(PROGRAM.replace("print", "hashed ="), here)
    assert done.stdout.strip() == here["hashed"]


# hypothesis calls a test many times with one set of fixtures, so these two are plain functions ------------------------


def prepared() -> Simulation:
    sim = paddock.load(SCENARIO)
    sim.command("red", steer=0.1, throttle=0.4, at_tick=3)
    sim.command("scouts", vx=[1.0, 2.0, 3.0], at_tick=10)
    sim.command("scouts[2]", vy=-1.0, at_tick=40)
    sim.command("red", steer=-0.05, at_tick=100)
    return sim


def whole_run() -> str:
    sim = prepared()
    sim.step(TICKS)
    return sim.state_hash()


SCENARIO: dict[str, Any] = {
    "every": {"behaviour": 8, "snapshot": 9},
    "vehicles": [
        {
            "name": "birds",
            "count": 6,
            "model": "quad",
            "spawn": {"random": {"low": [-9, -9, 10], "high": [9, 9, 30]}},
            "spread": {"mass": 0.05},
            "behaviour": {"flock": {}},
            "sensors": [{"imu": {"delay": 0.03}}, {"gnss": {"rate": 10, "delay": 0.15}}],
        },
        {"name": "red", "model": "car.bicycle", "speed": 8, "timeout": 0.5, "sensors": ["wheel_speed"]},
        {"name": "scouts", "count": 3, "model": "point", "spawn": {"grid": {"spacing": 3}}, "timeout": 0.25},
        {"name": "dog", "model": "rover", "pose": [-30, 40, 0], "behaviour": {"follow": {"target": "red"}}},
    ],
}


GRID = {"grid": {"spacing": 3}}
SHAPES: dict[str, Any] = {
    "seed": 1,
    "vehicles": [
        {"name": "ring", "count": 7, "model": "point", "spawn": {"circle": {"radius": 12, "face": "inward"}}},
        {"name": "row", "count": 3, "model": "point", "spawn": {"line": {"start": [0, 0, 5], "end": [9, 4, 5]}}},
        *(
            {"name": shape, "count": 5, "model": "point", "spawn": GRID, "behaviour": {"formation": {"shape": shape}}}
            for shape in ("circle", "sphere")
        ),
        {"name": "lap", "model": "point", "behaviour": {"pure_pursuit": {"path": {"oval": {"heading": 0.4}}}}},
        {
            "name": "way",
            "model": "point",
            "behaviour": {"pure_pursuit": {"path": [[0, 0], [90, 7, 3], [200, 31, 5]], "closed": False}},
        },
    ],
}


def test_starts_slots_and_paths_do_not_depend_on_the_functions_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on another CPU: NumPy's functions differ in the last bit."""

    def built() -> list[Any]:
        sim = paddock.load(SHAPES)
        paths = [sim.engine.programs[name].control.behaviour.path.tolist() for name in ("lap", "way")]  # type: ignore[union-attr]
        return [sim.state_hash(), *paths]

    expected = built()
    for name in ("sin", "cos", "arctan2", "hypot"):
        own = getattr(np, name)
        monkeypatch.setattr(np, name, lambda *values, own=own: np.nextafter(own(*values), 9.0))
    norm = np.linalg.norm
    monkeypatch.setattr(np.linalg, "norm", lambda x, **to: norm(x, **to) if to else np.nextafter(norm(x), 9e9))
    assert built() == expected


def test_no_stage_of_a_run_calls_functions_of_the_machine() -> None:
    foreign = re.compile(r"\b(np|math)\.(sin|cos|tan|arc\w+|a(sin|cos|tan)2?|hypot|exp|log\w*|power|sinh|cosh|tanh)\(")
    source = Path(paddock.__file__).parent
    for room in ("engine", "behaviour", "vehicles", "sensing", "scenario"):
        for file in (source / room).rglob("*.py"):
            assert not foreign.findall(file.read_text()), file
