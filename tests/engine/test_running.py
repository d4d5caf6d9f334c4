"""Run modes: stepping, running, pausing and pace, from one thread and from others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine import pacing
from paddock.engine.clock_thread import ClockThread
from paddock.engine.simulation import Simulation
from paddock.errors import InvalidValueError, PaddockError
from paddock.scenario import load_scenario
from paddock.world.world import Clock

Load = Callable[..., Simulation]
POINT = {"name": "dot", "model": "point"}
PATIENT = 30.0


def eventually(condition: Callable[[], bool]) -> None:
    end = monotonic() + PATIENT
    while not condition():
        assert monotonic() < end
        sleep(0.001)


def test_lag_counts_the_ticks_due_beyond_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, now = Clock(100.0), [0.115]
    monkeypatch.setattr(pacing, "monotonic", lambda: now[0])

    def advance(ticks: int) -> None:
        clock.tick += ticks

    pacer = pacing.Pacer(
        clock, advance, 1.0, ClockThread(lambda: None), lambda tick: 1 << 20, lambda: None, lambda: lambda: None
    )
    pacer._keep_pace((0.0, 0, 1.0), 1000)
    assert pacer.behind == pytest.approx(0.1)  # tick 11 is due, none was made: ten more than the next
    clock.tick, now[0] = 20, 0.2155
    pacer._keep_pace((0.0, 0, 1.0), 1000)
    assert pacer.behind == 0.0 and pacer.tick_seconds == 0.0


class Running:
    """`run` in another thread."""

    def __init__(self, sim: Simulation, **options: Any) -> None:
        self.sim = sim
        self.thread = threading.Thread(target=sim.run, kwargs=options, name="runner", daemon=True)

    def __enter__(self) -> Running:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.sim.clock.stop()
        self.thread.join(PATIENT)
        assert not self.thread.is_alive()


def test_run_ends_at_the_first_tick_at_or_after_its_time(load: Load) -> None:
    sim = load(POINT, rate=240)
    for until, tick in ((0.5, 120), (0.5, 120), (0.501, 121), (1 / 3 + 1, 320), (2, 480)):
        sim.run(until=until, pace=0)
        assert sim.tick == tick and sim.time == tick / 240


def test_a_run_does_not_end_in_the_past(load: Load) -> None:
    sim = load(POINT, rate=240)
    sim.step(120)
    with pytest.raises(InvalidValueError, match=r"run\(until=0.1\) is in the past: the time is 0.5 s"):
        sim.run(until=0.1)
    sim.run(until=0.5)
    assert sim.tick == 120


@pytest.mark.parametrize("until", [float("nan"), float("inf"), "3", [1]])
def test_run_needs_a_finite_time(load: Load, until: Any) -> None:
    with pytest.raises(InvalidValueError, match="takes a finite time in s, not "):
        load(POINT).run(until=until)


@pytest.mark.parametrize("pace", [0, 0.05, 1, 100])
def test_pace_within_its_bounds(load: Load, pace: float) -> None:
    sim = load(POINT)
    sim.run(until=0.01, pace=pace)
    assert sim.tick == 3 and sim.clock.pace == pace


@pytest.mark.parametrize("pace", [0.049, 100.1, -1, float("nan"), float("inf")])
def test_pace_beyond_its_bounds_is_refused_and_the_old_one_stays(load: Load, pace: float) -> None:
    sim = load(POINT)
    with pytest.raises(InvalidValueError, match=r"pace must be 0 \(as fast as possible\) or 0.05 to 100, not "):
        sim.clock.pace = pace
    with pytest.raises(InvalidValueError):
        sim.run(until=1, pace=pace)
    assert sim.clock.pace == 1.0 and sim.tick == 0


def test_a_second_driver_is_refused_with_the_owners_name(load: Load) -> None:
    sim = load(POINT)
    with Running(sim, pace=0):
        eventually(lambda: sim.tick > 0)
        blob = sim.save
        for verb, call in {
            "step()": lambda: sim.step(1),
            "run()": lambda: sim.run(until=1e9),
            "reset()": sim.reset,
            "spawn()": lambda: sim.spawn(model="point"),
            "remove()": lambda: sim.remove("dot"),
            "restore()": lambda: sim.restore(b""),
        }.items():
            with pytest.raises(PaddockError) as caught:
                call()
            assert str(caught.value) == f"{verb} refused: the clock is being driven by run() in thread 'runner'"
    tick = sim.tick
    sim.step(5)
    assert sim.tick == tick + 5 and blob()


def test_a_watcher_cannot_drive(load: Load) -> None:
    sim = load(POINT)
    sim.clock.watch(lambda _: sim.step(), every=1)
    with pytest.raises(
        PaddockError, match=r"step\(\) refused: the clock is being driven by step\(\) in thread 'MainThread'"
    ):
        sim.step()


def test_pause_resume_and_stop_from_another_thread(load: Load) -> None:
    sim = load(POINT)
    with Running(sim, pace=0):
        eventually(lambda: sim.tick > 0)
        sim.clock.pause()
        assert sim.clock.paused
        last = -1

        def at_rest() -> bool:
            nonlocal last
            before, last = last, sim.tick
            sleep(0.05)
            return before == sim.tick

        eventually(at_rest)
        held = sim.tick
        sim.command("dot", vx=1.0)
        sim.clock.pace = 5.0
        sim.clock.pace = 0
        assert sim.tick == held
        sim.clock.resume()
        eventually(lambda: sim.tick > held)
    assert sim.control.log.complete()[0].tick >= held


def test_a_paused_run_can_be_stopped_and_stepped(load: Load) -> None:
    sim = load(POINT)
    sim.clock.pause()
    with Running(sim, pace=1.0):
        sleep(0.02)
    assert sim.tick == 0
    sim.step(7)
    assert sim.tick == 7 and sim.clock.paused


def test_heartbeats_are_called_while_running_and_paused(load: Load) -> None:
    sim = load(POINT)
    beats = 0

    def heartbeat() -> None:
        nonlocal beats
        beats += 1
        sim.clock.pause()
        if beats == 3:
            sim.clock.stop()

    sim.run(heartbeat=heartbeat, pace=0)
    assert beats == 3


def test_leaving_the_context_stops_the_run() -> None:
    with paddock.load({"vehicles": [POINT]}) as sim:
        running = Running(sim, pace=1.0)
        running.thread.start()
        eventually(lambda: sim.tick > 0)
    running.thread.join(PATIENT)
    assert not running.thread.is_alive()


def test_posting_during_spawns_never_sees_a_half_built_world(load: Load) -> None:
    sim = load(POINT, {**POINT, "name": "zed"})
    failed: list[BaseException] = []
    done = threading.Event()

    def post() -> None:
        while not done.is_set():
            try:
                sim.command("zed", vx=1.0)
                sim.command(1, vx=1.0)
                sleep(1e-4)
            except BaseException as error:
                failed.append(error)

    thread = threading.Thread(target=post, daemon=True)
    thread.start()
    for k in range(60):
        sim.spawn(name=f"mid_{k}", model="point")
        sim.step(1)
        sim.remove(f"mid_{k}")
    done.set()
    thread.join(PATIENT)
    assert failed == []


# looking --------------------------------------------------------------------------------------------------------------


def test_snapshots_match_the_analytic_motion(load: Load) -> None:
    rolling = {"drag_coefficient": 0.0, "rolling_resistance": 0.0, "engine_brake": 0.0}
    sim = load(
        {"name": "car", "model": "car.kinematic", "pose": [1, 2, 0.5], "speed": 12, "parameters": rolling},
        {"name": "dots", "count": 3, "model": "point", "spawn": {"line": {"start": [0, 0, 9], "end": [4, 0, 9]}}},
        rate=200,
    )
    sim.command("dots", vx=[5.0, 2.5, -20.0])
    sim.step(600)
    car = sim.snapshot()["car"]
    assert car.position == pytest.approx([1 + 36 * np.cos(0.5), 2 + 36 * np.sin(0.5), 0.0], abs=1e-9)
    assert car.velocity == pytest.approx([12 * np.cos(0.5), 12 * np.sin(0.5), 0.0], abs=1e-9)
    # 5 m/s2 up to the wanted speed (at most 10 m/s), then steady: x0 + v t - v^2 / 2a
    dots = sim.snapshot().fleet("dots")
    expected = [0 + 15 - 2.5, 2 + 7.5 - 0.625, 4 - (30 - 10)]
    assert dots.position[:, 0] == pytest.approx(expected, abs=1e-9)
    assert dots.velocity[:, 0] == pytest.approx([5.0, 2.5, -10.0], abs=1e-9)
    assert (sim.snapshot().tick, sim.snapshot().time) == (600, 3.0)


def test_a_snapshot_is_made_once_per_tick_and_never_changes(load: Load) -> None:
    sim = load({**POINT, "speed": 3})
    first = sim.snapshot()
    assert sim.snapshot() is first
    sim.step()
    assert sim.snapshot() is not first
    sim.spawn(name="new", model="point")
    assert "new" in sim.snapshot() and "new" not in first
    assert first["dot"].position.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("every", [0, -1, 1.5, True, "2"])
def test_watching_takes_a_period(load: Load, every: Any) -> None:
    with pytest.raises(InvalidValueError, match="every takes a whole number of ticks >= 1, not "):
        load(POINT).clock.watch(print, every=every)


def test_watching_without_a_period_uses_that_of_the_scenario(load: Load) -> None:
    with pytest.raises(PaddockError, match="needs a period"):
        load(POINT).clock.watch(print)
    sim = load(POINT, every={"snapshot": 4})
    ticks: list[int] = []
    sim.clock.watch(lambda snapshot: ticks.append(snapshot.tick))
    sim.step(12)
    assert ticks == [4, 8, 12]


def test_inspect_shows_every_column_with_its_own_parameters(load: Load) -> None:
    sim = load(
        {"name": "bees", "count": 3, "model": "quad", "spawn": {"grid": {"spacing": 2}}, "spread": {"mass": 0.1}}
    )
    seen = [sim.vehicles.inspect(f"bees[{k}]") for k in range(3)]
    assert len({vehicle["parameters"]["mass"] for vehicle in seen}) == 3
    assert len({vehicle["parameters"]["drag"] for vehicle in seen}) == 1
    assert seen[0]["state"]["x"] == -1.0 and seen[1]["command"]["mode"] == 5.0


def test_a_delayed_reading_is_that_of_its_sample_tick(load: Load) -> None:
    exact = {"noise_horizontal": 0.0, "noise_vertical": 0.0, "noise_velocity": 0.0, "walk": 0.0}
    delayed = {"gnss": {"rate": 20, "delay": 0.1, **exact}}
    sim = load({**POINT, "speed": 10, "commands": {"vx": 10.0}, "sensors": [delayed, "gnss"]}, rate=200)
    assert sim.vehicles.sensors("dot")["gnss_2"]["sample_tick"] == 0  # without delay the first reading is immediate
    sim.step(19)
    assert sim.vehicles.sensors("dot")["gnss"]["sample_tick"] == -1 and np.isnan(
        sim.vehicles.sensors("dot")["gnss"]["x"]
    )
    sim.step(1)
    assert sim.vehicles.sensors("dot")["gnss"]["sample_tick"] == 0
    sim.step(10)
    assert sim.vehicles.sensors("dot")["gnss"]["sample_tick"] == 10
    sim.step(10)
    reading = sim.vehicles.sensors(1)["gnss"]
    assert reading["sample_tick"] == 20
    assert reading["x"] == pytest.approx(1.0, abs=1e-12)  # 10 m/s for 20 of 200 ticks a second, not where it is now
    assert sim.snapshot()["dot"].position[0] == pytest.approx(2.0, abs=1e-12)
    assert set(sim.vehicles.sensors("dot")) == {"gnss", "gnss_2"}


def test_other_threads_read_published_snapshots_only(load: Load) -> None:
    sim = load(POINT)
    errors: list[str] = []
    ticks: list[int] = []

    def look() -> None:
        for verb in (
            sim.state_hash,
            sim.save,
            lambda: sim.vehicles.inspect("dot"),
            lambda: sim.vehicles.sensors("dot"),
        ):
            try:
                verb()
            except PaddockError as error:
                errors.append(str(error))
        ticks.append(sim.snapshot().tick)

    def beat() -> None:
        if sim.tick >= 20 and not ticks:
            reader = threading.Thread(target=look)
            reader.start()
            reader.join(10)
        if ticks:
            sim.clock.stop()

    sim.clock.watch(lambda _: None, every=7)
    sim.run(pace=10, heartbeat=beat)
    assert len(errors) == 4 and all("the clock is being driven by run() in thread" in text for text in errors)
    assert ticks[0] % 7 == 0 and ticks[0] > 0


def test_inspect_takes_one_vehicle(load: Load) -> None:
    pair = {"name": "pair", "count": 2, "model": "point", "spawn": {"line": {"start": [0, 0, 1], "end": [5, 0, 1]}}}
    with pytest.raises(PaddockError, match=r"'pair' is a fleet of 2: name one vehicle, e.g. pair\[0\]"):
        load(pair).vehicles.inspect("pair")


def test_running_in_the_background_ends_with_its_block() -> None:
    with paddock.load({"clock": {"rate": 1000, "pace": 0}, "vehicles": []}) as sim:
        for _ in range(20):  # however short the block is
            with sim.clock.running():
                pass
        with sim.clock.running(until=sim.time + 0.5):
            pass
        before = sim.tick
        sim.step(1)
        assert sim.tick == before + 1


def test_an_error_in_the_background_is_raised() -> None:
    with paddock.load({"vehicles": []}) as sim:
        with pytest.raises(PaddockError, match="finite time"), sim.clock.running(until=float("nan")):
            pass
        sim.clock.watch(lambda snapshot: 1 / 0, every=1)
        with pytest.raises(ZeroDivisionError), sim.clock.running():
            threading.Event().wait(0.1)


def test_a_simulation_can_be_prepared_later() -> None:
    scenario = load_scenario({"vehicles": [{"name": "red", "model": "car.kinematic", "speed": 5, "sensors": ["imu"]}]})
    at_once, later = Simulation(scenario), Simulation(scenario, prepared=False)
    later.engine.prepare()
    assert later.state_hash() == at_once.state_hash()
    later.engine.prepare()  # nothing is left to do
    for sim in (at_once, later):
        sim.step(50)
    assert later.state_hash() == at_once.state_hash()


def test_the_first_tick_prepares_a_simulation_that_was_not() -> None:
    """The sensor samples at tick 0 too: 11 samples in the first second at 10 Hz."""
    car = {"name": "red", "model": "car.kinematic", "speed": 5, "sensors": [{"imu": {"rate": 10}}]}
    scenario = load_scenario({"clock": {"rate": 240}, "vehicles": [car]})
    at_once, later, restored = (Simulation(scenario, prepared=prepared) for prepared in (True, False, False))
    restored.restore(at_once.save())
    for sim in (at_once, later, restored):
        sim.step(240)
    assert later.engine.programs["red"].sensors["imu"].taken == 11
    assert later.state_hash() == restored.state_hash() == at_once.state_hash()


def test_a_paced_run_continues_at_once_from_a_restored_tick() -> None:
    """Neither waits for the time of a later one, nor catches up from an earlier one."""
    with paddock.load({"clock": {"rate": 1000}, "vehicles": [{"name": "red", "model": "rover"}]}) as sim:
        sim.step(1000)
        early = sim.save()
        sim.step(599_000)
        late, seen = sim.save(), list[int]()
        sim.reset()

        def beat() -> None:
            seen.append(sim.tick)
            if len(seen) == 1:
                sim.engine.thread.request(lambda: sim.restore(late))
            elif len(seen) == 2:
                sim.engine.thread.request(lambda: sim.restore(early))
            elif len(seen) == 3:
                sim.clock.stop()

        sim.run(pace=1.0, heartbeat=beat)
    assert seen[1] > 600_000 and 1000 < seen[2] < 600_000


def test_callbacks_have_the_names_of_a_remote_simulation() -> None:
    sim = Simulation(load_scenario({"clock": {"rate": 100}, "vehicles": [{"name": "dot", "model": "point"}]}))
    ticks: list[int] = []
    kinds: list[str] = []
    end_states = sim.clock.watch(lambda snapshot: ticks.append(snapshot.tick), every=5)
    end_events = sim.events.on(lambda event: kinds.append(event.kind))
    sim.step(10)
    sim.spawn(name="other", model="point")
    assert ticks == [5, 10] and kinds == ["spawned"]
    end_states()
    end_events()
    sim.step(10)
    sim.remove("other")
    assert ticks == [5, 10] and kinds == ["spawned"]
    with pytest.raises(PaddockError, match="a callback is a function of an event, not 3"):
        sim.events.on(3)  # type: ignore[arg-type]
