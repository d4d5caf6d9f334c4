"""The codec of plain objects: what is read is what was written; what is not of its type is refused with its path."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import IntEnum
from math import inf, nan
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import pytest
from annotated_types import Ge, Le, Len
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from paddock.errors import InvalidValueError
from paddock.world.archive import pack, unpack
from paddock.world.records import Text, fields_from_tree, fields_to_tree, from_tree, to_tree


class Colour(IntEnum):
    RED = 1
    BLUE = 2


class Point(NamedTuple):
    x: float
    y: Annotated[float, Ge(-5.0), Le(5.0)] = 0.0


@dataclass(frozen=True)
class Circle:
    centre: Point
    radius: float

    def __post_init__(self) -> None:
        if self.radius <= 0.0:
            raise InvalidValueError("radius: must be above 0")


@dataclass(frozen=True)
class Square:
    side: float


class Tool:
    """One of several tools of a robot, which it refers to."""

    robot: Robot

    def __init__(self, robot: Robot) -> None:
        self.robot = robot


class Drill(Tool):
    bits: list[int]
    depth: float | None

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.bits, self.depth = [3, 5], None

    def check_saved(self) -> bool:
        return self.robot.most >= len(self.bits)


class Camera(Tool):
    lens: Literal["wide", "narrow"] = "wide"


class Robot:
    unsaved: ClassVar[tuple[str, ...]] = ("cache",)
    most = 4
    tool: Tool
    name: Text
    colour: Colour
    shapes: list[Circle | Square]
    log: Annotated[deque[str], Len(0, 3)]
    counts: dict[str, Annotated[int, Ge(0)]]
    marks: set[int]
    curve: NDArray[np.float64]
    cache: int

    def __init__(self) -> None:
        self.tool, self.name, self.colour, self.cache = Drill(self), "one", Colour.BLUE, 7
        self.shapes = [Circle(Point(1.0, -2.0), 3.0), Square(2.0)]
        self.log, self.counts, self.marks = deque(["a", "b"], 3), {"z": 1, "a": 2}, {5, 1}
        self.curve, self.on_change = np.array([0.5, nan]), lambda: None


def saved() -> Any:
    return unpack(pack({"robot": fields_to_tree(Robot(), "robot")}))["robot"]


def test_a_record_is_read_as_it_was_written() -> None:
    owner, tree = Robot(), saved()
    assert tree["tool"] == {"is": "Drill", "bits": [3, 5], "depth": None}
    assert tree["shapes"] == [
        {"is": "Circle", "fields": [[1.0, -2.0], 3.0]},
        {"is": "Square", "fields": [2.0]},
    ]
    assert (tree["colour"], tree["marks"], tree["counts"]) == (2, [1, 5], [["z", 1], ["a", 2]])
    assert tree.keys() == {"tool", "name", "colour", "shapes", "log", "counts", "marks", "curve"}
    values = fields_from_tree(owner, tree, "robot")
    assert type(values["tool"]) is Drill and values["tool"].robot is owner and values["tool"] is not owner.tool
    assert values["log"] == owner.log and values["log"].maxlen == 3 and values["colour"] is Colour.BLUE
    assert [*values["counts"].items()] == [("z", 1), ("a", 2)] and values["marks"] == {1, 5}
    assert values["shapes"] == owner.shapes and values["curve"].tobytes() == owner.curve.tobytes()
    vars(owner).update(values)
    assert pack({"robot": fields_to_tree(owner, "robot")}) == pack({"robot": tree})


REFUSED: list[tuple[tuple[Any, ...], Any, str]] = [
    (("name",), "a\nb", "robot.name: is not valid"),
    (("name",), "x" * 1001, "robot.name: has 1001 entries, more than 1000"),
    (("colour",), 3, "robot.colour: is 3, not a Colour"),
    (("colour",), True, "robot.colour: is True, not a Colour"),
    (("shapes", 0, "fields", 0, 1), 5.5, "robot.shapes[0].centre.y: 5.5 is out of its limits"),
    (("shapes", 0, "fields", 1), -1.0, "robot.shapes[0]: radius: must be above 0"),
    (("shapes", 0, "fields"), [1.0], "robot.shapes[0]: is a list, not a list of centre, radius"),
    (("shapes", 1, "is"), "Point", "robot.shapes[1]: is 'Point', not Circle, Square"),
    (("shapes", 1), None, "robot.shapes[1]: is None, not Circle, Square"),
    (("tool", "is"), "Robot", "robot.tool: is 'Robot', not a Tool"),
    (("tool", "bits"), [1] * 5, "robot.tool: is not a valid Drill"),
    (("tool", "bits", 1), 2.5, "robot.tool.bits[1]: is 2.5, not a whole number"),
    (("tool", "bits", 1), 1 << 60, "robot.tool.bits[1]: 1152921504606846976 is out of its limits"),
    (("tool", "depth"), 1e16, "robot.tool.depth: 1e+16 is out of its limits"),
    (("tool", "robot"), {}, "robot.tool: unknown field 'robot'"),
    (("log",), ["a"] * 4, "robot.log: has 4 entries, more than 3"),
    (("counts", 1, 1), -1, "robot.counts[1]: -1 is out of its limits"),
    (("counts", 1, 0), "z", "robot.counts[1]: has a key twice"),
    (("counts", 0), ["z"], "robot.counts[0]: is a list, not a pair"),
    (("marks",), [1, 1], "robot.marks: has an entry twice"),
    (("curve",), np.zeros(2, "f4"), "robot.curve: is a ndarray, not an array of float64"),
    (("curve",), np.full(2, 1e16), "robot.curve: is out of its limits"),
    (("cache",), 7, "robot: unknown field 'cache'"),
]


@pytest.mark.parametrize(("path", "wrong", "message"), REFUSED, ids=[message for *_, message in REFUSED])
def test_a_refusal_names_the_path(path: tuple[Any, ...], wrong: Any, message: str) -> None:
    tree = holder = saved()
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = wrong
    with pytest.raises(InvalidValueError) as error:
        fields_from_tree(Robot(), tree, "robot")
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("name", ["tool", "name", "curve"])
def test_a_missing_field_is_refused(name: str) -> None:
    tree = saved()
    del tree[name]
    with pytest.raises(InvalidValueError, match=rf"robot\.{name}: is missing"):
        fields_from_tree(Robot(), tree, "robot")


def test_what_is_not_of_its_declared_type_is_not_saved() -> None:
    robot = Robot()
    robot.tool.bits[1] = 5.5  # type: ignore[attr-defined]
    with pytest.raises(InvalidValueError, match=r"robot\.tool\.bits\[1\]: is 5\.5, not a whole number"):
        fields_to_tree(robot, "robot")


@dataclass
class Entry:
    at: float
    text: str = ""
    inside: list[tuple[int, bool]] = field(default_factory=list)


whole = st.integers(-(2**53) + 1, 2**53 - 1)
entries = st.builds(
    Entry,
    st.floats(-1e15, 1e15) | st.sampled_from([nan, inf, -inf, -0.0]),
    st.text(max_size=9),
    st.lists(st.tuples(whole, st.booleans())),
)


@given(st.dictionaries(st.text(max_size=5).filter(str.isprintable), entries))
def test_any_records_come_back(values: dict[str, Entry]) -> None:
    kind = dict[str, Entry]
    tree = unpack(pack({"": to_tree(kind, values, "values")}))[""]
    again = from_tree(kind, tree, "values")
    assert [*again] == [*values]
    for one, other in zip(values.values(), again.values(), strict=True):
        assert (one.text, one.inside) == (other.text, other.inside)
        assert np.float64(one.at).tobytes() == np.float64(other.at).tobytes()
    assert pack({"": to_tree(kind, again, "values")}) == pack({"": tree})
