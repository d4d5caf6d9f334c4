"""A top-down map of vehicles in braille dots, eight per character, in the fleets' colours."""

from collections import deque
from collections.abc import Sequence
from functools import cache
from math import floor, log10

import numpy as np
from numpy.typing import NDArray
from rich.style import Style
from rich.text import Text

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COLOURS = ((88, 196, 255), (255, 176, 59), (124, 224, 122), (255, 111, 145), (190, 146, 255), (255, 230, 109),
           (72, 219, 190), (255, 140, 90), (160, 180, 255), (222, 222, 222))  # fmt: skip
LEVELS = (0.28, 0.5, 0.75, 1.0)  # brightness of a trail, then of increasingly dense cells
ARROWS = "→↗↑↖←↙↓↘"
FEW = 64  # vehicles of fleets up to this size are arrows with trails; those of larger fleets are dots
TRAILED = 256  # maximum number of vehicles with trails
TRAIL = 300  # length of a trail, frames
DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
BLANK = 0x2800
SPACE = ord(" ")


@cache
def colour(fleet: int, level: int = len(LEVELS) - 1) -> Style:
    """Return the style of a fleet at a brightness level."""
    red, green, blue = (int(part * LEVELS[level]) for part in COLOURS[fleet % len(COLOURS)])
    return Style(color=f"#{red:02x}{green:02x}{blue:02x}")


class Braille:
    """Keeps the extent of the map and the trails between frames."""

    def __init__(self) -> None:
        self.centre = np.zeros(2)
        self.metres = 0.0  # per dot; 0 before the first frame
        self._size = (0, 0)
        self._trails: deque[dict[int, Floats]] = deque(maxlen=TRAIL)
        self.guides: list[tuple[int, Floats]] = []  # fleet, points (k, 2+) of the path that it follows

    def clear(self) -> None:
        """Discard trails and extent after a jump in time."""
        self._trails.clear()
        self.metres = 0.0

    def draw(self, fleets: Sequence[tuple[Floats, Floats]], width: int, height: int) -> list[Text]:
        """Return the map as `height` lines; fleets: positions (n, 2+) in m and velocities (n, 2+)."""
        places = [np.array(position[:, :2]) for position, _ in fleets]
        few = [f for f, place in enumerate(places) if len(place) <= FEW]
        self._frame([*places, *(points[:, :2] for _, points in self.guides)], width, height)
        cells = np.zeros((height, width), np.int64)  # braille bits
        style = np.zeros((height, width), np.int64)  # fleet * levels + level
        faint = [(f, self._dots(points)) for f, points in self.guides]
        if sum(len(places[f]) for f in few) <= TRAILED:
            if self._trails and list(self._trails[-1]) != few:
                self._trails.clear()
            self._trails.append({f: places[f] for f in few})
            faint += [(f, self._dots(np.concatenate([moment[f] for moment in self._trails]))) for f in few]
        for f, dots in faint:
            _mark(cells, dots)
            style[dots[0] // 4, dots[1] // 2] = f * len(LEVELS)
        self._crowd(places, cells, style)
        letters = np.where(cells > 0, cells + BLANK, SPACE)
        for f in few:
            self._arrows(f, *fleets[f], letters, style)
        return [_line(letters[row], style[row]) for row in range(height)]

    def scale_bar(self, width: int) -> tuple[int, float]:
        """Return characters and metres of a round length that takes at most `width` characters."""
        most = max(self.metres, 1e-9) * 2 * width
        decade = 10.0 ** floor(log10(most))
        length = next(step * decade for step in (5.0, 2.0, 1.0) if step * decade <= most)
        return max(1, round(length / max(self.metres, 1e-9) / 2)), length

    def _frame(self, places: Sequence[Floats], width: int, height: int) -> None:
        """Choose the extent: keep all vehicles visible, and zoom in when it is far too wide."""
        if not sum(map(len, places)):
            self.metres, self._size = self.metres or 1.0, (width, height)
            return
        every = np.concatenate(places)
        every = every[np.isfinite(every).all(axis=1)] if not np.isfinite(every).all() else every
        low, high = every.min(axis=0), every.max(axis=0)
        half = 0.5 * self.metres * np.array([2 * width - 2, 4 * height - 4])
        outside = ((low < self.centre - half) | (high > self.centre + half)).any()
        needed = max(*((high - low) / np.array([2 * width - 4, 4 * height - 4])), 0.25)
        if not self.metres or outside or needed < 0.65 * self.metres or self._size != (width, height):
            self.centre, self.metres, self._size = 0.5 * (low + high), 1.15 * needed, (width, height)

    def _dots(self, place: Floats) -> tuple[Ints, Ints]:
        """Return rows and columns of the visible dots."""
        width, height = self._size
        with np.errstate(invalid="ignore"):
            column = np.floor((place[:, 0] - self.centre[0]) / self.metres + width)
            row = np.floor((self.centre[1] - place[:, 1]) / self.metres + 2 * height)
        seen = (column >= 0) & (column < 2 * width) & (row >= 0) & (row < 4 * height)
        return row[seen].astype(np.int64), column[seen].astype(np.int64)

    def _crowd(self, places: Sequence[Floats], cells: Ints, style: Ints) -> None:
        """Draw all vehicles: the fleet with most vehicles in a cell sets its colour, their number its brightness."""
        most = np.zeros(cells.shape, np.int64)
        owner = np.zeros(cells.shape, np.int64)
        for f, place in enumerate(places):
            row, column = self._dots(place)
            _mark(cells, (row, column))
            flat = row // 4 * cells.shape[1] + column // 2
            number = np.bincount(flat, minlength=cells.size).reshape(cells.shape)
            owner, most = np.where(number > most, f, owner), np.maximum(number, most)
        top = len(LEVELS) - 1
        relative = np.log1p(most) / np.log1p(max(int(most.max(initial=0)), 1))
        level = np.where(most.max(initial=0) > 3, 1 + np.minimum(top * relative, top - 1).astype(np.int64), top)
        np.copyto(style, owner * len(LEVELS) + level, where=most > 0)

    def _arrows(self, fleet: int, position: Floats, velocity: Floats, letters: Ints, style: Ints) -> None:
        for place, motion in zip(position, velocity, strict=True):
            row, column = self._dots(place[None])
            if len(row):
                heading = float(np.nan_to_num(np.arctan2(motion[1], motion[0])))
                eighth = round(heading / (np.pi / 4)) % 8
                letters[row[0] // 4, column[0] // 2] = ord(ARROWS[eighth])
                style[row[0] // 4, column[0] // 2] = (fleet + 1) * len(LEVELS) - 1


def _mark(cells: Ints, dots: tuple[Ints, Ints]) -> None:
    row, column = dots
    np.bitwise_or.at(cells, (row // 4, column // 2), DOTS[row % 4, column % 2])


def _line(letters: Ints, style: Ints) -> Text:
    """Return one line with a span per style."""
    line = Text("".join(map(chr, letters.tolist())), no_wrap=True)
    style = np.where(letters == SPACE, -1, style)
    starts = np.flatnonzero(np.diff(style, prepend=-2))
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(letters)], strict=True):
        if style[start] >= 0:
            line.stylize(colour(*divmod(int(style[start]), len(LEVELS))), start, end)
    return line
