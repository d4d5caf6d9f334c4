"""Which message is due, in simulated time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy

from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.messages import KNOWN
from paddock.sitl.mavlink.rates import BY_PARAMETER, EVERY, GROUP_OF, GROUPS, UNGROUPED

SECOND = 1_000_000  # us
SHORTEST = 20_000  # us: the telemetry is new 50 times a second
LONGEST = 3600 * SECOND
NEVER = 1 << 62
HEARTBEAT = mav.MAVLINK_MSG_ID_HEARTBEAT


class Streams:
    """The intervals of one vehicle: the usual ones, or those of a station that has asked for others."""

    def __init__(self, rate: Callable[[str, float], float], offset: int = 0) -> None:
        """`rate(parameter, otherwise)` in Hz; `offset` spreads the messages of many vehicles over the second."""
        self._rate = rate
        self._offset = offset
        self._intervals: dict[int, int] = {}
        self._next: dict[int, int] = {}
        self._asked: set[int] = set()  # messages whose interval a station has chosen
        for id in EVERY:
            self._put(id, self._default(id), 0)
        self.restart(0)

    def copy(self) -> Streams:
        """For a station that is about to ask for something else; what it leaves alone goes on as it was."""
        own = copy(self)
        own._intervals, own._next, own._asked = dict(self._intervals), dict(self._next), set(self._asked)
        return own

    def restart(self, now_us: int) -> None:
        """Time begins anew; what stations asked for stays. The first heartbeat comes at once, the rest is spread."""
        for place, (id, interval) in enumerate(self._intervals.items()):
            spread = ((self._offset * 37 + place * 11) % 50) * interval // 50 if id != HEARTBEAT else 0
            self._next[id] = now_us + spread
        self._look_ahead()

    def due(self, now_us: int) -> list[int]:
        """The messages whose time has come, in a fixed order."""
        if now_us < self._earliest:
            return []
        ready = [id for id, at in self._next.items() if at <= now_us]
        for id in ready:
            self._next[id] = max(self._next[id] + self._intervals[id], now_us + 1)
        self._look_ahead()
        return ready

    def interval(self, id: int) -> int:
        """us between two messages, -1: not sent by itself, 0: there is no such message, as MESSAGE_INTERVAL says it."""
        if id not in KNOWN:
            return 0
        return self._intervals.get(id, -1)

    def set_interval(self, id: int, interval_us: float, now_us: int) -> bool:
        """SET_MESSAGE_INTERVAL: -1 stops it, 0 is the default; False if there is no such message or it may not stop."""
        if id not in KNOWN or (id == HEARTBEAT and interval_us < 0):
            return False
        if interval_us == 0:
            self._asked.discard(id)
        else:
            self._asked.add(id)
        self._put(id, self._default(id) if interval_us == 0 else interval_us, now_us)
        self._look_ahead()
        return True

    def set_group(self, group: int, rate: float, now_us: int) -> bool:
        """REQUEST_DATA_STREAM in Hz, 0 stops it; False for a group that there is not."""
        ids: Iterable[int] = GROUPS[group].messages if group in GROUPS else ()
        if group == mav.MAV_DATA_STREAM_ALL:
            ids = [id for each in GROUPS.values() for id in each.messages]
        self._asked.update(ids)
        for id in ids:
            self._put(id, SECOND / rate if rate > 0 else -1.0, now_us)
        self._look_ahead()
        return bool(ids)

    def use_parameter(self, name: str, now_us: int, newest: bool) -> None:
        """A parameter has changed: if it is a rate, its messages follow it; `newest`: also those asked for before."""
        for id in BY_PARAMETER[name].shares if name in BY_PARAMETER else ():
            if newest or id not in self._asked:
                self._asked.discard(id)
                self._put(id, self._default(id), now_us)
        self._look_ahead()

    def _default(self, id: int) -> float:
        """us, -1: not sent by itself."""
        group = GROUP_OF.get(id)
        rate = UNGROUPED.get(id, 0.0) if group is None else self._rate(group.parameter, group.rate) * group.shares[id]
        return SECOND / rate if rate > 0 else -1.0

    def _put(self, id: int, interval_us: float, now_us: int) -> None:
        if interval_us < 0:
            self._intervals.pop(id, None)
            self._next.pop(id, None)
            return
        self._intervals[id] = round(min(max(interval_us, SHORTEST), LONGEST))
        self._next[id] = now_us

    def _look_ahead(self) -> None:
        self._earliest = min(self._next.values(), default=NEVER)
