"""Small pictures of worlds, drawn with NumPy: lines and discs on a plane, in a few tenths of a millisecond each."""

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


class View:
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

    def line(self, points: Any, colour: Colour, closed: bool = False, width: float = 1.5) -> None:
        """Draw a line through points (k, 3), `width` pixels wide."""
        ends = self.to_pixels(points)
        ends = np.concatenate([ends, ends[:1]]) if closed else ends
        steps = np.diff(ends, axis=0)
        count = int(min(np.nan_to_num(np.abs(steps).max(initial=0.0)), 2000.0)) + 2
        along = ends[:-1, None] + steps[:, None] * np.linspace(0.0, 1.0, count)[:, None]
        for shift in ((0.0, 0.0), (0.5 * width, 0.0), (0.0, 0.5 * width)):
            self.paint(along.reshape(-1, 2) + shift, colour)

    def disc(self, centre: Any, radius: float, colour: Colour) -> None:
        """Draw discs at points (k, 3), of a radius in m and of at least two pixels."""
        reach = max(radius * self.scale, 1.5)
        near = np.arange(-np.ceil(reach), np.ceil(reach) + 1.0)
        inside = np.array([(x, y) for x in near for y in near if x * x + y * y <= reach * reach])
        self.paint((self.to_pixels(centre)[:, None] + inside).reshape(-1, 2), colour)

    def quad(self, pose: Floats, size: float = 0.25, colour: Colour = DARK) -> None:
        """Draw a quadrotor: its arms, the front ones coloured."""
        x, y, z, qx, qy, qz, qw = pose[:7].tolist()
        ends = [rotate(qx, qy, qz, qw, a * size, b * size, 0.0) for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
        for k, end in enumerate(ends):
            tip = (x + end[0], y + end[1], z + end[2])
            self.line([(x, y, z), tip], colour)
            self.disc(tip, 0.25 * size, BLUE if k < 2 else colour)

    def box(self, pose: Floats, length: float, width: float, colour: Colour) -> None:
        """Draw the outline of a vehicle of that size, with its nose."""
        x, y, z, qx, qy, qz, qw = pose[:7].tolist()
        corners = ((1, 1), (1, -1), (-1, -1), (-1, 1))
        turned = [rotate(qx, qy, qz, qw, 0.5 * a * length, 0.5 * b * width, 0.0) for a, b in corners]
        self.line([(x + a, y + b, z + c) for a, b, c in turned], colour, closed=True, width=2.0)
        nose = rotate(qx, qy, qz, qw, 0.5 * length, 0.0, 0.0)
        self.line([(x, y, z), (x + nose[0], y + nose[1], z + nose[2])], colour)


class Picture:
    """An image (height, width, 3) of bytes."""

    def __init__(self, height: int = 240, width: int = 320, colour: Colour = GROUND) -> None:
        self.pixels = np.empty((height, width, 3), np.uint8)
        self.pixels[:] = colour

    def above(self, centre: Sequence[float], reach: float) -> View:
        """Return a view from above, of the whole picture."""
        return View(self.pixels, (0, 1), centre, reach)

    def above_and_beside(self, centre: Sequence[float], reach: float) -> Iterator[View]:
        """Yield a view from above, left, and one from the south, right."""
        half = self.pixels.shape[1] // 2
        yield View(self.pixels[:, : half - 1], (0, 1), centre, reach)
        yield View(self.pixels[:, half + 1 :], (0, 2), centre, reach)
        self.pixels[:, half - 1 : half + 1] = 255
