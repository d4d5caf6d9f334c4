"""Pictures of worlds, drawn with NumPy: areas, lines and discs on a plane, in a few milliseconds each."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.compute.quaternion import rotate
from paddock.world.columns import Floats

Colour = tuple[int, int, int]
GROUND: Colour = (236, 239, 242)
DARK: Colour = (36, 41, 47)
BLUE: Colour = (31, 111, 235)
GREEN: Colour = (46, 160, 67)
RED: Colour = (209, 36, 47)
GRID: Colour = (214, 219, 224)
EARTH: Colour = (196, 189, 178)


class PlaneView:
    """A rectangle of a picture that shows a plane: two of the world's axes, in m."""

    def __init__(self, pixels: NDArray[np.uint8], axes: tuple[int, int], centre: Sequence[float], reach: float) -> None:
        """`reach`: metres from the centre to the nearer edge."""
        self.pixels, self.axes = pixels, axes
        height, width = pixels.shape[:2]
        self.scale = 0.5 * min(height, width) / reach
        self.offset = np.array([0.5 * width, 0.5 * height])
        self.centre = np.array([centre[axes[0]], centre[axes[1]]])

    def to_pixels(self, points: Any) -> Floats:
        """Return columns and rows (k, 2) of points (k, 3) in the world."""
        flat = np.atleast_2d(np.asarray(points, np.float64))[:, list(self.axes)] - self.centre
        return np.asarray(self.offset + self.scale * flat * (1.0, -1.0))

    def paint(self, at: Floats, colour: Colour) -> None:
        """Colour the pixels at columns and rows (k, 2); what lies outside is not drawn."""
        with np.errstate(invalid="ignore"):
            column, row = np.nan_to_num(np.floor(at), nan=-1.0, posinf=-1.0, neginf=-1.0).T
        height, width = self.pixels.shape[:2]
        inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
        self.pixels[row[inside].astype(int), column[inside].astype(int)] = colour

    def line(self, points: Any, colour: Colour, closed: bool = False, width: float = 2.0) -> None:
        """Draw a line through points (k, 3), `width` pixels wide."""
        ends = self.to_pixels(points)
        ends = np.concatenate([ends, ends[:1]]) if closed else ends
        steps = np.diff(ends, axis=0)
        count = int(min(np.nan_to_num(np.abs(steps).max(initial=0.0)), 2000.0)) + 2
        along = ends[:-1, None] + steps[:, None] * np.linspace(0.0, 1.0, count)[:, None]
        brush = np.arange(max(round(width), 1)) - 0.5 * (max(round(width), 1) - 1)
        for shift in ((a, b) for a in brush for b in brush):
            self.paint(along.reshape(-1, 2) + shift, colour)

    def fill(self, outlines: Sequence[Any], colour: Colour) -> None:
        """Colour what lies inside an odd number of closed outlines, each of points (k, 3)."""
        rings = [self.to_pixels(outline) for outline in outlines]
        starts, ends = np.concatenate(rings), np.concatenate([np.roll(ring, -1, axis=0) for ring in rings])
        (first, top), (last, bottom) = (
            np.clip(edge, 0, self.pixels.shape[1::-1]).astype(int)
            for edge in (starts.min(axis=0), starts.max(axis=0) + 1)
        )
        part = self.pixels[top:bottom, first:last]
        height, width = part.shape[:2]
        rows = top + np.arange(height) + 0.5
        edge, row = np.nonzero((starts[:, 1:] <= rows) != (ends[:, 1:] <= rows))
        share = (rows[row] - starts[edge, 1]) / (ends[edge, 1] - starts[edge, 1])
        column = starts[edge, 0] + share * (ends[edge, 0] - starts[edge, 0])
        crossed = np.zeros((height, width + 1), np.int64)
        np.add.at(crossed, (row, np.clip(np.ceil(column - first - 0.5), 0, width).astype(int)), 1)
        part[np.cumsum(crossed, axis=1)[:, :-1] % 2 == 1] = colour

    def grid(self, step: float) -> None:
        """Draw lines every `step` m; from the side, the ground under z = 0."""
        height, width = self.pixels.shape[:2]
        for axis, size in ((0, width), (1, height)):
            low, high = self.centre[axis] + np.array([-0.5, 0.5]) * size / self.scale
            at = np.arange(np.ceil(low / step), np.floor(high / step) + 1.0) * step
            places = self.offset[axis] + (1 - 2 * axis) * self.scale * (at - self.centre[axis])
            places = np.clip(places.astype(int), 0, size - 1)
            self.pixels[(slice(None), places) if axis == 0 else (places, slice(None))] = GRID
        if self.axes[1] == 2:
            self.pixels[max(int(self.offset[1] + self.scale * self.centre[1]), 0) :] = EARTH

    def disc(self, centre: Any, radius: float, colour: Colour) -> None:
        """Draw discs at points (k, 3), of a radius in m and of at least two pixels."""
        reach = max(radius * self.scale, 1.5)
        near = np.arange(-np.ceil(reach), np.ceil(reach) + 1.0)
        inside = np.array([(x, y) for x in near for y in near if x * x + y * y <= reach * reach])
        self.paint((self.to_pixels(centre)[:, None] + inside).reshape(-1, 2), colour)

    def quad(self, pose: Floats, size: float = 0.25, colour: Colour = DARK) -> None:
        """Draw a quadrotor: its arms and rotors, the front ones coloured, and its way of the next 0.3 s."""
        x, y, z, qx, qy, qz, qw = pose[:7].tolist()
        self.line([(x, y, z), pose[:3] + 0.3 * pose[7:10]], (140, 149, 159))
        ends = [rotate(qx, qy, qz, qw, a * size, b * size, 0.0) for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
        for k, end in enumerate(ends):
            tip = (x + end[0], y + end[1], z + end[2])
            self.line([(x, y, z), tip], colour, width=3.0)
            self.disc(tip, 0.4 * size, BLUE if k < 2 else colour)

    def car(self, pose: Floats, length: float, width: float, colour: Colour) -> None:
        """Draw a car of that size from above: wheels, body and cockpit; the nose is narrow."""
        x, y, z, qx, qy, qz, qw = pose[:7].tolist()

        def outline(points: Sequence[tuple[float, float]]) -> Any:
            turned = [rotate(qx, qy, qz, qw, 0.5 * length * a, 0.5 * width * b, 0.0) for a, b in points]
            return [(x + a, y + b, z + c) for a, b, c in turned]

        for a, b in ((0.6, 0.85), (0.6, -0.85), (-0.6, 0.85), (-0.6, -0.85)):
            wheel = [(a + 0.18 * i, b + 0.15 * j) for i, j in ((1, 1), (1, -1), (-1, -1), (-1, 1))]
            self.fill([outline(wheel)], DARK)
        body = [(1.0, 0.3), (1.0, -0.3), (0.1, -0.65), (-1.0, -0.65), (-1.0, 0.65), (0.1, 0.65)]
        self.fill([outline(body)], colour)
        self.fill([outline([(0.1, 0.3), (0.1, -0.3), (-0.5, -0.3), (-0.5, 0.3)])], DARK)


class Picture:
    """An image (height, width, 3) of bytes."""

    def __init__(self, height: int = 480, width: int = 640, colour: Colour = GROUND) -> None:
        self.pixels = np.empty((height, width, 3), np.uint8)
        self.pixels[:] = colour

    def above(self, centre: Sequence[float], reach: float) -> PlaneView:
        """Return a view from above, of the whole picture."""
        return PlaneView(self.pixels, (0, 1), centre, reach)

    def above_and_beside(self, centre: Sequence[float], reach: float) -> Iterator[PlaneView]:
        """Yield a view from above, left, and one from the south, right."""
        half = self.pixels.shape[1] // 2
        self.pixels[:, half - 2 : half + 2] = 255
        yield PlaneView(self.pixels[:, : half - 2], (0, 1), centre, reach)
        yield PlaneView(self.pixels[:, half + 2 :], (0, 2), centre, reach)

    def above_over_beside(self, centre: Sequence[float], reach: float) -> Iterator[PlaneView]:
        """Yield a view from above and, under it, one from the south at the same scale; `reach`: in y, m."""
        cut = 2 * self.pixels.shape[0] // 3
        self.pixels[cut - 2 : cut + 2] = 255
        above = PlaneView(self.pixels[: cut - 2], (0, 1), centre, reach)
        yield above
        under = self.pixels[cut + 2 :]
        yield PlaneView(under, (0, 2), centre, 0.5 * len(under) / above.scale)
