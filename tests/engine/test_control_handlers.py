"""Handlers of control requests in a local simulation: what `on_control_request` of a remote one does, too."""

from time import sleep
from typing import Any

import pytest

import paddock
from paddock.errors import InvalidValueError, PaddockError

ROVER = {"name": "rover", "model": "rover", "preset": "outdoor"}


def simulation(**sync: Any) -> paddock.Simulation:
    sync = {"every": 10, "timeout": 30.0, **sync}
    return paddock.load({"clock": {"rate": 100, "sync": sync}, "vehicles": [ROVER]})


def test_the_handler_answers_every_request() -> None:
    """The run equals one with the same commands at the same ticks."""
    ticks = []
    with simulation() as sim, simulation() as other:

        @sim.control.on_request("rover")
        def drive(request: Any) -> dict[str, dict[str, float]]:
            ticks.append(request.tick)
            return {"rover": {"speed": 1.0 + 0.01 * request.tick, "turn_rate": float(request.snapshot["rover"].yaw)}}

        sim.step(45)
        for tick in range(45):
            if tick % 10 == 0:
                yaw = float(other.snapshot()["rover"].yaw)
                other.command("rover", speed=1.0 + 0.01 * tick, turn_rate=yaw)
            other.step()
        assert ticks == [0, 10, 20, 30, 40]
        assert sim.snapshot()["rover"].position.tolist() == other.snapshot()["rover"].position.tolist()
        again = paddock.replayed(sim.scenario, sim.control.log.complete(), ticks=45)
        assert again.state_hash() == sim.state_hash()


def test_a_handler_holds_a_claim_until_it_ends() -> None:
    with simulation() as sim:
        end = sim.control.on_request("rover", handler=lambda request: {"rover": {"speed": 1.0}})
        with pytest.raises(PaddockError, match="has already claimed rover"):
            sim.control.claim("rover")
        sim.step(10)
        end()
        sim.command("rover", speed=0.0)
        sim.step(100)
        assert sim.snapshot()["rover"].speed == pytest.approx(0.0, abs=1e-9)


def test_no_command_keeps_the_last_one() -> None:
    with simulation() as sim:
        sim.control.on_request(
            "rover", handler=lambda request: {"rover": {"speed": 1.0}} if request.tick == 0 else None
        )
        sim.step(200)
        assert sim.snapshot()["rover"].speed == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize(("policy", "speed"), [("hold", 1.0), ("brake", 0.0)])
def test_a_late_result_is_discarded(policy: str, speed: float) -> None:
    def drive(request: Any) -> dict[str, dict[str, float]]:
        if request.tick >= 100:
            sleep(0.06)
            return {"rover": {"speed": -1.0}}
        return {"rover": {"speed": 1.0}}

    with simulation(every=100, timeout=0.05, on_timeout=policy) as sim:
        sim.control.on_request("rover", handler=drive)
        sim.step(200)
        assert sim.snapshot()["rover"].speed == pytest.approx(speed, abs=1e-3)
        [late] = [event for event in sim.events.since() if event.kind == "barrier_timeout" and event.tick == 100]
        assert late.detail == f"no reply within 0.05 s: {policy} (rover)"


def test_pause_asks_again_without_a_deadline() -> None:
    asked = []

    def drive(request: Any) -> dict[str, dict[str, float]]:
        asked.append(request.tick)
        sleep(0.02)
        return {"rover": {"speed": 1.0}}

    with simulation(every=50, timeout=0.01, on_timeout="pause") as sim:
        sim.control.on_request("rover", handler=drive)
        sim.step(100)
        assert asked == [0, 0, 50, 50]


def test_an_error_ends_the_step_before_the_tick() -> None:
    """Nothing is lost: the run continues as if the bad answer had not been given."""
    answers = {0: 1.0, 10: float("nan"), 20: 2.0}
    with simulation() as sim, simulation() as other:
        end = sim.control.on_request("rover", handler=lambda request: {"rover": {"speed": answers[request.tick]}})
        with pytest.raises(InvalidValueError, match="rover: input 'speed' must be a finite number, not nan"):
            sim.step(30)
        assert sim.tick == 10
        end()
        answers[10] = 1.5
        sim.control.on_request("rover", handler=lambda request: {"rover": {"speed": answers[request.tick]}})
        sim.step(20)
        other.control.on_request("rover", handler=lambda request: {"rover": {"speed": answers[request.tick]}})
        other.step(30)
        assert sim.state_hash() == other.state_hash()


def test_an_error_of_the_handler_reaches_the_caller() -> None:
    def drive(request: Any) -> None:
        raise RuntimeError("my mistake")

    with simulation() as sim:
        sim.control.on_request("rover", handler=drive)
        with pytest.raises(RuntimeError, match="my mistake"):
            sim.step()
        assert sim.tick == 0
