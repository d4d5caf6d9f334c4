"""Actuator commands of an autopilot, the same for every simulator: a row of float64.

| craft                | motors                                       | servos (-1 to 1)                 |
|----------------------|----------------------------------------------|----------------------------------|
| quadrotor X          | 1 to 4: share of full thrust, 0 to 1         |                                  |
| skid-steer rover     | 1 left, 2 right: share of top speed, -1 to 1 |                                  |
| car, Ackermann rover | 1: throttle, -1 (full reverse) to 1          | 1: steering, + right             |
| fixed wing           | 1: throttle, 0 to 1                          | 1: aileron, 2: elevator, 3: rudder |

An aileron above 0 rolls to the right, an elevator above 0 raises the nose, a rudder above 0 turns it right.

Quadrotor motors as ArduPilot numbers them: 1 front right, 2 rear left, 3 front left, 4 rear right.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError

Floats = NDArray[np.float64]

MOTORS = 8
SERVOS = 8
WIDTH = 1 + MOTORS + SERVOS


class ActuatorCommands:
    """One vehicle's row: armed (0 or 1), then motors, then servos. Several vehicles are a block (n, WIDTH)."""

    __slots__ = ("row",)

    def __init__(
        self,
        row: Floats | None = None,
        *,
        armed: bool | None = None,
        motors: Sequence[float] = (),
        servos: Sequence[float] = (),
    ) -> None:
        """Wrap a row (WIDTH,), or a new one with all zeros; values that are not given stay."""
        self.row = np.zeros(WIDTH) if row is None else row
        if self.row.shape != (WIDTH,):
            raise InvalidValueError(f"actuator commands must be a row of {WIDTH} values, not of shape {self.row.shape}")
        if len(motors) > MOTORS or len(servos) > SERVOS:
            raise InvalidValueError(f"at most {MOTORS} motors and {SERVOS} servos, not {len(motors)} and {len(servos)}")
        if armed is not None:
            self.row[0] = armed
        self.row[1 : 1 + len(motors)] = motors
        self.row[1 + MOTORS : 1 + MOTORS + len(servos)] = servos

    @property
    def armed(self) -> bool:
        """Whether the motors may run."""
        return bool(self.row[0] > 0.5)

    @property
    def motors(self) -> Floats:
        """(8,), shares."""
        return self.row[1 : 1 + MOTORS]

    @property
    def servos(self) -> Floats:
        """(8,), -1 to 1."""
        return self.row[1 + MOTORS :]

    def copy(self) -> "ActuatorCommands":
        """Return a copy with its own row."""
        return ActuatorCommands(self.row.copy())
