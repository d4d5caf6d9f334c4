"""When ArduPilot restarts, its vehicle is placed at its start, in a replay too."""

from __future__ import annotations

from typing import Any

import pytest

import paddock

ROVER = {"name": "cart", "model": "rover", "preset": "skid", "pose": [30, 40, 0.5]}
INSTANCE = 60


def world(**vehicle: Any) -> dict[str, Any]:
    pilots = {"vehicles": "cart", "autopilot": "ardupilot", "instance": INSTANCE, "lockstep": False}
    return {"clock": {"rate": 100}, "vehicles": [{**ROVER, **vehicle}], "sitl": {"pilots": [pilots]}}


def drive(sim: Any, peer: Any, seconds: float) -> None:
    for _ in range(round(seconds * 50)):
        peer.send([1900, 0, 1900])
        peer.frame += 1
        sim.step(2)


def test_the_vehicle_returns_to_its_start(stand_in: Any) -> None:
    peer = stand_in(9002 + 10 * INSTANCE)
    with paddock.load(world()) as sim:
        drive(sim, peer, 3.0)
        away = sim.snapshot()["cart"].position
        assert abs(away[0] - 30.0) > 3.0
        peer.frame = 0  # restarted
        peer.send([1500, 0, 1500])
        sim.step(4)
        cart = sim.snapshot()["cart"]
        assert cart.position.tolist() == pytest.approx([30.0, 40.0, 0.0], abs=0.01) and cart.yaw == pytest.approx(0.5)
        assert ("placed", "cart") in [(event.kind, event.subject) for event in sim.events.since()]
        drive(sim, peer, 0.5)
        with paddock.replayed(sim.scenario, sim.control.log.entries, sim.tick) as again:
            assert again.state_hash() == sim.state_hash()


def test_after_a_reset_the_start_is_that_of_the_new_run(stand_in: Any) -> None:
    peer = stand_in(9002 + 10 * INSTANCE)
    anywhere = {"random": {"low": [-50, -50, 0], "high": [50, 50, 0]}}
    with paddock.load(world(spawn=anywhere, pose=None)) as sim:
        sim.reset(seed=9)
        start = sim.snapshot()["cart"].position.tolist()
        drive(sim, peer, 1.0)
        peer.frame = 0
        peer.send([1500, 0, 1500])
        sim.step(4)
        assert sim.snapshot()["cart"].position.tolist() == pytest.approx(start, abs=0.01)
