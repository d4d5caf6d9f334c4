"""Events of a run, in order."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from paddock.errors import PaddockError, printable
from paddock.world.parts import part, rows, value

if TYPE_CHECKING:
    from paddock.engine.run_state import Run

KEPT = 10_000  # number of events in memory; older ones are dropped and counted
EVENTS_SHOWN = 100  # of one kind at one tick, where many vehicles may have them; a last one counts the rest


@dataclass(frozen=True)
class Event:
    """Something that happened at a tick."""

    number: int  # counts from 1
    tick: int
    # spawned, removed, placed, crashed, contact, disarmed, overlap, not_finite, failsafe, recovered, refused,
    # barrier_timeout, target_lost, ordered, order_ended; of the radio: link_up, link_down, jammed, unjammed, jammer,
    # spoofer, gnss_spoofed, gnss_released, gnss_lost, gnss_regained, network_split, network_joined, unreachable,
    # channel_allocated; of an autopilot: autopilot (a warning), picture,
    # connected, lost, timeout, recovered, rejected, restarted; of a race: those of
    # `paddock.track.race_log.KINDS`; of a mission:
    # mission_planned, replanned, task_added, task_moved, task_removed, task_completed, task_undone, zone_added,
    # zone_removed, joined, damaged, returning, home, diverted, missing, range_low, battery_low, stranded, base_closed
    kind: str
    subject: str  # the vehicle or fleet concerned
    detail: str = ""


@part
class EventState:
    """The events of a run, the newest `KEPT` of them in memory."""

    count: int = value(0, low=0, high=2**53)
    kept: deque[Event] = rows(Event, longest=KEPT, keeps_last=True)


class EventLog:
    """The events of a run, and their listeners."""

    def __init__(self, run: "Run") -> None:
        self._run = run
        self.listeners: list[Callable[[Event], object]] = []

    def on(self, callback: Callable[[Event], object]) -> Callable[[], None]:
        """Call `callback(event)` for every event, from within its tick; return a function that ends it."""
        if not callable(callback):
            raise PaddockError(f"a callback is a function of an event, not {callback!r}")
        self.listeners.append(callback)
        return lambda: self.listeners.remove(callback) if callback in self.listeners else None

    def report(self, tick: int, kind: str, subject: str, detail: str = "") -> None:
        """Add an event and notify the listeners."""
        state = self._run.state.events
        state.count += 1
        event = Event(state.count, tick, printable(kind), printable(subject), printable(detail))
        state.kept.append(event)
        for listener in tuple(self.listeners):
            listener(event)

    def notify(self) -> None:
        """Notify the listeners of all events, of a run that has just begun."""
        for event in tuple(self._run.state.events.kept):
            for listener in tuple(self.listeners):
                listener(event)

    def report_some(self, tick: int, kind: str, subjects: Iterable[tuple[str, str]], count: int, what: str) -> None:
        """Add `count` events (subject, detail): up to `EVENTS_SHOWN`, and one that counts the rest, of `what`."""
        for subject, detail in islice(subjects, EVENTS_SHOWN):
            self.report(tick, kind, subject, detail)
        if count > EVENTS_SHOWN:
            self.report(tick, kind, "", f"{count - EVENTS_SHOWN} more {what}")

    def since(self, number: int = 0) -> list[Event]:
        """Return the kept events after the given number, oldest first."""
        kept = self._run.state.events.kept
        if not kept or kept[-1].number <= number:
            return []
        return [event for event in kept if event.number > number]

    @property
    def count(self) -> int:
        """Number of events of the run."""
        return self._run.state.events.count

    @property
    def dropped(self) -> int:
        """Number of events that are no longer in memory."""
        return self.count - len(self._run.state.events.kept)
