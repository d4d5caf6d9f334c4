"""Track files of comma-separated values: `tag,x,y,direction,x_variance,y_variance,xy_covariance` or `tag,x,y,yaw`."""

import math
import re
from collections.abc import Iterator, Sequence

from paddock.errors import printable, suggestion
from paddock.wire.tracks.document import FARTHEST, MOST_CONES, Cone, Point, Start, TrackFile, TrackFileError

COLUMNS = ("tag", "x", "y", "direction", "x_variance", "y_variance", "xy_covariance")
SHORT = ("tag", "x", "y", "yaw")
COLOUR_TAGS = ("blue", "yellow", "orange", "big_orange", "unknown")
TAGS = (*COLOUR_TAGS, "car_start", "midpoint")
OTHER_TAGS = ("timekeeping",)  # written so that no point of another format is lost
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def looks_like_csv(text: str) -> bool:
    """Return whether the first line with contents has commas and no YAML key, or a tag before another separator."""
    first = _first_line(text)
    return ("," in first and not re.match(r"\s*[A-Za-z_]+\s*:", first)) or _other_separator(first) is not None


def _other_separator(line: str) -> tuple[str, int] | None:
    """Return the name and the column of what separates the cells of a line in place of commas."""
    found = re.match(rf"\s*({'|'.join(('tag', *TAGS))})\s*([;\t|])", line, re.IGNORECASE)
    return found and ({";": "semicolons", "\t": "tabs", "|": "bars"}[found[2]], found.start(2) + 1)


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
        place = f"{name}:{number}"
        if other := _other_separator(line):
            raise TrackFileError(
                f"{place}:{other[1]}: the columns are separated by {other[0]}; a track file has commas between them, "
                "and points in its numbers"
            )
        cells = list(_cells(line))
        titles = tuple(cell.lower() for _, cell in cells)
        if not columns and titles[0] == "tag":
            _check_header(place, cells, titles)
            columns = len(titles)
            continue
        if len(cells) not in (len(SHORT), len(COLUMNS)) or (columns and len(cells) != columns):
            wanted = columns or "4 or 7"
            raise TrackFileError(f"{place}:1: a line has {wanted} columns ({','.join(COLUMNS)}), this has {len(cells)}")
        columns = len(cells)
        tag_at, tag = cells[0]
        if tag not in (*TAGS, *OTHER_TAGS):
            raise TrackFileError(f"{place}:{tag_at}: unknown tag {printable(tag[:60])!r}; {suggestion(tag, TAGS)}")
        numbers = [_number(f"{place}:{at}", COLUMNS[k], cell) for k, (at, cell) in enumerate(cells[1:], 1)]
        x, y, direction, *rest = numbers
        vx, vy, cxy = rest or (0.0, 0.0, 0.0)
        for k, value in ((4, vx), (5, vy)):
            if value < 0.0:
                raise TrackFileError(f"{place}:{cells[k][0]}: {COLUMNS[k]} must be >= 0, not {value:g}")
        if tag == "car_start":
            if start is not None:
                raise TrackFileError(f"{place}:1: a second car_start; the first is at line {start[1]}")
            start = Start(x, y, direction, x_variance=vx, y_variance=vy, xy_covariance=cxy), number
        elif tag in points:
            points[tag].append(Point(x, y, 0.0, direction, vx, vy, cxy))
        else:
            cones.append(Cone(tag, x, y, 0.0, direction, vx, vy, cxy))
        if len(cones) > MOST_CONES:
            raise TrackFileError(f"{place}:1: a track has at most {MOST_CONES:,} cones")
    if not columns:
        raise TrackFileError(f"{name}:1:1: the file has no lines; a track file has lines {','.join(COLUMNS)}")
    begins = None if start is None else start[0]
    return TrackFile(tuple(cones), begins, tuple(points["timekeeping"]), tuple(points["midpoint"]))


def _cells(line: str) -> Iterator[tuple[int, str]]:
    """Yield the column (from 1) and the text of each cell."""
    at = 0
    for cell in line.split(","):
        yield at + len(cell) - len(cell.lstrip()) + 1, cell.strip()
        at += len(cell) + 1


def _check_header(place: str, cells: Sequence[tuple[int, str]], titles: tuple[str, ...]) -> None:
    for known in (COLUMNS, SHORT, (*SHORT[:3], "direction")):
        if titles == known:
            return
    wanted = SHORT if len(titles) <= len(SHORT) else COLUMNS
    for k, (at, cell) in enumerate(cells):
        if k >= len(wanted) or titles[k] != wanted[k]:
            expected = f"expected {wanted[k]!r}" if k < len(wanted) else f"a header has {len(wanted)} titles"
            raise TrackFileError(f"{place}:{at}: unknown title {printable(cell[:60])!r}; {expected}")
    raise TrackFileError(f"{place}:1: the header lacks {wanted[len(titles)]!r}")


def _number(place: str, title: str, cell: str) -> float:
    if not _NUMBER.fullmatch(cell):
        raise TrackFileError(f"{place}: {title} must be a number, not {printable(cell[:60])!r}")
    value = float(cell)
    if not math.isfinite(value) or abs(value) > FARTHEST:
        raise TrackFileError(f"{place}: {title} must lie within {FARTHEST:g}, not {printable(cell[:60])}")
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
    titles = SHORT if short else COLUMNS
    lines = [",".join(titles), *(",".join([row[0], *map(repr, row[1 : len(titles)])]) for row in rows)]
    return "\n".join(lines) + "\n"
