"""Track files in YAML: lists of cones by colour (`cones_left`, ...), and lanes (`track: {left, right, ...}`)."""

from collections.abc import Mapping, Sequence
from typing import Any

from paddock.errors import PaddockError, printable, suggestion
from paddock.scenario.marked_yaml import load_yaml, plain_scalar
from paddock.scenario.problems import KeyPath, Marks
from paddock.wire.tracks.document import (
    FARTHEST,
    MOST_CONES,
    Cone,
    EarthPlacement,
    Point,
    Start,
    TrackFile,
    TrackFileError,
)

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

    def check_keys(self, given: Mapping[str, Any], known: Sequence[str], path: KeyPath) -> None:
        for key in given:
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
        for k, place in enumerate(doc.items(doc.root.get(key), (key,))):
            x, y = doc.numbers(place, (key, k), "x, y", 2)
            cones.append(Cone(colour, x, y))
    timing = [
        Point(*doc.numbers(place, ("tk_device", k), "x, y", 2))
        for k, place in enumerate(doc.items(doc.root.get("tk_device"), ("tk_device",)))
    ]
    given = [key for key in STARTS if doc.root.get(key) is not None]
    if len(given) > 1:
        raise doc.error((given[1],), f"give {given[0]} or {given[1]}, not both", key=True)
    start = None
    if given:
        x, y, yaw = doc.numbers(doc.root[given[0]], (given[0],), "x, y, yaw", 3)
        start = Start(x, y, yaw, reference=STARTS[given[0]])
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


def _refuse_unknown(found: Sequence[Cone]) -> None:
    if found:
        raise TrackFileError(
            f"{len(found)} cones of unknown colour, the first at ({found[0].x:g}, {found[0].y:g}): "
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
    given = doc.mapping(value, path)
    doc.check_keys(given, ("position", "orientation"), path)
    if "position" not in given:
        raise doc.error(path, "missing key 'position': [x, y, z]")
    position = doc.numbers(given["position"], (*path, "position"), "x, y, z", 2, 3)
    turned = given.get("orientation", [0.0, 0.0, 0.0])
    orientation = doc.numbers(turned, (*path, "orientation"), "roll, pitch, yaw", 3)
    return (*position, 0.0)[:3], orientation


def _item(doc: _Document, value: Any, path: KeyPath) -> tuple[tuple[float, ...], str]:
    given = doc.mapping(value, path)
    doc.check_keys(given, ("position", "class"), path)
    for key, form in (("position", "[x, y, z]"), ("class", "blue, yellow, small-orange, big-orange, ...")):
        if key not in given:
            raise doc.error(path, f"missing key {key!r}: {form}")
    class_, known = given["class"], (*CLASSES, *OTHER_CLASSES)
    if class_ not in known:
        message = f"unknown class {class_!r:.60}; {suggestion(str(class_), known)}"
        raise doc.error((*path, "class"), message)
    position = doc.numbers(given["position"], (*path, "position"), "x, y, z", 2, 3)
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
        found = [cone for cone in track.cones if (cone.side or sides.get(cone.colour, "unknown")) == side]
        classes = ["invisible" if cone.invisible else names[cone.colour] for cone in found]
        lines += _list(side, [_item_line((c.x, c.y, c.z), k) for c, k in zip(found, classes, strict=True)], "  ")
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
