"""Names and ids are unique across a scenario, ranges of ids included."""

from __future__ import annotations

import re
from itertools import pairwise

from paddock.scenario.base import trouble
from paddock.scenario.vehicle import VehicleEntry

Entries = tuple[VehicleEntry, ...]


def check_names(vehicles: Entries) -> None:
    """Refuse the second of two equal names, naming the place of the first."""
    first: dict[str, int] = {}
    for index, entry in enumerate(vehicles):
        if not entry.name:
            continue
        if entry.name in first:
            other = ("vehicles", first[entry.name], "name")
            raise trouble(f"name {entry.name!r} is already used at {{other}}", (index, "name"), other)
        first[entry.name] = index


def check_ids(vehicles: Entries) -> None:
    """Refuse ids that two entries claim; an entry with a count claims as many from its id on."""
    spans = sorted((entry.id, index) for index, entry in enumerate(vehicles) if entry.id is not None)
    for (low, one), (high, two) in pairwise(spans):
        if high < low + vehicles[one].count:
            early, late = sorted((one, two))
            message = f"id {high} is already used at {{other}}{_range(vehicles[early])}"
            raise trouble(message, (late, "id"), ("vehicles", early, "id"))


def _range(entry: VehicleEntry) -> str:
    assert entry.id is not None
    return f" (ids {entry.id} to {entry.id + entry.count - 1})" if entry.count > 1 else ""


def with_names(vehicles: Entries) -> Entries:
    """Give every unnamed entry its default name."""
    taken = {entry.name for entry in vehicles}
    return tuple(
        entry if entry.name else entry.model_copy(update={"name": _default_name(entry.model, index, taken)})
        for index, entry in enumerate(vehicles)
    )


def _default_name(model: str, index: int, taken: set[str]) -> str:
    """Make a name of the model and the position in the list, different from those the user chose."""
    name = f"{re.sub(r'[^A-Za-z0-9_.-]', '_', model)}_{index}"
    name = name if re.match(r"[A-Za-z_]", name) else f"_{name}"
    while name in taken:
        name += "_"
    return name
