"""The exchange with an ArduPilot whose outputs change at every step: its log, its replay, and the calls it takes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

import paddock
from paddock.engine.actions import CommandAction
from paddock.sitl.from_scenario import quick_scenario

INSTANCE = 61
EXPO = 0.65  # MOT_THST_EXPO of ArduPilot's stock parameters
CALLS = 400  # limit of function calls per step, Python's and C's


@pytest.fixture
def sim() -> Iterator[Any]:
    with paddock.load(quick_scenario("copter", 1, "ardupilot", instance=INSTANCE)) as sim:
        yield sim


def outputs(frame: int) -> list[int]:
    """The PWM of a frame: each motor changes with every frame."""
    return [1450 + (7 * frame + 13 * k) % 101 for k in range(4)]


def fly(sim: Any, peer: Any, steps: int) -> None:
    """One packet before each step, which answers the one before."""
    for _ in range(steps):
        peer.send(outputs(peer.frame))
        sim.step(1)
        peer.frame += 1


def share(pwm: int) -> float:
    """ArduPilot's curve from output to thrust."""
    u = (pwm - 1000) / 1000
    return (1 - EXPO) * u + EXPO * u * u


def test_every_step_logs_one_command_that_replays(sim: Any, stand_in: Any) -> None:
    peer = stand_in(9002 + 10 * INSTANCE)
    fly(sim, peer, 50)
    commands = [entry for entry in sim.control.log.entries if isinstance(entry.action, CommandAction)]
    logged = [entry for entry in commands if entry.action.inputs["armed"] == 1.0]
    assert [entry.tick for entry in logged] == list(range(50)) and peer.pending() == 49
    for frame, entry in enumerate(logged):
        shares = [entry.action.inputs[f"motor_{k}"] for k in (1, 2, 3, 4)]
        assert shares == pytest.approx([share(pwm) for pwm in outputs(frame)], rel=1e-12)
    with paddock.replayed(sim.scenario, sim.control.log.complete(), sim.tick) as again:
        assert again.state_hash() == sim.state_hash()


def test_the_command_beside_a_restart_is_applied(sim: Any, stand_in: Any) -> None:
    peer = stand_in(9002 + 10 * INSTANCE)
    fly(sim, peer, 40)
    peer.frame = 0  # restarted: the copter is placed at its start in the tick of the next command
    fly(sim, peer, 1)
    kinds = [event.kind for event in sim.events.since()]
    assert "placed" in kinds and "refused" not in kinds
    placed, commanded = sim.control.log.entries[-2:]
    assert (placed.action.saved_as, commanded.action.saved_as) == ("place", "control")
    assert commanded.action.inputs["motor_1"] == pytest.approx(share(outputs(0)[0]), rel=1e-12)
    program, rows = sim.engine.applier.found(commanded.action.target)
    assert program.inspect(int(rows[0]))["command"]["motor_1"] == commanded.action.inputs["motor_1"]


def test_a_step_takes_few_calls(sim: Any, stand_in: Any) -> None:
    peer, calls, steps = stand_in(9002 + 10 * INSTANCE), 0, 60
    fly(sim, peer, 40)

    def count(_: object, event: str, __: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    for _ in range(steps):
        peer.send(outputs(peer.frame))
        before = sys.getprofile()
        sys.setprofile(count)
        try:
            sim.step(1)
        finally:
            sys.setprofile(before)
        peer.frame += 1
    assert calls / steps < CALLS
