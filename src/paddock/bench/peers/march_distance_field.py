"""Run by Paddock's Python: scans per second by the method of f1tenth_gym. Arguments: beams, seconds, track.

No registry has that package. A scan marches each beam through the distance transform of an image of the track, 5 cm
per pixel, compiled by Numba, from places along the middle line. Noise, vehicle dynamics and checks for collisions come
on top in a step of that package: this is an upper bound of its rate.
"""

import json
import sys
import time

import numpy as np
from numba import njit
from scipy.ndimage import distance_transform_edt

import paddock.track

PIXEL, NEAR, FAR = 0.05, 1e-4, 30.0  # m
FIELD_OF_VIEW = 4.7  # rad


@njit(fastmath=False, error_model="numpy")
def scan(x: float, y: float, yaw: float, field: np.ndarray, corner: np.ndarray, ranges: np.ndarray) -> None:
    """March all beams until they are nearer to a wall than NEAR."""
    beams = ranges.shape[0]
    for k in range(beams):
        angle = yaw - 0.5 * FIELD_OF_VIEW + FIELD_OF_VIEW * k / (beams - 1)
        c, s, total, px, py = np.cos(angle), np.sin(angle), 0.0, x, y
        gap = FAR
        while gap > NEAR and total < FAR:
            i, j = int((py - corner[1]) / PIXEL), int((px - corner[0]) / PIXEL)
            inside = 0 <= i < field.shape[0] and 0 <= j < field.shape[1]
            gap = field[i, j] if inside else FAR
            px, py, total = px + gap * c, py + gap * s, total + gap
        ranges[k] = min(total, FAR)


def image_of(track: paddock.track.Track) -> tuple[np.ndarray, np.ndarray]:
    """Return the distance (m) of each pixel to the nearest boundary, and the corner of the image (m)."""
    edges = np.concatenate([track.left, track.right])
    corner, size = edges.min(axis=0) - 2.0, np.ptp(edges, axis=0) + 4.0
    free = np.ones((int(size[1] / PIXEL), int(size[0] / PIXEL)), bool)
    for line in (track.left, track.right):
        ends = np.roll(line, -1, axis=0)
        share = np.linspace(0.0, 1.0, 100)[:, None, None]
        places = (line + share * (ends - line)).reshape(-1, 2)
        column, row = ((places - corner) / PIXEL).astype(int).T
        free[row, column] = False
    return distance_transform_edt(free) * PIXEL, corner


def main() -> None:
    """Print one JSON object."""
    beams, seconds = int(sys.argv[1]), float(sys.argv[2])
    track = paddock.track.load(sys.argv[3])
    field, corner = image_of(track)
    ranges = np.zeros(beams)
    places = np.column_stack([track.centre, track.heading])[:200].tolist()
    scan(*places[0], field, corner, ranges)
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        started = time.perf_counter()
        for x, y, yaw in places:
            scan(x, y, yaw, field, corner, ranges)
        best = min(best, (time.perf_counter() - started) / len(places))
    print(json.dumps({"scans_per_second": 1.0 / best}))


if __name__ == "__main__":
    main()
