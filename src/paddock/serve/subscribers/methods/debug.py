"""Quick drawing: lines and spheres become markers of the namespace `debug`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.serve.hub import OperationError
from paddock.serve.subscribers.method import method
from paddock.serve.subscribers.parameters import Parameter, frame, number, numbers, rows
from paddock.serve.subscribers.shapes import DrawnTree, Moment
from paddock.serve.subscribers.subscription import NATIVE, units_per_metre
from paddock.wire.rpc import INVALID_PARAMS, RpcError
from paddock.world.frames import convert_position

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client

NAMESPACE = "debug"
WHITE = (255.0, 255.0, 255.0, 255.0)


def _look() -> tuple[Parameter, ...]:
    color = numbers("color", "red, green, blue, alpha: 0 to 255", 4, WHITE)
    return color, number("ttl", "simulated s that they are shown; null: until cleared", None, low=0.0), frame()


@method(rows("lines", "x1, y1, z1, x2, y2, z2 of each", 6), number("thickness", "in the frame's units", None), *_look())
async def draw_debug_lines(
    client: Client, lines: list[list[float]], thickness: float | None, frame: str, **look: Any
) -> DrawnTree:
    """Draw lines; tells the id of the marker that they are."""
    points = convert_position(np.array(lines, np.float64).reshape(-1, 3), frame, NATIVE)
    width = 0.05 if thickness is None else thickness / units_per_metre(frame)
    marker = {"kind": "line_list", "scale": [width, 1.0, 1.0], "vertices": points.tolist(), **_looks(look)}
    return {"ids": await _draw(client, [marker])}


@method(rows("spheres", "x, y, z, radius of each", 4), *_look())
async def draw_debug_spheres(client: Client, spheres: list[list[float]], frame: str, **look: Any) -> DrawnTree:
    """Draw spheres; tells the ids of the markers that they are, one for each radius."""
    balls = np.array(spheres, np.float64)
    centres = convert_position(balls[:, :3], frame, NATIVE)
    markers = [
        {
            "kind": "points",
            "scale": [2.0 * radius / units_per_metre(frame), 1.0, 1.0],
            "vertices": centres[balls[:, 3] == radius].tolist(),
            **_looks(look),
        }
        for radius in np.unique(balls[:, 3]).tolist()
    ]
    return {"ids": await _draw(client, markers)}


@method()
async def clear_debug(client: Client) -> Moment:
    """Take away all that was drawn."""
    try:
        return await client.done("unmark", namespace=NAMESPACE)
    except OperationError as error:
        if error.kind != "UnknownNameError":  # nothing was ever drawn: nothing is there, as was asked
            raise
        return {"tick": client.hub.tick, "time": client.hub.time}


def _looks(look: dict[str, Any]) -> dict[str, Any]:
    if not all(0.0 <= part <= 255.0 for part in look["color"]):
        raise RpcError("value", "'color' must be 4 numbers from 0 to 255", INVALID_PARAMS)
    return {"color": [part / 255.0 for part in look["color"]], "ttl": look["ttl"]}


async def _draw(client: Client, markers: list[dict[str, Any]]) -> list[int]:
    ids = [client.next_debug_id() for _ in markers]
    named = [{"namespace": NAMESPACE, "id": id, **marker} for id, marker in zip(ids, markers, strict=True)]
    await client.request("mark", markers=named)
    return ids
