"""Where the members of a fleet start: exactly one pattern."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from paddock.scenario.base import Number, Pose, Positive, Section, Vector2, Vector3, Whole, trouble

PATTERNS = ("poses", "grid", "circle", "random", "line")
_ON_GROUND = "null stands on the ground."


class Grid(Section):
    """Rows and columns centred on the origin; x grows along a row, y from row to row."""

    spacing: Positive = Field(description="Distance between neighbours, in m.")
    z: Number | None = Field(default=None, description=f"Height, in m; {_ON_GROUND}")
    origin: Vector2 = Field(default=(0.0, 0.0), description="Centre of the grid [x, y], in m.")
    columns: Whole | None = Field(
        default=None, ge=1, description="Vehicles in a row; null makes the grid about square."
    )
    heading: Number = Field(default=0.0, description="Yaw of every vehicle, in rad (0 faces east, counter-clockwise).")


class Circle(Section):
    """Evenly spaced on a circle, counter-clockwise from the east."""

    radius: Positive = Field(description="Radius, in m.")
    z: Number | None = Field(default=None, description=f"Height, in m; {_ON_GROUND}")
    center: Vector2 = Field(default=(0.0, 0.0), description="Centre [x, y], in m.")
    face: Literal["tangent", "inward", "outward", "fixed"] = Field(
        default="tangent",
        description="Where vehicles look: along the circle (counter-clockwise), in, out, or to heading.",
    )
    heading: Number | None = Field(
        default=None, description="Yaw of every vehicle, in rad; only with face: fixed (0 there)."
    )

    @model_validator(mode="after")
    def _heading_only_when_fixed(self) -> Self:
        if self.heading is not None and self.face != "fixed":
            raise trouble(f"heading needs face: fixed, not face: {self.face}", ("heading",))
        return self


class Random(Section):
    """Uniformly in a box, drawn from the scenario's seed."""

    low: Vector3 = Field(description="Lowest corner of the box [x, y, z], in m.")
    high: Vector3 = Field(description="Highest corner of the box [x, y, z], in m.")
    heading: Number | None = Field(default=None, description="Yaw of every vehicle, in rad; null draws it at random.")

    @model_validator(mode="after")
    def _low_below_high(self) -> Self:
        for axis, low, high in zip((0, 1, 2), self.low, self.high, strict=True):
            if low > high:
                raise trouble(f"low must not exceed high: {'xyz'[axis]} from {low:g} to {high:g}", ("low", axis))
        return self


class Line(Section):
    """Evenly spaced from start to end, both included; a single vehicle stands at the start."""

    start: Vector3 = Field(description="First vehicle [x, y, z], in m.")
    end: Vector3 = Field(description="Last vehicle [x, y, z], in m.")
    heading: Number | None = Field(default=None, description="Yaw of every vehicle, in rad; null looks along the line.")


class Spawn(Section):
    """Exactly one of the patterns."""

    poses: tuple[Pose, ...] | None = Field(
        default=None, description="One pose per vehicle: [x, y, yaw] (on the ground) or [x, y, z, yaw], in m and rad."
    )
    grid: Grid | None = Field(default=None, description="Rows and columns.")
    circle: Circle | None = Field(default=None, description="A circle.")
    random: Random | None = Field(default=None, description="At random in a box.")
    line: Line | None = Field(default=None, description="A straight line.")

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [name for name in PATTERNS if getattr(self, name) is not None]
        if len(given) != 1:
            has = f"it has {' and '.join(given)}" if given else "it has none"
            raise trouble(f"spawn needs exactly one of {', '.join(PATTERNS)}; {has}", (given[1],) if given else ())
        return self
