"""The gate between clients and the simulation: a budget for their operations, and queues for those that must wait.

While time passes, the ticking thread spends at most 5 % of its time on clients: 3 % on reads, 2 % on changes. An
operation that takes longer than what is left delays the next until that is paid back; a short burst can be saved up.
Applying commands is part of a tick and has a budget of its own, and so have the other threads of the simulation's
process, which compete with the ticking one for the interpreter. Operations beyond that wait in queues, which take
turns. Equal reads that wait become one. A paused, held or idle simulation has no budget to keep: its replies report no
cost.
"""

import asyncio
import json
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Any, NamedTuple

from paddock.errors import PaddockError
from paddock.wire.operations import OPERATIONS

LOOKS, CHANGES, COMMANDS = 0.03, 0.02, 0.05  # shares of the ticking thread's time
BESIDE = 0.15  # share of a core for the other threads of its process
SAVED = 0.4  # s of wall time whose budget may be spent at once
CHANGES_SAVED = 8.0  # s: the same for changes, of which people make some in quick succession, as a reset and a spawn
LONGEST_WAIT = 4.0  # s of wall time for which work of other threads may delay the next operation
MOST_SENT, MOST_ESTIMATED = 16, 0.01  # operations of a kind without a reply yet, and s that they may take by estimate
UNKNOWN_COST, UNKNOWN_COMMAND = 0.002, 0.0005  # s of the first operation, or command, of a kind
MOST_QUEUED = 256  # operations of one client that may wait
MOST_QUEUED_IN_ALL = 4096
MOST_BYTES = 128 << 20  # bytes of arrays and blobs that may wait, of all clients
AT_ONCE = frozenset(("control", "control_unasked", "step", "step_synchronously"))
"""Operations for which time waits: they wait only for earlier ones of their client."""
CLOCK = frozenset(("run", "stop", "pause", "resume", "pace", "hold", "let_go", "claim", "release"))
"""Operations on the clock, which go before others: they wait only if they themselves use up too much."""
UNKNOWN = {"": (0.0, 0.0), "clock": (0.0, 0.0), "commands": (0.0, 0.0, UNKNOWN_COMMAND)}
UNKNOWN |= dict.fromkeys(("looks", "changes"), (UNKNOWN_COST, 0.0))


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
        """Subtract a cost, or give back a negative one."""
        self.left = max(self.left - seconds, -self._most_debt)

    @property
    def wait(self) -> float:
        """Wall time until something is left, s."""
        return max(0.0, -self.left / self.share) if self.left <= 0.0 else 0.0


class Cost(NamedTuple):
    """Processor time in the simulation's process, s."""

    ticking: float  # of the ticking thread, for this operation
    beside: float  # of other threads
    posted: float = 0.0  # of the ticking thread, for commands that were posted earlier


NOTHING = Cost(0.0, 0.0)


@dataclass(eq=False)
class Waiting:
    """An operation on its way to the simulation, of one client or, for equal reads, of several."""

    operation: str
    client: str
    arguments: dict[str, Any]
    lane: str  # looks, changes, commands, clock, or empty: not limited
    key: tuple[str, str] | None = None  # of a read that can be shared
    answers: list[tuple[str, Then]] = field(default_factory=list)  # (client, its callback)
    sent: bool = False
    size: int = 0  # bytes of arrays and blobs
    reserved: Cost = NOTHING

    def settle(self, outcome: OperationOutcome | OperationError) -> None:
        """Pass the outcome to every client that waits for it."""
        for client, then in self.answers:
            if self.operation == "metadata" and isinstance(outcome, OperationOutcome) and "client" in outcome.result:
                then(outcome._replace(result={**outcome.result, "client": client}))
            else:
                then(outcome)


class OperationGate:
    """Sends operations to the simulation within the budget, client by client in turn, each client's in order."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        send: Callable[[Waiting], None],
        count: Callable[[str], None] = lambda name: None,
    ) -> None:
        """`send(waiting)` passes an operation on; its reply is reported by `settle`. `count` adds to a counter."""
        now = monotonic()
        self.budgets = {
            "looks": Budget(LOOKS, now),
            "changes": Budget(CHANGES, now, CHANGES_SAVED),
            "commands": Budget(COMMANDS, now),
            "beside": Budget(BESIDE, now, longest_wait=LONGEST_WAIT),  # operations on the clock wait for it
        }
        self._loop, self._send, self._counted = loop, send, count
        self._queues: dict[str, deque[Waiting]] = {}  # by client; the first one's turn is next
        self._reads: dict[tuple[str, str], Waiting] = {}  # waiting reads by operation and arguments
        self._costs: dict[str, Cost] = {}  # recent mean by operation, or the last one if that is more
        self._unanswered: Counter[str] = Counter()  # operations on their way, by name
        self._count = self._bytes = 0  # of waiting operations
        self._timer: asyncio.TimerHandle | None = None

    def ask(self, operation: str, client: str, arguments: dict[str, Any], then: Then) -> None:
        """Send an operation now or later; refuse it if too many wait."""
        where = OPERATIONS[operation].entry.where
        key = (operation, json.dumps(arguments, sort_keys=True, default=repr)) if where == "read" else None
        queue = self._waiting(client)
        same = None if key is None else self._reads.get(key)
        if same is not None and (not queue or queue[-1] is same):
            self._counted("shared_reads")
            same.answers.append((client, then))
            if not queue:
                self._queues[client] = deque([same])
            return
        item = Waiting(operation, client, arguments, lane_of(operation), key, [(client, then)])
        if not queue and not self._is_waited_for(item.lane) and self._funded(item, monotonic()):
            self._pass_on(item)
        elif (refusal := self._refusal(item, queue)) is not None:
            self._counted("refused_operations")
            then(OperationError("PaddockError", refusal))
        else:
            self._queue(item)

    def gone(self, client: str, then: Callable[[], None]) -> None:
        """Drop the waiting reads and changes of a client that has left; call `then` after its commands."""
        queue = self._queues.pop(client, deque())
        kept = deque(item for item in queue if not item.sent and item.lane in ("commands", "clock", ""))
        for item in [one for one in queue if not one.sent and one not in kept]:
            if item.key is not None:
                self._hand_over(item, client)
            else:
                self._forget(item)
                item.settle(OperationError("PaddockError", f"{client} has left"))
        if not kept:
            then()
            return
        self._queues[client] = kept
        kept.append(Waiting("", client, {}, "", None, [(client, lambda outcome: then())]))
        self._pump()

    def settle(self, item: Waiting, spent: Cost) -> None:
        """Account for an operation that the simulation has answered."""
        mean = self._costs.get(item.operation) or Cost(*UNKNOWN[item.lane])
        now = (max(new, 0.8 * old + 0.2 * new) for old, new in zip(mean, spent, strict=True))
        self._costs[item.operation] = Cost(*now)
        self._unanswered[item.operation] -= 1
        self._charge(item.lane, Cost(*(new - old for new, old in zip(spent, item.reserved, strict=True))))
        if self._queues:
            self._pump()

    def _waiting(self, client: str) -> deque[Waiting]:
        """Return what a client waits for, without reads that another client's turn has sent."""
        queue = self._queues.get(client, deque())
        while queue and queue[0].sent:
            queue.popleft()
        if not queue:
            self._queues.pop(client, None)
        return queue

    def close(self) -> None:
        """Send nothing any longer."""
        self._queues.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _queue(self, item: Waiting) -> None:
        self._counted("delayed_operations")
        self._count, self._bytes = self._count + 1, self._bytes + item.size
        self._queues.setdefault(item.client, deque()).append(item)
        if item.key is not None:
            self._reads[item.key] = item
        self._set_timer()

    def _refusal(self, item: Waiting, queue: deque[Waiting]) -> str | None:
        """Return why an operation cannot wait; None if it can."""
        item.size = size_of(item.arguments)
        limit = "the simulation spends at most 5 % of its time on clients"
        if len(queue) >= MOST_QUEUED:
            return f"{item.operation} refused: {len(queue)} requests of this client wait already; {limit}"
        if self._count >= MOST_QUEUED_IN_ALL or (self._bytes and self._bytes + item.size > MOST_BYTES):
            return f"{item.operation} refused: {self._count} requests of all clients wait already; {limit}"
        return None

    def _funded(self, item: Waiting, now: float) -> bool:
        """Return whether the budget of an operation has something left, and few of its kind are on their way."""
        lane = item.lane
        if self._awaited(item):
            return False
        for budget in self.budgets.values():
            budget.refill(now)
        beside = self.budgets["beside"].left
        if lane in ("", "clock"):
            return not lane or beside > -SAVED * BESIDE
        return self.budgets[lane].left > 0.0 and beside > 0.0

    def _awaited(self, item: Waiting) -> bool:
        """Return whether an operation waits for replies to others of its kind: only they report their cost."""
        if item.lane not in ("looks", "changes") or not (sent := self._unanswered[item.operation]):
            return False
        cost = self._costs.get(item.operation)
        return cost is None or sent >= MOST_SENT or sent * cost.ticking >= MOST_ESTIMATED

    def _is_waited_for(self, lane: str) -> bool:
        """Return whether another client's operation waits for the same budget."""
        return bool(lane) and any(queue[0].lane == lane for queue in self._queues.values())

    def _charge(self, lane: str, cost: Cost) -> None:
        self.budgets[lane if lane in self.budgets else "commands"].charge(cost.ticking)
        self.budgets["commands"].charge(cost.posted)
        self.budgets["beside"].charge(cost.beside)

    def _pass_on(self, item: Waiting) -> None:
        item.sent = True
        if item.key is not None and self._reads.get(item.key) is item:
            del self._reads[item.key]
        if item.operation:
            item.reserved = self._costs.get(item.operation) or Cost(*UNKNOWN[item.lane])
            self._charge(item.lane, item.reserved)
            self._unanswered[item.operation] += 1
            self._send(item)
        else:  # after the last command of a client that has left
            item.settle(OperationError("PaddockError", ""))

    def _pump(self) -> None:
        """Send what the budget allows, one operation of each client in turn."""
        now, stuck = monotonic(), 0
        while self._queues and stuck < len(self._queues):
            client = next(iter(self._queues))
            queue = self._waiting(client)
            if not queue:
                continue
            del self._queues[client]
            if self._funded(queue[0], now):
                item, stuck = queue.popleft(), 0
                self._forget(item)
                self._pass_on(item)
            else:
                stuck += 1
            if queue:
                self._queues[client] = queue  # at the end: the others come first
        self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is None and (lanes := self._lanes()):
            wait = min(max(self.budgets[lane].wait, self.budgets["beside"].wait) for lane in lanes)
            self._timer = self._loop.call_later(wait + 0.001, self._on_timer)

    def _lanes(self) -> set[str]:
        """Return the budgets that operations wait for; those that wait for replies are sent after them."""
        lanes = {queue[0].lane for queue in self._queues.values() if not self._awaited(queue[0])}
        return {lane if lane in self.budgets else "beside" for lane in lanes}

    def _on_timer(self) -> None:
        self._timer = None
        self._pump()

    def _forget(self, item: Waiting) -> None:
        """Count an item that no longer waits."""
        if item.operation:
            self._count, self._bytes = self._count - 1, self._bytes - item.size

    def _hand_over(self, item: Waiting, client: str) -> None:
        """Leave a waiting read to the other clients that share it; drop it without any."""
        item.answers = [answer for answer in item.answers if answer[0] != client]
        if item.answers:
            item.client = item.answers[0][0]  # it waits for the same
        else:
            self._forget(item)
            self._reads.pop(item.key or ("", ""), None)


def lane_of(operation: str) -> str:
    """Return which budget an operation waits for; empty: none."""
    entry = OPERATIONS[operation].entry
    if operation in AT_ONCE:
        return ""
    if operation in CLOCK:
        return "clock"
    if entry.where == "post":
        return "changes" if entry.slow else "commands"
    return "looks" if entry.where == "read" else "changes"


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
