"""Which vehicles a subscription shows: all of them, or those named by vehicle, fleet or id."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paddock.errors import PaddockError, UnknownNameError, suggestion
from paddock.world.layout import FleetLayout, Ints, Layout

Wanted = tuple[str | int, ...]
"""Names of vehicles and fleets, and ids."""


@dataclass(frozen=True)
class Selection:
    """The chosen vehicles of one layout, fleet by fleet."""

    parts: tuple[tuple[int, Ints | None], ...]  # (fleet, its rows; None: all of them)
    ids: tuple[Ints, ...]  # of each part

    @property
    def size(self) -> int:
        """How many vehicles."""
        return sum(map(len, self.ids))


def select(layout: Layout, wanted: Wanted | None) -> Selection:
    """The vehicles that are wanted and there; one that has left is left out."""
    rows = [_rows(layout, fleet, wanted) for fleet in range(len(layout.fleets))]
    parts = tuple((fleet, chosen) for fleet, chosen in enumerate(rows) if chosen is None or len(chosen))
    ids = tuple(
        layout.fleets[fleet].ids if chosen is None else layout.fleets[fleet].ids[chosen] for fleet, chosen in parts
    )
    return Selection(parts, ids)


def _rows(layout: Layout, fleet: int, wanted: Wanted | None) -> Ints | None:
    """The rows of a fleet that are wanted; None for all of them."""
    one = layout.fleets[fleet]
    if wanted is None or one.name in wanted:
        return None
    by_id = np.flatnonzero(np.isin(one.ids, [item for item in wanted if isinstance(item, int)]))
    by_name = [row for item in wanted if isinstance(item, str) and (row := _member_row(layout, one, item)) is not None]
    return np.union1d(by_id, np.array(by_name, np.int64))


def _member_row(layout: Layout, fleet: FleetLayout, name: str) -> int | None:
    """The row of a vehicle of this fleet; None if it is none."""
    if not name.startswith(f"{fleet.name}["):
        return None
    try:
        return layout.find(name)[1]
    except PaddockError:
        return None


def refuse_unknown(layout: Layout, wanted: Wanted) -> None:
    """UnknownNameError for the first name or id that nothing answers to."""
    fleets = {fleet.name for fleet in layout.fleets}
    for item in wanted:
        if item in fleets:
            continue
        try:
            layout.find(item)
        except PaddockError as error:
            if isinstance(item, str) and "[" not in item:
                raise UnknownNameError(f"unknown vehicle or fleet {item!r}; {suggestion(item, fleets)}") from None
            raise UnknownNameError(str(error)) from None
