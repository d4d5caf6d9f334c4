"""Mission files of other programs, told apart by what they hold."""

from __future__ import annotations

import os

from paddock.planning.exchange.document import Imported, read_document
from paddock.planning.exchange.geojson import tasks_from_geojson
from paddock.planning.exchange.qgroundcontrol import tasks_from_plan
from paddock.world.geodesy import Origin


def read_mission(path: str | os.PathLike[str], origin: Origin) -> Imported:
    """Read tasks, zones and base from a GeoJSON file or a `.plan` file of QGroundControl."""
    found = read_document(path)
    if "fileType" in found.root:
        return tasks_from_plan(found, origin)
    return tasks_from_geojson(found, origin)
