"""Markers as lines and spheres: lengths, distances and corners worked out by hand."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.markers import PlacedMarker
from paddock.serve.mirror import Mirror, placed_tree
from paddock.serve.subscribers import markers
from paddock.serve.subscribers.markers import CORNERS, MarkerDrawing, shape_of
from paddock.wire.stream.drawing import decode_lines
from paddock.wire.stream.frames import HEADER
from paddock.world.markers import DRAWN_POINTS, Marker
from paddock.world.transforms import Transform

HERE = Transform()
QUARTER_TURN = (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))  # x becomes y
TIPPED = (0.0, -np.sqrt(0.5), 0.0, np.sqrt(0.5))  # x becomes z
MOVED = Transform((10.0, 20.0, 30.0), QUARTER_TURN)


def ends(marker: Marker, transform: Transform = HERE) -> np.ndarray:
    """(n, 2, 3)"""
    return shape_of(marker).moved(transform).ends.reshape(-1, 2, 3)


def lengths(marker: Marker) -> np.ndarray:
    pairs = ends(marker)
    return np.linalg.norm(pairs[:, 1] - pairs[:, 0], axis=1)


def test_a_circle_is_a_closed_polygon_at_the_radius() -> None:
    pairs = ends(Marker.circle("a", 1, (1.0, 2.0, 3.0), radius=2.5))
    assert pairs.shape == (48, 2, 3) and pairs.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(pairs - [1.0, 2.0, 3.0], axis=2), 2.5, rtol=1e-6)
    np.testing.assert_allclose(pairs[:, 1], np.roll(pairs[:, 0], -1, axis=0), atol=1e-6)
    assert (pairs[..., 2] == 3.0).all()
    # a regular polygon: n chords of 2 r sin(pi / n)
    np.testing.assert_allclose(lengths(Marker.circle("a", 1, radius=2.5)), 5.0 * np.sin(np.pi / 48), rtol=1e-5)


def test_a_circle_may_stand_upright() -> None:
    pairs = ends(Marker.circle("a", 1, radius=2.0, quaternion=TIPPED))
    np.testing.assert_allclose(pairs[..., 0], 0.0, atol=1e-6)
    assert pairs[..., 2].max() == pytest.approx(2.0)


def test_a_ring_is_two_circles() -> None:
    radii = np.linalg.norm(ends(Marker.ring("a", 1, radius=3.0, width=0.5)), axis=2)
    np.testing.assert_allclose(radii[:CORNERS], 3.0, rtol=1e-6)
    np.testing.assert_allclose(radii[CORNERS:], 2.5, rtol=1e-6)
    assert len(radii) == 96


def test_a_strip_goes_from_point_to_point_in_the_world() -> None:
    points = [[1, 0, 0], [2, 0, 0], [2, 1, 0]]
    pairs = ends(Marker.line("a", 1, points), MOVED)
    expected = [[10, 21, 30], [10, 22, 30], [9, 22, 30]]  # turned by a quarter, then moved
    np.testing.assert_allclose(pairs, [expected[:2], expected[1:]], atol=1e-6)
    assert len(ends(Marker.line("a", 1, points[:1]))) == len(ends(Marker.line("a", 1, []))) == 0


def test_a_list_has_its_points_in_pairs_and_its_width() -> None:
    marker = Marker.lines("a", 1, [[0, 0, 0], [1, 0, 0], [5, 0, 0], [7, 0, 0]], width=0.25)
    assert ends(marker).tolist() == [[[0, 0, 0], [1, 0, 0]], [[5, 0, 0], [7, 0, 0]]]
    assert shape_of(marker).thickness.tolist() == [0.25] * 2


def test_a_triangle_has_three_edges() -> None:
    marker = Marker.triangles("a", 1, [[0, 0, 0], [3, 0, 0], [0, 4, 0], [0, 0, 0], [6, 0, 0], [0, 8, 0]])
    assert lengths(marker).tolist() == [3.0, 5.0, 4.0, 6.0, 10.0, 8.0]


def test_an_arrow_has_a_shaft_and_a_head() -> None:
    marker = Marker.arrow("a", 1, (1, 1, 1), (1, 5, 1), shaft=0.2, head=1.0)
    pairs = ends(marker)
    np.testing.assert_allclose(pairs[0], [[1, 1, 1], [1, 5, 1]], atol=1e-6)
    np.testing.assert_allclose(pairs[1:, 1], [[1, 5, 1]] * 4, atol=1e-6)
    np.testing.assert_allclose(pairs[1:, 0], [[0.5, 4, 1], [1.5, 4, 1], [1, 4, 1.5], [1, 4, 0.5]], atol=1e-6)
    assert shape_of(marker).thickness.tolist() == [0.2] * 5


def test_axes_have_their_colors() -> None:
    shown = shape_of(Marker.axes("a", 1, (1.0, 0.0, 0.0), length=2.0, color=(0.0, 0.0, 0.0, 0.2))).moved(MOVED)
    expected = [[10, 21, 30, 10, 23, 30], [10, 21, 30, 8, 21, 30], [10, 21, 30, 10, 21, 32]]
    np.testing.assert_allclose(shown.ends, expected, atol=1e-5)
    assert shown.line_colors.tolist() == [[255, 0, 0, 51], [0, 255, 0, 51], [0, 0, 255, 51]]
    assert shown.line_colors.dtype == np.uint8


def test_a_car_has_twelve_edges_and_stands_on_the_ground() -> None:
    marker = Marker.car("a", 1, (5.0, 5.0), size=(4.0, 2.0, 1.5), color="#ff000080")
    pairs = ends(marker)
    assert sorted(lengths(marker).tolist()) == [1.5] * 4 + [2.0] * 4 + [4.0] * 4
    assert pairs.min(axis=(0, 1)).tolist() == [3.0, 4.0, 0.0] and pairs.max(axis=(0, 1)).tolist() == [7.0, 6.0, 1.5]
    assert len(np.unique(pairs.reshape(-1, 3), axis=0)) == 8
    assert shape_of(marker).line_colors.tolist() == [[255, 0, 0, 128]] * 12


def test_points_are_spheres_of_half_their_size() -> None:
    shown = shape_of(Marker.points("a", 1, [[1, 0, 0], [0, 1, 0]], size=0.5, color=(0.2, 0.4, 0.6))).moved(MOVED)
    np.testing.assert_allclose(shown.balls, [[10, 21, 30, 0.25], [9, 20, 30, 0.25]], atol=1e-6)
    assert shown.balls.dtype == np.float32 and shown.ball_colors.tolist() == [[51, 102, 153, 255]] * 2


@pytest.mark.parametrize(
    "marker", [Marker.text("a", 1, "hello"), Marker.mesh("a", 1, "cone.glb"), Marker.points("a", 1, [[1, 2, 3]])]
)
def test_markers_without_lines_give_none(marker: Marker) -> None:
    shown = shape_of(marker)
    assert shown.ends.shape == (0, 6) and shown.line_colors.shape == (0, 4)


def test_markers_without_points_give_no_spheres() -> None:
    for marker in (Marker.line("a", 1, [[0, 0], [1, 1]]), Marker.circle("a", 1), Marker.text("a", 1, "hello")):
        assert shape_of(marker).balls.shape == shape_of(marker).ball_colors.shape == (0, 4)


def test_the_points_of_a_kind_without_vertices_are_the_ends_of_its_lines() -> None:
    made = [
        Marker.circle("a", 1),
        Marker.ring("a", 1),
        Marker.arrow("a", 1, (0, 0, 0), (1, 0, 0)),
        Marker.car("a", 1),
        Marker.axes("a", 1),
    ]
    assert {marker.kind for marker in made} == DRAWN_POINTS.keys()
    for marker in made:
        assert len(ends(marker)) <= marker.drawn_points <= 2 * len(ends(marker))
    assert Marker.text("a", 1, "hello").drawn_points == 1
    assert Marker.points("a", 1, np.zeros((7, 3))).drawn_points == 7


def test_a_large_drawing_is_encoded_by_another_thread_and_shown_when_it_is_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count, threads, encode = 30_000, [], markers._encoded
    points = np.arange(6.0 * count).reshape(-1, 3) % 1000.0

    def noted(*arguments: Any) -> memoryview:
        if arguments[2]:
            threads.append(threading.current_thread())
        return encode(*arguments)

    monkeypatch.setattr(markers, "_encoded", noted)

    def put(marker: Marker) -> dict[str, Any]:
        return {"put": [placed_tree(PlacedMarker(marker, 0.0, np.inf))]}

    async def draw() -> None:
        ready = asyncio.Event()
        mirror = Mirror(ready.set)
        drawing = MarkerDrawing(mirror)
        mirror.on_push("markers", put(Marker.lines("plan", 1, points)))
        assert len(lines(drawing)) == 0  # not yet
        await asyncio.wait_for(ready.wait(), 60)
        np.testing.assert_array_equal(lines(drawing)["start"], points[::2].astype(np.float32))
        mirror.on_push(
            "markers", {"put": [placed_tree(PlacedMarker(Marker.lines("plan", 2, points[:2]), 0.0, np.inf))]}
        )
        ready.clear()
        assert len(lines(drawing)) == count  # the last one until the next is ready
        await asyncio.wait_for(ready.wait(), 60)
        assert len(lines(drawing)) == len(lines(drawing)) == count + 1
        mirror.on_push("markers", {"removed": [("plan", 1)]})
        assert len(lines(drawing)) == 1  # small: at once

    with paddock.load({"vehicles": [{"model": "point"}]}) as sim:
        snapshot = sim.snapshot()

        def lines(drawing: MarkerDrawing) -> Any:
            return decode_lines(drawing.encoded("lines", snapshot, "enu")[HEADER.size :])

        asyncio.run(draw())
    assert len(threads) == 3 and [thread is threading.main_thread() for thread in threads] == [False, False, True]
