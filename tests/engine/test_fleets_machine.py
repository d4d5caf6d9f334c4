"""Random sequences of commands, steps, spawns and removals keep the fleets consistent; every state restores."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import paddock

SCENARIO: dict[str, Any] = {
    "vehicles": [
        {"name": "crew", "count": 3, "model": "point", "spawn": {"grid": {"spacing": 2}}, "timeout": 0.05},
        {"name": "solo", "model": "point", "pose": [9, 9, 0], "sensors": [{"gnss": {"rate": 60, "delay": 0.05}}]},
    ]
}
BEHAVIOURS: list[Any] = [None, "external", "hold", {"goto": {"x": 3, "y": 4}}, {"formation": {"spacing": 2}}]
Crew = dict[str, list[tuple[int, str]]]


class History(RuleBasedStateMachine):
    """A simulation beside the plainest book-keeping that could be right: fleet -> [(id, name)] in order."""

    @initialize()
    def begin(self) -> None:
        self.sim = paddock.load(SCENARIO)
        self.crew: Crew = {"crew": [(1, "crew[0]"), (2, "crew[1]"), (3, "crew[2]")], "solo": [(4, "solo")]}
        self.members = {"crew": 3}
        self.next_id, self.fleets = 5, 0

    @rule(ticks=st.integers(0, 30))
    def step(self, ticks: int) -> None:
        before = self.sim.tick
        self.sim.step(ticks)
        assert self.sim.tick == before + ticks

    @precondition(lambda self: self.crew)
    @rule(data=st.data(), vx=st.floats(-5, 5), later=st.integers(0, 40))
    def command(self, data: st.DataObject, vx: float, later: int) -> None:
        fleet = data.draw(st.sampled_from(sorted(self.crew)))
        target = data.draw(st.sampled_from([fleet, *[name for _, name in self.crew[fleet]], self.crew[fleet][0][0]]))
        value = [vx] * len(self.crew[fleet]) if target == fleet and data.draw(st.booleans()) else vx
        with (
            suppress(paddock.PaddockError) if self.sim.behaviours.overrides() else nullcontext()
        ):  # some may follow a rule
            self.sim.command(target, vx=value, at_tick=self.sim.tick + later)

    @precondition(lambda self: self.crew)
    @rule(data=st.data(), behaviour=st.sampled_from(BEHAVIOURS), later=st.none() | st.integers(0, 20))
    def order(self, data: st.DataObject, behaviour: Any, later: int | None) -> None:
        fleet = data.draw(st.sampled_from(sorted(self.crew)))
        ids = [number for number, _ in self.crew[fleet]]
        some = data.draw(st.lists(st.sampled_from([fleet, *ids]), min_size=1, max_size=3))
        self.sim.behaviours.override(some, behaviour, at_tick=None if later is None else self.sim.tick + later)

    @rule(count=st.integers(1, 4))
    def spawn(self, count: int) -> None:
        name, self.fleets = f"new_{self.fleets}", self.fleets + 1
        where = {"spawn": {"random": {"low": [0, 0, 0], "high": [9, 9, 9]}}}
        assert self.sim.spawn(name=name, count=count, model="point", **where) == name
        ids = range(self.next_id, self.next_id + count)
        names = [name] if count == 1 else [f"{name}[{k}]" for k in range(count)]
        self.crew[name] = list(zip(ids, names, strict=True))
        if count > 1:
            self.members[name] = count
        self.next_id += count

    @precondition(lambda self: any(name in self.members for name in self.crew))
    @rule(data=st.data(), count=st.integers(1, 5))
    def reinforce(self, data: st.DataObject, count: int) -> None:
        name = data.draw(st.sampled_from([name for name in sorted(self.crew) if name in self.members]))
        self.sim.spawn(fleet=name, count=count, spawn={"circle": {"radius": 5}})
        for k in range(count):
            self.crew[name].append((self.next_id + k, f"{name}[{self.members[name] + k}]"))
        self.members[name] += count
        self.next_id += count

    @precondition(lambda self: self.crew)
    @rule(data=st.data(), by_id=st.booleans())
    def remove(self, data: st.DataObject, by_id: bool) -> None:
        fleet = data.draw(st.sampled_from(sorted(self.crew)))
        number, name = data.draw(st.sampled_from(self.crew[fleet]))
        self.sim.remove(number if by_id else name)
        self.crew[fleet].remove((number, name))
        if not self.crew[fleet]:
            del self.crew[fleet]

    @rule(ticks=st.integers(0, 40), elsewhere=st.booleans())
    def restore(self, ticks: int, elsewhere: bool) -> None:
        blob = self.sim.save()
        self.sim.step(ticks)
        after = self.sim.state_hash()
        self.sim = paddock.load(SCENARIO) if elsewhere else self.sim
        self.sim.restore(blob)
        self.sim.step(ticks)
        assert self.sim.state_hash() == after

    @invariant()
    def the_roster_is_as_booked(self) -> None:
        snapshot = self.sim.snapshot()
        roster = {fleet.name: list(zip(fleet.ids.tolist(), list(fleet.names), strict=True)) for fleet in snapshot}
        assert roster == dict(sorted(self.crew.items()))
        ids = [number for fleet in snapshot for number in fleet.ids.tolist()]
        assert len(set(ids)) == len(ids)
        assert all(np.isfinite(fleet.position).all() for fleet in snapshot)
        overridden = [number for override in self.sim.behaviours.overrides() for number in override.ids.tolist()]
        assert len(set(overridden)) == len(overridden) and set(overridden) <= set(
            ids
        )  # one override each, and none of a removed vehicle
        for fleet in self.sim.engine.world.fleets.values():
            assert fleet.n <= fleet.capacity == fleet.state.shape[1]


TestHistory = History.TestCase
TestHistory.settings = settings(
    max_examples=30, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
