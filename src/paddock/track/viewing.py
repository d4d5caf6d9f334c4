"""A track as plain data, for viewers, recordings and clients, and back."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from paddock.track.track import CONE_COLOURS, Gate, Track
from paddock.wire.tracks import Cone, Start, TrackFile


def track_tree(track: Track, movable: bool, digits: int | None = None) -> dict[str, Any]:
    """Return a track for viewers and clients; `movable`: its cones are vehicles. Numbers are rounded to `digits`."""

    def listed(values: Any) -> Any:
        return values.tolist() if digits is None else np.round(values, digits).tolist()

    return {
        "name": track.name,
        "closed": track.closed,
        "length": track.length,
        "start": list(track.start),
        "cones": listed(track.cones),
        "colours": track.colours.tolist(),
        "colour_names": list(CONE_COLOURS),
        "movable": movable,
        "centre": listed(track.centre),
        "left_width": listed(track.left_width),
        "right_width": listed(track.right_width),
        "left": listed(track.left),
        "right": listed(track.right),
        "left_cones": track.left_cones.tolist(),
        "right_cones": track.right_cones.tolist(),
        "gates": [
            {"name": one.name, "left": list(one.left), "right": list(one.right), "along": one.along}
            for one in track.gates
        ],
    }


def track_from(tree: Mapping[str, Any]) -> Track:
    """Return the track of plain data whose numbers are not rounded: equal to the one that it was made from."""
    x, y, yaw = tree["start"]
    cones = np.array(tree["cones"], np.float64).reshape(-1, 2)
    colours = np.array(tree["colours"], np.int8)
    rows = zip(colours.tolist(), cones.tolist(), strict=True)
    return Track(
        name=tree["name"],
        closed=tree["closed"],
        cones=cones,
        colours=colours,
        start=(x, y, yaw),
        centre=np.array(tree["centre"], np.float64).reshape(-1, 2),
        left_width=np.array(tree["left_width"], np.float64),
        right_width=np.array(tree["right_width"], np.float64),
        left=np.array(tree["left"], np.float64).reshape(-1, 2),
        right=np.array(tree["right"], np.float64).reshape(-1, 2),
        gates=tuple(Gate(one["name"], tuple(one["left"]), tuple(one["right"]), one["along"]) for one in tree["gates"]),
        left_cones=np.array(tree["left_cones"], np.int64),
        right_cones=np.array(tree["right_cones"], np.int64),
        source=TrackFile(tuple(Cone(CONE_COLOURS[k], px, py) for k, (px, py) in rows), Start(x, y, yaw)),
    )
