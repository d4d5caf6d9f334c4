"""A reset or restore builds a state beside the run and swaps it: all or nothing, and nothing of the old run remains."""

import threading
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.actions import RemoveAction
from paddock.engine.fleets import Fleets
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.scenario import Scenario
from paddock.world.archive import pack, unpack

CROWDED = {
    "seed": 3,
    "clock": {"rate": 100},
    "radio": {
        "rate": 10,
        "types": {"default": {"duty": 0.0, "bandwidth": 2e6, "bit_rate": 1e6, "power": 10.0}},
        "stations": [{"name": "base", "position": [0, 0, 5]}],
        "messages": {"sharing": "csma", "beacons": {"rate": 8}},
    },
    "vehicles": [
        {
            "name": "dots",
            "model": "point",
            "count": 12,
            "spawn": {"grid": {"spacing": 30, "z": 20}},
            "radio": "default",
            "sensors": ["gnss"],
        }
    ],
}
"""Radios that contend for one channel: the random waits before packets depend on the seed."""


def commanded(sim: Simulation) -> None:
    """Send messages, spawn and remove in the course of a run."""
    for k in range(6):
        sim.radio.send("dots[1]", "base", {"number": k, "text": "x" * 400})
        sim.command("dots", vx=np.linspace(-1.0, 1.0, len(sim.snapshot().fleet("dots").ids)))
        sim.step(3)
        if k == 2:
            sim.spawn(fleet="dots", count=1, pose=[5.0, 5.0, 20.0, 0.0])
        if k == 4:
            sim.remove("dots[3]")
        sim.step(2)


def test_a_reset_with_a_seed_equals_a_fresh_run_with_that_seed() -> None:
    with paddock.load(CROWDED) as sim, paddock.load({**CROWDED, "seed": 8}) as fresh:
        commanded(sim)
        sim.reset(seed=8)
        commanded(sim)
        commanded(fresh)
        assert sim.radio.traffic() == fresh.radio.traffic()
        assert sim.state_hash() == fresh.state_hash()


def test_a_state_of_another_seed_continues_with_that_seed() -> None:
    with paddock.load(CROWDED) as sim, paddock.load(CROWDED) as other:
        sim.reset(seed=8)
        sim.step(7)
        other.restore(sim.save())
        for run in (sim, other):
            commanded(run)
        assert sim.state_hash() == other.state_hash()


def test_saving_and_hashing_change_nothing() -> None:
    """Also between the spawn of a vehicle with a radio and the next tick, while packets are on the air."""
    with paddock.load(CROWDED) as quiet, paddock.load(CROWDED) as watched:
        for sim, looks in ((quiet, False), (watched, True)):
            for k in range(30):
                sim.radio.send(f"dots[{k % 3}]", "base", {"text": "x" * 300})
                if k == 7:
                    sim.spawn(fleet="dots", count=1, pose=[5.0, 5.0, 20.0, 0.0])
                if k == 15:
                    sim.remove("dots[3]")
                if looks:
                    first = sim.save()
                    sim.state_hash()
                    assert sim.save() == first
                sim.step(1 + k % 3)
        assert quiet.radio.traffic() == watched.radio.traffic()
        assert quiet.state_hash() == watched.state_hash()


def test_saving_does_not_number_actions_again() -> None:
    """An action for the present tick comes after one that was posted before for that tick, saved or not."""
    with paddock.load(CROWDED) as sim, paddock.load(CROWDED) as other:
        for run in (sim, other):
            run.command("dots[0]", vx=1.0, at_tick=5)
            run.step(5)
            run.command("dots[0]", vx=2.0)
        other.restore(other.save())
        for run in (sim, other):
            run.step()
            assert run.vehicles.inspect("dots[0]")["command"]["vx"] == 2.0


def test_an_unprepared_run_is_saved_as_a_prepared_one() -> None:
    scenario = Scenario.model_validate(CROWDED)
    with Simulation(scenario) as prepared, Simulation(scenario, prepared=False) as late:
        assert late.save() == prepared.save()
        for sim in (prepared, late):
            sim.step(20)
        assert late.state_hash() == prepared.state_hash()


def facts(sim: Simulation) -> list[Any]:
    """Return what a user sees of a run."""
    fleets = sim.snapshot().fleets
    blocks = [sim.snapshot().fleet(name).block.tobytes() for name in fleets]
    log = [posted.to_tree() for posted in sim.control.log.entries]
    waiting = sim.engine.mailbox.waiting
    return [sim.tick, sim.state_hash(), sim.events.since(0), blocks, len(log), waiting, sim.radio.traffic()]


def test_a_refused_restore_and_a_reset_that_fails_leave_the_run_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    with paddock.load(CROWDED) as sim, paddock.load(CROWDED) as other:
        for run in (sim, other):
            commanded(run)
            run.command("dots[0]", vx=0.5, at_tick=sim.tick + 40)
        saved = sim.save()
        before = facts(sim)
        tree = unpack(saved)
        tree["radio"]["links"]["tick"] = 10**6  # found by the last of the checks
        with pytest.raises(PaddockError, match="saved links are of tick 1000000"):
            sim.restore(pack(tree))
        assert facts(sim) == before
        with monkeypatch.context() as patched:
            patched.setattr(Fleets, "populate", lambda self: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                sim.reset(seed=9)
        assert facts(sim) == before and sim.scenario.seed == 3
        for run in (sim, other):
            run.step(60)
        assert sim.state_hash() == other.state_hash()


def test_nothing_of_the_run_remains_after_a_restore() -> None:
    """Twice to the same state, from runs with other vehicles, overrides, queued actions and packets."""
    with paddock.load(CROWDED) as sim:
        commanded(sim)
        saved, before = sim.save(), facts(sim)
        sim.step(50)
        after = sim.state_hash()
        for k in range(2):
            sim.restore(saved)
            assert facts(sim)[:4] == before[:4]
            sim.behaviours.override("dots[1]", "hold")
            sim.spawn(name=f"late{k}", model="rover", radio="default", pose=[0, 0, 0])
            sim.command("dots[0]", vx=3.0, at_tick=sim.tick + 5)
            sim.step(4)
            sim.restore(saved)
            sim.step(50)
            assert sim.state_hash() == after and sim.engine.mailbox.waiting == 0


def test_a_run_continues_while_its_reset_is_built() -> None:
    with paddock.load(CROWDED) as sim, paddock.load({**CROWDED, "seed": 8}) as fresh:
        prepared: list[Any] = []
        worker = threading.Thread(target=lambda: prepared.append(sim.engine.prepare_reset(8)))
        worker.start()
        while worker.is_alive() or sim.tick < 20:
            sim.step()
        worker.join()
        sim.engine.mailbox.post(RemoveAction("dots"), sim.tick + 5)
        sim.engine.take_over(prepared[0])
        assert sim.engine.mailbox.waiting == 0 and sim.scenario.seed == 8
        for run in (sim, fresh):
            commanded(run)
        assert sim.state_hash() == fresh.state_hash()


def test_a_watcher_cannot_restore() -> None:
    with paddock.load(CROWDED) as sim:
        saved, refused = sim.save(), list[str]()

        def restore(_: object) -> None:
            for verb in (lambda: sim.restore(saved), sim.reset):
                try:
                    verb()
                except PaddockError as error:
                    refused.append(str(error).partition(":")[0])

        sim.clock.watch(restore, every=1)
        sim.step()
        assert refused == ["restore() refused", "reset() refused"] and sim.tick == 1
