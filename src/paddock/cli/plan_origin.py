"""Where a file of another program lies on Earth: the origin for a mission that has no scenario of its own."""

from __future__ import annotations

import os
from typing import Any

from paddock.planning.exchange.document import Document, read_document


def origin_in(path: str | os.PathLike[str]) -> tuple[float, float, float]:
    """Latitude and longitude in deg and height in m: the planned home of a `.plan` file, else the first place."""
    found = read_document(path)
    mission = found.root.get("mission")
    if "fileType" in found.root and isinstance(mission, dict) and mission.get("plannedHomePosition") is not None:
        where = ("mission", "plannedHomePosition")
        home = found.items(mission["plannedHomePosition"], where)
        latitude, longitude = found.pair(home, where)
        return latitude, longitude, found.number(home[2], (*where, 2)) if len(home) > 2 else 0.0
    longitude, latitude = _first(found)
    return latitude, longitude, 0.0


def _first(found: Document) -> tuple[float, float]:
    """Longitude and latitude of the first position of a GeoJSON document, wherever it stands."""
    pending: list[Any] = [found.root]
    while pending:
        value = pending.pop(0)
        if isinstance(value, dict):
            if "coordinates" in value:
                return _position(found, value["coordinates"])
            pending = [value[key] for key in ("geometry", "geometries", "features") if key in value] + pending
        elif isinstance(value, list):
            pending = [*value, *pending]
    found.refuse((), "there is no place in it to begin from")


def _position(found: Document, value: Any) -> tuple[float, float]:
    while isinstance(value, list) and value and isinstance(value[0], list):
        value = value[0]
    latitude, longitude = found.pair(value, (), reversed_=True)
    return longitude, latitude
