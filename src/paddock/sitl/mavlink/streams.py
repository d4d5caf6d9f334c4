"""Telemetry rates: the groups of REQUEST_DATA_STREAM with their SR0_ parameters, and what is due at a time."""

from collections.abc import Callable, Mapping
from copy import copy
from heapq import heapify, heapreplace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.sitl.mavlink.messages import KNOWN
from paddock.sitl.mavlink.packets import by_id, mav


class StreamGroup(NamedTuple):
    """Messages whose rate is a share of one parameter."""

    parameter: str  # Hz
    shares: Mapping[int, float]
    also: tuple[int, ...] = ()  # sent only if the group is requested


GROUPS: dict[int, StreamGroup] = {  # about 25 messages per second in total
    mav.MAV_DATA_STREAM_RAW_SENSORS: StreamGroup("SR0_RAW_SENS", by_id(RAW_IMU=0.5, SCALED_PRESSURE=0.25)),
    mav.MAV_DATA_STREAM_EXTENDED_STATUS: StreamGroup(
        "SR0_EXT_STAT",
        by_id(SYS_STATUS=0.5, GPS_RAW_INT=1.0, MISSION_CURRENT=0.5, NAV_CONTROLLER_OUTPUT=0.5, FENCE_STATUS=0.25),
        also=(mav.MAVLINK_MSG_ID_POWER_STATUS,),
    ),
    mav.MAV_DATA_STREAM_RC_CHANNELS: StreamGroup("SR0_RC_CHAN", by_id(SERVO_OUTPUT_RAW=0.5, RC_CHANNELS=0.5)),
    mav.MAV_DATA_STREAM_POSITION: StreamGroup("SR0_POSITION", by_id(GLOBAL_POSITION_INT=1.0, LOCAL_POSITION_NED=0.5)),
    mav.MAV_DATA_STREAM_EXTRA1: StreamGroup("SR0_EXTRA1", by_id(ATTITUDE=1.0)),
    mav.MAV_DATA_STREAM_EXTRA2: StreamGroup("SR0_EXTRA2", by_id(VFR_HUD=0.5)),
    mav.MAV_DATA_STREAM_EXTRA3: StreamGroup(
        "SR0_EXTRA3",
        by_id(SYSTEM_TIME=0.25, BATTERY_STATUS=0.25, EKF_STATUS_REPORT=0.25),
        also=(mav.MAVLINK_MSG_ID_VIBRATION,),
    ),
}
UNGROUPED = by_id(HEARTBEAT=1.0, EXTENDED_SYS_STATE=1.0, HOME_POSITION=0.5)  # fixed rates, Hz
GROUP_OF = {id: group for group in GROUPS.values() for id in group.shares}
BY_PARAMETER = {group.parameter: group for group in GROUPS.values()}
EVERY = (*UNGROUPED, *GROUP_OF)  # default streams; other messages are sent on request
Ints = NDArray[np.int64]
SECOND = 1_000_000  # us
SHORTEST = 20_000  # us: telemetry is updated at 50 Hz
LONGEST = 3600 * SECOND
NEVER = 1 << 62
HEARTBEAT = mav.MAVLINK_MSG_ID_HEARTBEAT


class Streams:
    """Message intervals of one vehicle: the defaults, or those of one peer."""

    def __init__(self, rate: Callable[[str], float], offset: int = 0) -> None:
        """`rate(parameter)` in Hz; `offset` spreads the messages of many vehicles over the second."""
        self._rate = rate
        self._offset = offset
        self._intervals: dict[int, int] = {}
        self._next: dict[int, int] = {}
        self.earliest = 0  # us: when the next message is due
        self._asked: set[int] = set()  # messages with a requested interval
        for id in EVERY:
            self._put(id, self._default(id), 0)
        self.restart(0)

    def copy(self) -> "Streams":
        """Return a copy, for a peer that requests rates of its own."""
        own = copy(self)
        own._intervals, own._next, own._asked = dict(self._intervals), dict(self._next), set(self._asked)
        own._queue = list(self._queue)
        return own

    def restart(self, now_us: int) -> None:
        """Restart at a time; requests are kept. The heartbeat is due immediately, the rest is spread."""
        for place, (id, interval) in enumerate(self._intervals.items()):
            spread = ((self._offset * 37 + place * 11) % 50) * interval // 50 if id != HEARTBEAT else 0
            self._next[id] = now_us + spread
        self._look_ahead()

    def save(self) -> Ints:
        """Return id, interval and time of the next message (us) of each, in their order."""
        return np.array([(id, self._intervals[id], at) for id, at in self._next.items()], np.int64).reshape(-1, 3)

    def restore(self, saved: Ints) -> None:
        """Continue with saved intervals and times."""
        self._intervals = {id: interval for id, interval, _ in saved.tolist()}
        self._next = {id: at for id, _, at in saved.tolist()}
        self._look_ahead()

    def due(self, now_us: int) -> list[int]:
        """Return the messages that are due, in a fixed order."""
        if now_us < self.earliest:
            return []
        ready: list[tuple[int, int]] = []
        while self._queue and self._queue[0][0] <= now_us:
            at, place, id = self._queue[0]
            ready.append((place, id))
            self._next[id] = max(at + self._intervals[id], now_us + 1)
            heapreplace(self._queue, (self._next[id], place, id))
        self.earliest = self._queue[0][0]
        return [id for _, id in sorted(ready)]

    def interval(self, id: int) -> int:
        """Return us between two messages, as in MESSAGE_INTERVAL: -1 not streamed, 0 unknown message."""
        return self._intervals.get(id, -1) if id in KNOWN else 0

    def set_interval(self, id: int, interval_us: float, now_us: int) -> bool:
        """SET_MESSAGE_INTERVAL: -1 stops, 0 is the default; False for unknown messages and for stopping HEARTBEAT."""
        if id not in KNOWN or (id == HEARTBEAT and interval_us < 0):
            return False
        (self._asked.add if interval_us else self._asked.discard)(id)
        self._put(id, self._default(id) if interval_us == 0 else interval_us, now_us)
        self._look_ahead()
        return True

    def set_group(self, group: int, rate: float, now_us: int) -> None:
        """REQUEST_DATA_STREAM in Hz, 0 stops; an unknown group is ignored."""
        for number, messages in GROUPS.items():
            for id in (*messages.shares, *messages.also) if group in (number, mav.MAV_DATA_STREAM_ALL) else ():
                self._asked.add(id)
                self._put(id, SECOND / rate if rate > 0 else -1.0, now_us)
        self._look_ahead()

    def use_parameter(self, name: str, now_us: int, newest: bool) -> None:
        """Apply a changed SR0_ parameter; `newest`: also to messages with a requested interval."""
        for id in BY_PARAMETER[name].shares if name in BY_PARAMETER else ():
            if newest or id not in self._asked:
                self._asked.discard(id)
                self._put(id, self._default(id), now_us)
        self._look_ahead()

    def _default(self, id: int) -> float:
        """Return the default interval, us; -1: not streamed."""
        group = GROUP_OF.get(id)
        rate = UNGROUPED.get(id, 0.0) if group is None else self._rate(group.parameter) * group.shares[id]
        return SECOND / rate if rate > 0 else -1.0

    def _put(self, id: int, interval_us: float, now_us: int) -> None:
        if interval_us < 0:
            self._intervals.pop(id, None)
            self._next.pop(id, None)
            return
        self._intervals[id] = round(min(max(interval_us, SHORTEST), LONGEST))
        self._next[id] = now_us

    def _look_ahead(self) -> None:
        self._queue = [(at, place, id) for place, (id, at) in enumerate(self._next.items())]
        heapify(self._queue)
        self.earliest = self._queue[0][0] if self._queue else NEVER
