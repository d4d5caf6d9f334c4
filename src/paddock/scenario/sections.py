"""The sections that exist once: the clock, the world, how often stages run, and the recording."""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from paddock.scenario.base import NotNegative, Number, Origin, Positive, Section, Text, Vector3, Whole, trouble

RATE_MIN, RATE_MAX = 1e-3, 1e6
PACE_MIN, PACE_MAX = 0.05, 100.0


class Sync(Section):
    """Waiting for synchronous clients before a tick."""

    every: Whole = Field(default=1, ge=1, description="Wait before every so many ticks.")
    timeout: Positive = Field(default=1.0, description="Longest wait, in seconds of wall time.")
    on_timeout: Literal["hold", "brake", "default", "pause"] = Field(
        default="hold",
        description="What a vehicle whose client is late does: hold its last command, brake, take its default command, "
        "or the whole clock pauses.",
    )


class Clock(Section):
    """How time passes. `rate` and `dt` say the same thing; give one of them."""

    rate: Number = Field(default=240.0, ge=RATE_MIN, le=RATE_MAX, description="Ticks per simulated second, in Hz.")
    dt: Positive = Field(
        default=1 / 240,
        ge=1 / RATE_MAX,
        le=1 / RATE_MIN,
        exclude=True,
        validate_default=True,
        description="Simulated seconds per tick, in s; instead of rate.",
    )
    pace: Number = Field(
        default=1.0,
        description="Simulated seconds per second of wall time (no unit): 0 is as fast as possible, else 0.05 to 100.",
    )
    sync: Sync | None = Field(
        default=None, description="How to wait for clients that have claimed vehicles; null takes the defaults."
    )

    @model_validator(mode="before")
    @classmethod
    def _one_of_rate_and_dt(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "dt" not in data:
            return data
        if "rate" in data:
            raise trouble("give rate or dt, not both", ("dt",))
        return {**data, "rate": rate} if (rate := _rate_from(data["dt"])) else data

    @field_validator("dt", mode="after")
    @classmethod
    def _exactly_one_over_rate(cls, dt: float, info: ValidationInfo) -> float:
        return 1.0 / info.data["rate"] if "rate" in info.data else dt

    @field_validator("pace", mode="after")
    @classmethod
    def _pace_range(cls, pace: float) -> float:
        if pace != 0 and not PACE_MIN <= pace <= PACE_MAX:
            raise trouble(f"clock.pace must be 0 (as fast as possible) or {PACE_MIN:g} to {PACE_MAX:g}, not {pace:g}")
        return pace


def _rate_from(dt: Any) -> float | None:
    """Return 1/dt in Hz, made whole where only rounding kept it from being so; None for a dt that its field refuses."""
    if isinstance(dt, bool) or not isinstance(dt, int | float) or not 1 / RATE_MAX <= dt <= 1 / RATE_MIN:
        return None
    rate = 1.0 / dt
    return float(round(rate)) if math.isclose(rate, round(rate), rel_tol=1e-9) else rate


class World(Section):
    """What is the same everywhere."""

    mu: Positive = Field(
        default=1.0, description="Friction coefficient of the ground (no unit), multiplies each tyre's own."
    )
    origin: Origin = Field(
        default=(35.6812, 139.7671, 40.0),
        description="Where (0, 0, 0) lies on WGS 84: [latitude in degrees, longitude in degrees, height in m].",
    )
    wind: Vector3 = Field(
        default=(0.0, 0.0, 0.0), description="Steady wind [east, north, up], in m/s: where the air moves to."
    )
    gravity: NotNegative = Field(default=9.80665, description="Acceleration of gravity, downwards, in m/s2.")
    air_density: NotNegative = Field(default=1.225, description="Density of the air, in kg/m3.")
    ground_z: Number = Field(default=0.0, description="Height of the flat ground, in m.")
    date: Number = Field(
        default=2026.0, ge=1900, le=2100, description="Decimal year (2026.5 is mid-2026), for the magnetic model."
    )


class Every(Section):
    """How often stages of the tick run, in ticks."""

    behaviour: Whole = Field(default=1, ge=1, description="Behaviours and pilots decide every so many ticks.")
    snapshot: Whole | None = Field(
        default=None, ge=1, description="A snapshot is published every so many ticks; null publishes on demand only."
    )


class Record(Section):
    """A recording of the run, which does not change it. Instead of a mapping the file's path alone may stand."""

    file: Text = Field(min_length=1, description="Where to write it (MCAP); a file that exists is overwritten.")
    rate: Positive = Field(default=30.0, description="Samples per simulated second, in Hz.")
    precision: Literal["auto", "double", "single"] = Field(
        default="auto", description="Of the numbers; auto is double up to 1,000 vehicles and single beyond."
    )

    @classmethod
    def short(cls, value: Any) -> Any:
        """The mapping that a path stands for."""
        return {"file": value} if isinstance(value, str) else value
