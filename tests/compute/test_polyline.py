"""Polylines: distances from segments, simplification."""

from __future__ import annotations

import numpy as np
import pytest

from paddock.compute.polyline import segment_distances, simplify


def test_a_straight_stretch_is_two_points() -> None:
    straight = np.array([(0.1 * k, 0.05 * (-1) ** k) for k in range(50)])
    assert simplify(straight, 0.2) == [0, 49]
    assert simplify(np.array([(0.0, 0.0), (5.0, 0.0), (5.0, 5.0)]), 0.2) == [0, 1, 2]


def test_distances_end_at_the_ends_of_a_segment() -> None:
    points = np.array([[3.0, 4.0, 0.0], [1.0, 2.0, 0.0], [-3.0, 0.0, 4.0]])
    start, way = np.zeros(3), np.array([2.0, 0.0, 0.0])
    assert segment_distances(points, start, way).tolist() == pytest.approx([17.0**0.5, 2.0, 5.0])
    assert segment_distances(points[0], start, np.zeros(3)) == pytest.approx(5.0)
