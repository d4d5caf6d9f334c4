"""The pedals and the wheel: the commands that every car takes, whatever its fidelity."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from paddock.world.columns import Column


class Command(NamedTuple):
    """What a driver does; a car that hears nothing keeps its steering and brakes gently."""

    steer: Annotated[float, Column("rad", "wanted road-wheel angle, positive to the left", low=-1.5, high=1.5)] = 0.0
    throttle: Annotated[float, Column("", "accelerator pedal", low=0.0, high=1.0, failsafe=0.0, brake=0.0)] = 0.0
    brake: Annotated[float, Column("", "brake pedal", low=0.0, high=1.0, failsafe=0.3, brake=1.0)] = 0.0
    gear: Annotated[float, Column("", "1 forward, 0 neutral, -1 reverse", low=-1.0, high=1.0)] = 1.0
    handbrake: Annotated[float, Column("", "handbrake on the rear axle", low=0.0, high=1.0)] = 0.0
