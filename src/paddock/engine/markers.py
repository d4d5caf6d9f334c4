"""The markers of a simulation, `sim.world.markers`: any thread may put them; they are never part of the state.

A frame is checked when a marker is put in it. If the frame goes stale later, the marker stays until it expires,
but cannot be drawn meanwhile.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf

from paddock.errors import InvalidValueError, PaddockError, UnknownNameError, unknown_name
from paddock.world.markers import Marker, PlacedMarker, checked_id
from paddock.world.transforms import TIME_ROUNDING_S

MAX_MARKERS = 100_000
MAX_POINTS = 5_000_000  # limit of points of all markers together, as they are drawn
MAX_NAMESPACES = 10_000

LOG = logging.getLogger("paddock.markers")


@dataclass(frozen=True)
class MarkerChange:
    """A change of the board. Expired markers cause no change: their `until` is known."""

    kind: str  # put, removed, cleared or visibility
    version: int
    placed: tuple[PlacedMarker, ...] = ()  # the markers that were put or removed, or whose visibility changed
    namespace: str = ""  # the namespace whose visibility changed, or from which markers were removed
    visible: bool = True


class MarkerBoard:
    """Markers by namespace and id. Any thread may use it; listeners block other changes and must be quick."""

    def __init__(self, check_frame: Callable[[str], None], now: Callable[[], float]) -> None:
        """`check_frame(name)` raises a PaddockError for a frame that is unknown or stale; `now()` in simulation s."""
        self.check_frame = check_frame
        self.now = now
        self.listeners: list[Callable[[MarkerChange], None]] = []
        self.version = 0  # +1 when the visible markers change
        self.refused = 0  # number of refused calls of `put`
        self._lock = threading.RLock()
        self._placed: dict[str, dict[int, PlacedMarker]] = {}  # a namespace is known even when it has become empty
        self._hidden: set[str] = set()
        self._count = self._points = 0
        self._shares: Counter[str] = Counter()  # points by source
        self._era = 0  # +1 per restart
        self._next_end = inf  # no marker ends earlier
        self._ordered: list[PlacedMarker] | None = None

    def put(self, *markers: Marker, source: str = "", limits: tuple[int, int] | None = None) -> None:
        """Show markers, replacing those of the same namespace and id; all of them, or none if any is refused.

        `source` is a client, `limits` are the points of its markers and of those of all clients.
        """
        now = self.now()  # waits for a running reset: the markers then belong to the new run
        era = self._era
        try:
            self._check(markers)  # before taking the lock: a restart holds the frames' lock and takes this one
            with self._lock:
                if era != self._era:
                    raise PaddockError("the run was restarted before the markers could be shown: send them again")
                ends = [inf if m.ttl is None else now + m.ttl for m in markers]
                placed = [PlacedMarker(m, now, end, source) for m, end in zip(markers, ends, strict=True)]
                self._put(placed, now, source, limits)
        except PaddockError as error:
            with self._lock:
                self.refused += 1
            LOG.warning("markers%s refused: %s", f" of {source}" if source else "", error)
            raise

    def remove(self, namespace: str | None = None, id: int | None = None) -> int:
        """Remove a marker, a namespace or everything; return the number of removed markers."""
        if namespace is None and id is not None:
            raise InvalidValueError(f"marker {id!r} needs its namespace: remove(namespace, {id!r})")
        if namespace is None:
            return self.clear()
        with self._lock:
            group = self._group(namespace)
            gone = list(group.values()) if id is None else [_found(namespace, group, id)]
            self._take(gone)
            if gone:
                self._notify("removed", tuple(gone), namespace)
            return len(gone)

    def clear(self) -> int:
        """Remove all markers; hidden namespaces stay hidden. Return the number of removed markers."""
        with self._lock:
            gone = self._all()
            self._take(gone)
            self._next_end = inf
            self._notify("cleared")
            return len(gone)

    def show(self, namespace: str, visible: bool = True) -> None:
        """Show or hide a namespace, including its future markers."""
        if not isinstance(visible, bool):
            raise InvalidValueError(f"visible is True or False, not {visible!r}")
        now = self.now()
        with self._lock:
            group = self._group(namespace)
            if visible == (namespace in self._hidden):
                (self._hidden.discard if visible else self._hidden.add)(namespace)
                self._expire(now)
                self._notify("visibility", tuple(group.values()), namespace, visible)

    def alive(self, now: float | None = None, hidden: bool = False) -> list[PlacedMarker]:
        """Return the visible (and `hidden`) markers at a simulation time (s; None: now), by namespace and id."""
        now = self.now() if now is None else now
        with self._lock:
            self._expire(now)
            if self._ordered is None:
                self._ordered = [group[id] for _, group in sorted(self._placed.items()) for id in sorted(group)]
            if hidden or not self._hidden:
                return list(self._ordered)
            return [placed for placed in self._ordered if placed.marker.namespace not in self._hidden]

    def namespaces(self) -> dict[str, bool]:
        """Return every namespace that has been used, and whether it is visible."""
        with self._lock:
            return {name: name not in self._hidden for name in sorted(self._placed)}

    def restart(self, how: str) -> None:
        """Remove all markers on a reset, and on a restore those that expire."""
        with self._lock:
            self._era += 1
            if how == "reset":
                self.clear()
            elif gone := [placed for placed in self._all() if placed.until < inf]:
                self._take(gone)
                self._notify("removed", tuple(gone))

    def _check(self, markers: Sequence[Marker]) -> None:
        """Refuse values that are not markers, and unknown or stale frames; each frame is checked once."""
        for marker in markers:
            if not isinstance(marker, Marker):
                raise InvalidValueError(f"a marker is made by paddock.Marker, not {marker!r}")
        first = {marker.frame: marker for marker in reversed(markers)}
        for frame, marker in reversed(first.items()):
            try:
                self.check_frame(frame)
            except PaddockError as error:
                raise type(error)(f"{marker.name}: {error}") from None

    def _put(
        self, fresh: list[PlacedMarker], now: float, source: str = "", limits: tuple[int, int] | None = None
    ) -> None:
        self._expire(now)
        new = {(placed.marker.namespace, placed.marker.id): placed for placed in fresh}
        old = [known for name, id in new if (known := self._placed.get(name, {}).get(id)) is not None]
        count = self._count + len(new) - len(old)
        points = self._points + _points(new.values()) - _points(old)
        _refuse_more("markers", count, MAX_MARKERS)
        _refuse_more("points", points, MAX_POINTS)
        shares = self._shares + _shares(new.values()) - _shares(old)
        if limits is not None:
            _refuse_more("points of this client", shares[source], limits[0])
            _refuse_more("points of all clients", sum(shares.values()) - shares[""], limits[1])
        names = {name for name, _ in new}
        if len(self._placed) + len(names - self._placed.keys()) > MAX_NAMESPACES:  # drop visible empty ones
            kept = {name: group for name, group in self._placed.items() if group or name in self._hidden}
            _refuse_more("namespaces", len(kept) + len(names - kept.keys()), MAX_NAMESPACES)
            self._placed = kept
        self._count, self._points, self._shares = count, points, shares
        for (name, id), placed in new.items():
            self._placed.setdefault(name, {})[id] = placed
            self._next_end = min(self._next_end, placed.until)
        if new:
            self._notify("put", tuple(new.values()))

    def _expire(self, now: float) -> None:
        if now < self._next_end - TIME_ROUNDING_S:
            return
        gone = [placed for placed in self._all() if now >= placed.until - TIME_ROUNDING_S]
        self._take(gone)
        self._next_end = min((placed.until for placed in self._all()), default=inf)
        self.version += bool(gone)

    def _take(self, gone: list[PlacedMarker]) -> None:
        for placed in gone:
            del self._placed[placed.marker.namespace][placed.marker.id]
        self._count -= len(gone)
        self._points -= _points(gone)
        self._shares = self._shares - _shares(gone)
        self._ordered = None

    def _all(self) -> list[PlacedMarker]:
        return [placed for group in self._placed.values() for placed in group.values()]

    def _group(self, namespace: str) -> dict[int, PlacedMarker]:
        if not isinstance(namespace, str) or namespace not in self._placed:
            raise unknown_name("marker namespace", str(namespace), self._placed)
        return self._placed[namespace]

    def _notify(
        self, kind: str, placed: tuple[PlacedMarker, ...] = (), namespace: str = "", visible: bool = True
    ) -> None:
        self.version += 1
        self._ordered = None
        change = MarkerChange(kind, self.version, placed, namespace, visible)
        for listener in tuple(self.listeners):
            try:
                listener(change)
            except Exception:  # not an error of the caller
                LOG.exception("a listener failed on markers %s", kind)


def _found(namespace: str, group: dict[int, PlacedMarker], id: int) -> PlacedMarker:
    number = checked_id(id)
    if number in group:
        return group[number]
    hint = f"the nearest is {min(group, key=lambda known: abs(known - number))}" if group else "it is empty"
    raise UnknownNameError(f"namespace {namespace!r} has no marker {number}; {hint}")


def _points(placed: Iterable[PlacedMarker]) -> int:
    return sum(marker.marker.drawn_points for marker in placed)


def _shares(placed: Iterable[PlacedMarker]) -> Counter[str]:
    shares: Counter[str] = Counter()
    for marker in placed:
        shares[marker.source] += marker.marker.drawn_points
    return shares


def _refuse_more(what: str, count: int, limit: int) -> None:
    if count > limit:
        raise InvalidValueError(f"{count} {what} exceed the limit of {limit}: remove some, or give them a ttl")
