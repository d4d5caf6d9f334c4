"""The stream's frames in shared memory: encoded once into a ring for any number of local renderers."""

import asyncio
from typing import Any

from paddock.serve.hub import Endpoint, Hub, Send
from paddock.serve.subscribers.groups import DRAWN, U32, GroupEncoder
from paddock.serve.subscribers.subscription import View
from paddock.world.ring import FrameRingWriter
from paddock.world.snapshot import Snapshot

SOON = 0.02  # s after which changed markers are drawn, so that changes are collected


class ShmServer(Endpoint):
    """Writes one view for all readers."""

    name = "shm"

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        super().__init__(hub, every)
        self._ring_name = str(options["name"])
        self.view = View(frame=options["frame"], kinds=tuple(options["kinds"]))
        self._encoder = GroupEncoder(hub.mirror)
        self._ring: FrameRingWriter | None = None
        self._again: asyncio.TimerHandle | None = None

    async def open(self) -> dict[str, Any]:
        self._ring = FrameRingWriter(self._ring_name)
        return {"name": self._ring_name}

    def prepare(self, snapshot: Snapshot, wall_time: float) -> Send | None:
        """Encode into the next slot, which readers do not see before it is published."""
        ring = self._ring
        if ring is None:
            return None
        warming = self._encoder.warm_for(snapshot.layout, self.hub.loop)
        if warming is not None and not warming.done():
            self._again = self._again or self.hub.loop.call_later(SOON, self._show_again)
            return None
        size = self._encoder.write(snapshot, wall_time, self.view, ring.slot)
        moment = (snapshot.tick, snapshot.time, wall_time, snapshot.run & U32, snapshot.roster & U32)

        def send() -> None:
            ring.publish(size, *moment)
            self.count("groups")

        return send

    def on_push(self, kind: str, content: dict[str, Any]) -> None:
        """Publish the newest snapshot again when markers change."""
        drawn = not set(DRAWN).isdisjoint(self.view.kinds)
        if drawn and kind in ("markers", "hidden", "frames") and self._again is None:
            self._again = self.hub.loop.call_later(SOON, self._show_again)

    def _show_again(self) -> None:
        self._again = None
        sequence = self.hub.ring.newest
        snapshot = self.hub.ring.peek(sequence)
        if snapshot is not None:
            send = self.prepare(snapshot, self.hub.ring.wall_time)
            if send is not None and self.hub.ring.holds(sequence):
                send()

    async def close(self) -> None:
        """Notify the readers and remove the ring."""
        if self._again is not None:
            self._again.cancel()
        if self._ring is not None:
            self._ring.close()
            self._ring = None


ENDPOINT = ShmServer
