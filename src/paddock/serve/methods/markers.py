"""Methods that draw quick lines and spheres, in the namespace `debug`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.serve.hub import OperationError
from paddock.serve.subscribers.subscription import NATIVE, units_per_metre
from paddock.wire.operations.results import Moment
from paddock.world.frames import convert_position

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client

DEBUG = "debug"  # the namespace of quick drawings
THICKNESS = 0.05  # m, of lines


async def draw_debug_lines(
    client: Client, lines: list[list[float]], thickness: float | None, color: list[float], ttl: float | None, frame: str
) -> list[int]:
    """Draw all lines as one marker."""
    points = convert_position(np.array(lines, np.float64).reshape(-1, 3), frame, NATIVE)
    width = THICKNESS if thickness is None else thickness / units_per_metre(frame)
    marker = {"kind": "line_list", "scale": [width, 1.0, 1.0], "vertices": points.tolist()}
    return await _draw(client, [marker], color, ttl)


async def draw_debug_spheres(
    client: Client, spheres: list[list[float]], color: list[float], ttl: float | None, frame: str
) -> list[int]:
    """Draw one marker for each radius."""
    balls = np.array(spheres, np.float64)
    centres = convert_position(balls[:, :3], frame, NATIVE)
    markers = [
        {
            "kind": "points",
            "scale": [2.0 * radius / units_per_metre(frame), 1.0, 1.0],
            "vertices": centres[balls[:, 3] == radius].tolist(),
        }
        for radius in np.unique(balls[:, 3]).tolist()
    ]
    return await _draw(client, markers, color, ttl)


async def clear_debug(client: Client) -> Moment:
    """Remove everything drawn; no effect if nothing was drawn."""
    try:
        return await client.done("unmark", namespace=DEBUG)
    except OperationError as error:
        if error.kind != "UnknownNameError":
            raise
        return {"tick": client.hub.tick, "time": client.hub.time}


async def _draw(client: Client, markers: list[dict[str, Any]], color: list[float], ttl: float | None) -> list[int]:
    ids = [client.endpoint.next_debug_id() for _ in markers]
    look = {"namespace": DEBUG, "color": [part / 255.0 for part in color], "ttl": ttl}
    named = [{**look, "id": id, **marker} for id, marker in zip(ids, markers, strict=True)]
    await client.request("mark", markers=named)
    return ids
