"""What a mission has to do, and where nobody may be: tasks and zones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from paddock.scenario.base import NotNegative, Number, Positive, Section, Vector2, Whole, trouble
from paddock.scenario.vehicle import Name

KINDS = ("point", "line", "circle", "area", "polygon")
FARTHEST = 1e6
"""m from the origin: farther away there are no tasks, zones and bases."""

Side = Literal["left", "right"]
_HEADING = "in rad (0 is east, counter-clockwise)"


def _in_reach(value: tuple[float, ...]) -> tuple[float, ...]:
    if not all(abs(number) <= FARTHEST for number in value):
        raise trouble(f"a place lies within {FARTHEST:g} m of the origin, not at {list(value)}")
    return value


Place = Annotated[Vector2, AfterValidator(_in_reach)]
"""`[x, y]` in m, world frame ENU."""
Length = Annotated[Positive, Field(le=FARTHEST)]
"""m."""


def _ring(points: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(points) < 3:
        raise trouble(f"a polygon has at least 3 points, not {len(points)}")
    return points


Ring = Annotated[tuple[Place, ...], AfterValidator(_ring)]
"""The corners of a polygon, either way round; the last one joins the first."""


def one_of(section: Section, names: Sequence[str], what: str) -> str:
    """The only one of some fields that is given; several, or none, are refused."""
    given = [name for name in names if getattr(section, name) is not None]
    if len(given) != 1:
        has = f"it has {' and '.join(given)}" if given else "it has none"
        raise trouble(f"{what} needs exactly one of {', '.join(names)}; {has}", (given[1],) if given else ())
    return given[0]


class PointTask(Section):
    """A place to be passed."""

    at: Place = Field(description="Where [x, y], in m.")
    heading: Number | None = Field(default=None, description=f"Heading there, {_HEADING}; null is any.")


class LineTask(Section):
    """A straight line to be followed."""

    at: Place = Field(description="Where it begins [x, y], in m.")
    heading: Number = Field(description=f"Where it leads, {_HEADING}.")
    length: Length = Field(description="How long it is, in m.")


class CircleTask(Section):
    """A full circle that begins and ends at a place on it."""

    at: Place = Field(description="Where it begins [x, y], a place on the circle, in m.")
    heading: Number = Field(description=f"Heading there, {_HEADING}.")
    radius: Length = Field(description="Its radius, in m.")
    turn: Side = Field(default="left", description="Which way round; left is counter-clockwise.")


class AreaTask(Section):
    """Parallel passes to and fro, joined by half circles."""

    at: Place = Field(description="Where the first pass begins [x, y], in m.")
    heading: Number = Field(description=f"Where the first pass leads, {_HEADING}.")
    length: Length = Field(description="Length of a pass, in m.")
    spacing: Length = Field(description="Distance between passes, in m.")
    passes: Whole = Field(ge=1, le=10_000, description="How many passes.")
    side: Side = Field(default="left", description="On which side of the first pass the others lie.")


class Camera(Section):
    """A camera that looks straight down, its width across the passes; height and overlap give their spacing."""

    width_px: Whole = Field(ge=1, description="Pixels across.")
    height_px: Whole = Field(ge=1, description="Pixels along.")
    sensor_width_mm: Positive = Field(description="Width of the sensor, in mm.")
    sensor_height_mm: Positive = Field(description="Height of the sensor, in mm.")
    focal_length_mm: Positive = Field(description="Focal length of the lens, in mm.")
    side_overlap: NotNegative = Field(
        default=0.7, lt=1, description="Share of a picture that the next pass shows again (no unit)."
    )


class PolygonTask(Section):
    """An area of any outline to be swept by parallel passes; `spacing` and `camera` say the same thing: give one."""

    outline: Ring = Field(description="Its corners [[x, y], ...], in m.")
    holes: tuple[Ring, ...] = Field(default=(), description="What is left out of it [[[x, y], ...], ...], in m.")
    spacing: Length | None = Field(default=None, description="Distance between passes, in m.")
    camera: Camera | None = Field(default=None, description="The camera whose pictures cover it.")
    angle: Number | None = Field(
        default=None, description=f"Direction of the passes, {_HEADING}; null takes the shortest."
    )
    margin: NotNegative = Field(
        default=0.0, le=FARTHEST, description="How far passes stay inside the outline and out of holes, in m."
    )

    @model_validator(mode="after")
    def _one_spacing(self) -> Self:
        one_of(self, ("spacing", "camera"), "a polygon")
        return self


def _two(value: Any) -> Any:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise PydanticCustomError("form", "{form}", {"form": "[earliest, latest]"})
    return value


def _ordered(window: tuple[float, float]) -> tuple[float, float]:
    if window[0] > window[1]:
        raise trouble(f"a window begins before it ends, not at {window[0]:g} s and {window[1]:g} s")
    return window


Window = Annotated[tuple[NotNegative, NotNegative], BeforeValidator(_two), AfterValidator(_ordered)]


class Task(Section):
    """Something to be done once, by one vehicle; of exactly one kind."""

    name: Name = Field(default="", description="Unique name; by default its position in the list: task_0.")
    point: PointTask | None = Field(default=None, description="A place to be passed.")
    line: LineTask | None = Field(default=None, description="A straight line to be followed.")
    circle: CircleTask | None = Field(default=None, description="A full circle.")
    area: AreaTask | None = Field(default=None, description="Parallel passes.")
    polygon: PolygonTask | None = Field(default=None, description="An area of any outline.")
    altitude: Number | None = Field(
        default=None, ge=-FARTHEST, le=FARTHEST, description="Its height, in m; null is the mission's."
    )
    window: Window | None = Field(
        default=None, description="When it may be begun: [earliest, latest], in s; null is any time."
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        one_of(self, KINDS, "a task")
        return self

    @property
    def kind(self) -> str:
        """What it is: point, line, circle, area or polygon."""
        return one_of(self, KINDS, "a task")

    @property
    def shape(self) -> PointTask | LineTask | CircleTask | AreaTask | PolygonTask:
        """Its geometry."""
        found: PointTask | LineTask | CircleTask | AreaTask | PolygonTask = getattr(self, self.kind)
        return found


class ZoneCircle(Section):
    """All within a radius of a place."""

    at: Place = Field(description="Centre [x, y], in m.")
    radius: Length = Field(description="Its radius, in m.")


class NoFlyZone(Section):
    """Where nobody may be, at any height: a circle or a polygon."""

    name: Name = Field(default="", description="Unique name; by default its position in the list: zone_0.")
    circle: ZoneCircle | None = Field(default=None, description="A circle.")
    polygon: Ring | None = Field(default=None, description="Its corners [[x, y], ...], in m.")

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        one_of(self, ("circle", "polygon"), "a zone")
        return self


def numbered(prefix: str, taken: set[str]) -> Callable[[int], str]:
    """Default names `prefix_0`, `prefix_1`, ... that differ from those taken."""

    def name(index: int) -> str:
        found = f"{prefix}_{index}"
        while found in taken:
            found += "_"
        return found

    return name
