"""Edited tracks: checks with one clear line for each error, files that are read again, in the checking process."""

import asyncio
from math import hypot, pi
from typing import Any

import numpy as np
import pytest

from paddock.errors import PaddockError
from paddock.serve.protection.checker import Checker
from paddock.serve.track_checks import answer_about
from paddock.wire.tracks import parse_track


def ring(radius: float, colour: str, count: int = 24) -> tuple[list[list[float]], list[str]]:
    angles = np.arange(count) * 2 * pi / count
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles)]).tolist(), [colour] * count


def circle() -> dict[str, Any]:
    """Return a track driven counter-clockwise, with the blue cones inside, at radii of 13 and 17 m."""
    (left, blue), (right, yellow) = ring(13.0, "blue"), ring(17.0, "yellow")
    return {"cones": left + right, "colours": blue + yellow, "start": [15.0, 0.0, pi / 2]}


def test_a_track_of_cones() -> None:
    answer = answer_about(circle())
    assert answer["problems"] == [] and answer["track"]["closed"]
    assert answer["track"]["length"] == pytest.approx(2 * pi * 15.0, rel=0.01)
    assert all(hypot(x, y) == pytest.approx(15.0, abs=0.1) for x, y in answer["track"]["centre"])
    assert answer["warnings"] and "lap of 94 m" in " ".join(answer["warnings"])  # the rules want 200 to 500 m


def test_what_is_wrong_with_cones() -> None:
    assert answer_about({"cones": [], "colours": [], "start": [0, 0, 0]})["problems"] == ["there are no cones yet"]
    one_side = circle()
    one_side = {**one_side, "cones": one_side["cones"][:24], "colours": one_side["colours"][:24]}
    (problem,) = answer_about(one_side)["problems"]
    assert problem.startswith("the right boundary has 0 cones")
    assert answer_about({**circle(), "colours": ["blue"]})["refused"] == "there are 48 cones and 1 colours"


@pytest.mark.parametrize("format", ["csv", "csv4", "cones", "lanes"])
def test_files_have_the_same_cones(format: str) -> None:
    asked = circle()
    text = answer_about({**asked, "format": format})["text"]
    file = parse_track(text, "x", format)
    read = [(cone.x, cone.y) for cone in file.cones]
    np.testing.assert_allclose(sorted(read), sorted(map(tuple, asked["cones"])), atol=1e-6)
    colours = [cone.colour for cone in file.cones]
    assert format == "lanes" or [colours.count(colour) for colour in ("blue", "yellow")] == [24, 24]


@pytest.mark.parametrize("format", ["csv", "csv4", "cones", "lanes"])
def test_a_file_is_read_back_with_its_format(format: str) -> None:
    asked = circle()
    asked["cones"][0] = [13.125, -0.0625]  # exact in binary
    text = answer_about({**asked, "format": format})["text"]
    answer = answer_about({"file": "ring", "text": text})
    assert (answer["format"], answer["start"], answer["notes"]) == (format, asked["start"], [])
    read = sorted(zip(map(tuple, answer["cones"]), answer["colours"], strict=True))
    assert read == sorted(zip(map(tuple, asked["cones"]), asked["colours"], strict=True))


def test_what_a_file_has_besides_cones() -> None:
    text = """track:
  left:
  - {position: [0, 2, 0], class: blue}
  - {position: [5, 2, 0], class: invisible}
  right:
  - {position: [0, -2, 0], class: yellow}
  unknown: []
  time_keeping:
  - {position: [1, 2, 0], class: timekeeping}
  - {position: [1, -2, 0], class: timekeeping}
"""
    answer = answer_about({"file": "a.yaml", "text": text})
    assert answer["cones"] == [[0, 2], [0, -2]] and answer["colours"] == ["blue", "yellow"]
    assert answer["notes"] == [
        "left out: 1 boundary point without a cone",
        "left out: 2 timing points",
    ]
    assert answer["start"] is None and answer["covariances"] is None
    spread = answer_about({"file": "b.csv", "text": "blue,1,2,0,0.01,0.01,0\ncar_start,0,0,0.5,0,0,0\n"})
    assert (spread["format"], spread["start"]) == ("csv", [0.0, 0.0, 0.5])
    assert spread["covariances"] == [[0.01, 0.01, 0.0]] and spread["notes"] == []


def test_covariances_are_kept_in_the_file_that_has_them() -> None:
    text = "blue,1,2,0,0.01,0.0225,-0.005\nyellow,1,-2,0,0,0,0\ncar_start,0,0,0.5,0,0,0\n"
    answer = answer_about({"file": "b.csv", "text": text})
    asked = {name: answer[name] for name in ("cones", "colours", "start", "covariances")}
    again = parse_track(answer_about({**asked, "format": "csv"})["text"], "b.csv", "csv")
    assert [cone[5:8] for cone in again.cones] == [(0.01, 0.0225, -0.005), (0.0, 0.0, 0.0)]
    assert "0.0225" not in answer_about({**asked, "format": "csv4"})["text"]
    few = answer_about({**asked, "format": "csv", "covariances": [[0.0, 0.0, 0.0]]})
    assert few["refused"] == "there are 2 cones and 1 covariances"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("tag,x,y,yaw\nblue,1,2,0\npurple,1,2,0\n", "f:3:1: unknown tag 'purple'"),
        ("blue,1,two,0\n", "f:1:8: y must be a number, not 'two'"),
        ("cones_left:\n- [1, 2, 3]\n", "f:2:3: "),
        ("track:\n  left: 7\n", "f:2:9: "),
        ("cars: 3\n", "f:1:1: not a track: unknown key 'cars'"),
        ("blue,1,2,0\n" * 5001, "f: the file has 5,001 cones; the editor takes at most 5,000"),
    ],
)
def test_errors_of_a_file_are_one_line_with_its_place(text: str, line: str) -> None:
    refused = answer_about({"file": "f", "text": text})["refused"]
    assert refused.startswith(line) and "\n" not in refused


def test_an_unfinished_track_has_a_file_but_no_lanes() -> None:
    asked = {"cones": [[0.0, 1.5], [4.0, 1.5]], "colours": ["blue", "blue"], "start": [0.0, 0.0, 0.0]}
    assert "blue" in answer_about({**asked, "format": "csv"})["text"]
    assert answer_about({**asked, "format": "lanes"})["refused"].startswith("the right boundary has 0 cones")


def test_the_checking_process_answers_about_tracks() -> None:
    async def ask() -> tuple[dict[str, Any], str]:
        checker = Checker()
        try:
            answer = await checker.track(circle())
            with pytest.raises(PaddockError, match="48 cones and 1 colours") as refused:
                await checker.track({**circle(), "colours": ["blue"]})
            return answer, str(refused.value)
        finally:
            await checker.close()

    answer, _ = asyncio.run(ask())
    assert answer["track"]["length"] == pytest.approx(2 * pi * 15.0, rel=0.01)
