"""The gate between clients and the simulation, with a clock of its own: budget, turns, sharing, limits."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from paddock.serve import gate as module
from paddock.serve.gate import Cost, OperationError, OperationGate, OperationOutcome, Waiting


class Simulated:
    """A simulation that answers each operation at once, at a cost, and an event loop with its own time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, ticking: float = 0.0, beside: float = 0.0) -> None:
        self.now, self.cost, self.answering = 0.0, Cost(ticking, beside), True
        self.latency = 0.0  # s until a reply
        self.served: list[tuple[float, float]] = []  # time and cost of each reply
        self.sent: list[tuple[str, str]] = []  # (client, operation)
        self.outcomes: list[tuple[str, OperationOutcome | OperationError]] = []
        self.spent, self._count = 0.0, 0
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        monkeypatch.setattr(module, "monotonic", lambda: self.now)
        self.counted: list[str] = []
        loop: Any = SimpleNamespace(call_later=self._call_later)
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
            self.spent += self.cost.ticking
            self._call_later(self.latency, lambda: self._answer(item))

    def _answer(self, item: Waiting) -> None:
        self.served.append((self.now, self.cost.ticking))
        self.gate.settle(item, self.cost)
        item.settle(OperationOutcome({"client": item.client}, 7, 0.007))


@pytest.mark.parametrize(("operation", "share", "saved"), [("inspect", 0.03, 0.4), ("remove", 0.02, 8.0)])
def test_operations_of_the_ticking_thread_take_their_share_of_its_time(
    monkeypatch: pytest.MonkeyPatch, operation: str, share: float, saved: float
) -> None:
    simulated = Simulated(monkeypatch, ticking=0.001)
    for second in range(20):
        for k in range(200):  # ten times what fits
            simulated.ask(f"client {k % 16}", operation, target=f"{second} {k}")
        simulated.wait(1.0)
    assert 20 * share <= simulated.spent <= (20.5 + saved) * share + 0.01  # some may be saved up
    assert module.LOOKS + module.CHANGES == 0.05


@pytest.mark.parametrize(("operation", "share", "saved"), [("restore", 0.02, 8.0), ("state_hash", 0.03, 0.4)])
def test_long_operations_are_paid_back(
    monkeypatch: pytest.MonkeyPatch, operation: str, share: float, saved: float
) -> None:
    """1.5 s each, of 100 autopilots: the debt of one is never forgiven."""
    simulated = Simulated(monkeypatch, ticking=1.5)
    for _ in range(600):
        simulated.ask("eve", operation)
        simulated.wait(1.0)
    assert 600 * share - 1.5 <= simulated.spent <= (600 + saved) * share + 2 * 1.5


@pytest.mark.parametrize("latency", [0.0, 0.2])
@pytest.mark.parametrize("operations", [("set_frame",), ("inspect",), ("set_frame", "inspect", "state_hash", "remove")])
def test_sixteen_clients_take_at_most_a_twentieth_of_any_two_seconds(
    monkeypatch: pytest.MonkeyPatch, operations: tuple[str, ...], latency: float
) -> None:
    """Each client keeps 32 requests open. Costs rise, as beside busy programs, while many requests are on their way."""
    simulated, count = Simulated(monkeypatch, ticking=0.0001), 0
    simulated.latency = latency

    def ask(client: str) -> None:
        nonlocal count
        count += 1
        operation = operations[count % len(operations)]
        arguments = {"target": count} if operation != "set_frame" else {"name": str(count), "position": [0, 0, 0]}
        simulated.gate.ask(operation, client, arguments, lambda outcome: later(client))

    def later(client: str) -> None:
        simulated._call_later(0.0005, lambda: ask(client))

    simulated.wait(30.0)  # what may be saved up is there
    for k in range(16 * 32):
        ask(f"client {k % 16}")
    for step in range(160):
        simulated.cost = Cost(0.0015 if step % 40 >= 20 else 0.0001, 0.0)
        simulated.wait(0.05)
    times, costs = np.array(simulated.served).T
    spent = np.append(0.0, np.cumsum(costs))
    windows = spent[np.searchsorted(times, times + 2.0)] - spent[:-1]
    assert windows.max() <= 0.05 * 2.0 + 0.2
    lanes = {module.lane_of(operation) for operation in operations}
    assert spent[-1] >= 4.0 * sum({"looks": 0.03, "changes": 0.02}[lane] for lane in lanes)  # half is used


def test_many_clients_cannot_send_a_long_change_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost of the first is not known before its reply."""
    simulated = Simulated(monkeypatch, ticking=1.5)
    for k in range(16):
        simulated.ask(f"client {k}", "restore")
    assert len(simulated.sent) == 1
    simulated.wait(60.0)
    assert len(simulated.sent) == 1 and simulated.spent == 1.5
    simulated.wait(10.0)  # 1.3 s at 2 %
    assert len(simulated.sent) == 2


def test_a_few_resets_and_spawns_wait_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, ticking=0.015)
    for _ in range(5):
        simulated.ask("ann", "reset", seed=1)
        simulated.wait(0.1)
        simulated.ask("ann", "remove", target="red")
        simulated.wait(0.1)
    assert len(simulated.outcomes) == 10 and not simulated.counted


def test_commands_take_their_share_of_the_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tick applies them after the reply, so a later reply reports what they have cost."""
    simulated = Simulated(monkeypatch)
    simulated.cost = Cost(0.0, 0.0, posted=0.001)
    for _ in range(20):
        for k in range(400):
            simulated.ask(f"client {k % 16}", "place", target=k, pose=[0, 0, 0, 0])
        simulated.wait(1.0)
    assert 1000 <= len(simulated.sent) < 1150  # 5 % of 20 s, and some that was saved up


def test_an_idle_or_paused_simulation_delays_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch)
    for k in range(1000):
        simulated.ask("ann", "inspect", target=k)
        simulated.wait(0.0)
    assert len(simulated.outcomes) == 1000 and not simulated.counted


def test_clients_take_turns_and_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, ticking=0.05)  # each uses up the budget of more than a second
    for k in range(50):
        simulated.ask("eve", "inspect", target=k)
    simulated.ask("bob", "inspect", target="red")
    simulated.ask("bob", "command", target="red", inputs={})  # after the read, although commands may pass
    simulated.ask("ann", "command", target="red", inputs={})
    assert simulated.sent[-1] == ("ann", "command")
    simulated.wait(120.0)
    order = [client for client, operation in simulated.sent if operation == "inspect"]
    assert order.index("bob") <= order.count("eve") and order.index("bob") <= 32  # those sent before it, then its turn
    assert [operation for client, operation in simulated.sent if client == "bob"] == ["inspect", "command"]


def test_equal_reads_become_one_and_each_client_gets_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, ticking=0.02)
    for k in range(200):
        simulated.ask("eve", "inspect", target=k)  # uses up the budget
    before = len(simulated.sent)
    for _ in range(32):
        for client in "abcdefghijklmnop":
            simulated.ask(client, "metadata", page=True)
    simulated.ask("q", "metadata", page=False)
    simulated.wait(300.0)
    assert [operation for _, operation in simulated.sent[before:]].count("metadata") == 2
    answered = {client: outcome for client, outcome in simulated.outcomes if client != "eve"}
    assert len(simulated.outcomes) == 200 + 16 * 32 + 1
    assert all(isinstance(one, OperationOutcome) and one.result == {"client": name} for name, one in answered.items())


def test_a_read_is_not_shared_with_one_before_the_clients_own_change(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, ticking=0.2)
    simulated.ask("eve", "remove", target="a")
    simulated.ask("eve", "inspect", target="b")
    simulated.wait(0.0)
    simulated.ask("eve", "state_hash")
    simulated.ask("bob", "remove", target="c")
    simulated.ask("bob", "state_hash")  # must show its own removal
    simulated.wait(60.0)
    mine = [operation for client, operation in simulated.sent if client == "bob"]
    assert mine == ["remove", "state_hash"] and ("eve", "state_hash") in simulated.sent


def test_queues_have_limits_per_client_and_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, ticking=1.0)
    simulated.ask("eve", "inspect", target="first")
    simulated.wait(0.0)
    for k in range(300):
        simulated.ask("eve", "inspect", target=k)
    refused = [str(outcome) for _, outcome in simulated.outcomes if isinstance(outcome, OperationError)]
    assert len(refused) == 300 - 256
    reason = "the simulation spends at most 5 % of its time on clients"
    assert refused[0] == f"inspect refused: 256 requests of this client wait already; {reason}"
    for k in range(5000):
        simulated.ask(f"eve {k}", "inspect", target=f"other {k}")
    refused = [str(outcome) for _, outcome in simulated.outcomes if isinstance(outcome, OperationError)]
    assert len(refused) == 300 - 256 + 5000 - (4096 - 256)
    assert refused[-1].startswith("inspect refused: 4096 requests of all clients wait already")


def test_large_messages_that_wait_have_a_limit_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, ticking=1.0)
    simulated.ask("eve", "reset", seed=1)
    simulated.wait(0.0)
    for _ in range(4):
        simulated.ask("eve", "restore", state=memoryview(bytes(60 << 20)))
    assert [isinstance(outcome, OperationError) for _, outcome in simulated.outcomes[1:]] == [True, True]


def test_the_clock_and_synchronous_control_never_wait_for_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, ticking=1.0, beside=0.07)
    simulated.ask("eve", "inspect", target="red")
    simulated.wait(0.0)
    simulated.ask("eve", "inspect", target="blue")  # waits
    simulated.answering = False
    for operation, arguments in (("step", {"ticks": 1}), ("control", {"tick": 1, "commands": {}}), ("pause", {})):
        simulated.ask("ann", operation, **arguments)
    assert [operation for client, operation in simulated.sent if client == "ann"] == ["step", "control", "pause"]


def test_operations_on_the_clock_cannot_take_all_time_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, beside=0.01)
    for _ in range(20):
        for k in range(200):
            simulated.ask(f"client {k % 16}", "resume")
        simulated.wait(1.0)
    assert len(simulated.sent) < 20 * (15 + 16 * 2)  # 15 % of a core, and what is on its way at the same time


def test_a_client_that_leaves_drops_its_reads_but_not_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Simulated(monkeypatch, ticking=1.0, beside=1.0)
    simulated.ask("eve", "inspect", target="red")
    simulated.wait(0.0)
    simulated.ask("eve", "state_hash")
    simulated.ask("ann", "state_hash")
    simulated.ask("eve", "command", target="red", inputs={})
    left: list[int] = []
    simulated.gate.gone("eve", lambda: left.append(len(simulated.sent)))
    assert not left
    simulated.wait(300.0)
    assert sorted(simulated.sent[1:]) == [("ann", "state_hash"), ("eve", "command")]
    assert left == [1 + simulated.sent[1:].index(("eve", "command")) + 1]
    assert [client for client, _ in simulated.outcomes].count("ann") == 1
    simulated.ask("eve", "remove", target="red")
    simulated.ask("eve", "inspect", target="blue")
    simulated.wait(0.0)
    for client in ("eve", "ann"):
        simulated.ask(client, "state_hash")
    simulated.gate.gone("ann", lambda: None)  # eve still waits for the read that they share
    before = len(simulated.outcomes)
    simulated.wait(300.0)
    assert [client for client, _ in simulated.outcomes[before:]] == ["eve"]
    simulated.gate.gone("zoe", lambda: left.append(0))
    assert left[-1] == 0
