"""The gate between clients and the simulation: budgets for changes and commands, and queues for those that must wait.

While time passes, the ticking thread spends at most 2 % of its time on clients: 1.2 % on commands, 0.4 % on changes,
and the rest on facts and reads (`serve/facts.py`). The other threads of its process have a budget, too: they compete
with it for the interpreter. What is beyond waits in queues, one per client, which take turns. An operation that takes
longer than what is left delays the next until that is paid back; a short burst can be saved up. A paused, held or idle
simulation has no budget to keep: its replies report no cost.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Any, NamedTuple

from paddock.errors import PaddockError
from paddock.wire.operations import OPERATIONS
from paddock.wire.operations.operation import Budgeted

COMMANDS, CHANGES = 0.012, 0.004  # shares of the ticking thread's time
OTHERS = 0.06  # share of a core for the other threads of its process
SAVED = 1.0  # s of wall time whose budget may be spent at once
CHANGES_SAVED = 40.0  # s: the same for changes, of which people make some in quick succession, as a reset and a spawn
LONGEST_WAIT = 4.0  # s of wall time for which work of other threads may delay the next operation
MOST_OPEN: dict[Budgeted, int] = {"clock": 16, "commands": 16, "changes": 1}  # operations of a kind without a reply yet
MOST_QUEUED = 256  # operations of one client that may wait
MOST_QUEUED_IN_ALL = 4096
MOST_BYTES = 128 << 20  # bytes of arrays and blobs that may wait, of all clients


class OperationError(PaddockError):
    """The simulation refused an operation; `kind` is the name of its error."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class OperationOutcome(NamedTuple):
    """The result of an operation, with the tick and the simulation time (s) of the reply."""

    result: Any
    tick: int
    time: float


Then = Callable[[OperationOutcome | OperationError], None]  # handles the outcome of an operation


class Budget:
    """Processor time that may be spent: it grows with wall time, up to what some seconds are worth."""

    def __init__(self, share: float, now: float, saved: float = SAVED, longest_wait: float = inf) -> None:
        """`share` of wall time from `now` (s, monotonic) on, and of the `saved` seconds before.

        Debt that would take more than `longest_wait` seconds to pay back is forgiven.
        """
        self.share = share
        self._most, self._most_debt = share * saved, share * longest_wait
        self.left = self._most  # s; negative: to be waited for
        self._since = now

    def refill(self, now: float) -> None:
        """Add the share of the time since the last call."""
        self.left = min(self._most, self.left + self.share * (now - self._since))
        self._since = now

    def charge(self, seconds: float) -> None:
        """Subtract a cost."""
        self.left = max(self.left - seconds, -self._most_debt)

    @property
    def wait(self) -> float:
        """Wall time until something is left, s."""
        return max(0.0, -self.left / self.share) if self.left <= 0.0 else 0.0


class Cost(NamedTuple):
    """Processor time that clients have taken since the last reply, s."""

    commands: float  # of the ticking thread
    changes: float  # of the ticking thread
    others: float  # of other threads


@dataclass(eq=False)
class Waiting:
    """An operation on its way to the simulation; without a name, a callback between two operations of a client."""

    operation: str
    client: str
    arguments: dict[str, Any]
    then: Then
    budget: Budgeted = "none"
    quick: bool = False  # whether later reads of its client wait for the reply
    size: int = 0  # bytes of arrays and blobs


class OperationGate:
    """Sends operations to the simulation within the budget, client by client in turn, each client's in order."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        send: Callable[[Waiting], None],
        count: Callable[[str], None] = lambda name: None,
    ) -> None:
        """`send(item)` passes an operation on; its reply is reported by `settle`. `count` adds to a counter."""
        now = monotonic()
        self.budgets: dict[Budgeted, Budget] = {
            "commands": Budget(COMMANDS, now),
            "changes": Budget(CHANGES, now, CHANGES_SAVED),
        }
        self.others = Budget(OTHERS, now, longest_wait=LONGEST_WAIT)
        self._loop, self._send, self._counted = loop, send, count
        self._queues: dict[str, deque[Waiting]] = {}  # by client; the first one's turn is next
        self._open = Counter[str]()  # operations without a reply, by name
        self._quick = Counter[str]()  # clients' quick operations without a reply
        self._count = self._bytes = 0  # of waiting operations
        self._timer: asyncio.TimerHandle | None = None

    def ask(self, operation: str, client: str, arguments: dict[str, Any], then: Then) -> None:
        """Send an operation now or later; refuse it if too many wait."""
        entry = OPERATIONS[operation].entry
        quick = entry.budget in self.budgets and not entry.slow
        item = Waiting(operation, client, arguments, then, entry.budget, quick, size_of(arguments))
        queue = self._queues.get(client, ())
        if not queue and not self._is_waited_for(item.budget) and self._has_budget(item, monotonic()):
            self._pass_on(item)
        elif refusal := self._refusal(item, len(queue)):
            self._counted("refused_operations")
            then(OperationError("PaddockError", refusal))
        else:
            self._counted("delayed_operations")
            self._count, self._bytes = self._count + 1, self._bytes + item.size
            self._queues.setdefault(client, deque()).append(item)
            self._set_timer()

    def after(self, client: str, call: Callable[[], None]) -> None:
        """Call a function when a client's earlier operations have been sent, and the quick ones answered."""
        if client in self._queues or self._quick[client]:
            self._queues.setdefault(client, deque()).append(Waiting("", client, {}, lambda outcome: call()))
        else:
            call()

    def gone(self, client: str, then: Callable[[], None]) -> None:
        """Drop the waiting reads and changes of a client that has left; call `then` after its commands."""
        queue = self._queues.pop(client, deque())
        for item in [item for item in queue if item.budget == "changes"]:
            queue.remove(item)
            self._forget(item)
            item.then(OperationError("PaddockError", f"{client} has left"))
        if kept := deque(item for item in queue if item.operation):
            self._queues[client] = kept
        self._quick.pop(client, None)
        self.after(client, then)
        self._pump()

    def settle(self, item: Waiting, spent: Cost) -> None:
        """Account for an operation that the simulation has answered, and for what it has spent."""
        self._open[item.operation] -= 1
        if item.quick and self._quick[item.client]:
            self._quick[item.client] -= 1
        self.budgets["commands"].charge(spent.commands)
        self.budgets["changes"].charge(spent.changes)
        self.others.charge(spent.others)
        if self._queues:
            self._loop.call_soon(self._pump)

    def close(self) -> None:
        """Send nothing any longer."""
        self._queues.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _refusal(self, item: Waiting, waiting: int) -> str:
        """Return why an operation cannot wait; empty if it can."""
        limit = "the simulation spends at most 2 % of its time on clients"
        if waiting >= MOST_QUEUED:
            return f"{item.operation} refused: {waiting} requests of this client wait already; {limit}"
        if self._count >= MOST_QUEUED_IN_ALL or (self._bytes and self._bytes + item.size > MOST_BYTES):
            return f"{item.operation} refused: {self._count} requests of all clients wait already; {limit}"
        return ""

    def _has_budget(self, item: Waiting, now: float) -> bool:
        """Return whether the budget of an operation has something left, and few of its kind are on their way."""
        if not item.operation:
            return not self._quick[item.client]
        if item.budget == "none":
            return True
        if self._is_full(item):
            return False
        self.others.refill(now)
        if item.budget == "clock":  # goes before others
            return self.others.left > -SAVED * OTHERS
        self.budgets[item.budget].refill(now)
        return self.budgets[item.budget].left > 0.0 and self.others.left > 0.0

    def _is_full(self, item: Waiting) -> bool:
        """Return whether an operation waits for replies: only they report what its kind costs."""
        return item.budget in MOST_OPEN and self._open[item.operation] >= MOST_OPEN[item.budget]

    def _is_waited_for(self, budget: Budgeted) -> bool:
        """Return whether another client's operation waits for the same budget."""
        return budget != "none" and any(queue[0].budget == budget for queue in self._queues.values())

    def _pass_on(self, item: Waiting) -> None:
        if item.operation:
            self._open[item.operation] += 1
            self._quick[item.client] += item.quick
            self._send(item)
        else:
            item.then(OperationError("PaddockError", ""))

    def _pump(self) -> None:
        """Send what the budget allows, one operation of each client in turn."""
        now, stuck = monotonic(), 0
        while self._queues and stuck < len(self._queues):
            client, queue = next(iter(self._queues.items()))
            del self._queues[client]
            if self._has_budget(queue[0], now):
                item, stuck = queue.popleft(), 0
                self._forget(item)
                self._pass_on(item)
            else:
                stuck += 1
            if queue:  # at the end: the others come first
                queue.extend(self._queues.pop(client, ()))
                self._queues[client] = queue
        self._set_timer()

    def _set_timer(self) -> None:
        """Continue when a budget has something left; operations that wait for replies continue after them."""
        heads = [queue[0] for queue in self._queues.values() if queue[0].operation and not self._is_full(queue[0])]
        if self._timer is None and heads:
            waits = [self.budgets[head.budget].wait if head.budget in self.budgets else 0.0 for head in heads]
            self._timer = self._loop.call_later(max(min(waits), self.others.wait) + 0.001, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._pump()

    def _forget(self, item: Waiting) -> None:
        """Count an item that no longer waits."""
        if item.operation:
            self._count, self._bytes = self._count - 1, self._bytes - item.size


def size_of(arguments: Mapping[str, Any]) -> int:
    """Estimate the bytes of the arguments of an operation."""
    total = 0
    for value in arguments.values():
        if isinstance(value, Mapping):
            total += size_of(value)
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            total += sum(map(size_of, value))
        else:
            size = getattr(value, "nbytes", None)
            total += 64 + (size if size is not None else 16 * len(value) if hasattr(value, "__len__") else 0)
    return total
