"""Cone ordering on standard and generated tracks, against the middle line that the track was made from."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from paddock import track

Example = Callable[[str], ModuleType]
CIRCUITS = ("autocross", "trackdrive")
UNKNOWN = 4


def seen_from(course: track.Track, along: float, seed: int, reach: float = 25.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the cones ahead of a place as a camera sees them: +-60 deg, some missing, colours within 15 m."""
    draw = np.random.default_rng(seed)
    x, y = course.point_at(along)
    d = course.cones - (x, y)
    away = np.hypot(*d.T)
    bearing = np.remainder(np.arctan2(d[:, 1], d[:, 0]) - float(course.heading_at(along)) + np.pi, 2 * np.pi) - np.pi
    seen = (away < reach) & (np.abs(bearing) < np.pi / 3) & (draw.random(len(away)) < 0.99 - 0.01 * away)
    cones = course.cones[seen] + draw.normal(0.0, 0.03, (int(seen.sum()), 2))
    return cones, np.where(away[seen] < 15.0, course.colours[seen], UNKNOWN).astype(np.int64)


def farthest(course: track.Track, points: np.ndarray) -> float:
    """Return how far points are from the middle line, m."""
    return float(np.abs(course.locate(points[:, 0], points[:, 1])[1]).max())


@pytest.mark.parametrize("name", CIRCUITS)
def test_whole_map(example: Example, name: str) -> None:
    path, course = example("cone_path"), track.load(name)
    bounds = path.boundaries(np.array(course.cones), course.colours.astype(np.int64), course.start, closed=True)
    assert bounds is not None and bounds.closed
    middle = path.centreline(course.cones, bounds)
    assert farthest(course, middle) < 0.25
    assert example("line").line_of(middle, closed=True).length == pytest.approx(course.length, rel=0.01)
    left, right = path.widths(middle, course.cones, bounds)
    assert left + right == pytest.approx(3.5, abs=0.4)
    # every coloured cone is on its side, and none is missing
    assert set(bounds.left) >= set(np.flatnonzero(course.colours == 0))
    assert set(bounds.right) >= set(np.flatnonzero(course.colours == 1))


@pytest.mark.parametrize("seed", range(6))
def test_generated_map_with_clutter_and_without_most_colours(example: Example, seed: int) -> None:
    path, course = example("cone_path"), track.generate(seed)
    draw = np.random.default_rng(seed)
    colours = np.where(draw.random(len(course.cones)) < 0.4, UNKNOWN, course.colours).astype(np.int64)
    at = draw.uniform(0.0, course.length, 4)
    beside = draw.choice([-1.0, 1.0], 4) * draw.uniform(3.5, 7.0, 4)  # false cones beside the track
    cones = np.vstack([course.cones + draw.normal(0.0, 0.05, course.cones.shape), course.point_at(at, beside)])
    bounds = path.boundaries(cones, np.append(colours, [UNKNOWN] * 4), course.start, closed=True)
    assert bounds is not None
    middle = path.centreline(cones, bounds)
    assert farthest(course, middle) < 0.6
    assert example("line").line_of(middle, closed=True).length == pytest.approx(course.length, rel=0.02)


@pytest.mark.parametrize("name", CIRCUITS)
def test_view_ahead(example: Example, name: str) -> None:
    path, course = example("cone_path"), track.load(name)
    errors, lengths = [], []
    for k, along in enumerate(np.arange(0.0, course.length, 8.0)):
        cones, colours = seen_from(course, float(along), k)
        pose = (*course.point_at(along).tolist(), float(course.heading_at(along)))
        bounds = path.boundaries(cones, colours, pose, length=18.0)
        if bounds is None:
            continue
        middle = path.centreline(cones, bounds)
        errors.append(farthest(course, middle))
        lengths.append(example("line").line_of(middle).length)
    places = course.length / 8.0
    assert len(errors) > 0.95 * places  # one frame alone shows no track at few places
    assert np.quantile(errors, 0.9) < 0.4
    assert np.median(lengths) > 10.0


def test_a_wrong_colour_costs_that_cone_at_most(example: Example) -> None:
    path, course = example("cone_path"), track.load("autocross")
    colours = course.colours.astype(np.int64)
    wrong = {int(course.left_cones[30]), int(course.right_cones[80])}
    colours[course.left_cones[30]], colours[course.right_cones[80]] = 1, 0
    bounds = path.boundaries(np.array(course.cones), colours, course.start, closed=True)
    assert bounds is not None
    assert set(course.left_cones) - set(bounds.left) <= wrong and set(bounds.left) <= set(course.left_cones)
    assert set(course.right_cones) - set(bounds.right) <= wrong and set(bounds.right) <= set(course.right_cones)


def test_too_few_cones_and_cones_on_one_line_give_nothing(example: Example) -> None:
    path = example("cone_path")
    assert path.boundaries(np.zeros((3, 2)), np.zeros(3, dtype=np.int64), (0.0, 0.0, 0.0)) is None
    row = np.column_stack([np.arange(6.0), np.zeros(6)])
    assert path.boundaries(row, np.zeros(6, dtype=np.int64), (0.0, 0.0, 0.0)) is None
