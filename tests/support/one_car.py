"""One car in its compiled kernel, for the tests of car models."""

from collections.abc import Callable
from typing import Any

import numpy as np

from paddock.compute.kernel import kernel
from paddock.scenario.loading import load_preset
from paddock.vehicles.model import Placement, VehicleModel, find_model
from paddock.vehicles.parts.car import Command, Parameters
from paddock.world.columns import Environment, column_index


class Car:
    """One car; its columns are attributes."""

    def __init__(self, level: str, speed: float = 0.0, world: Any = None, preset: str = "", **fields: float) -> None:
        self.model: VehicleModel = find_model(level)
        values = load_preset(level, preset) if preset else {}
        self.p, self.w = Parameters(**{**values, **fields}), Environment(**(world or {}))
        start = self.model.place(Placement(0.0, 0.0, 0.0, 0.0, speed), self.p, self.w)
        self.rows = np.array(start, dtype=float).reshape(-1, 1)
        self.spares = True  # the kernel contains parts that the car does not have; without: the kernel of simulations

    def go(self, seconds: float, dt: float = 1e-3, **command: float) -> "Car":
        """Drive with these commands."""
        commands = np.array(Command(**command), dtype=float).reshape(-1, 1)
        run = kernel(self.model.step_spec(parameters=None if self.spares else self.p))
        run(1, round(seconds / dt), self.rows, commands, np.array(self.p), np.array(self.w), dt)
        return self

    def put(self, **columns: float) -> None:
        """Set columns of the state."""
        for name, value in columns.items():
            self.rows[column_index(self.model.state)[name]] = value

    def trace(self, seconds: float, value: Callable[["Car"], float], dt: float = 1e-3, **command: float) -> Any:
        """Drive with these commands and return a value every 10 ms."""
        return np.array([value(self.go(0.01, dt, **command)) for _ in range(round(seconds / 0.01))])

    def report(self, **command: float) -> Any:
        """The report under these commands."""
        assert self.model.report is not None
        return self.model.report(self.state, Command(**command), self.p, self.w)

    @property
    def state(self) -> Any:
        """The state as the model's tuple."""
        return self.model.state(*self.rows[:, 0].tolist())

    @property
    def yaw_rate(self) -> float:
        """Rate of turn, rad/s, at any level."""
        return float(self.model.pose(self.state, self.p).wz)

    @property
    def body_slip_deg(self) -> float:
        """Angle between heading and course, degrees."""
        return float(np.degrees(np.arctan2(self.vy, self.vx)))

    def __getattr__(self, name: str) -> float:
        return float(getattr(self.state, name))
