"""Changes of clients that build much: outside the ticking thread, with the same result as those of the program."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from asked import ask

import paddock
from paddock.engine.actions import SpawnAction
from paddock.errors import PaddockError
from paddock.scenario.serve import ClientLimits
from paddock.serve.live import LiveSource
from paddock.world.archive import pack, unpack

ROVERS = {"name": "scouts", "count": 3, "model": "rover", "sensors": ["gnss"], "spawn": {"grid": {"spacing": 3}}}
PLAIN: dict[str, Any] = {"clock": {"rate": 100}, "seed": 7, "vehicles": [ROVERS]}
MISSION: dict[str, Any] = {
    "clock": {"rate": 100},
    "vehicles": [{"name": "bus", "model": "rover"}],
    "mission": {
        "method": "greedy",
        "tasks": [{"name": "fence", "line": {"at": [60, -30], "heading": 0.0, "length": 20}}],
    },
}
BUILDING = (
    "paddock.engine.fleets.build_program",
    "paddock.engine.fleets.arrival",
    "paddock.engine.build.arrival",
    "paddock.engine.mission.run.build_program",
    "paddock.engine.mission.run.setup_of",
    "paddock.engine.run_parts.load",
    "paddock.world.archive._Cursor",
)


@pytest.fixture
def builders(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the threads that build, plan, decode or check."""
    import paddock.engine.mission.run  # noqa: F401 - to be patched

    names: set[str] = set()
    for path in BUILDING:
        module, _, name = path.rpartition(".")
        original = getattr(__import__(module, fromlist=[name]), name)

        def noted(*arguments: Any, original: Any = original, **named: Any) -> Any:
            names.add(threading.current_thread().name.partition("_")[0])
            return original(*arguments, **named)

        monkeypatch.setattr(path, noted)
    return names


@contextmanager
def served(scenario: dict[str, Any], limits: ClientLimits | None = None) -> Iterator[LiveSource]:
    """A simulation with handlers of operations but without a hub."""
    with paddock.load(scenario) as sim:
        source = LiveSource(sim, limits=limits or ClientLimits())
        source.attach(lambda kind, content: None, lambda snapshot: None, lambda tick, ticking: None)
        yield source
        source.detach()


def queued(state: bytes, *entries: dict[str, Any], tick: int) -> bytes:
    """Return a saved state with spawns that wait for a tick."""
    tree = unpack(state)
    tree["mailbox"] = {
        "queue": [
            {"tick": tick, "sequence": k, "source": "", "kind": "spawn", "action": {"entry": entry}}
            for k, entry in enumerate(entries, start=1)
        ],
    }
    return pack(tree)


def test_a_restore_and_a_reset_are_built_outside_the_ticking_thread(builders: set[str]) -> None:
    with served(PLAIN) as source:
        sim = source.sim
        sim.step(10)
        state, digest = sim.save(), sim.state_hash()
        with sim.clock.running(pace=1.0):
            builders.clear()
            ask(source, "restore", state=state)
            ask(source, "reset", seed=9)
            assert builders == {"paddock-worker"}
        ask(source, "restore", state=state)
        assert sim.state_hash() == digest
        assert sim.engine.world.run == 0  # that of the saved state


@pytest.mark.parametrize("scenario", [PLAIN, MISSION], ids=["plain", "mission"])
def test_a_clients_reset_is_that_of_the_program(scenario: dict[str, Any], builders: set[str]) -> None:
    with served(scenario) as source, paddock.load(scenario) as other:
        sim = source.sim
        for run in (sim, other):
            run.step(50)
            run.remove(scenario["vehicles"][0]["name"])
        builders.clear()
        ask(source, "reset", seed=9)
        assert builders == {"paddock-worker"}
        other.reset(seed=9)
        for ticks in (0, 1, 150):
            sim.step(ticks)
            other.step(ticks)
            assert sim.state_hash() == other.state_hash()
        assert [e.kind for e in sim.events.since()] == [e.kind for e in other.events.since()]
        assert sim.engine.world.run == other.engine.world.run == 1


def test_a_mission_continues_after_a_clients_restore(builders: set[str]) -> None:
    with served(MISSION) as source, paddock.load(MISSION) as other:
        source.sim.step(120)
        state = source.sim.save()
        source.sim.step(100)
        builders.clear()
        ask(source, "restore", state=state)
        assert builders == {"paddock-worker"}
        other.step(220)
        source.sim.step(100)
        assert source.sim.state_hash() == other.state_hash()


def test_vehicles_join_a_mission_without_being_built_in_the_ticking_thread(builders: set[str]) -> None:
    entry = {"name": "van", "model": "rover", "pose": [5, 5, 0]}
    with served(MISSION) as source, paddock.load(MISSION) as other:
        source.sim.step(50)
        other.step(50)
        builders.clear()
        ask(source, "add_vehicle", entry=entry)
        assert builders == {"paddock-worker"}
        other.mission.add_vehicle(**entry)
        source.sim.step(100)
        other.step(100)
        assert source.sim.state_hash() == other.state_hash()
        with pytest.raises(PaddockError, match="there is a vehicle 'van' already"):
            ask(source, "add_vehicle", entry=entry)
        with pytest.raises(PaddockError, match=r"add_vehicle\.preset: .*'fats'"):
            ask(source, "add_vehicle", entry={**entry, "name": "lorry", "preset": "fats"})


def test_tasks_that_clients_add_have_a_limit() -> None:
    """The scenario's own task does not count; one that was removed does, because the mission keeps it."""
    task = {"point": {"at": [5, 5]}}
    with served(MISSION, ClientLimits(tasks=3)) as source:
        for k in range(2):
            ask(source, "add_task", task={**task, "name": f"t{k}"})
        source.sim.step(20)
        ask(source, "remove_task", name="t0")
        source.sim.step(20)
        ask(source, "add_task", task={**task, "name": "t2"})
        refused = r"5 tasks exceed the 1 of the scenario and the 3 that clients may add \(serve.limits.tasks\)"
        for _ in range(2):
            with pytest.raises(PaddockError, match=refused):
                ask(source, "add_task", task={**task, "name": "t3"})
            source.sim.step(20)
        state = source.sim.save()
        ask(source, "restore", state=state)
        source.limits = ClientLimits(tasks=2)
        with pytest.raises(PaddockError, match="4 tasks exceed"):
            ask(source, "restore", state=state)


def test_queued_vehicles_of_a_restored_state_are_built_with_it(builders: set[str]) -> None:
    """New fleets with and without a name, one that follows another, and more vehicles of a fleet."""
    entries = (
        {"name": "late", "count": 4, "model": "rover", "sensors": ["gnss"], "spawn": {"grid": {"spacing": 2}}},
        {"model": "rover", "pose": [9, 9, 0]},
        {"fleet": "scouts", "count": 2, "spawn": {"grid": {"spacing": 5}}},
    )
    with served(PLAIN) as source, paddock.load(PLAIN) as other:
        sim = source.sim
        sim.step(10)
        state = queued(sim.save(), *entries, tick=20)
        other.restore(state)
        ask(source, "restore", state=state)
        assert sim.state_hash() == other.state_hash()
        capacity = sim.engine.programs["scouts"].sensors["gnss"].capacity
        assert capacity >= 5
        builders.clear()
        sim.step(30)
        assert builders <= {"MainThread"} and sim.engine.programs["scouts"].sensors["gnss"].capacity == capacity
        other.step(30)
        assert sim.state_hash() == other.state_hash()
        assert sim.engine.world.vehicles == 3 + 4 + 1 + 2


def test_new_queued_fleets_are_not_built_in_a_tick(builders: set[str]) -> None:
    entry = {"name": "late", "count": 4, "model": "rover", "sensors": ["gnss"], "spawn": {"grid": {"spacing": 2}}}
    with served(PLAIN) as source:
        ask(source, "restore", state=queued(source.sim.save(), entry, tick=20))
        builders.clear()
        source.sim.step(30)
        assert not builders and source.sim.engine.world.vehicles == 7
        source.sim.engine.applier.post(SpawnAction({**entry, "name": "own"}), 40)  # of the program: at its tick
        source.sim.step(20)
        assert builders == {"MainThread"}


def test_a_prepared_state_is_refused_if_autopilots_have_joined_since() -> None:
    with paddock.load(PLAIN) as sim:
        prepared = sim.engine.prepare_restore(sim.save())
        sim.engine.claims.autopilots.joins += 1
        with pytest.raises(PaddockError, match="restore refused: the run changed while its state was being built"):
            sim.engine.take_over(prepared)
