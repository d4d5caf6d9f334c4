"""Markers on their way to one subscriber: few at a time, so that thousands of them stop nobody."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from paddock.serve.subscribers.marker_records import known_markers

if TYPE_CHECKING:
    from paddock.serve.mirror import Key, Mirror

AT_ONCE = 200
"""Markers encoded in one go."""


class MarkerFeed:
    """What a subscriber has to be told, by key: each marker is sent as it is when its turn comes, if it is there."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, mirror: Mirror, frame: str, put: Callable[[memoryview], None]
    ) -> None:
        self._loop = loop
        self._mirror = mirror
        self._frame = frame
        self._put = put
        self._keys: deque[Key] = deque()
        self._ended = False

    def add(self, keys: Iterable[Key]) -> None:
        """Tell of these, too."""
        waiting = bool(self._keys)
        self._keys.extend(keys)
        if not waiting:
            self._send()

    def end(self) -> None:
        """Tell of nothing any more."""
        self._ended = True

    def _send(self) -> None:
        if self._ended:
            return
        some = [self._keys.popleft() for _ in range(min(AT_ONCE, len(self._keys)))]
        if frame := known_markers(self._mirror, some, self._frame):
            self._put(frame)
        if self._keys:
            self._loop.call_soon(self._send)
