"""The tracks of the catalog: the events of Formula Student, and circuits."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from paddock.errors import unknown_name
from paddock.track.building import from_file
from paddock.track.cone_rows import cone_rows
from paddock.track.lines import Floats, evenly, smooth_curve
from paddock.track.skidpad import skidpad_file
from paddock.track.track import Track
from paddock.wire.tracks import Cone, Start, TrackFile

SPRINT, STOP = 75.0, 100.0  # m from start to finish line, and to stop in behind it
LANE = 3.5  # m, width of the acceleration track
Corners = Sequence[tuple[float, float]]
STAGED = 0.30  # m from the front of the car to the start line


def acceleration_file() -> TrackFile:
    """Return the acceleration track: the start line at x = 0, the finish line at 75 m, then 100 m to stop."""
    cones: list[Cone] = []
    for colour, y in (("blue", 0.5 * LANE), ("yellow", -0.5 * LANE)):
        cones += [Cone(colour, x, y) for x in np.arange(-5.0, SPRINT + 1.0, 5.0).tolist() if x not in (0.0, SPRINT)]
        cones += [Cone("big_orange", x + gap, y) for x in (0.0, SPRINT) for gap in (-0.35, 0.35)]
        cones += [Cone("orange", x, y) for x in np.arange(SPRINT + 5.0, SPRINT + STOP + 1.0, 5.0).tolist()]
    return TrackFile(tuple(cones), Start(-STAGED, 0.0, 0.0, reference="front_wing"))


def circuit_file(corners: Corners, width: float, farthest: float) -> TrackFile:
    """Return the cones of a smooth closed track through corners; the start line is at the first one."""
    line = middle_through(np.array(corners, np.float64))
    return cone_rows(line, np.full(len(line), width), farthest)


def middle_through(corners: Floats) -> Floats:
    """Return a smooth closed line through corners, with points every 0.5 m."""
    return evenly(smooth_curve(corners, closed=True, parts=64), 0.5, closed=True)


AUTOCROSS = [
    (0, 0), (16, 0), (32, 1), (44, 7), (47, 19), (38, 27), (26, 25), (16, 30), (14, 42), (24, 52),
    (40, 52), (52, 60), (50, 74), (36, 79), (18, 74), (4, 66), (-8, 70), (-20, 78), (-33, 73), (-35, 60),
    (-26, 50), (-12, 44), (-8, 33), (-18, 26), (-30, 20), (-34, 8), (-26, -2), (-14, -1),
]  # fmt: skip
TRACKDRIVE = [
    (0, 0), (18, 0), (36, 0), (52, 4), (60, 15), (55, 28), (41, 31), (30, 26), (18, 25), (10, 34),
    (15, 45), (29, 48), (43, 46), (57, 51), (61, 65), (50, 76), (33, 75), (20, 66), (6, 60), (-8, 63),
    (-19, 72), (-33, 70), (-38, 57), (-30, 46), (-33, 33), (-44, 23), (-41, 9), (-28, 1), (-14, 0),
]  # fmt: skip
PARK = [
    (0, 0), (60, 0), (120, 0), (165, 12), (180, 50), (160, 85), (120, 90), (90, 110), (95, 150), (130, 175),
    (135, 215), (100, 240), (50, 232), (20, 200), (-10, 170), (-50, 165), (-85, 140), (-90, 100), (-60, 75), (-55, 40),
    (-80, 15), (-62, -6), (-30, 0),
]  # fmt: skip
HARBOUR = [
    (0, 0), (40, 0), (80, 0), (105, 8), (112, 30), (100, 50), (74, 52), (58, 64), (62, 84), (84, 94),
    (110, 96), (124, 114), (116, 136), (90, 142), (50, 140), (10, 138), (-22, 130), (-30, 108), (-16, 90), (10, 84),
    (18, 66), (4, 50), (-24, 46), (-40, 28), (-30, 6),
]  # fmt: skip
SPEEDWAY = [
    (0, 0), (120, 0), (240, 0), (360, 6), (440, 50), (465, 130), (430, 205), (350, 230), (290, 260), (275, 320),
    (310, 375), (300, 440), (230, 470), (150, 445), (105, 385), (60, 330), (-10, 310), (-90, 330), (-160, 310),
    (-190, 245), (-165, 180), (-190, 110), (-180, 45), (-110, 4),
]  # fmt: skip

STANDARD: dict[str, tuple[Callable[[], TrackFile], str]] = {
    "skidpad": (skidpad_file, "figure of eight, two laps to the right, two to the left"),
    "acceleration": (acceleration_file, "75 m straight, 100 m to stop"),
    "autocross": (lambda: circuit_file(AUTOCROSS, 3.5, 4.6), "one narrow lap"),
    "trackdrive": (lambda: circuit_file(TRACKDRIVE, 3.5, 4.6), "ten narrow laps"),
    "park": (lambda: circuit_file(PARK, 8.0, 8.0), "fast circuit, 8 m wide"),
    "harbour": (lambda: circuit_file(HARBOUR, 6.0, 6.0), "slow circuit with tight bends, 6 m wide"),
    "speedway": (lambda: circuit_file(SPEEDWAY, 14.0, 10.0), "circuit for 20 cars, 14 m wide"),
}
"""Name -> its cones, and what it is."""


def names() -> list[str]:
    """Return the names of the tracks in the catalog."""
    return list(STANDARD)


def standard(name: str) -> Track:
    """Return a track of the catalog."""
    if name not in STANDARD:
        raise unknown_name("track", name, STANDARD)
    return _standard(name)


@lru_cache(maxsize=16)
def _standard(name: str) -> Track:
    return from_file(STANDARD[name][0](), name)
