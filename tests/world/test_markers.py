"""Markers: valid values and constructors."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import paddock
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.world.markers import SCALES, Marker, rgba

TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
ONE_OF_EACH = [
    Marker.points("a", 1, TRIANGLE, size=0.3),
    Marker.line("a", 2, TRIANGLE),
    Marker.lines("a", 3, TRIANGLE[:2]),
    Marker.circle("a", 4, (1, 2), radius=3),
    Marker.ring("a", 5, radius=3, width=0.5),
    Marker.arrow("a", 6, (0, 0, 0), (0, 3, 4)),
    Marker.text("a", 7, "Kurve 3 ümläut", height=0.4),
    Marker.triangles("a", 8, TRIANGLE),
    Marker.car("a", 9, yaw=np.pi / 2, size=(4, 2, 1)),
    Marker.mesh("a", 10, "cone.glb", scale=(1, 2, 3)),
    Marker.axes("a", 11, frame="lidar", length=0.5),
]


def test_every_kind_has_a_constructor() -> None:
    assert [marker.kind for marker in ONE_OF_EACH] == list(SCALES)
    assert paddock.Marker is Marker


@pytest.mark.parametrize("marker", ONE_OF_EACH, ids=lambda marker: marker.kind)
def test_a_marker_is_equal_to_one_made_from_its_fields(marker: Marker) -> None:
    again = Marker(**{name: getattr(marker, name) for name in Marker.__dataclass_fields__})
    assert again == marker and hash(again) == hash(marker)
    assert replace(marker, id=99) != marker
    assert marker != "a"


def test_scale_by_kind() -> None:
    points, _, _, circle, ring, arrow, text, _, car, mesh, axes = ONE_OF_EACH
    assert points.scale[0] == 0.3 and circle.scale[0] == 3.0 and ring.scale[:2] == (3.0, 0.5)
    assert circle.position == (1.0, 2.0, 0.0)
    assert arrow.scale == (5.0, 0.1, 0.3)
    assert text.scale[0] == 0.4 and text.label == "Kurve 3 ümläut"
    assert car.scale == (4.0, 2.0, 1.0) and car.quaternion == pytest.approx((0, 0, np.sqrt(0.5), np.sqrt(0.5)))
    assert mesh.label == "cone.glb" and mesh.scale == (1.0, 2.0, 3.0)
    assert axes.frame == "lidar" and axes.scale[0] == 0.5


@pytest.mark.parametrize("end", [(4, -2, 5), (5, -2, 3), (0, -2, 3), (1, -2, -1), (1.5, 7, -3)])
def test_an_arrow_points_from_start_to_end(end: tuple[float, float, float]) -> None:
    start = np.array([1.0, -2.0, 3.0])
    arrow = Marker.arrow("a", 1, start, end)
    tip = Rotation.from_quat(arrow.quaternion).apply([arrow.scale[0], 0, 0]) + arrow.position
    np.testing.assert_allclose(tip, end, atol=1e-12)


def test_points_are_copied_read_only_float32() -> None:
    points = np.arange(20.0).reshape(10, 2)
    marker = Marker.points("a", 1, points)
    points[:] = -1
    assert marker.vertices.dtype == np.float32 and marker.vertices.shape == (10, 3)
    assert marker.vertices[9].tolist() == [18.0, 19.0, 0.0]
    with pytest.raises(ValueError, match="read-only"):
        marker.vertices[0] = 0
    with pytest.raises(FrozenInstanceError):
        marker.id = 2  # type: ignore[misc]


def test_a_closed_line_returns_to_its_first_point() -> None:
    assert Marker.line("a", 1, TRIANGLE, closed=True).vertices.tolist() == [*TRIANGLE, TRIANGLE[0]]
    assert len(Marker.line("a", 1, [], closed=True).vertices) == 0


def test_no_points_are_valid() -> None:
    assert Marker.points("cones", 1, []).vertices.shape == (0, 3)
    assert Marker.line("path", 1, np.empty((0, 2))).vertices.shape == (0, 3)


@pytest.mark.parametrize(
    ("color", "expected"),
    [
        ("white", (1, 1, 1, 1)),
        ("orange", (1, 0.5, 0, 1)),
        ("#f00", (1, 0, 0, 1)),
        ("#f008", (1, 0, 0, 136 / 255)),
        ("#3366Cc", (0.2, 0.4, 0.8, 1)),
        ("#00000080", (0, 0, 0, 128 / 255)),
        ((0.25, 0.5, 1), (0.25, 0.5, 1, 1)),
        (np.array([0.0, 1.0, 0.0, 0.5]), (0, 1, 0, 0.5)),
    ],
)
def test_colors(color: Any, expected: tuple[float, ...]) -> None:
    assert rgba(color) == pytest.approx(expected)
    assert Marker.circle("a", 1, color=color).color == pytest.approx(expected)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"namespace": ""}, "the namespace of a marker has 1 to 255 bytes, not 0"),
        ({"namespace": "ü" * 128}, "the namespace of a marker has 1 to 255 bytes, not 256"),
        ({"namespace": 7}, "the namespace of a marker is text, not 7"),
        ({"namespace": "\ud800"}, "the namespace of a marker has characters that are not Unicode: '\\ud800'"),
        ({"id": -1}, "the id of a marker is a whole number in 0 to 2**32 - 1, not -1"),
        ({"id": 2**32}, "the id of a marker is a whole number in 0 to 2**32 - 1, not 4294967296"),
        ({"id": True}, "the id of a marker is a whole number in 0 to 2**32 - 1, not True"),
        ({"kind": "circel"}, "marker 'plan' 1: unknown marker kind 'circel'; did you mean 'circle'?"),
        ({"position": (0, np.nan, 0)}, "marker 'plan' 1: position has a component that is not finite: [0.0, nan, 0.0]"),
        ({"position": (0, 0, 0, 0)}, "marker 'plan' 1: position has shape (4,), expected (3,)"),
        ({"position": "here"}, "marker 'plan' 1: position: expected an array of numbers"),
        ({"quaternion": (0, 0, 0, 0)}, "marker 'plan' 1: quaternion is not normalised: norm 0, expected 1"),
        ({"scale": (0, 1, 1)}, "marker 'plan' 1: the radius of a marker of kind circle is more than 0, not 0"),
        ({"scale": ("1", 1, 1)}, "marker 'plan' 1: scale (radius): expected an array of numbers"),
        (
            {"kind": "ring", "scale": (1, 2, 1)},
            "marker 'plan' 1: the width of a ring is at most its radius 1, not 2",
        ),
        ({"color": "organge"}, "marker 'plan' 1: unknown color 'organge'; did you mean 'orange'?"),
        ({"color": (255, 0, 0)}, "marker 'plan' 1: the numbers of a color go from 0 to 1, not [255.0, 0.0, 0.0]"),
        ({"color": (np.nan, 0, 0)}, "marker 'plan' 1: the numbers of a color go from 0 to 1, not [nan, 0.0, 0.0]"),
        (
            {"color": "#12345"},
            "marker 'plan' 1: a color in hex is '#rgb', '#rrggbb' or '#rrggbbaa', not '#12345'",
        ),
        (
            {"color": 3},
            "marker 'plan' 1: a color is a name, '#rrggbb', or 3 or 4 numbers from 0 to 1, not 3",
        ),
        (
            {"vertices": [[0, 0, 0]]},
            "marker 'plan' 1: a marker of kind circle has no points; "
            "those with: points, line_strip, line_list, triangle_list",
        ),
        (
            {"kind": "line_list", "vertices": TRIANGLE},
            "marker 'plan' 1: the points of a line_list come in multiples of 2, not 3",
        ),
        (
            {"kind": "triangle_list", "vertices": TRIANGLE[:2]},
            "marker 'plan' 1: the points of a triangle_list come in multiples of 3, not 2",
        ),
        (
            {"kind": "points", "vertices": [[0, 0, 0], [0, np.inf, 0]]},
            "marker 'plan' 1: points[1] is not finite (as float32)",
        ),
        ({"kind": "points", "vertices": [[0, 1e39]]}, "marker 'plan' 1: points[0] is not finite (as float32)"),
        (
            {"kind": "points", "vertices": [1, 2, 3]},
            "marker 'plan' 1: points have shape (3,), expected (n, 3) or (n, 2)",
        ),
        ({"kind": "points", "vertices": [[1], [2, 3]]}, "marker 'plan' 1: points: expected an array of numbers"),
        (
            {"kind": "points", "vertices": np.zeros((1_000_001, 2), np.float32)},
            "marker 'plan' 1: a marker has at most 1000000 points, not 1000001; use several markers",
        ),
        ({"label": "hello"}, "marker 'plan' 1: a marker of kind circle has no label; those with: text, mesh"),
        (
            {"kind": "text"},
            "marker 'plan' 1: the label (the text to show) of a marker has 1 to 1024 bytes, not 0",
        ),
        ({"frame": ""}, "marker 'plan' 1: the frame of a marker has 1 to 255 bytes, not 0"),
        (
            {"ttl": 0},
            "marker 'plan' 1: ttl is a time > 0 in s, or None to stay until it is removed, not 0",
        ),
        (
            {"scale": (1, 1e39, 1)},
            "marker 'plan' 1: scale (radius) has a component beyond -1e+06 to 1e+06: [1.0, 1e+39, 1.0]",
        ),
        (
            {"position": (0, 0, -1e300)},
            "marker 'plan' 1: position has a component beyond -1e+07 to 1e+07: [0.0, 0.0, -1e+300]",
        ),
        (
            {"kind": "points", "vertices": [[0, 0, 0], [0, -2e7, 0]]},
            "marker 'plan' 1: points[1] has a coordinate beyond -1e+07 to 1e+07",
        ),
        ({"ttl": 1e10}, "marker 'plan' 1: ttl is at most 1e+09 s, or None to stay until removed, not 1e+10"),
        ({"ttl": np.inf}, "marker 'plan' 1: ttl is a finite number, not inf"),
        ({"ttl": "1"}, "marker 'plan' 1: ttl is a finite number, not '1'"),
    ],
)
def test_errors_have_one_line(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(PaddockError) as caught:
        Marker(**{"namespace": "plan", "id": 1, "kind": "circle", **fields})
    assert str(caught.value) == message
    assert isinstance(caught.value, InvalidValueError | UnknownNameError)


def test_wrong_shortcuts_are_refused_too() -> None:
    with pytest.raises(InvalidValueError, match="yaw is a finite number, not inf"):
        Marker.car("a", 1, yaw=np.inf)
    with pytest.raises(InvalidValueError, match="end has shape"):
        Marker.arrow("a", 1, (0, 0), (1, 1, 1, 1))
    with pytest.raises(InvalidValueError, match="the length of a marker of kind arrow is more than 0"):
        Marker.arrow("a", 1, (1, 1), (1, 1))
    with pytest.raises(InvalidValueError, match=r"scale \(length, width, height\) has shape \(2,\), expected \(3,\)"):
        Marker.car("a", 1, size=(4, 2))
