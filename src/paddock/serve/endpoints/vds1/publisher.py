"""All cars of a snapshot as STATE datagrams, encoded at once."""

from __future__ import annotations

from collections.abc import Mapping as Dict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.serve.endpoints.vds1.mapping import Mapping
from paddock.wire.vds1 import encode_states
from paddock.world.columns import Floats
from paddock.world.layout import FleetLayout, Ints, Layout
from paddock.world.snapshot import Snapshot

NOBODY = np.empty(0, np.int64)


class Group(NamedTuple):
    """Cars with the same columns, of one fleet or of several."""

    mapping: Mapping
    where: NDArray[np.intp]  # (columns, n) words of a snapshot's buffer
    radius: Floats  # (n,) m


class StatePublisher:
    """Knows which words of a snapshot make up which datagram, and how many were sent for each car."""

    def __init__(self, most: int) -> None:
        """For at most so many cars; `left_out` says how many there are beyond them."""
        self.most = most
        self.left_out = 0
        self.not_finite = 0  # values that had to be sent as 0
        self.ids: Ints = NOBODY
        self._sequences = np.zeros(0, np.uint32)
        self._groups: list[Group] = []

    def plan(self, layout: Layout, radii: Dict[str, Floats]) -> None:
        """Send the cars of these fleets from now on, given the radii (n,) of their wheels in m."""
        alike: dict[tuple[str, ...], list[int]] = {}
        for k, fleet in enumerate(layout.fleets):
            if fleet.name in radii and fleet.n:
                alike.setdefault(fleet.columns, []).append(k)
        chosen = [k for fleets in alike.values() for k in fleets]
        ids = np.concatenate([layout.fleets[k].ids for k in chosen]) if chosen else NOBODY
        self.left_out = max(0, len(ids) - self.most)
        self._groups = self._grouped(layout, radii, list(alike.values()))
        self._take_ids(ids[: self.most])

    def _grouped(self, layout: Layout, radii: Dict[str, Floats], alike: list[list[int]]) -> list[Group]:
        groups, room = [], self.most
        for fleets in alike:
            where = np.concatenate([_words(layout, k) for k in fleets], axis=1)[:, :room]
            radius = np.concatenate([radii[layout.fleets[k].name] for k in fleets])[:room]
            groups.append(Group(Mapping(layout.fleets[fleets[0]].columns), where, radius))
            room -= where.shape[1]
        return [group for group in groups if group.where.shape[1]]

    def _take_ids(self, ids: Ints) -> None:
        """Cars that stay go on counting; new ones begin with 0."""
        sequences = np.zeros(len(ids), np.uint32)
        _, before, now = np.intersect1d(self.ids, ids, return_indices=True)
        sequences[now] = self._sequences[before]
        self.ids, self._sequences = ids, sequences

    def encode(self, snapshot: Snapshot) -> NDArray[np.uint8]:
        """(n, 436) bytes: a datagram for every car of a snapshot with the layout that was planned for."""
        words = snapshot.buffer.view(np.float64)
        parts = [group.mapping.values(words[group.where], group.radius) for group in self._groups]
        values = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
        finite = np.isfinite(values)
        if not finite.all():
            self.not_finite += int(np.size(finite) - np.count_nonzero(finite))
            values[~finite] = 0.0
        return encode_states(self.ids, self._sequences, snapshot.time, values)

    def sent(self) -> None:
        """What was encoded last has gone out."""
        self._sequences += np.uint32(1)  # goes on with 0 after 2^32 - 1


def _words(layout: Layout, k: int) -> NDArray[np.intp]:
    """Where each column of each vehicle of a fleet stands, (columns, n), in words of 8 bytes."""
    fleet: FleetLayout = layout.fleets[k]
    first = layout.offsets[k] // 8
    count = len(fleet.columns) * fleet.n
    return np.arange(first, first + count, dtype=np.intp).reshape(len(fleet.columns), fleet.n)
