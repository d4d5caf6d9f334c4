"""Operations on vehicles, called directly: each action is checked once, and no control request is lost."""

from __future__ import annotations

from concurrent.futures import Future
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest

import paddock
from paddock.engine import applier
from paddock.engine.barrier import Claim
from paddock.errors import InvalidValueError, PaddockError
from paddock.serve.link import operate
from paddock.serve.live import LiveSource
from paddock.serve.operations import vehicles
from paddock.world.snapshot import CommandRequest

DOTS = {"name": "dots", "model": "point", "count": 3, "spawn": {"grid": {"spacing": 2}}}


class Run(SimpleNamespace):
    """The parts of a `LiveSource` that these operations use; the calling thread ticks."""

    def __init__(self, sim: paddock.Simulation) -> None:
        self.pushed: list[str] = []
        states = SimpleNamespace(forget=lambda client: None, control_request=lambda *arguments: b"")
        super().__init__(sim=sim, commands=0, claims={}, drivers={}, states=states)

    def push(self, kind: str, values: dict[str, Any]) -> None:
        self.pushed.append(kind)

    refuse_other_driver, count_commands = LiveSource.refuse_other_driver, LiveSource.count_commands

    def aside(self, work: Any) -> Any:
        return work()

    def answer(self, work: Any) -> Future[Any]:
        done = self.sim.engine.thread.request(work)
        self.sim.engine.thread.serve_idle()
        return done


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[str]:
    """Count the calls of a function."""
    calls: list[str] = []
    function = getattr(owner, name)

    def count(*arguments: Any) -> Any:
        calls.append(name)
        return function(*arguments)

    monkeypatch.setattr(owner, name, count)
    return calls


def test_a_barrier_right_after_the_claim_sends_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with paddock.load({"vehicles": [DOTS]}) as sim:
        run, add = Run(sim), sim.engine.claims.add

        def add_and_request(*arguments: Any) -> Claim:
            claim = add(*arguments)
            claim.request(CommandRequest(0, monotonic() + 1.0, ("dots",), sim.snapshot()))
            return claim

        monkeypatch.setattr(sim.engine.claims, "add", add_and_request)
        vehicles.claim(run, "ann", ["dots"])
        assert run.pushed == ["control_request"]


def test_commands_of_many_vehicles_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with paddock.load({"vehicles": [DOTS]}) as sim:
        ids = sim.snapshot().fleet("dots").ids
        checks = counted(monkeypatch, applier, "check_command")
        vehicles.command_many(Run(sim), "ann", ids, {"vx": 2.0})
        sim.step(1)
        assert len(checks) == 1 and sim.vehicles.inspect("dots[1]")["command"]["vx"] == 2.0


def test_an_override_is_checked_once_before_it_is_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    with paddock.load({"vehicles": [DOTS]}) as sim:
        checks = counted(monkeypatch, sim.engine.applier, "checked_override")
        vehicles.override(Run(sim), "ann", "dots", "hold").result(30)
        assert len(checks) == 1 and len(sim.behaviours.overrides()) == 1


def test_a_driven_vehicle_has_one_driver_until_another_takes_over() -> None:
    with paddock.load({"vehicles": [DOTS]}) as sim:
        run = LiveSource(sim)
        first, second = "web client 1", "web client 2"
        here = {"target": "dots[1]", "inputs": {"vx": 1.0}}
        operate(run, "drive", first, {"target": "dots[1]"})
        assert run.figures()["drivers"] == {"2": first}  # ids count from 1
        refusal = r"dots\[1\] is driven by web client 1: take over first"
        for operation, arguments in (
            ("drive", {"target": 2}),
            ("command", here),
            ("command", {"target": "dots", "inputs": {"vx": [1.0, 2.0, 3.0]}}),
            ("command_many", {"ids": [1, 2], "inputs": {"vx": 1.0}}),
            ("override", {"target": ["dots[0]", "dots[1]"], "behaviour": None}),
        ):
            with pytest.raises(PaddockError, match=refusal):
                operate(run, operation, second, arguments)
        operate(run, "command", first, here)
        operate(run, "command", second, {"target": "dots[0]", "inputs": {"vx": 1.0}})  # another vehicle
        operate(run, "drive", second, {"target": "dots[1]", "take_over": True})
        with pytest.raises(PaddockError, match="is driven by web client 2"):
            operate(run, "command", first, here)
        operate(run, "drive", first, {"target": "dots[1]", "driving": False})  # it is not the driver any more
        assert run.figures()["drivers"] == {"2": second}
        run.gone(second)
        operate(run, "command", first, here)
        with pytest.raises(InvalidValueError, match="'dots' is a fleet of 3: a client drives one vehicle"):
            operate(run, "drive", first, {"target": "dots"})
        sim.spawn(**DOTS | {"name": "late", "count": 1})
        for name in ("late", "dots[2]"):
            operate(run, "drive", first, {"target": name})
        run.attach(lambda kind, content: None, lambda snapshot: None, lambda tick, ticking: None)
        sim.reset(1)
        run.detach()
        assert run.figures()["drivers"] == {"3": first}  # id 4 may become another vehicle now
