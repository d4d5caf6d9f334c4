"""Track files: their contents, the formats CSV and YAML, reading with detection of the format, writing.

`csv` and `csv4` are comma-separated values with seven and four columns
(`tag,x,y,direction,x_variance,y_variance,xy_covariance` or `tag,x,y,yaw`), `cones` is YAML with lists by colour
(`cones_left`, ...), `lanes` is YAML with left and right boundaries (`track: {left, right, ...}`).
"""

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from paddock.errors import PaddockError, printable, suggestion, unknown_name
from paddock.files import read_file
from paddock.scenario.marked_yaml import load_yaml, plain_scalar
from paddock.scenario.problems import KeyPath, Marks

FORMATS = {"csv": ".csv", "csv4": ".csv", "cones": ".yaml", "lanes": ".yaml"}
"""Name of a format -> ending of its files."""
COLOURS = ("blue", "yellow", "orange", "big_orange", "unknown")
"""Colours of cones."""
SIDES = ("", "left", "right", "unknown")
"""Lists of a lanes file in which a cone stands; "" for other formats."""
LARGEST = 4 << 20
"""Bytes of the largest file that is read."""
MOST_CONES = 20_000
FARTHEST = 1e6  # m from the origin
_SWAPPED = {"blue": "yellow", "yellow": "blue", "left": "right", "right": "left"}


class TrackFileError(PaddockError):
    """A track file that cannot be read: file, line, column, what is wrong and what is valid."""


class Cone(NamedTuple):
    """A cone, or a boundary point without one."""

    colour: str  # one of COLOURS
    x: float  # m
    y: float
    z: float = 0.0
    direction: float = 0.0  # rad; the CSV column, 0 for cones
    x_variance: float = 0.0  # m2
    y_variance: float = 0.0
    xy_covariance: float = 0.0
    side: str = ""  # one of SIDES
    invisible: bool = False  # a point of the boundary where no cone stands


class Start(NamedTuple):
    """The start pose."""

    x: float  # m
    y: float
    yaw: float  # rad
    z: float = 0.0
    roll: float = 0.0
    pitch: float = 0.0
    reference: str = "cg"  # "cg" or "front_wing": the point of the car that is at (x, y)
    x_variance: float = 0.0  # m2; columns of CSV
    y_variance: float = 0.0
    xy_covariance: float = 0.0


class Point(NamedTuple):
    """A point besides the cones: on the middle line, or a timing device."""

    x: float  # m
    y: float
    z: float = 0.0
    direction: float = 0.0  # rad
    x_variance: float = 0.0  # m2
    y_variance: float = 0.0
    xy_covariance: float = 0.0


class EarthPlacement(NamedTuple):
    """Where on Earth the origin is: `earthToTrack` of a lanes file."""

    position: tuple[float, float, float]
    orientation: tuple[float, float, float]


@dataclass(frozen=True)
class TrackFile:
    """The contents of a track file. Equal contents are written as equal bytes."""

    cones: tuple[Cone, ...]
    start: Start | None = None
    timing: tuple[Point, ...] = ()  # timing devices, in pairs
    midpoints: tuple[Point, ...] = ()
    closed: bool | None = None  # None: the format does not say
    version: str = ""  # of a lanes file
    earth: EarthPlacement | None = None

    def swapped(self) -> "TrackFile":
        """Return the contents with blue and yellow exchanged; sides stay."""
        return replace(self, cones=tuple(c._replace(colour=_SWAPPED.get(c.colour, c.colour)) for c in self.cones))


CSV_COLUMNS = ("tag", "x", "y", "direction", "x_variance", "y_variance", "xy_covariance")
CSV4_COLUMNS = ("tag", "x", "y", "yaw")
CSV_TAGS = (*COLOURS, "car_start", "midpoint")
OTHER_CSV_TAGS = ("timekeeping",)  # written so that no point of another format is lost
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def looks_like_csv(text: str) -> bool:
    """Return whether the first line with contents has commas and no YAML key, or a tag before another separator."""
    first = _first_line(text)
    return ("," in first and not re.match(r"\s*[A-Za-z_]+\s*:", first)) or _other_separator(first) is not None


def _other_separator(line: str) -> tuple[str, int] | None:
    """Return the name and the column of what separates the cells of a line in place of commas."""
    match = re.match(rf"\s*({'|'.join(('tag', *CSV_TAGS))})\s*([;\t|])", line, re.IGNORECASE)
    return match and ({";": "semicolons", "\t": "tabs", "|": "bars"}[match[2]], match.start(2) + 1)


def csv_columns(text: str) -> int:
    """Return the number of columns of the first line with contents."""
    return _first_line(text).count(",") + 1


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")), "")


def read_csv(text: str, name: str) -> TrackFile:
    """Read either form; `name` is the file name in errors."""
    cones: list[Cone] = []
    points: dict[str, list[Point]] = {"midpoint": [], "timekeeping": []}
    start: tuple[Start, int] | None = None
    columns = 0
    for number, line in enumerate(text.split("\n"), 1):
        line = line.removesuffix("\r")
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        line_name = f"{name}:{number}"
        if other := _other_separator(line):
            raise TrackFileError(
                f"{line_name}:{other[1]}: the columns are separated by {other[0]}; a track file has commas between "
                "them, and points in its numbers"
            )
        cells = list(_cells(line))
        titles = tuple(cell.lower() for _, cell in cells)
        if not columns and titles[0] == "tag":
            _check_header(line_name, cells, titles)
            columns = len(titles)
            continue
        if len(cells) not in (len(CSV4_COLUMNS), len(CSV_COLUMNS)) or (columns and len(cells) != columns):
            wanted = columns or "4 or 7"
            raise TrackFileError(
                f"{line_name}:1: a line has {wanted} columns ({','.join(CSV_COLUMNS)}), this has {len(cells)}"
            )
        columns = len(cells)
        tag_at, tag = cells[0]
        if tag not in (*CSV_TAGS, *OTHER_CSV_TAGS):
            raise TrackFileError(
                f"{line_name}:{tag_at}: unknown tag {printable(tag[:60])!r}; {suggestion(tag, CSV_TAGS)}"
            )
        numbers = [_number(f"{line_name}:{at}", CSV_COLUMNS[k], cell) for k, (at, cell) in enumerate(cells[1:], 1)]
        x, y, direction, *rest = numbers
        vx, vy, cxy = rest or (0.0, 0.0, 0.0)
        for k, value in ((4, vx), (5, vy)):
            if value < 0.0:
                raise TrackFileError(f"{line_name}:{cells[k][0]}: {CSV_COLUMNS[k]} must be >= 0, not {value:g}")
        if tag == "car_start":
            if start is not None:
                raise TrackFileError(f"{line_name}:1: a second car_start; the first is at line {start[1]}")
            start = Start(x, y, direction, x_variance=vx, y_variance=vy, xy_covariance=cxy), number
        elif tag in points:
            points[tag].append(Point(x, y, 0.0, direction, vx, vy, cxy))
        else:
            cones.append(Cone(tag, x, y, 0.0, direction, vx, vy, cxy))
        if len(cones) > MOST_CONES:
            raise TrackFileError(f"{line_name}:1: a track has at most {MOST_CONES:,} cones")
    if not columns:
        raise TrackFileError(f"{name}:1:1: the file has no lines; a track file has lines {','.join(CSV_COLUMNS)}")
    begins = None if start is None else start[0]
    return TrackFile(tuple(cones), begins, tuple(points["timekeeping"]), tuple(points["midpoint"]))


def _cells(line: str) -> Iterator[tuple[int, str]]:
    """Yield the column (from 1) and the text of each cell."""
    at = 0
    for cell in line.split(","):
        yield at + len(cell) - len(cell.lstrip()) + 1, cell.strip()
        at += len(cell) + 1


def _check_header(line_name: str, cells: Sequence[tuple[int, str]], titles: tuple[str, ...]) -> None:
    for known in (CSV_COLUMNS, CSV4_COLUMNS, (*CSV4_COLUMNS[:3], "direction")):
        if titles == known:
            return
    wanted = CSV4_COLUMNS if len(titles) <= len(CSV4_COLUMNS) else CSV_COLUMNS
    for k, (at, cell) in enumerate(cells):
        if k >= len(wanted) or titles[k] != wanted[k]:
            expected = f"expected {wanted[k]!r}" if k < len(wanted) else f"a header has {len(wanted)} titles"
            raise TrackFileError(f"{line_name}:{at}: unknown title {printable(cell[:60])!r}; {expected}")
    raise TrackFileError(f"{line_name}:1: the header lacks {wanted[len(titles)]!r}")


def _number(line_name: str, title: str, cell: str) -> float:
    if not _NUMBER.fullmatch(cell):
        raise TrackFileError(f"{line_name}: {title} must be a number, not {printable(cell[:60])!r}")
    value = float(cell)
    if not math.isfinite(value) or abs(value) > FARTHEST:
        raise TrackFileError(f"{line_name}: {title} must lie within {FARTHEST:g}, not {printable(cell[:60])}")
    return value


def write_csv(track: TrackFile, short: bool = False) -> str:
    """Return the file with a header; `short` is the form of four columns, without covariances."""
    rows: list[tuple[str, float, float, float, float, float, float]] = [
        (c.colour, c.x, c.y, c.direction, c.x_variance, c.y_variance, c.xy_covariance)
        for c in track.cones
        if not c.invisible
    ]
    if (s := track.start) is not None:
        rows.append(("car_start", s.x, s.y, s.yaw, s.x_variance, s.y_variance, s.xy_covariance))
    for tag, points in (("midpoint", track.midpoints), ("timekeeping", track.timing)):
        rows += [(tag, p.x, p.y, p.direction, p.x_variance, p.y_variance, p.xy_covariance) for p in points]
    titles = CSV4_COLUMNS if short else CSV_COLUMNS
    lines = [",".join(titles), *(",".join([row[0], *map(repr, row[1 : len(titles)])]) for row in rows)]
    return "\n".join(lines) + "\n"


LISTS = {"cones_left": "yellow", "cones_right": "blue", "cones_orange": "orange", "cones_orange_big": "big_orange"}
"""List of cones -> colour: this format's left cones are yellow."""
STARTS = {"starting_pose_front_wing": "front_wing", "starting_pose_cg": "cg"}
LANES = ("left", "right", "unknown")
LANE_KEYS = ("version", "lanesFirstWithLastConnected", "start", "left", "right", "time_keeping", "unknown")
CLASSES = {"blue": "blue", "yellow": "yellow", "small-orange": "orange", "big-orange": "big_orange"}
OTHER_CLASSES = ("timekeeping", "invisible", "unknown")


class _Document:
    """A YAML file with the places of its values."""

    def __init__(self, text: str, name: str) -> None:
        try:
            self.root, self.marks = load_yaml(text, name)
        except PaddockError as error:
            raise TrackFileError(str(error).replace("; a scenario is a mapping with the key 'vehicles'", "")) from None

    def error(self, path: KeyPath, message: str, key: bool = False) -> TrackFileError:
        return TrackFileError(f"{(self.marks.at_key if key else self.marks.at)(path)}: {printable(message)}")

    def check_keys(self, tree: Mapping[str, Any], known: Sequence[str], path: KeyPath) -> None:
        for key in tree:
            if key not in known:
                raise self.error((*path, key), f"unknown key {key[:60]!r}; {suggestion(key, known)}", key=True)

    def numbers(self, value: Any, path: KeyPath, names: str, *sizes: int) -> tuple[float, ...]:
        """Return a list of numbers of one of the sizes."""
        if not isinstance(value, list) or len(value) not in sizes:
            raise self.error(path, f"must be [{names}], not {value!r:.60}")
        for k, number in enumerate(value):
            if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= FARTHEST:
                raise self.error((*path, k), f"must be a number within {FARTHEST:g}, not {number!r:.60}")
        return tuple(float(number) for number in value)

    def items(self, value: Any, path: KeyPath) -> list[Any]:
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.error(path, f"must be a list, not {value!r:.60}")
        if len(value) > MOST_CONES:
            raise self.error(path, f"a track has at most {MOST_CONES:,} cones, not {len(value):,}")
        return value

    def mapping(self, value: Any, path: KeyPath) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.error(path, f"must be a mapping, not {value!r:.60}")
        return value


def read_lists(text: str, name: str) -> TrackFile:
    """Read the format with `cones_left`, `cones_right`, ...; its left cones are yellow."""
    doc = _Document(text, name)
    doc.check_keys(doc.root, (*LISTS, "tk_device", *STARTS), ())
    cones: list[Cone] = []
    for key, colour in LISTS.items():
        for k, pose in enumerate(doc.items(doc.root.get(key), (key,))):
            x, y = doc.numbers(pose, (key, k), "x, y", 2)
            cones.append(Cone(colour, x, y))
    timing = [
        Point(*doc.numbers(pose, ("tk_device", k), "x, y", 2))
        for k, pose in enumerate(doc.items(doc.root.get("tk_device"), ("tk_device",)))
    ]
    starts = [key for key in STARTS if doc.root.get(key) is not None]
    if len(starts) > 1:
        raise doc.error((starts[1],), f"give {starts[0]} or {starts[1]}, not both", key=True)
    start = None
    if starts:
        x, y, yaw = doc.numbers(doc.root[starts[0]], (starts[0],), "x, y, yaw", 3)
        start = Start(x, y, yaw, reference=STARTS[starts[0]])
    return TrackFile(tuple(cones), start, tuple(timing))


def write_lists(track: TrackFile) -> str:
    """Return the lists; cones of unknown colour cannot be written in this format."""
    standing = [cone for cone in track.cones if not cone.invisible]
    _refuse_unknown([cone for cone in standing if cone.colour == "unknown"])
    lines: list[str] = []
    for key, colour in LISTS.items():
        lines += _list(key, [f"[{c.x!r}, {c.y!r}]" for c in standing if c.colour == colour])
    lines += _list("tk_device", [f"[{p.x!r}, {p.y!r}]" for p in track.timing])
    if (s := track.start) is not None:
        key = next(key for key, reference in STARTS.items() if reference == s.reference)
        lines.append(f"{key}: [{s.x!r}, {s.y!r}, {s.yaw!r}]")
    return "\n".join(lines) + "\n"


def _refuse_unknown(cones: Sequence[Cone]) -> None:
    if cones:
        raise TrackFileError(
            f"{len(cones)} cones of unknown colour, the first at ({cones[0].x:g}, {cones[0].y:g}): "
            "the format 'cones' has no such cones; use 'lanes' or 'csv'"
        )


def _list(key: str, items: Sequence[str], indent: str = "") -> list[str]:
    return [f"{indent}{key}:", *(f"{indent}- {item}" for item in items)] if items else [f"{indent}{key}: []"]


def read_lanes(text: str, name: str) -> TrackFile:
    """Read the format with lanes: `track: {version, left, right, ...}`."""
    doc = _Document(text, name)
    doc.check_keys(doc.root, ("track",), ())
    tree, at = doc.mapping(doc.root["track"], ("track",)), ("track",)
    doc.check_keys(tree, (*LANE_KEYS, "earthToTrack"), at)
    cones: list[Cone] = []
    for side in LANES:
        for k, item in enumerate(doc.items(tree.get(side), (*at, side))):
            cones.append(_lane_cone(doc, item, (*at, side, k), side))
    timing = []
    for k, item in enumerate(doc.items(tree.get("time_keeping"), (*at, "time_keeping"))):
        path = (*at, "time_keeping", k)
        position, class_ = _item(doc, item, path)
        if class_ != "timekeeping":
            raise doc.error((*path, "class"), f"time_keeping has items of the class 'timekeeping', not {class_!r}")
        timing.append(Point(*position))
    closed = tree.get("lanesFirstWithLastConnected")
    if closed is not None and not isinstance(closed, bool):
        raise doc.error((*at, "lanesFirstWithLastConnected"), f"must be true or false, not {closed!r:.60}")
    version = tree.get("version")
    if isinstance(version, bool | list | dict):
        raise doc.error((*at, "version"), f"must be a number or text, not {version!r:.60}")
    start = None
    if tree.get("start") is not None:
        (x, y, z), (roll, pitch, yaw) = _pose(doc, tree["start"], (*at, "start"))
        start = Start(x, y, yaw, z, roll, pitch)
    earth = None
    if tree.get("earthToTrack") is not None:
        earth = EarthPlacement(*_pose(doc, tree["earthToTrack"], (*at, "earthToTrack")))
    written = "" if version is None else str(version)
    return TrackFile(tuple(cones), start, tuple(timing), (), closed, written, earth)


def _pose(doc: _Document, value: Any, path: KeyPath) -> tuple[Any, Any]:
    tree = doc.mapping(value, path)
    doc.check_keys(tree, ("position", "orientation"), path)
    if "position" not in tree:
        raise doc.error(path, "missing key 'position': [x, y, z]")
    position = doc.numbers(tree["position"], (*path, "position"), "x, y, z", 2, 3)
    turned = tree.get("orientation", [0.0, 0.0, 0.0])
    orientation = doc.numbers(turned, (*path, "orientation"), "roll, pitch, yaw", 3)
    return (*position, 0.0)[:3], orientation


def _item(doc: _Document, value: Any, path: KeyPath) -> tuple[tuple[float, ...], str]:
    tree = doc.mapping(value, path)
    doc.check_keys(tree, ("position", "class"), path)
    for key, form in (("position", "[x, y, z]"), ("class", "blue, yellow, small-orange, big-orange, ...")):
        if key not in tree:
            raise doc.error(path, f"missing key {key!r}: {form}")
    class_, known = tree["class"], (*CLASSES, *OTHER_CLASSES)
    if class_ not in known:
        message = f"unknown class {class_!r:.60}; {suggestion(str(class_), known)}"
        raise doc.error((*path, "class"), message)
    position = doc.numbers(tree["position"], (*path, "position"), "x, y, z", 2, 3)
    return (*position, 0.0)[:3], class_


def _lane_cone(doc: _Document, item: Any, path: KeyPath, side: str) -> Cone:
    (x, y, z), class_ = _item(doc, item, path)
    if class_ == "timekeeping":
        raise doc.error((*path, "class"), "the class 'timekeeping' stands in the list time_keeping")
    colour = CLASSES.get(class_, "unknown")
    return Cone(colour, x, y, z, side=side, invisible=class_ == "invisible")


def write_lanes(track: TrackFile) -> str:
    """Return the lanes; a cone without a side stands on that of its colour, or in `unknown`."""
    names = {colour: class_ for class_, colour in CLASSES.items()} | {"unknown": "unknown"}
    sides = {"blue": "left", "yellow": "right"}
    lines = ["track:", *([f"  version: {_scalar(track.version)}"] if track.version else ())]
    closed = track.closed
    if closed is not None:
        lines.append(f"  lanesFirstWithLastConnected: {'true' if closed else 'false'}")
    if (e := track.earth) is not None:
        lines += ["  earthToTrack:", *_pose_lines(e.position, e.orientation)]
    if (s := track.start) is not None:
        lines += ["  start:", *_pose_lines((s.x, s.y, s.z), (s.roll, s.pitch, s.yaw))]
    for side in LANES:
        cones = [cone for cone in track.cones if (cone.side or sides.get(cone.colour, "unknown")) == side]
        classes = ["invisible" if cone.invisible else names[cone.colour] for cone in cones]
        lines += _list(side, [_item_line((c.x, c.y, c.z), k) for c, k in zip(cones, classes, strict=True)], "  ")
    lines += _list("time_keeping", [_item_line((p.x, p.y, p.z), "timekeeping") for p in track.timing], "  ")
    return "\n".join(lines) + "\n"


def _pose_lines(position: Sequence[float], orientation: Sequence[float]) -> list[str]:
    return [f"    position: [{_joined(position)}]", f"    orientation: [{_joined(orientation)}]"]


def _item_line(position: Sequence[float], class_: str) -> str:
    return f"{{position: [{_joined(position)}], class: {class_}}}"


def _joined(values: Sequence[float]) -> str:
    return ", ".join(map(repr, values))


def _scalar(text: str) -> str:
    try:
        same = str(plain_scalar(text)) == text
    except ValueError:
        same = False
    return text if same and not set(text) & set(":#{}[],&*!|>'\"%@`\n") else "'" + text.replace("'", "''") + "'"


def yaml_kind(text: str, name: str) -> str:
    """Return `lanes` or `cones` for a YAML file of that format; otherwise an error that names both."""
    doc = _Document(text, name)
    if "track" in doc.root:
        return "lanes"
    known = (*LISTS, "tk_device", *STARTS)
    if any(key in known for key in doc.root):
        return "cones"
    first = next(iter(doc.root), "")
    marks: Marks = doc.marks
    where = marks.at_key((first,)) if first else f"{name}:1:1"
    advice = suggestion(first, ("track", *known))
    raise TrackFileError(f"{where}: not a track: unknown key {printable(first[:60])!r}; {advice}")


def read_track_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a track file."""
    name = os.fspath(path)
    try:
        data = read_file(path, LARGEST)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise TrackFileError(f"{name}:{line}:{column}: not UTF-8 text") from None
    except OSError as error:
        raise TrackFileError(f"{name}: cannot be read: {error.strerror or error}") from None


def read_track(path: str | os.PathLike[str], format: str | None = None) -> TrackFile:
    """Read a track file, in the format that its contents show unless one is given."""
    return parse_track(read_track_text(path), os.fspath(path), format)


def format_of(text: str, name: str = "<text>") -> str:
    """Return the name of the format of a text; `name` is the file name in errors."""
    if looks_like_csv(text):
        return "csv4" if csv_columns(text) == len(CSV4_COLUMNS) else "csv"
    return yaml_kind(text, name)


def parse_track(text: str, name: str = "<text>", format: str | None = None) -> TrackFile:
    """Read the text of a track file; `name` is the file name in errors."""
    if format is not None and format not in FORMATS:
        raise unknown_name("track format", format, FORMATS)
    if format in ("csv", "csv4") or (format is None and looks_like_csv(text)):
        return read_csv(text, name)
    kind = format or format_of(text, name)
    return read_lanes(text, name) if kind == "lanes" else read_lists(text, name)


def write_track(track: TrackFile, format: str = "csv") -> str:
    """Return the text of a track file."""
    if format not in FORMATS:
        raise unknown_name("track format", format, FORMATS)
    if format in ("csv", "csv4"):
        return write_csv(track, short=format == "csv4")
    return write_lanes(track) if format == "lanes" else write_lists(track)
