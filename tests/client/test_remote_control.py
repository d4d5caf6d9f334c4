from __future__ import annotations

import threading
from time import sleep
from typing import Any

import pytest

import paddock
from paddock.world.snapshot import CommandRequest


def steer_by_position(request: Any) -> dict[str, dict[str, float]]:
    """A controller that uses only its input, so that local and remote runs agree."""
    red = request.snapshot["red"]
    gnss = request.sensors["red"]["gnss"]
    return {"red": {"steer": 0.02 * float(red.position[0]) + 0.001 * gnss["x"], "throttle": 0.3}}


def local_hash(scenario: Any, ticks: int, source: str) -> str:
    with paddock.load(scenario) as sim:
        claim = sim.control.claim(
            "red",
            source=source,
            on_request=lambda claim, request: claim.reply(request.tick, steer_by_position(request)),
        )
        sim.step(ticks)
        claim.release()
        return sim.state_hash()


@pytest.mark.parametrize("drive", [False, True])
def test_synchronous_control_gives_the_same_run(serve: Any, drive: bool) -> None:
    served = serve(drive=drive)
    expected = local_hash(served.sim.scenario, 60, "client")
    with paddock.connect(served.url) as sim:
        ticks = []

        @sim.control.on_request("red")
        def drive_red(request: CommandRequest) -> dict[str, dict[str, float]]:
            ticks.append(request.tick)
            assert request.vehicles == ("red",)
            assert request.tick == request.snapshot.tick
            return steer_by_position(request)

        for _ in range(20):
            sim.step(1)
        sim.step(20)
        sim.run(until=0.15)
        assert ticks == list(range(60))
        assert sim.tick == 60
        assert sim.state_hash() == expected
        assert sim.controls.late == 0


def test_a_partial_control_leaves_the_other_inputs(serve: Any) -> None:
    served = serve()
    with paddock.connect(served.url) as sim:
        answers = iter([{"red": {"steer": 0.1, "throttle": 0.5}}, {"red": {"throttle": 0.25}}, {}, None])
        sim.control.on_request("red", handler=lambda request: next(answers))
        sim.step(4)
        command = sim.vehicles.inspect("red")["command"]
        assert (command["steer"], command["throttle"]) == (0.1, 0.25)


def test_two_handlers_of_one_client(serve: Any) -> None:
    served = serve()
    with paddock.connect(served.url) as sim:
        sim.control.on_request("red", handler=lambda request: {"red": {"throttle": 0.5}})
        end = sim.control.on_request("scouts[1]", handler=lambda request: {"scouts[1]": {"vx": 2.0}})
        sim.step(2)
        assert sim.vehicles.inspect("red")["command"]["throttle"] == 0.5
        assert sim.vehicles.inspect("scouts[1]")["command"]["vx"] == 2.0
        end()
        assert list(served.sim.engine.claims.active[-1].vehicles) == ["red"]


@pytest.mark.parametrize("steps", [[3], [1, 1, 1]])
def test_a_slow_client_is_not_waited_for(serve: Any, steps: list[int]) -> None:
    scenario = {
        "clock": {"rate": 100, "pace": 0, "sync": {"every": 1, "timeout": 0.6, "on_timeout": "brake"}},
        "vehicles": [{"name": "red", "model": "car.bicycle", "speed": 8}],
    }
    served = serve(scenario)
    with paddock.connect(served.url, name="slow") as sim:

        def handler(request: CommandRequest) -> dict[str, dict[str, float]]:
            if request.tick == 1:
                sleep(0.9)
            return {"red": {"throttle": 0.1 * request.tick, "brake": 0.0}}

        sim.control.on_request("red", handler=handler)
        sim.step(steps[0])
        for more in steps[1:]:
            sim.step(more)
        assert sim.tick == 3
        events = [event for event in sim.events(0) if event.kind == "barrier_timeout"]
        assert events[0].tick == 1
        assert events[0].subject == "slow (zmq 1)"
        assert events[0].detail == "no reply within 0.6 s: brake (red)"
        assert sim.controls.late >= 1


def test_an_error_of_a_handler_is_raised_by_step(serve: Any) -> None:
    served = serve()
    with paddock.connect(served.url) as sim:

        def handler(request: CommandRequest) -> dict[str, dict[str, float]]:
            if request.tick == 5:
                raise ZeroDivisionError("in my controller")
            return {"red": {"throttle": 0.5}}

        sim.control.on_request("red", handler=handler)
        with pytest.raises(ZeroDivisionError, match="in my controller"):
            sim.step(20)
        sim.step(1)  # the first step goes on, its requests answered with nothing
        assert sim.tick == 21
        assert not [event for event in sim.events(0) if event.kind == "barrier_timeout"]
        assert sim.vehicles.inspect("red")["command"]["throttle"] == 0.5


def test_an_invalid_control_is_raised_by_step(serve: Any) -> None:
    served = serve()
    with paddock.connect(served.url) as sim:
        sim.control.on_request("red", handler=lambda request: {"red": {"stear": 0.5}})
        with pytest.raises(paddock.PaddockError, match=r"unknown input 'stear' of 'red'; did you mean 'steer'\?"):
            sim.step(5)
    with paddock.connect(served.url) as sim:
        sim.control.on_request("red", handler=lambda request: {"scouts": {"vx": 0.5}})
        with pytest.raises(paddock.PaddockError, match="has not claimed 'scouts'"):
            sim.step(5)
        with pytest.raises(paddock.PaddockError, match="unknown vehicle"):
            sim.control.on_request("unknown", handler=lambda request: None)


def test_verbs_work_within_a_handler(serve: Any) -> None:
    served = serve()
    with paddock.connect(served.url) as sim:
        seen = []

        def handler(request: CommandRequest) -> None:
            sim.world.markers.put(paddock.Marker.text("note", 1, f"tick {request.tick}"))
            seen.append(sim.snapshot().tick)

        sim.control.on_request("red", handler=handler)
        sim.step(3)
        assert seen == [0, 1, 2]


def test_requests_fetched_by_a_thread(serve: Any) -> None:
    served = serve()
    expected = local_hash(served.sim.scenario, 30, "client")
    with paddock.connect(served.url) as sim:
        claim = sim.control.claim("red")

        def control() -> None:
            while request := claim.wait():
                claim.reply(request.tick, steer_by_position(request))

        thread = threading.Thread(target=control)
        thread.start()
        sim.step(30)
        assert sim.state_hash() == expected
        with pytest.raises(paddock.PaddockError, match="claimed red already"):
            sim.control.claim("scouts")
        with pytest.raises(paddock.PaddockError, match="the reply for tick 7 comes too late; open request: none"):
            claim.reply(7, {"red": {"steer": 0.1}})
        claim.release()
        thread.join()
        sim.step(3)


def test_handlers_run_while_no_thread_waits(serve: Any) -> None:
    served = serve(drive=True)
    with paddock.connect(served.url) as driver, paddock.connect(served.url) as clock:
        threads = set()

        def handler(request: CommandRequest) -> dict[str, dict[str, float]]:
            threads.add(threading.current_thread().name)
            return {"red": {"throttle": 0.5}}

        driver.control.on_request("red", handler=handler)
        clock.step(5)
        assert driver.vehicles.inspect("red")["command"]["throttle"] == 0.5
        assert threads == {"paddock-callbacks"}
