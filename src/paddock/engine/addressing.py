"""Whom an order is for: names and ids, as rows of fleets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from paddock.engine.actions import Target
from paddock.errors import InvalidValueError
from paddock.world.fleet import Fleet, Ints
from paddock.world.world import World


class Addressees(NamedTuple):
    """Vehicles, fleet by fleet."""

    parts: list[tuple[str, Ints, Ints]]  # fleet, rows ascending, and the places at which they were named
    named: int  # how many were named, the members of a fleet one by one

    @property
    def repeated(self) -> bool:
        """Whether any was named twice."""
        return sum(len(rows) for _, rows, _ in self.parts) < self.named


def addressed(world: World, target: Target) -> Addressees:
    """All vehicles of a target; an unknown one is refused."""
    if isinstance(target, str | int | np.integer):
        fleet, rows = world.find(target)
        return Addressees([(fleet.name, rows, np.arange(len(rows)))], len(rows))
    if not isinstance(target, Sequence | np.ndarray):
        raise InvalidValueError(f"an order is for a name, an id, or a list of them, not {target!r}")
    if not len(target):
        raise InvalidValueError("an order needs at least one vehicle: the list is empty")
    return _all_of(world, target)


def _all_of(world: World, targets: Sequence[str | int] | Ints) -> Addressees:
    if isinstance(targets, np.ndarray):
        ids, named = targets.reshape(-1), {}
        first, count = np.arange(len(ids)), len(ids)
    else:
        # each name was written by hand; whoever has many gives ids
        named = {k: world.find(one) for k, one in enumerate(targets) if not _is_id(one)}
        ids = np.array([one for k, one in enumerate(targets) if k not in named], np.int64)
        widths = np.ones(len(targets), np.int64)
        widths[list(named)] = [len(rows) for _, rows in named.values()]
        first, count = np.cumsum(widths) - widths, int(widths.sum())
    numbered = np.delete(first, list(named))  # the places of the ids
    found = [*_by_id(world, ids, numbered)]
    found += [(fleet, rows, first[k] + np.arange(len(rows))) for k, (fleet, rows) in named.items()]
    return Addressees(_by_fleet(found), count)


def _by_id(world: World, ids: Ints, places: Ints) -> Iterator[tuple[Fleet, Ints, Ints]]:
    if len(ids):
        distinct, at = np.unique(ids, return_index=True)
        for fleet, rows, part in world.ids.split(distinct):
            yield fleet, rows, places[at[part]]


def _by_fleet(found: list[tuple[Fleet, Ints, Ints]]) -> list[tuple[str, Ints, Ints]]:
    """One part per fleet, each vehicle once, where it was found first."""
    parts = []
    for name in sorted({fleet.name for fleet, _, _ in found}):
        own = [(rows, places) for fleet, rows, places in found if fleet.name == name]
        rows, at = np.unique(np.concatenate([rows for rows, _ in own]), return_index=True)
        parts.append((name, rows, np.concatenate([places for _, places in own])[at]))
    return parts


def plain_target(target: Any) -> Target:
    """Whom an order is for, in values of its own that can be saved: whole numbers as an array."""
    if isinstance(target, str):
        return target
    if isinstance(target, int | np.integer):
        return int(target)
    if all(map(_is_id, target)):
        return np.array(target, np.int64)
    return [int(one) if _is_id(one) else str(one) for one in target]


def _is_id(one: Any) -> bool:
    return isinstance(one, int | np.integer) and not isinstance(one, bool)
