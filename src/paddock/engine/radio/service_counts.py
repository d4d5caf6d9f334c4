"""Counts of packets by service since the start of a run: commands, telemetry, heartbeats, missions.

The channel counts the packets of all services together (`served`). Here each service has its own counts, which do not
depend on the vehicles that are present.
"""

from typing import Any

import numpy as np

from paddock.errors import PaddockError
from paddock.radio.packets import layout as c
from paddock.radio.packets.contents import MOST_SERVED
from paddock.radio.packets.layout import Air, Ints
from paddock.radio.views import ServiceTraffic

SERVICES = ("commands", "telemetry", "heartbeats", "mission")  # in the order of the kinds of packets, from COMMAND on
SENT, DELIVERED, DROPPED = range(3)  # rows of the table


class ServiceCounts:
    """Packets that the services of a run have sent, received and dropped."""

    def __init__(self) -> None:
        self.table: Ints = np.zeros((3, len(SERVICES)), np.int64)

    def posted(self, kind: int, numbers: Ints) -> None:
        """Count packets of a kind by their numbers: 0 for those that a full queue has dropped."""
        self.table[SENT, kind - c.COMMAND] += len(numbers)
        self.table[DROPPED, kind - c.COMMAND] += int((numbers == 0).sum())

    def replaced(self, kind: int, count: int) -> None:
        """Count packets that newer ones have replaced before they were queued."""
        self.table[[SENT, DROPPED], kind - c.COMMAND] += count

    def arrived(self, kind: int, count: int) -> None:
        """Count packets that have arrived."""
        self.table[DELIVERED, kind - c.COMMAND] += count

    def view(self, air: Air) -> dict[str, ServiceTraffic]:
        """Return the counts of each service that has sent packets; `air` holds those under way."""
        found = {}
        waiting = under_way(air).tolist() if self.table[SENT].any() else []
        for k, name in enumerate(SERVICES):
            sent, delivered, dropped = self.table[:, k].tolist()
            if sent:
                lost = max(sent - delivered - dropped - waiting[k], 0)
                found[name] = ServiceTraffic(sent, delivered, lost, dropped, waiting[k])
        return found

    def restore(self, saved: Any) -> None:
        """Load the table of another run; PaddockError if no run can have left it."""
        table = np.asarray(saved)
        good = table.shape == self.table.shape and table.dtype == np.int64
        if not good or (table < 0).any() or (table > MOST_SERVED).any():
            raise PaddockError("saved messages: counts of services are not valid")
        self.table = table.copy()


def under_way(air: Air) -> Ints:
    """Return how many packets of each service are in queues or in the inbox; copies of one packet count once."""
    inbox = air.inbox[: int(air.inbox_count[0])]
    counts, room = air.whole[c.COUNT], air.queue.shape[1]
    radio = np.repeat(np.arange(len(counts)), counts)
    nth = np.arange(len(radio)) - np.repeat(np.cumsum(counts) - counts, counts)  # place in the queue of its radio
    place = (air.whole[c.HEAD, radio] + nth) % room
    mine = air.queue[radio, place, c.KIND] >= c.COMMAND
    queued = air.queue[radio[mine], place[mine]]
    known = (air.seen[queued[:, c.GOAL]] == queued[:, c.NUMBER, None]).any(axis=1)
    queued = queued[~known]  # those that have arrived may still wait for an acknowledgement
    numbers = np.concatenate([queued[:, c.NUMBER], inbox[:, c.IN_NUMBER]])
    kinds = np.concatenate([queued[:, c.KIND], inbox[:, c.IN_KIND]])
    _, first = np.unique(numbers, return_index=True)
    found: Ints = np.bincount(kinds[first] - c.COMMAND, minlength=len(SERVICES))
    return found
