"""The markers that are shown now: put by any thread, seen by whoever listens, never part of the state.

A frame is checked when a marker is put in it. If it leaves or goes stale later, the marker stays on the board until its
time is over: whoever draws it cannot place it meanwhile, and can again when the frame is back.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf

from paddock.errors import InvalidValueError, PaddockError, UnknownNameError, unknown_name
from paddock.world.markers import Marker, checked_id
from paddock.world.transforms import TIME_ROUNDING_S

MAX_MARKERS = 100_000
MAX_POINTS = 10_000_000
"""Vertices of all markers together."""
MAX_NAMESPACES = 10_000

LOG = logging.getLogger("paddock.markers")


@dataclass(frozen=True)
class Placed:
    """A marker on the board."""

    marker: Marker
    since: float
    """When it was put, simulation s."""
    until: float
    """The simulation time (s) from which on it is gone; infinite if it stays until it is removed."""


@dataclass(frozen=True)
class MarkerChange:
    """What happened to the board. Markers whose time is over are not told: their `until` said so."""

    kind: str
    """put, removed, cleared or visibility."""
    version: int
    placed: tuple[Placed, ...] = ()
    """What was put or removed."""
    namespace: str = ""
    """Whose visibility changed, or what was removed from."""
    visible: bool = True


class MarkerBoard:
    """Markers by namespace and id, each until its time is over. Any thread may use it.

    Listeners are called in the order of the changes, while no other thread can change the board: they shall be quick.
    """

    def __init__(self, check_frame: Callable[[str], None]) -> None:
        """`check_frame(name)` raises a PaddockError for a frame that is unknown or stale now."""
        self.check_frame = check_frame
        self.listeners: list[Callable[[MarkerChange], None]] = []
        self.version = 0
        """Grows whenever what is shown changes."""
        self.refused = 0
        """How often markers were refused."""
        self._lock = threading.RLock()
        self._placed: dict[str, dict[int, Placed]] = {}  # a namespace is known even when it has become empty
        self._hidden: set[str] = set()
        self._count = self._points = 0
        self._era = 0  # +1 per restart
        self._next_end = inf  # no marker ends earlier
        self._ordered: list[Placed] | None = None

    def put(self, markers: Sequence[Marker], now: float, source: str = "") -> None:
        """Show these, in place of those of the same namespace and id: all of them, or none if any is refused."""
        era = self._era
        try:
            self._check(markers)  # before the lock: whoever restarts the run holds the frames' lock and wants this one
            with self._lock:
                if era != self._era:
                    raise PaddockError("the run was restarted before the markers could be shown: send them again")
                self._put([Placed(m, now, inf if m.ttl is None else now + m.ttl) for m in markers], now)
        except PaddockError as error:
            with self._lock:
                self.refused += 1
            LOG.warning("markers%s refused: %s", f" of {source}" if source else "", error)
            raise

    def remove(self, namespace: str, id: int | None = None) -> int:
        """Take a marker, or a whole namespace, off the board; returns how many that were."""
        with self._lock:
            group = self._group(namespace)
            gone = list(group.values()) if id is None else [_found(namespace, group, id)]
            self._take(gone)
            if gone:
                self._tell("removed", tuple(gone), namespace)
            return len(gone)

    def clear(self) -> None:
        """Take everything off the board; hidden namespaces stay hidden."""
        with self._lock:
            self._take(self._all())
            self._next_end = inf
            self._tell("cleared")

    def show(self, namespace: str, visible: bool = True) -> None:
        """Show or hide a namespace: what is in it now, and what will be."""
        if not isinstance(visible, bool):
            raise InvalidValueError(f"visible is True or False, not {visible!r}")
        with self._lock:
            self._group(namespace)
            if visible == (namespace in self._hidden):
                (self._hidden.discard if visible else self._hidden.add)(namespace)
                self._tell("visibility", (), namespace, visible)

    def alive(self, now: float, hidden: bool = False) -> list[Placed]:
        """What is shown at a simulation time (s), by namespace and id; with what is hidden too if asked for."""
        with self._lock:
            self._expire(now)
            if self._ordered is None:
                self._ordered = [group[id] for _, group in sorted(self._placed.items()) for id in sorted(group)]
            if hidden or not self._hidden:
                return list(self._ordered)
            return [placed for placed in self._ordered if placed.marker.namespace not in self._hidden]

    def namespaces(self) -> dict[str, bool]:
        """Every namespace that has been used, and whether it is visible."""
        with self._lock:
            return {name: name not in self._hidden for name in sorted(self._placed)}

    def restart(self, how: str) -> None:
        """The run begins anew: nothing outlives a reset; after a restore only what has no end is still true."""
        with self._lock:
            self._era += 1
            if how == "reset":
                self.clear()
            elif gone := [placed for placed in self._all() if placed.until < inf]:
                self._take(gone)
                self._tell("removed", tuple(gone))

    def _check(self, markers: Sequence[Marker]) -> None:
        """Refuse what is no marker, and frames in which nothing can be shown; each frame is looked at once."""
        for marker in markers:
            if not isinstance(marker, Marker):
                raise InvalidValueError(f"a marker is made by paddock.Marker, not {marker!r}")
        first = {marker.frame: marker for marker in reversed(markers)}
        for frame, marker in reversed(first.items()):
            try:
                self.check_frame(frame)
            except PaddockError as error:
                raise type(error)(f"{marker.name}: {error}") from None

    def _put(self, fresh: list[Placed], now: float) -> None:
        self._expire(now)
        new = {(placed.marker.namespace, placed.marker.id): placed for placed in fresh}
        old = [found for name, id in new if (found := self._placed.get(name, {}).get(id)) is not None]
        count = self._count + len(new) - len(old)
        points = self._points + _points(new.values()) - _points(old)
        _refuse_more("markers", count, MAX_MARKERS)
        _refuse_more("points", points, MAX_POINTS)
        self._make_room({name for name, _ in new})
        self._count, self._points = count, points
        for (name, id), placed in new.items():
            self._placed.setdefault(name, {})[id] = placed
            self._next_end = min(self._next_end, placed.until)
        if new:
            self._tell("put", tuple(new.values()))

    def _make_room(self, names: set[str]) -> None:
        """Know no more namespaces than allowed; of those that are empty the visible ones can be forgotten."""
        if len(self._placed) + len(names - self._placed.keys()) > MAX_NAMESPACES:
            kept = {name: group for name, group in self._placed.items() if group or name in self._hidden}
            _refuse_more("namespaces", len(kept) + len(names - kept.keys()), MAX_NAMESPACES)
            self._placed = kept

    def _expire(self, now: float) -> None:
        if now < self._next_end - TIME_ROUNDING_S:
            return
        gone = [placed for placed in self._all() if now >= placed.until - TIME_ROUNDING_S]
        self._take(gone)
        self._next_end = min((placed.until for placed in self._all()), default=inf)
        self.version += bool(gone)

    def _take(self, gone: list[Placed]) -> None:
        for placed in gone:
            del self._placed[placed.marker.namespace][placed.marker.id]
        self._count -= len(gone)
        self._points -= _points(gone)
        self._ordered = None

    def _all(self) -> list[Placed]:
        return [placed for group in self._placed.values() for placed in group.values()]

    def _group(self, namespace: str) -> dict[int, Placed]:
        if not isinstance(namespace, str) or namespace not in self._placed:
            raise unknown_name("marker namespace", str(namespace), self._placed)
        return self._placed[namespace]

    def _tell(self, kind: str, placed: tuple[Placed, ...] = (), namespace: str = "", visible: bool = True) -> None:
        self.version += 1
        self._ordered = None
        change = MarkerChange(kind, self.version, placed, namespace, visible)
        for listener in tuple(self.listeners):
            try:
                listener(change)
            except Exception:  # whoever put the marker can do nothing about it
                LOG.exception("a listener failed on markers %s", kind)


def _found(namespace: str, group: dict[int, Placed], id: int) -> Placed:
    number = checked_id(id)
    if number in group:
        return group[number]
    hint = f"the nearest is {min(group, key=lambda known: abs(known - number))}" if group else "it has none"
    raise UnknownNameError(f"namespace {namespace!r} has no marker {number}; {hint}")


def _points(placed: Iterable[Placed]) -> int:
    return sum(len(one.marker.vertices) for one in placed)


def _refuse_more(what: str, count: int, limit: int) -> None:
    if count > limit:
        raise InvalidValueError(
            f"there would be {count} {what}, and {limit} can be shown: remove some, or give them a ttl"
        )
