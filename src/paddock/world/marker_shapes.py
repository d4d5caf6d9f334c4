"""Markers as line segments and spheres in the world, for renderers that draw nothing else.

Segments show the kinds made of lines (a circle as a 48-gon), spheres show points; text and meshes give neither.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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


class Segments(NamedTuple):
    """Straight lines in the world."""

    ends: NDArray[np.float32]  # (n, 6): x, y, z of both ends, m
    colors: Bytes  # (n, 4): red, green, blue, opacity
    thickness: float  # of all lines, m


class Spheres(NamedTuple):
    """Spheres in the world."""

    balls: NDArray[np.float32]  # (n, 4): x, y, z and radius, m
    colors: Bytes  # (n, 4): red, green, blue, opacity


def segments(marker: Marker, transform: Transform) -> Segments:
    """Return the lines of a marker; `transform` is the pose of its frame in the world."""
    ends = (transform @ marker.pose).apply(_pairs(marker)).reshape(-1, 6).astype(np.float32)
    colors = _colors(marker, len(ends))
    if marker.kind == "axes":
        colors[:, :3] = AXIS_COLORS
    return Segments(ends, colors, _thickness(marker))


def spheres(marker: Marker, transform: Transform) -> Spheres:
    """Return the dots of a marker; `transform` is the pose of its frame in the world."""
    centres = marker.vertices if marker.kind == "points" else marker.vertices[:0]
    balls = np.empty((len(centres), 4), np.float32)
    balls[:, :3] = (transform @ marker.pose).apply(centres)
    balls[:, 3] = 0.5 * marker.scale[0]
    return Spheres(balls, _colors(marker, len(balls)))


def _colors(marker: Marker, count: int) -> Bytes:
    color = np.rint(255.0 * np.array(marker.color)).astype(np.uint8)
    return np.tile(color, (count, 1))


def _thickness(marker: Marker) -> float:
    match marker.kind:
        case "line_strip" | "line_list":
            return marker.scale[0]
        case "arrow":
            return marker.scale[1]
        case "axes":
            return marker.scale[0] / AXIS_SLIMNESS
        case _:
            return THICKNESS


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
