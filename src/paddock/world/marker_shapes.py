"""Markers as lines and spheres, for renderers that draw nothing else.

Lines show the kinds made of lines (a circle as a 48-gon), spheres show points; text and meshes give neither.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from paddock.world.markers import Marker
from paddock.world.transforms import Transform

Floats = NDArray[np.floating[Any]]
Bytes = NDArray[np.uint8]

CORNERS = 48  # corners of the polygon drawn for a circle; they lie on it
THICKNESS = 0.05  # of lines whose kind has no thickness, m
AXIS_COLORS = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255]], np.uint8)
AXIS_SLIMNESS = 20.0  # length of an axis over its thickness


class MarkerShape(NamedTuple):
    """Lines and spheres of one or more markers, in some frame."""

    ends: NDArray[np.float32]  # (n, 6): x, y, z of both ends of each line, m
    line_colors: Bytes  # (n, 4): red, green, blue, opacity
    thickness: NDArray[np.float64]  # (n,) of the lines, m
    balls: NDArray[np.float32]  # (m, 4): x, y, z and radius, m
    ball_colors: Bytes  # (m, 4)

    def moved(self, pose: Transform) -> Self:
        """Return the shape in the parent of its frame, which has this pose there."""
        ends = pose.apply(self.ends.reshape(-1, 3)).reshape(-1, 6).astype(np.float32)
        centres = pose.apply(self.balls[:, :3]).astype(np.float32)
        return self._replace(ends=ends, balls=np.concatenate([centres, self.balls[:, 3:]], axis=1))


NOTHING = MarkerShape(
    *(np.empty((0, 6), np.float32), np.empty((0, 4), np.uint8), np.empty(0)),
    *(np.empty((0, 4), np.float32), np.empty((0, 4), np.uint8)),
)


def joined(shapes: Iterable[MarkerShape]) -> MarkerShape:
    """Return all lines and spheres of some shapes."""
    return MarkerShape(*(np.concatenate(parts) for parts in zip(NOTHING, *shapes, strict=True)))


def shape_of(marker: Marker) -> MarkerShape:
    """Return the lines or spheres of a marker, in its frame."""
    color = np.rint(255.0 * np.array(marker.color)).astype(np.uint8)
    if marker.kind == "points":
        balls = np.empty((len(marker.vertices), 4), np.float32)
        balls[:, :3] = marker.pose.apply(marker.vertices)
        balls[:, 3] = 0.5 * marker.scale[0]
        return NOTHING._replace(balls=balls, ball_colors=np.tile(color, (len(balls), 1)))
    ends = marker.pose.apply(_pairs(marker)).reshape(-1, 6).astype(np.float32)
    colors = np.tile(color, (len(ends), 1))
    if marker.kind == "axes":
        colors[:, :3] = AXIS_COLORS
    first, second, _ = marker.scale
    thickness = {"line_strip": first, "line_list": first, "arrow": second, "axes": first / AXIS_SLIMNESS}
    return NOTHING._replace(
        ends=ends, line_colors=colors, thickness=np.full(len(ends), thickness.get(marker.kind, THICKNESS))
    )


def _pairs(marker: Marker) -> Floats:
    """Return the ends of the lines of a marker, two by two, relative to its pose: (2 n, 3)."""
    a, b, c = marker.scale
    match marker.kind:
        case "line_strip":
            return _chain(marker.vertices)
        case "line_list":
            return marker.vertices
        case "triangle_list":
            corners = marker.vertices.reshape(-1, 3, 3)
            return np.stack([corners, np.roll(corners, -1, axis=1)], axis=2).reshape(-1, 3)
        case "circle":
            return _polygon(a)
        case "ring":
            return np.concatenate([_polygon(a), _polygon(a - b)])
        case "arrow":
            return _arrow(a, c)
        case "axes":
            return np.stack([np.zeros((3, 3)), a * np.eye(3)], axis=1).reshape(-1, 3)
        case "car":
            # the twelve edges of a box on the ground: pairs of corners that differ in one coordinate
            corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (0.0, 1.0)])
            edges = [(k, k | bit) for bit in (1, 2, 4) for k in range(8) if not k & bit]
            return np.asarray(corners[np.array(edges).ravel()] * marker.scale)
        case _:
            return np.empty((0, 3))


def _chain(points: Floats) -> Floats:
    """Return the lines from each point to the next: (2 n - 2, 3)."""
    return np.stack([points[:-1], points[1:]], axis=1).reshape(-1, 3)


def _polygon(radius: float) -> Floats:
    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS + 1)
    return _chain(radius * np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1))


def _arrow(length: float, head: float) -> Floats:
    """Return the shaft, and four barbs from the tip backwards, as long (along x) as the head is wide."""
    back, side = max(length - head, 0.0), 0.5 * head
    barbs = [[back, side, 0.0], [back, -side, 0.0], [back, 0.0, side], [back, 0.0, -side]]
    others = np.array([[0.0, 0.0, 0.0], *barbs])
    tip = np.broadcast_to([length, 0.0, 0.0], others.shape)
    return np.stack([others, tip], axis=1).reshape(-1, 3)
