"""The gate between clients and the simulation, with a clock of its own: budgets, turns, limits."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from paddock.serve import facts
from paddock.serve import hub as module
from paddock.serve.facts import Cost, OperationError, OperationOutcome
from paddock.serve.hub import OperationGate, Waiting


class Simulated:
    """A simulation that answers each operation at a cost, and an event loop with its own time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, ticking: float = 0.0, others: float = 0.0) -> None:
        self.now, self.ticking, self.others, self.answering = 0.0, ticking, others, True
        self.latency = 0.0  # s until a reply
        self.served: list[tuple[float, float]] = []  # time and cost of each reply
        self.sent: list[tuple[str, str]] = []  # (client, operation)
        self.outcomes: list[tuple[str, OperationOutcome | OperationError]] = []
        self.spent, self._count = 0.0, 0
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        monkeypatch.setattr(module, "monotonic", lambda: self.now)
        self.counted: list[str] = []
        loop: Any = SimpleNamespace(call_later=self._call_later, call_soon=lambda call: self._call_later(0.0, call))
        self.gate = OperationGate(loop, self._send, self.counted.append)

    def ask(self, client: str, operation: str, **arguments: Any) -> None:
        self.gate.ask(operation, client, arguments, lambda outcome: self.outcomes.append((client, outcome)))

    def wait(self, seconds: float) -> None:
        end = self.now + seconds
        while self._timers and self._timers[0][0] <= end:
            self.now, _, call = heapq.heappop(self._timers)
            call()
        self.now = end

    def _call_later(self, delay: float, call: Callable[[], None]) -> object:
        self._count += 1
        heapq.heappush(self._timers, (self.now + delay, self._count, call))
        return call

    def _send(self, item: Waiting) -> None:
        self.sent.append((item.client, item.operation))
        if self.answering:
            self.spent += self.ticking
            self._call_later(self.latency, lambda: self._answer(item))

    def _answer(self, item: Waiting) -> None:
        self.served.append((self.now, self.ticking))
        commands = item.handling == "command"
        self.gate.settle(item, Cost(self.ticking * commands, self.ticking * (not commands), self.others))
        item.then(OperationOutcome({}, 7, 0.007))


def test_clients_take_at_most_a_fiftieth_of_the_ticking_threads_time() -> None:
    publishers = 3  # of facts, reads and surveys
    assert module.COMMANDS + module.CHANGES + publishers * facts.TICKING <= 0.02 + 1e-12


@pytest.mark.parametrize(("operation", "share", "saved"), [("place", 0.010, 1.0), ("remove", 0.004, 40.0)])
def test_operations_take_their_share_of_the_ticking_threads_time(
    monkeypatch: pytest.MonkeyPatch, operation: str, share: float, saved: float
) -> None:
    simulated = Simulated(monkeypatch, ticking=0.001)
    for second in range(100):
        for k in range(60):  # more than fits
            simulated.ask(f"client {k % 16}", operation, target=f"{second} {k}")
        simulated.wait(1.0)
    assert 100 * share <= simulated.spent <= (101 + saved) * share + 0.02


def test_long_changes_are_paid_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """1.5 s each, of 100 autopilots: the debt of one is never forgiven."""
    simulated = Simulated(monkeypatch, ticking=1.5)
    for _ in range(3000):
        simulated.ask("eve", "restore")
        simulated.wait(1.0)
    assert 3000 * 0.004 - 1.5 <= simulated.spent <= (3000 + 40) * 0.004 + 2 * 1.5


@pytest.mark.parametrize("latency", [0.0, 0.2])
@pytest.mark.parametrize("operations", [("set_frame",), ("place",), ("set_frame", "place", "remove", "command")])
def test_sixteen_clients_take_at_most_their_share_of_any_two_seconds(
    monkeypatch: pytest.MonkeyPatch, operations: tuple[str, ...], latency: float
) -> None:
    """Each client keeps 32 requests open. Costs rise, as beside busy programs, while many requests are on their way."""
    simulated, count = Simulated(monkeypatch, ticking=0.00002), 0
    simulated.latency = latency

    def ask(client: str) -> None:
        nonlocal count
        count += 1
        simulated.gate.ask(operations[count % len(operations)], client, {"n": count}, lambda outcome: later(client))

    def later(client: str) -> None:
        simulated._call_later(0.0005, lambda: ask(client))

    for k in range(16 * 32):
        ask(f"client {k % 16}")
    for step in range(160):
        simulated.ticking = 0.0003 if step % 40 >= 20 else 0.00002
        simulated.wait(0.05)
    times, costs = np.array(simulated.served).T
    spent = np.append(0.0, np.cumsum(costs))
    windows = spent[np.searchsorted(times, times + 2.0)] - spent[:-1]
    assert windows.max() <= 0.014 * 2.0 + 0.010 + 0.16 + 0.02  # with what is saved up


def test_one_long_change_of_a_kind_is_under_way_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost of the first is not known before its reply."""
    simulated = Simulated(monkeypatch, ticking=1.5)
    for k in range(16):
        simulated.ask(f"client {k}", "restore")
    assert len(simulated.sent) == 1
    simulated.wait(330.0)
    assert len(simulated.sent) == 1 and simulated.spent == 1.5
    simulated.wait(10.0)  # 1.34 s at 0.4 %
    assert len(simulated.sent) == 2


def test_a_few_resets_and_spawns_wait_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, ticking=0.015)
    for _ in range(5):
        simulated.ask("ann", "reset", seed=1)
        simulated.wait(0.1)
        simulated.ask("ann", "remove", target="red")
        simulated.wait(0.1)
    assert len(simulated.outcomes) == 10 and not simulated.counted


def test_an_idle_or_paused_simulation_delays_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch)
    for k in range(1000):
        simulated.ask("ann", "remove", target=k)
        simulated.wait(0.0)
    assert len(simulated.outcomes) == 1000 and not simulated.counted


def test_clients_take_turns_and_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, ticking=0.1)
    for k in range(50):
        simulated.ask("eve", "remove", target=k)
    simulated.ask("bob", "remove", target="red")
    simulated.ask("bob", "command", target="red", inputs={})  # after the change, although commands may pass
    simulated.ask("ann", "command", target="red", inputs={})
    assert simulated.sent[-1] == ("ann", "command")
    simulated.wait(2000.0)
    order = [client for client, operation in simulated.sent if operation == "remove"]
    assert order.index("bob") <= 3  # those sent before it, then its turn
    assert [operation for client, operation in simulated.sent if client == "bob"] == ["remove", "command"]


def test_a_read_follows_the_earlier_changes_of_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated, read = Simulated(monkeypatch, ticking=0.2), list[tuple[str, int]]()
    simulated.latency = 0.05
    for client in ("eve", "bob"):
        simulated.ask(client, "remove", target=client)
        simulated.gate.after(client, lambda client=client: read.append((client, len(simulated.outcomes))))  # type: ignore[misc]
    simulated.gate.after("ann", lambda: read.append(("ann", 0)))
    assert read == [("ann", 0)]
    simulated.wait(100.0)
    assert read[1:] == [("eve", 1), ("bob", 2)]


def test_a_read_does_not_wait_for_a_run_or_a_spawn(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated, read = Simulated(monkeypatch), list[str]()
    simulated.answering = False
    for operation in ("run", "step", "spawn"):
        simulated.ask("ann", operation)
        simulated.gate.after("ann", lambda: read.append("ann"))
    assert read == ["ann"] * 3


def test_queues_have_limits_per_client_and_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, ticking=1.0)
    simulated.ask("eve", "remove", target="first")
    simulated.wait(0.0)
    for k in range(300):
        simulated.ask("eve", "remove", target=k)
    refused = [str(outcome) for _, outcome in simulated.outcomes if isinstance(outcome, OperationError)]
    assert len(refused) == 300 - 256
    reason = "the simulation spends at most 2 % of its time on clients"
    assert refused[0] == f"remove refused: 256 requests of this client wait already; {reason}"
    for k in range(5000):
        simulated.ask(f"eve {k}", "remove", target=f"other {k}")
    refused = [str(outcome) for _, outcome in simulated.outcomes if isinstance(outcome, OperationError)]
    assert len(refused) == 300 - 256 + 5000 - (4096 - 256)
    assert refused[-1].startswith("remove refused: 4096 requests of all clients wait already")


def test_large_messages_that_wait_have_a_limit_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, ticking=1.0)
    simulated.ask("eve", "reset", seed=1)
    simulated.wait(0.0)
    for _ in range(4):
        simulated.ask("eve", "restore", state=memoryview(bytes(60 << 20)))
    assert [isinstance(outcome, OperationError) for _, outcome in simulated.outcomes[1:]] == [True, True]


def test_the_clock_and_synchronous_control_never_wait_for_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, ticking=1.0, others=0.02)
    simulated.ask("eve", "remove", target="red")
    simulated.wait(0.0)
    simulated.ask("eve", "remove", target="blue")  # waits
    simulated.answering = False
    for operation, arguments in (("step", {"ticks": 1}), ("control", {"tick": 1, "commands": {}}), ("pause", {})):
        simulated.ask("ann", operation, **arguments)
    assert [operation for client, operation in simulated.sent if client == "ann"] == ["step", "control", "pause"]


def test_operations_on_the_clock_cannot_take_all_time_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, others=0.01)
    for _ in range(20):
        for k in range(200):
            simulated.ask(f"client {k % 16}", "resume")
        simulated.wait(1.0)
    assert len(simulated.sent) < 20 * 6 + 3 * 16  # 6 % of a core, and what is on its way at the same time


def test_a_client_that_leaves_drops_its_changes_but_not_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, ticking=1.0, others=0.2)
    simulated.ask("eve", "remove", target="red")
    simulated.wait(0.0)
    simulated.ask("eve", "remove", target="blue")
    simulated.ask("eve", "command", target="red", inputs={})
    left: list[int] = []
    simulated.gate.gone("eve", lambda: left.append(len(simulated.sent)))
    assert not left
    simulated.wait(300.0)
    assert simulated.sent[1:] == [("eve", "command")] and left == [2]
    simulated.gate.gone("zoe", lambda: left.append(0))
    assert left[-1] == 0
