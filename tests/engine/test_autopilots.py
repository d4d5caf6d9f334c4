"""Partners of the barrier: the ticking thread calls them before their ticks, and their commands are logged."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.actions import CommandAction
from paddock.engine.pipeline import HaltedError
from paddock.engine.simulation import Simulation, replayed
from paddock.errors import PaddockError

Load = Callable[..., Simulation]
PATIENT = 30.0  # s of wall time: never reached in a test that passes
POINTS: dict[str, Any] = {"name": "scouts", "count": 3, "model": "point", "spawn": {"grid": {"spacing": 3, "z": 5}}}


class Pilot:
    """Commands the scouts every `period` ticks: velocity east = tick / 100, one value each."""

    def __init__(self, sim: Simulation, period: int) -> None:
        self.sim, self.period = sim, period
        self.ticks: list[int] = []
        self.threads: set[int] = set()
        self.calls: list[str] = []
        self.silent = False

    def due(self, tick: int) -> int:
        return -(-tick // self.period) * self.period

    def exchange(self, tick: int) -> None:
        end = monotonic() + PATIENT
        while self.silent:
            if self.sim.engine.thread.stopping:
                raise HaltedError
            assert monotonic() < end
            sleep(0.001)
        assert self.sim.tick == tick
        self.ticks.append(tick)
        self.threads.add(threading.get_ident())
        speeds = tick / 100.0 + np.arange(3.0)
        self.sim.engine.mailbox.post(CommandAction("scouts", {"vx": speeds}), tick, "pilot")

    def restarted(self, how: str) -> None:
        self.calls.append(how)


def joined(sim: Simulation, period: int) -> Pilot:
    pilot = Pilot(sim, period)
    sim.vehicles.autopilots.join(pilot)
    return pilot


def commanded(sim: Simulation) -> list[float]:
    snapshot = sim.snapshot().fleet("scouts")
    return [float(value) for value in snapshot.block[snapshot.columns.index("command.vx")]]


def test_a_partner_is_called_before_its_ticks_and_commands_them(load: Load) -> None:
    sim = load(POINTS)
    pilot = joined(sim, 4)
    sim.step(9)
    assert pilot.ticks == [0, 4, 8] and pilot.threads == {threading.get_ident()}
    assert commanded(sim) == [0.08, 1.08, 2.08]
    # a point mass of 5 m/s2 accelerates tick by tick: a command at 4 acts from 4 on
    assert [entry.tick for entry in sim.control.log.entries] == [0, 4, 8]
    assert {entry.source for entry in sim.control.log.entries} == {"pilot"}


def test_strides_and_grouping_do_not_matter(load: Load) -> None:
    hashes = set()
    for steps in ([23], [1] * 23, [4, 4, 3, 12], [5, 18]):
        sim = load(POINTS)
        pilot = joined(sim, 4)
        for ticks in steps:
            sim.step(ticks)
        assert pilot.ticks == [0, 4, 8, 12, 16, 20]
        hashes.add(sim.state_hash())
    assert len(hashes) == 1


def test_a_replay_needs_no_partner(load: Load) -> None:
    sim = load(POINTS)
    joined(sim, 3)
    sim.step(31)
    again = replayed(sim.scenario, sim.control.log.complete(), sim.tick)
    assert again.state_hash() == sim.state_hash()


def test_a_partner_that_left_is_not_called(load: Load) -> None:
    sim = load(POINTS)
    first, second = joined(sim, 2), joined(sim, 5)
    sim.step(6)
    sim.vehicles.autopilots.leave(first)
    sim.vehicles.autopilots.leave(first)
    sim.step(6)
    assert first.ticks == [0, 2, 4] and second.ticks == [0, 5, 10]


def test_stop_ends_the_wait_and_the_tick_is_exchanged_on_resumption(load: Load) -> None:
    sim = load(POINTS)
    pilot = joined(sim, 4)
    sim.step(4)
    pilot.silent = True
    with sim.clock.running(pace=0.0):
        end = monotonic() + PATIENT
        while not sim.clock.active:
            assert monotonic() < end
            sleep(0.001)
        sim.clock.stop()
    assert sim.tick == 4 and pilot.ticks == [0]
    pilot.silent = False
    sim.step(1)
    assert pilot.ticks == [0, 4] and sim.tick == 5


def test_a_run_serves_requests_between_exchanges(load: Load) -> None:
    """Others are served before each wait: a slice of ticks never spans two exchanges."""
    sim = load(POINTS)
    joined(sim, 8)
    assert [sim.engine.stages.barrier.longest_slice(tick) for tick in (0, 1, 7, 8)] == [8, 7, 1, 8]
    assert sim.engine.stages.barrier.is_free(1, 7) and not sim.engine.stages.barrier.is_free(1, 8)
    assert not sim.engine.stages.barrier.is_free(8, 1)


def test_restore_and_reset_set_the_tick_back(load: Load) -> None:
    sim = load(POINTS)
    pilot = joined(sim, 4)
    sim.engine.listeners.restart.append(pilot.restarted)
    sim.step(6)
    saved, state = sim.save(), sim.state_hash()
    sim.step(20)
    later = sim.state_hash()
    sim.restore(saved)
    assert sim.state_hash() == state
    sim.step(20)
    assert sim.state_hash() == later
    sim.reset()
    assert pilot.calls == ["restore", "reset"]


def test_a_command_for_a_removed_vehicle_is_refused_and_the_run_continues(load: Load) -> None:
    sim = load(POINTS, {**POINTS, "name": "others"})
    joined(sim, 4)
    sim.remove("scouts")
    sim.step(5)
    refused = [event for event in sim.events.since() if event.kind == "refused"]
    assert sim.tick == 5 and [(event.tick, event.subject) for event in refused] == [(0, "pilot"), (4, "pilot")]
    assert "scouts" in refused[0].detail


def test_partners_and_claims_share_the_barrier(load: Load) -> None:
    sim = load(POINTS, {"name": "red", "model": "rover"}, clock={"sync": {"every": 3, "timeout": PATIENT}})
    pilot = joined(sim, 2)
    source = sim.control.claim("red", source="client")
    with sim.clock.running(until=7 / 240, pace=0.0):
        for tick in (0, 3, 6):
            request = source.wait(PATIENT)
            assert request is not None and request.tick == tick
            source.reply(tick, {"red": {"speed": 0.1 * tick}})
        end = monotonic() + PATIENT
        while sim.tick < 7:
            assert monotonic() < end
            sleep(0.001)
    assert pilot.ticks == [0, 2, 4, 6]
    with pytest.raises(PaddockError, match="already claimed"):
        sim.control.claim("red")


def test_ids_of_a_whole_fleet_in_any_order_reach_those_they_name() -> None:
    fleet = {"name": "dots", "model": "point", "count": 3, "spawn": {"grid": {"spacing": 2}}}
    with paddock.load({"vehicles": [fleet]}) as sim:
        ids = sim.snapshot().fleet("dots").ids
        sim.command(np.array(ids)[[2, 0, 1]], vx=np.array([30.0, 10.0, 20.0]))
        sim.step(1)
        assert [sim.vehicles.inspect(f"dots[{k}]")["command"]["vx"] for k in range(3)] == [10.0, 20.0, 30.0]


def test_a_command_queued_before_the_autopilot_joined_is_refused(load: Load) -> None:
    sim = load(POINTS)
    sim.command("scouts[0]", vx=7.0)
    pilot = Pilot(sim, 4)
    sim.vehicles.autopilots.join(pilot, sim.snapshot().fleet("scouts").ids.tolist())
    sim.step(1)
    assert commanded(sim) == [0.0, 1.0, 2.0]
    refused = [event.detail for event in sim.events.since() if event.kind == "refused"]
    assert len(refused) == 1 and "flown by its autopilot" in refused[0]
