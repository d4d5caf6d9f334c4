"""The tracks of the catalog have the dimensions of the rules."""

import numpy as np
import pytest

from paddock import track
from paddock.track.formula_student import figures, problems


def test_the_skidpad_has_the_dimensions_of_the_rules() -> None:
    t = track.load("skidpad")
    for centre, inner, outer in (((0.0, -9.125), "yellow", "blue"), ((0.0, 9.125), "blue", "yellow")):
        for colour, diameter, count in ((inner, 15.25, 16), (outer, 21.25, 13)):
            own = t.of_colour(colour)
            gaps = np.hypot(*(own[own[:, 1] * centre[1] > 0.0] - centre).T)  # not those of the other circle
            assert np.count_nonzero(np.abs(2.0 * gaps - diameter) < 1e-9) == count
    assert len(t.of_colour("blue")) == len(t.of_colour("yellow")) == 29
    assert not t.closed and t.length == pytest.approx(15.0 + 4.0 * np.pi * 18.25 + 25.0, abs=0.1)
    lap = np.pi * 18.25
    turned = [t.curvature_at(15.0 + share * lap) for share in (0.5, 1.5, 2.5, 3.5)]
    np.testing.assert_allclose(turned, np.array([-1.0, -1.0, 1.0, 1.0]) / 9.125, rtol=0.01)  # two right, two left
    np.testing.assert_allclose(t.width, 3.0)
    assert t.gates[0].left == pytest.approx((0.0, 1.5)) and t.gates[0].right == pytest.approx((0.0, -1.5))
    assert np.hypot(*(t.cones - t.point_at(15.0 + 2.0 * lap)).T).min() > 1.49
    for along in np.linspace(0.0, t.length, 500):  # a car of 1.5 m drives through
        assert np.hypot(*(t.cones[:-6] - t.point_at(along)).T).min() > 1.3 or along > t.length - 3.0


def test_a_skidpad_file_is_recognised_wherever_it_lies() -> None:
    course = track.load("skidpad")
    angle, shift = 2.2, np.array([40.0, -7.0])
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    noise = np.random.default_rng(2).normal(0.0, 0.03, course.cones.shape)
    x, y = turn @ np.array(course.start[:2]) + shift
    t = track.from_cones((course.cones + noise) @ turn.T + shift, course.colours, (x, y, angle), "moved")
    assert len(t.centre) == len(course.centre)
    np.testing.assert_allclose(t.centre, course.centre @ turn.T + shift, atol=0.15)


def test_the_acceleration_track_has_the_dimensions_of_the_rules() -> None:
    t = track.load("acceleration")
    assert t.start == (-0.30, 0.0, 0.0)  # staged 0.30 m before the line
    start, *_, finish = t.gates
    assert start.left == pytest.approx((0.0, 1.75)) and finish.right == pytest.approx((75.0, -1.75))
    assert finish.along - start.along == pytest.approx(75.0)
    assert t.width.min() >= 3.0 and t.cones[:, 0].max() == 175.0  # 100 m to stop
    assert t.source.start.reference == "front_wing"


@pytest.mark.parametrize("name", ["autocross", "trackdrive"])
def test_autocross_and_trackdrive_keep_the_rules(name: str) -> None:
    t = track.load(name)
    assert t.closed and problems(t) == []
    assert [gate.name for gate in t.gates] == ["start", "sector 1", "sector 2"]
    big = t.of_colour("big_orange")
    line = 0.5 * (np.array(t.gates[0].left) + t.gates[0].right)
    assert len(big) == 4 and big.mean(axis=0) == pytest.approx(line, abs=0.05)
    assert t.centre[0] == pytest.approx(t.start[:2], abs=0.05)
    assert t.gates[0].along == pytest.approx(6.0, abs=0.1)


def test_circuits() -> None:
    names = track.names()
    assert names == ["skidpad", "acceleration", "autocross", "trackdrive", "park", "harbour", "speedway"]
    for name in ("park", "harbour", "speedway"):
        t = track.load(name)
        measured = figures(t)
        assert t.closed and measured["tightest_radius"] > 6.0 and measured["cones"]["big_orange"] == 4
    assert track.load("speedway").width.min() >= 12.0  # for 20 cars
    assert track.load("park").length > 800.0


def test_problems_are_found() -> None:
    course = track.load("autocross")
    blue = np.flatnonzero(course.colours == 0)
    fewer = np.delete(np.arange(len(course.cones)), blue[[3, 4]])
    t = track.from_cones(course.cones[fewer], course.colours[fewer], course.start, "x")
    (line,) = problems(t)
    assert line.startswith("left cones 13") and line.endswith("at most 5 m")
    narrow = course.cones.copy()
    middle = course.centre[[np.argmin(np.hypot(*(course.centre - position).T)) for position in narrow[blue]]]
    narrow[blue] += 0.4 * (middle - narrow[blue])
    assert problems(track.from_cones(narrow, course.colours, course.start, "x"))[0].startswith("width 2.")
