"""Vehicles by id: one sorted table for a whole roster, looked up without a loop over vehicles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from paddock.errors import InvalidValueError, UnknownNameError
from paddock.world.fleet import Fleet, Ints


class IdIndex:
    """Where the vehicle of each id stands."""

    def __init__(self, fleets: Sequence[Fleet]) -> None:
        """Of these fleets as they are now."""
        ids = np.concatenate([fleet.ids for fleet in fleets] or [np.empty(0, np.int64)])
        order = np.argsort(ids, kind="stable")
        self.fleets = tuple(fleets)
        self._ids = ids[order]
        self._fleet = np.repeat(np.arange(len(fleets)), [fleet.n for fleet in fleets])[order]
        self._row = np.concatenate([np.arange(fleet.n) for fleet in fleets] or [np.empty(0, np.int64)])[order]

    def find(self, number: int) -> tuple[Fleet, Ints]:
        """The fleet and the row of one vehicle."""
        at = int(np.searchsorted(self._ids, number))
        if at == len(self._ids) or self._ids[at] != number:
            raise UnknownNameError(f"no vehicle has the id {number}")
        return self.fleets[self._fleet[at]], self._row[at : at + 1]

    def split(self, ids: ArrayLike) -> list[tuple[Fleet, Ints, Ints]]:
        """(fleet, its rows, which of the given ids they are) for every fleet that any of the ids belongs to."""
        wanted = np.asarray(ids)
        if wanted.ndim != 1 or wanted.dtype.kind not in "iu":
            raise InvalidValueError(f"vehicle ids are a list of whole numbers, not {wanted.dtype} of {wanted.shape}")
        at = np.minimum(np.searchsorted(self._ids, wanted), max(len(self._ids) - 1, 0))
        unknown = wanted[self._ids[at] != wanted] if len(self._ids) else wanted
        if len(unknown):
            raise UnknownNameError(f"no vehicle has the id {unknown[0]}")
        if len(np.unique(wanted)) != len(wanted):
            raise InvalidValueError("a vehicle id appears twice in one command")
        found = self._fleet[at]
        parts = [(k, np.flatnonzero(found == k)) for k in np.unique(found)]
        return [(self.fleets[k], self._row[at[part]], part) for k, part in parts]
