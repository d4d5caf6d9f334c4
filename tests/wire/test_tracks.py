"""Track files: every format reads back what it wrote, formats are detected, errors name line, column and tag."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.wire.tracks import (
    FORMATS,
    Cone,
    EarthPlacement,
    Point,
    Start,
    TrackFile,
    TrackFileError,
    parse_track,
    read_track,
    write_track,
)

TITLES = "tag,x,y,direction,x_variance,y_variance,xy_covariance"
number = st.floats(-1e6, 1e6, allow_nan=False)
small = st.floats(0.0, 1e3, allow_nan=False)
colour = st.sampled_from(["blue", "yellow", "orange", "big_orange"])


@st.composite
def csv_files(draw: st.DrawFn) -> TrackFile:
    row = st.tuples(number, number, st.just(0.0), number, small, small, number)
    cones = st.builds(lambda c, r: Cone(c, *r), st.one_of(colour, st.just("unknown")), row)
    starts = st.builds(
        lambda x, y, yaw, a, b, c: Start(x, y, yaw, x_variance=a, y_variance=b, xy_covariance=c),
        *(number, number, number, small, small, number),
    )
    points = st.lists(st.builds(lambda r: Point(*r), row), max_size=4).map(tuple)
    listed = st.lists(cones, min_size=1, max_size=12).map(tuple)
    return TrackFile(draw(listed), draw(st.none() | starts), draw(points), draw(points))


@settings(max_examples=60, deadline=None)
@given(csv_files())
def test_csv_reads_back_every_bit(file: TrackFile) -> None:
    text = write_track(file, "csv")
    assert parse_track(text) == file
    assert write_track(parse_track(text)) == text
    short = parse_track(write_track(file, "csv4"))
    assert [(c.colour, c.x, c.y, c.direction) for c in short.cones] == [
        (c.colour, c.x, c.y, c.direction) for c in file.cones
    ]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(colour, number, number), max_size=12),
    st.none() | st.tuples(number, number, number, st.sampled_from(["cg", "front_wing"])),
    st.lists(st.tuples(number, number), max_size=3),
)
def test_lists_by_colour_read_back_every_bit(
    cones: list[tuple[str, float, float]],
    start: tuple[float, float, float, str] | None,
    timing: list[tuple[float, float]],
) -> None:
    order = ["yellow", "blue", "orange", "big_orange"]  # as the file lists them: left, right, orange, large
    rows = sorted((Cone(*cone) for cone in cones), key=lambda cone: order.index(cone.colour))
    begins = None if start is None else Start(*start[:3], reference=start[3])
    file = TrackFile(tuple(rows), begins, tuple(Point(*gate) for gate in timing))
    text = write_track(file, "cones")
    assert parse_track(text) == file
    assert write_track(parse_track(text), "cones") == text


text_of_version = st.sampled_from(["1.0", "2", "1.10", "v1: beta", "", "no", "007", "it's"])
position = st.tuples(number, number, number)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["left", "right", "unknown"]), colour, position, st.booleans()), max_size=10),
    st.none() | st.tuples(position, position),
    st.lists(position, max_size=3),
    st.sampled_from([None, True, False]),
    text_of_version,
    st.none() | st.tuples(position, position),
)
def test_lanes_read_back_every_bit(
    cones: list[tuple[str, str, tuple[float, float, float], bool]],
    start: tuple[tuple[float, ...], tuple[float, ...]] | None,
    timing: list[tuple[float, float, float]],
    closed: bool | None,
    version: str,
    earth: tuple[tuple[float, float, float], tuple[float, float, float]] | None,
) -> None:
    sides = ["left", "right", "unknown"]
    rows = sorted(
        (Cone("unknown" if hidden else name, *at, side=side, invisible=hidden) for side, name, at, hidden in cones),
        key=lambda gate: sides.index(gate.side),
    )
    begins = None
    if start is not None:
        (x, y, z), (roll, pitch, yaw) = start
        begins = Start(x, y, yaw, z, roll, pitch)
    place_on_earth = None if earth is None else EarthPlacement(*earth)
    file = TrackFile(tuple(rows), begins, tuple(Point(*gate) for gate in timing), (), closed, version, place_on_earth)
    text = write_track(file, "lanes")
    assert parse_track(text) == file
    assert write_track(parse_track(text), "lanes") == text


def test_formats_are_detected_from_their_contents(tmp_path: Path) -> None:
    file = TrackFile((Cone("blue", 1.0, 2.0), Cone("yellow", 1.0, -2.0)), Start(0.0, 0.0, 0.5))
    for name, ending in FORMATS.items():
        path = tmp_path / f"{name}.txt"
        path.write_text(write_track(file, name))
        kind = read_track(path)
        assert {(c.colour, c.x, c.y) for c in kind.cones} == {("blue", 1.0, 2.0), ("yellow", 1.0, -2.0)}
        assert kind.start is not None and (kind.start.x, kind.start.y, kind.start.yaw) == (0.0, 0.0, 0.5)
        assert ending in (".csv", ".yaml")


def test_the_left_cones_of_lists_are_yellow_and_can_be_swapped() -> None:
    text = "cones_left: [[1, 2]]\ncones_right: [[3, 4]]\nstarting_pose_front_wing: [0, 0, 0]\n"
    file = parse_track(text)
    assert [(c.colour, c.x) for c in file.cones] == [("yellow", 1.0), ("blue", 3.0)]
    assert [(c.colour, c.x) for c in file.swapped().cones] == [("blue", 1.0), ("yellow", 3.0)]
    assert file.start == Start(0.0, 0.0, 0.0, reference="front_wing")


def test_csv_with_and_without_header_comments_and_windows_lines() -> None:
    plain = parse_track("blue,1,2,0,0.1,0.2,0.01\r\n# a remark\r\n\r\ncar_start, 0 ,0,1.5,0,0,0\r\n")
    titled = parse_track(
        "tag,x,y,direction,x_variance,y_variance,xy_covariance\nblue,1,2,0,0.1,0.2,0.01\ncar_start,0,0,1.5,0,0,0\n"
    )
    assert plain == titled
    assert plain.cones == (Cone("blue", 1.0, 2.0, 0.0, 0.0, 0.1, 0.2, 0.01),)


ERRORS = [
    ("bleu,1,2,0", "t:1:1: unknown tag 'bleu'; did you mean 'blue'?"),
    ("tag,x,y,yaw\nblue,1,2,0\n yelow,1,2,0", "t:3:2: unknown tag 'yelow'; did you mean 'yellow'?"),
    ("blue,1,2,0\nblue,1,two,0", "t:2:8: y must be a number, not 'two'"),
    ("blue,1,nan,0", "t:1:8: y must be a number, not 'nan'"),
    ("blue,1,9e9,0", "t:1:8: y must lie within 1e+06, not 9e9"),
    ("blue,1,2", f"t:1:1: a line has 4 or 7 columns ({TITLES}), this has 3"),
    ("blue,1,2,0\nblue,1,2,0,0,0,0", f"t:2:1: a line has 4 columns ({TITLES}), this has 7"),
    (TITLES.replace("x_variance", "x_varance"), "t:1:19: unknown title 'x_varance'; expected 'x_variance'"),
    ("car_start,0,0,0\ncar_start,1,0,0", "t:2:1: a second car_start; the first is at line 1"),
    ("blue,0,0,0,-1,0,0", "t:1:12: x_variance must be >= 0, not -1"),
    ("cones_lft: []", "t:1:1: not a track: unknown key 'cones_lft'; did you mean 'cones_left'?"),
    ("cones_left: [[1, 2]]\ncones_rihgt: []", "t:2:1: unknown key 'cones_rihgt'; did you mean 'cones_right'?"),
    ("cones_left:\n- [1, 2, 3]", "t:2:3: must be [x, y], not [1, 2, 3]"),
    ("cones_left:\n- [1, b]", "t:2:7: must be a number within 1e+06, not 'b'"),
    ("starting_pose_cg: [0, 0, 0]\nstarting_pose_front_wing: [0, 0, 0]", "t:1:1: give starting_pose_front_wing or"),
    ("track:\n  left:\n  - {position: [1, 2, 0], class: bleu}", "t:3:34: unknown class 'bleu'; did you mean 'blue'?"),
    ("track:\n  left:\n  - {position: [1, 2, 0]}", "t:3:5: missing key 'class': blue, yellow, "),
    ("track:\n  lefd: []", "t:2:3: unknown key 'lefd'; did you mean 'left'?"),
    ("track:\n  lanesFirstWithLastConnected: 3", "t:2:32: must be true or false, not 3"),
    ("track:\n  left:\n  - {position: [1, 2, 0], class: timekeeping}", "t:3:34: the class 'timekeeping' stands"),
    ("track: [", "t:2:1: not valid YAML"),
    ("", "t:1:1: the file is empty"),
    ("tag;x;y;yaw\nblue;1;2;0", "t:1:4: the columns are separated by semicolons; a track file has commas"),
    ("# cones\nbig_orange\t1\t2\t0", "t:2:11: the columns are separated by tabs"),
    ("tag,x,y,yaw\nblue;1,5;2,0;0", "t:2:5: the columns are separated by semicolons"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_errors_name_line_column_and_offender(text: str, message: str) -> None:
    with pytest.raises(TrackFileError) as error:
        parse_track(text, "t")
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60) | st.text("blueyow,0123.-\n: []{}trackcones_f", max_size=60))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    refused, file = "t: read", None
    try:
        file = parse_track(text, "t")
    except TrackFileError as error:
        refused = str(error)
    assert refused.startswith("t:") and refused.isprintable()
    assert file is None or all(math.isfinite(value) for cone in file.cones for value in cone[1:8])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TrackFileError, match="cannot be read: No such file"):
        read_track(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes(b"blue,1,2,0\nbl\xfce,1,2,0")
    with pytest.raises(TrackFileError, match=r"latin.csv:2:3: not UTF-8 text"):
        read_track(tmp_path / "latin.csv")
    (tmp_path / "large.csv").write_bytes(b"#" * (4 << 20) + b"\n")
    with pytest.raises(TrackFileError, match="it has more than 4 MiB"):
        read_track(tmp_path / "large.csv")


def test_cones_of_unknown_colour_are_not_lost_silently() -> None:
    file = TrackFile((Cone("unknown", 1.0, 2.0),))
    with pytest.raises(TrackFileError, match=r"1 cones of unknown colour, the first at \(1, 2\)"):
        write_track(file, "cones")
    hidden = replace(file, cones=(Cone("unknown", 1.0, 2.0, side="left", invisible=True),))
    assert parse_track(write_track(hidden, "cones")).cones == ()
