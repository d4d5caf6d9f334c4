"""Requests of other threads to the ticking thread, and ticks requested from a held run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest

import paddock
from paddock.engine.actions import CommandAction
from paddock.engine.clock_thread import ClockThread
from paddock.errors import PaddockError
from paddock.world.fleet import NEVER

CAR = {"name": "red", "model": "car.kinematic", "speed": 10.0}


@pytest.fixture
def running() -> Iterator[paddock.Simulation]:
    """A simulation that another thread drives as fast as it can, held at once."""
    sim = paddock.load({"clock": {"rate": 1000, "pace": 0}, "vehicles": [CAR]})
    sim.clock.hold()
    with sim, sim.clock.running():
        yield sim


def test_a_held_run_advances_by_exactly_the_requested_ticks(running: paddock.Simulation) -> None:
    assert running.clock.request_ticks(7).result(10) == 7
    assert running.clock.request_ticks(0).result(10) == 7
    both = running.clock.request_ticks(1000), running.engine.pacer.request_ticks(5)
    assert [done.result(10) for done in both] == [1007, 1012]
    assert running.tick == 1012


def test_a_paced_tick_request_waits_while_the_run_is_paused(running: paddock.Simulation) -> None:
    running.clock.pause()
    done = running.clock.request_ticks(50, paced=True)
    with pytest.raises(TimeoutError):
        done.result(0.1)
    assert running.tick == 0
    running.clock.hold(unpause=True)
    assert done.result(10) == 50


def test_cancelled_ticks_name_the_reason(running: paddock.Simulation) -> None:
    running.clock.pause()
    done = running.clock.request_ticks(50, paced=True)
    running.clock.cancel_ticks("ann has left")
    with pytest.raises(PaddockError, match="ann has left at tick 0, before tick 50"):
        done.result(10)


def test_the_driving_thread_serves_requests_between_ticks(running: paddock.Simulation) -> None:
    assert running.engine.thread.request(lambda: running.spawn(**{**CAR, "name": "blue"})).result(10) == "blue"
    doer = running.engine.thread.request(lambda: threading.current_thread().name).result(10)
    assert doer != threading.current_thread().name
    with pytest.raises(PaddockError, match="unknown vehicle"):
        running.engine.thread.request(lambda: running.remove("green")).result(10)


def test_requests_wait_for_serve_idle_while_no_thread_drives() -> None:
    with paddock.load({"vehicles": [CAR]}) as sim:
        done = sim.engine.thread.request(lambda: sim.step(3))
        assert not done.done()
        sim.engine.thread.serve_idle()
        assert done.done() and sim.tick == 3
    sim.engine.thread.request(lambda: None)
    sim.engine.thread.serve_idle()
    with pytest.raises(PaddockError, match="closed"):
        sim.step(1)


def test_close_cancels_waiting_requests() -> None:
    sim = paddock.load({"vehicles": [CAR]})
    done = sim.engine.thread.request(lambda: None)
    sim.close()
    with pytest.raises(PaddockError, match="closed"):
        done.result(1)


def test_a_local_verb_waits_for_a_request_instead_of_being_refused() -> None:
    with paddock.load({"vehicles": [CAR]}) as sim:
        begun, go_on = threading.Event(), threading.Event()

        def work() -> None:
            begun.set()
            go_on.wait(10)

        sim.engine.thread.request(work)
        helper = threading.Thread(target=sim.engine.thread.serve_idle)
        helper.start()
        begun.wait(10)
        threading.Timer(0.05, go_on.set).start()
        sim.step(2)
        helper.join()
        assert sim.tick == 2


def test_a_command_with_its_own_timeout_ends_in_the_failsafe() -> None:
    with paddock.load({"clock": {"rate": 1000}, "vehicles": [CAR, {**CAR, "name": "blue"}]}) as sim:
        sim.engine.applier.post(CommandAction("red", {"throttle": 0.5, "steer": 0.1}, timeout=0.1))
        sim.engine.applier.post(CommandAction("blue", {"throttle": 0.5}))
        sim.step(100)
        assert sim.vehicles.inspect("red")["command"]["throttle"] == 0.5
        sim.step(1)
        red = sim.vehicles.inspect("red")["command"]
        assert (red["throttle"], red["brake"], red["steer"]) == (0.0, 0.3, 0.1)
        assert sim.vehicles.inspect("blue")["command"]["throttle"] == 0.5  # held without limit
        assert sim.engine.world.fleets["blue"].tables["expires"][0] == NEVER
        assert [(event.kind, event.tick) for event in sim.events.since()] == [("failsafe", 100)]


def test_a_command_for_ids_of_a_fleet_reaches_exactly_those() -> None:
    row = {"line": {"start": [0, 0, 0], "end": [40, 0, 0]}}
    cars = {"name": "cars", "count": 5, "model": "car.kinematic", "id": 10, "spawn": row}
    with paddock.load({"vehicles": [cars]}) as sim:
        sim.engine.applier.post(CommandAction(np.array([12, 10]), {"throttle": np.array([0.2, 0.7])}))
        sim.step(1)
        assert [sim.vehicles.inspect(f"cars[{k}]")["command"]["throttle"] for k in range(5)] == [0.7, 0, 0.2, 0, 0]
        with pytest.raises(PaddockError, match="no vehicle has the id 99"):
            sim.engine.applier.post(CommandAction(np.array([10, 99]), {"throttle": 0.1}))
        with pytest.raises(PaddockError, match="appears twice"):
            sim.engine.applier.post(CommandAction(np.array([10, 10]), {"throttle": 0.1}))


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan"), float("inf")])
def test_a_timeout_is_a_positive_time(timeout: float) -> None:
    with paddock.load({"vehicles": [CAR]}) as sim, pytest.raises(PaddockError, match="timeout"):
        sim.engine.applier.post(CommandAction("red", {"throttle": 0.5}, timeout=timeout))


def test_another_thread_can_step_while_the_running_thread_sleeps(running: paddock.Simulation) -> None:
    drivers: list[str] = []
    running.clock.watch(lambda snapshot: drivers.append(threading.current_thread().name), every=1)
    stepped = 0
    while stepped < 20:  # now and then the running thread is just looking around
        stepped += running.clock.step_in_place(1)
    assert running.tick == 20
    assert set(drivers) == {threading.current_thread().name}
    assert running.clock.request_ticks(5).result(10) == 25  # the running thread goes on as before
    running.clock.resume()
    assert not running.clock.step_in_place(1)  # time passes by itself


def test_step_in_place_stops_at_the_end_of_a_run() -> None:
    with paddock.load({"clock": {"rate": 1000}, "vehicles": [CAR]}) as sim:
        sim.clock.hold()
        thread = threading.Thread(target=lambda: sim.run(until=0.01))
        thread.start()
        assert not sim.clock.step_in_place(11)
        while not sim.clock.step_in_place(10):
            pass
        thread.join(10)
        assert sim.tick == 10 and not thread.is_alive()


def test_the_barrier_is_free_without_open_claims() -> None:
    with paddock.load({"clock": {"rate": 1000, "sync": {"every": 4}}, "vehicles": [CAR]}) as sim:
        barrier = sim.engine.stages.barrier
        assert barrier.is_free(0, 1000)
        claim = sim.control.claim("red")
        assert not barrier.is_free(0, 1) and barrier.is_free(1, 3)
        assert not barrier.is_free(1, 4)
        claim.prepare(0, {"red": {"steer": 0.1}})
        assert barrier.is_free(0, 1) and not barrier.is_free(0, 5)
        sim.step(1)
        assert sim.vehicles.inspect("red")["command"]["steer"] == 0.1
        claim.release()


def test_a_request_that_posts_itself_again_does_not_recurse() -> None:
    with paddock.load({"vehicles": [CAR]}) as sim:
        thread, left = sim.engine.thread, [3000]

        def again() -> None:
            left[0] -= 1
            if left[0]:
                thread.request(again)

        thread.request(again)
        thread.serve_idle()
        assert left == [0]


@pytest.mark.parametrize("driven", [True, False])
def test_a_verb_completes_when_the_driving_thread_comes_or_goes(driven: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """`elsewhere` gives the answer of a moment ago: the other thread has left, or has started to drive, since."""
    with paddock.load({"vehicles": [{**CAR, "behaviour": "hold"}]}) as sim:
        sim.step(1)
        thread = sim.engine.thread
        begun, leave = threading.Event(), threading.Event()

        def drive() -> None:
            with thread.driving("a test"):
                begun.set()
                leave.wait(10)

        def override() -> None:
            with suppress(PaddockError):
                sim.behaviours.override("red", "external")

        monkeypatch.setattr(thread, "elsewhere", lambda: not driven)
        threads = [threading.Thread(target=work, daemon=True) for work in ([drive, override] if driven else [override])]
        for worker in threads:
            worker.start()
            if driven:
                begun.wait(10)
        threading.Timer(0.1, leave.set).start()
        for worker in threads:
            worker.join(10)
        assert not any(thread.is_alive() for thread in threads)
        monkeypatch.undo()
        assert len(sim.behaviours.overrides()) == 1


def test_a_snapshot_is_new_when_the_driving_thread_has_just_left(monkeypatch: pytest.MonkeyPatch) -> None:
    with paddock.load({"vehicles": [CAR]}) as sim:
        sim.snapshot()
        sim.step(3)
        answers = iter([True])
        monkeypatch.setattr(sim.engine.thread, "elsewhere", lambda: next(answers, False))
        assert sim.snapshot().tick == 3


def test_a_request_that_closes_the_thread_cancels_those_behind_it() -> None:
    thread = ClockThread(lambda: None)
    closing, second = thread.request(thread.close), thread.request(lambda: 1)
    thread.serve()
    assert closing.result(0) is None
    with pytest.raises(PaddockError, match=r"the simulation is closed$"):
        second.result(0)
