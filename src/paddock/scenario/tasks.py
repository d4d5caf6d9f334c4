"""Tasks and no-fly zones of a mission."""

from collections.abc import Collection
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from paddock.scenario.base import (
    Name,
    NotNegative,
    Number,
    OneOf,
    Positive,
    Section,
    Vector2,
    Whole,
    has_length,
    invalid,
)

KINDS = ("point", "line", "circle", "area", "polygon")
FARTHEST = 1e6  # largest distance of tasks, zones and bases from the origin, in m

Side = Literal["left", "right"]
_HEADING = "in rad (0 is east, counter-clockwise)"


def _in_reach(value: tuple[float, ...]) -> tuple[float, ...]:
    if not all(abs(number) <= FARTHEST for number in value):
        raise invalid(f"a position must be within {FARTHEST:g} m of the origin, not at {list(value)}")
    return value


Position = Annotated[Vector2, AfterValidator(_in_reach)]  # `[x, y]` in m, world frame ENU
Length = Annotated[Positive, Field(le=FARTHEST)]  # m
Height = Annotated[Number, Field(ge=-FARTHEST, le=FARTHEST)]  # m


def _at_least_three(points: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(points) < 3:
        raise invalid(f"a polygon has at least 3 points, not {len(points)}")
    return points


Ring = Annotated[tuple[Position, ...], AfterValidator(_at_least_three)]
"""The corners of a polygon, either way round; the last joins the first."""


class PointTask(Section):
    """A point to pass."""

    at: Position = Field(description="Position [x, y], in m.")
    heading: Number | None = Field(default=None, description=f"Heading at the point, {_HEADING}; null is any.")


class LineTask(Section):
    """A straight line to follow."""

    at: Position = Field(description="Start [x, y], in m.")
    heading: Number = Field(description=f"Direction, {_HEADING}.")
    length: Length = Field(description="Length, in m.")


class CircleTask(Section):
    """A full circle that starts and ends at one point."""

    at: Position = Field(description="Start [x, y], a point on the circle, in m.")
    heading: Number = Field(description=f"Heading at the start, {_HEADING}.")
    radius: Length = Field(description="Radius, in m.")
    turn: Side = Field(default="left", description="Direction of the turn; left is counter-clockwise.")


class AreaTask(Section):
    """Parallel passes back and forth; in another order where turns are too tight."""

    at: Position = Field(description="Start of the first pass [x, y], in m.")
    heading: Number = Field(description=f"Direction of the first pass, {_HEADING}.")
    length: Length = Field(description="Length of a pass, in m.")
    spacing: Length = Field(description="Distance between passes, in m.")
    passes: Whole = Field(ge=1, le=10_000, description="Number of passes.")
    side: Side = Field(default="left", description="Side of the first pass on which the others lie.")


class CameraSection(Section):
    """A camera that looks straight down, its width across the passes; height and overlap give the spacing."""

    width_px: Whole = Field(ge=1, description="Pixels across.")
    height_px: Whole = Field(ge=1, description="Pixels along.")
    sensor_width_mm: Positive = Field(description="Width of the sensor, in mm.")
    sensor_height_mm: Positive = Field(description="Height of the sensor, in mm.")
    focal_length_mm: Positive = Field(description="Focal length of the lens, in mm.")
    side_overlap: NotNegative = Field(default=0.7, lt=1, description="Overlap of neighbouring passes, 0 to 1.")


class PolygonTask(OneOf):
    """An area of any outline, covered by parallel passes. Give `spacing` or `camera`."""

    ONE_OF = ("a polygon", ("spacing", "camera"))

    outline: Ring = Field(description="Corners [[x, y], ...], in m.")
    holes: tuple[Ring, ...] = Field(default=(), description="Excluded areas [[[x, y], ...], ...], in m.")
    spacing: Length | None = Field(default=None, description="Distance between passes, in m.")
    camera: CameraSection | None = Field(default=None, description="The camera whose pictures cover the area.")
    angle: Number | None = Field(default=None, description=f"Direction of passes, {_HEADING}; null is the shortest.")
    margin: NotNegative = Field(
        default=0.0, le=FARTHEST, description="Width of the strip along outline and holes that is not covered, in m."
    )
    turns: Literal["auto", "inside", "outside"] = Field(
        default="auto",
        description="Where turns are: always `inside` the outline, or `outside` where that covers more; "
        "`auto` is inside if at least half can be covered so.",
    )


def _ordered(window: tuple[float, float]) -> tuple[float, float]:
    if window[0] > window[1]:
        raise invalid(f"a window must start before it ends, not at {window[0]:g} s and {window[1]:g} s")
    return window


Window = Annotated[tuple[NotNegative, NotNegative], has_length(2, form="[earliest, latest]"), AfterValidator(_ordered)]


class TaskEntry(OneOf):
    """Work for one vehicle, done once; of exactly one kind."""

    ONE_OF = ("a task", KINDS)

    name: Name = Field(default="", description="Unique name; by default its index in the list: task_0.")
    point: PointTask | None = Field(default=None, description="A point to pass.")
    line: LineTask | None = Field(default=None, description="A straight line to follow.")
    circle: CircleTask | None = Field(default=None, description="A full circle.")
    area: AreaTask | None = Field(default=None, description="Parallel passes.")
    polygon: PolygonTask | None = Field(default=None, description="An area of any outline.")
    altitude: Height | None = Field(default=None, description="Height, in m; null is the mission's.")
    window: Window | None = Field(
        default=None, description="When to start: [earliest, latest], in s; null is any time."
    )

    @property
    def shape(self) -> PointTask | LineTask | CircleTask | AreaTask | PolygonTask:
        """Its geometry."""
        task: PointTask | LineTask | CircleTask | AreaTask | PolygonTask = getattr(self, self.kind)
        return task


class ZoneCircle(Section):
    """A disc."""

    at: Position = Field(description="Centre [x, y], in m.")
    radius: Length = Field(description="Radius, in m.")


class NoFlyZone(OneOf):
    """An area that vehicles must not enter: a circle or a polygon, at any height or between two heights."""

    ONE_OF = ("a zone", ("circle", "polygon"))

    name: Name = Field(default="", description="Unique name; by default its index in the list: zone_0.")
    circle: ZoneCircle | None = Field(default=None, description="A circle.")
    polygon: Ring | None = Field(default=None, description="Corners [[x, y], ...], in m.")
    floor: Height | None = Field(default=None, description="Lowest height, in m; null is the ground.")
    ceiling: Height | None = Field(default=None, description="Greatest height, in m; null is unlimited.")

    @model_validator(mode="after")
    def _some_height(self) -> Self:
        if self.floor is not None and self.ceiling is not None and self.floor >= self.ceiling:
            raise invalid(f"a zone's floor must be below its ceiling, not {self.floor:g} m and {self.ceiling:g} m")
        return self


def numbered(prefix: str, index: int, used: Collection[str]) -> str:
    """Return the default name `prefix_index`, with underscores appended until it is unique."""
    name = f"{prefix}_{index}"
    while name in used:
        name += "_"
    return name
