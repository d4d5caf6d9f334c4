"""Facts: results of reads that the simulation pushes to the hub, where they are answered without the ticking thread.

A fact is the result of one read with given arguments. The hub asks for it with the first such read (`FactMirror`).
While clients keep reading it and time passes, the simulation pushes it again when it has changed, at most `RATE` times
per second (`FactPublisher`). Handlers copy between two ticks what they need; a thread computes and encodes the rest.
The time for both is limited, whatever clients ask for.

Each fact carries the time (ns, monotonic) at which it was copied. A client gets one that is newer than its own last
change and than the last push (event, restart, markers, roster); while the run is at rest, one of the present state.
Reads of the kind `read` are copied for each question, and are not kept: saves, hashes, surveys of the radio.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from math import inf
from time import monotonic, monotonic_ns, thread_time
from typing import TYPE_CHECKING, Any, NamedTuple

from paddock.errors import PaddockError
from paddock.wire.operations import OPERATIONS

if TYPE_CHECKING:
    from paddock.serve.host import Source

RATE = 30.0  # pushes of a fact per second at most
KEPT = 10.0  # s for which a fact is pushed after it was last asked for
RENEWED = 4.0  # s after which the hub asks again for a fact that clients still read
VISIT = 0.0005  # s between two ticks after which further facts wait for the next visit
TICKING, BESIDE = 0.002, 0.04  # shares of the ticking thread's time, and of a core for a publishing thread
SAVED = 2.0  # s of wall time whose share may be spent at once
MOST_FACTS = 512  # known to a hub
MOST_OPEN = 32  # facts that the simulation has been asked for and has not sent yet
MOST_WAITING = 256  # reads of a client that wait
UNCHANGED = object()


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

    def __init__(self, share: float, now: float, saved: float, longest_wait: float = inf) -> None:
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
class PublishedFact:
    """A fact that the hub has asked for."""

    number: int  # of the hub
    operation: str
    arguments: Mapping[str, Any]
    until: float = 0.0  # monotonic s: end of its pushes
    due: float = 0.0  # monotonic s: its next push
    version: Any = None  # of what was sent last

    def renew(self) -> None:
        """Push it for a while from now on."""
        self.until = monotonic() + KEPT

    def copied(self, source: "Source") -> Any:
        """Return what it needs, copied in the ticking thread; the error of a read that is refused."""
        try:
            present = source.version(self.operation)
            if self.until and present == self.version and present is not None:
                return UNCHANGED
            copied = source.handler(self.operation)("", **self.arguments)
            self.version = present
            return copied
        except Exception as error:
            self.version = None
            return error

    def message(self, at: int, tick: int, time: float) -> dict[str, Any]:
        """Return the begin of its message, of a time (ns), a tick and a simulation time (s); the next is due later."""
        self.due = monotonic() + 1.0 / RATE
        return {"fact": self.number, "at": at, "tick": tick, "time": time}


class FactPublisher:
    """Sends facts to one hub, from a thread of its own."""

    def __init__(self, source: "Source", send: Callable[[dict[str, Any]], None], name: str) -> None:
        self._source, self._send = source, send
        self._asked: deque[PublishedFact] = deque()
        self._kept: dict[int, PublishedFact] = {}
        self._change = threading.Condition()
        self._closed = False
        self._ticking, self._beside = Budget(TICKING, monotonic(), SAVED), Budget(BESIDE, monotonic(), SAVED)
        self._thread = threading.Thread(target=self._run, name=f"paddock-{name}", daemon=True)
        self._thread.start()

    def ask(self, number: int, operation: str, arguments: Mapping[str, Any]) -> None:
        """Send a fact soon, and again when it changes."""
        with self._change:
            fact = self._kept.get(number) or PublishedFact(number, operation, arguments)
            if OPERATIONS[operation].entry.handling == "fact":
                fact.renew()
                self._kept[number] = fact
            self._asked.append(fact)
            self._change.notify_all()

    def close(self) -> None:
        """Send nothing any longer."""
        with self._change:
            self._closed = True
            self._change.notify_all()

    def _run(self) -> None:
        while not self._closed:
            with self._change:
                self._change.wait_for(lambda: self._closed or self._asked, self._pause())
                facts = self._due()
            if facts and not self._closed:
                self._publish(facts)
                self._rest()

    def _pause(self) -> float | None:
        """Return the time until the next push of a kept fact, s; None without any."""
        if not self._kept or not self._source.ticking:
            return 1.0 if self._kept else None
        return max(0.0, min(fact.due for fact in self._kept.values()) - monotonic())

    def _due(self) -> list[PublishedFact]:
        """Take the facts that were asked for, and those that are due while time passes."""
        now = monotonic()
        for number in [number for number, fact in self._kept.items() if fact.until < now]:
            del self._kept[number]
        facts = dict.fromkeys(self._asked)
        self._asked.clear()
        if self._source.ticking:
            facts |= dict.fromkeys(fact for fact in self._kept.values() if fact.due <= now)
        return list(facts)

    def _publish(self, facts: list[PublishedFact]) -> None:
        began, ticking = thread_time(), 0.0

        def copy() -> tuple[int, int, float, float, list[Any]]:
            started, source = thread_time(), self._source
            at, copies = monotonic_ns(), list[Any]()
            for fact in facts:
                copies.append(fact.copied(source))
                if thread_time() - started > VISIT:
                    break
            return at, source.watched.tick, source.watched.time, thread_time() - started, copies

        done = self._source.read(copy)
        while not done.done():
            wait([done], 0.5)
            if self._closed:
                return
        try:
            at, tick, time, ticking, copies = done.result()
        except Exception as error:  # the run has ended
            at, tick, time, copies = monotonic_ns(), 0, 0.0, [error] * len(facts)
        with self._change:
            self._asked.extendleft(reversed(facts[len(copies) :]))
        for fact, copied in zip(facts, copies, strict=False):
            message = fact.message(at, tick, time)
            self._send(message if copied is UNCHANGED else message | self._result(copied))
        self._ticking.charge(ticking)
        self._beside.charge(thread_time() - began)

    def _result(self, copied: Any) -> dict[str, Any]:
        try:
            if isinstance(copied, Exception):
                raise copied
            result = copied() if callable(copied) else copied
            return {"result": result.result() if isinstance(result, Future) else result}
        except Exception as error:
            self._source.count_refused()
            return {"error": error_tree(error)}

    def _rest(self) -> None:
        """Wait until what clients have used of the processor is paid back."""
        now = monotonic()
        self._ticking.refill(now)
        self._beside.refill(now)
        if self._source.ticking and (seconds := max(self._ticking.wait, self._beside.wait)) > 0.0:
            with self._change:
                self._change.wait_for(lambda: self._closed, seconds)


def error_tree(error: BaseException) -> dict[str, str]:
    """Return an error for the hub: its kind, and one line."""
    if isinstance(error, MemoryError):
        error = PaddockError("not enough memory; nothing was changed")
    kind = type(error).__name__ if isinstance(error, PaddockError) else "InternalError"
    return {"kind": kind, "message": str(error) or type(error).__name__}


@dataclass(eq=False)
class MirroredFact:
    """A fact as the hub knows it."""

    number: int
    operation: str
    arguments: dict[str, Any]
    outcome: OperationOutcome | OperationError | None = None
    at: int = 0  # ns: when it was copied
    asked: float = 0.0  # monotonic s: when the simulation was last asked for it
    is_open: bool = False  # whether the simulation is about to send it
    waiting: list[tuple[int, str, Then]] = field(default_factory=list)
    """Reads that wait for it: oldest valid time in ns, client, its callback."""

    def leave(self, client: str) -> None:
        """Drop the reads of a client that has left."""
        self.waiting = [reader for reader in self.waiting if reader[1] != client]

    def open(self) -> dict[str, Any]:
        """Return the message that asks the simulation for it."""
        self.is_open, self.asked = True, monotonic()
        return {"ask": self.number, "operation": self.operation, "arguments": self.arguments}

    def receive(self, message: Mapping[str, Any]) -> list[tuple[str, Then, OperationOutcome | OperationError]]:
        """Take the simulation's message; return the clients whose reads it answers, their callbacks and the outcome."""
        self.is_open, self.at, tick, time = False, message["at"], message["tick"], message["time"]
        if "error" in message:
            self.outcome = OperationError(message["error"]["kind"], message["error"]["message"])
        elif "result" in message:
            self.outcome = OperationOutcome(message["result"], tick, time)
        elif isinstance(self.outcome, OperationOutcome):
            self.outcome = self.outcome._replace(tick=tick, time=time)
        outcome, waiting = self.outcome, self.waiting
        self.waiting = [reader for reader in waiting if reader[0] > self.at]
        if OPERATIONS[self.operation].entry.handling == "read":
            self.outcome = None
        return [(client, then, outcome) for oldest, client, then in waiting if oldest <= self.at and outcome]


class FactMirror:
    """The facts that the hub knows; answers reads."""

    def __init__(self, send: Callable[[dict[str, Any]], None], changed_at: Callable[[], int | None]) -> None:
        """`changed_at` returns when the state last changed (ns) if the run is at rest, None while time passes."""
        self._send, self._changed_at = send, changed_at
        self._facts: dict[tuple[str, str], MirroredFact] = {}  # by operation and arguments; the last read comes last
        self._numbers: dict[int, tuple[str, str]] = {}
        self._changes: dict[str, int] = {}  # client -> ns of its last change
        self._queues: dict[str, deque[MirroredFact]] = {}  # client -> facts to be asked for
        self._open = self._number = 0
        self._pushed_at = 0  # ns of the last push

    def mark_pushed(self) -> None:
        """Read nothing older than the push that has arrived now."""
        self._pushed_at = monotonic_ns()

    def changed(self, client: str, at: int) -> None:
        """Let a client read nothing older than its own change."""
        self._changes[client] = at

    def gone(self, client: str) -> None:
        """Forget a client that has left, and its reads."""
        self._changes.pop(client, None)
        self._queues.pop(client, None)
        for fact in self._facts.values():
            fact.leave(client)
            if not fact.is_open and fact.waiting:  # asked for by the client that has left
                self._ask(fact, fact.waiting[0][1])

    def read(self, operation: str, client: str, arguments: dict[str, Any], then: Then, fresh: bool = False) -> None:
        """Answer a read now, or as soon as the simulation has sent the fact; `fresh`: copied from now on."""
        entry = OPERATIONS[operation].entry
        if since := arguments.get("since", 0):  # one fact for all who read what is new to them
            arguments, then = {**arguments, "since": 0}, _newer(since, then)
        key = (operation, repr(sorted(arguments.items())))
        fact = self._facts.pop(key, None) or self._new(key, operation, arguments)
        self._facts[key] = fact
        oldest = monotonic_ns() if fresh or entry.handling == "read" else self._oldest(client)
        if fact.outcome is not None and fact.at >= oldest:
            if monotonic() - fact.asked > RENEWED:
                self._ask(fact, client)
            then(personal(entry.personal, fact.outcome, client))
        elif len(fact.waiting) >= MOST_WAITING and sum(reader[1] == client for reader in fact.waiting) >= MOST_WAITING:
            then(OperationError("PaddockError", f"{operation} refused: {MOST_WAITING} equal requests wait already"))
        else:
            fact.waiting.append((oldest, client, then))
            self._ask(fact, client)

    def receive(self, message: dict[str, Any]) -> bool:
        """Take a fact, and answer the reads that wait for it; return whether an error was sent."""
        fact = self._facts.get(self._numbers.get(message["fact"], ("", "")))
        if fact is None:
            return False
        self._open -= fact.is_open
        for client, then, outcome in fact.receive(message):
            then(personal(OPERATIONS[fact.operation].entry.personal, outcome, client))
        if fact.waiting:
            self._ask(fact, fact.waiting[0][1])
        self._ask_next()
        return "error" in message

    def _oldest(self, client: str) -> int:
        """Return the time (ns) from which on a fact is valid for a client."""
        at_rest = self._changed_at()
        return max(self._changes.get(client, 0), self._pushed_at if at_rest is None else at_rest)

    def _new(self, key: tuple[str, str], operation: str, arguments: dict[str, Any]) -> MirroredFact:
        """Add a fact in place of the one that was not read for the longest time."""
        if len(self._facts) >= MOST_FACTS:
            idle = next((key for key, fact in self._facts.items() if not (fact.waiting or fact.is_open)), None)
            if idle is not None:
                del self._numbers[self._facts.pop(idle).number]
        self._number += 1
        self._numbers[self._number] = key
        return MirroredFact(self._number, operation, arguments)

    def _ask(self, fact: MirroredFact, client: str) -> None:
        """Ask the simulation for a fact; clients take turns."""
        if not fact.is_open and not any(fact in queue for queue in self._queues.values()):
            self._queues.setdefault(client, deque()).append(fact)
            self._ask_next()

    def _ask_next(self) -> None:
        while self._queues and self._open < MOST_OPEN:
            client = next(iter(self._queues))
            queue = self._queues.pop(client)
            fact = queue.popleft()
            if queue:
                self._queues[client] = queue  # at the end: the others come first
            self._open += 1
            try:
                self._send(fact.open())
            except (TypeError, ValueError, OverflowError) as error:  # an argument that no message can contain
                message = {"kind": "PaddockError", "message": f"{fact.operation}: {error}"}
                self.receive({"fact": fact.number, "at": monotonic_ns(), "tick": 0, "time": 0.0, "error": message})


def _newer(since: int, then: Then) -> Then:
    """Return a callback for the items of a list that have a higher number."""

    def newer(outcome: OperationOutcome | OperationError) -> None:
        if isinstance(outcome, OperationOutcome):
            outcome = outcome._replace(result=[item for item in outcome.result if item["number"] > since])
        then(outcome)

    return newer


def personal(
    is_personal: bool, outcome: OperationOutcome | OperationError, client: str
) -> OperationOutcome | OperationError:
    """Return an outcome with the client's name, where it has a field for it."""
    if is_personal and isinstance(outcome, OperationOutcome):
        return outcome._replace(result={**outcome.result, "client": client})
    return outcome
