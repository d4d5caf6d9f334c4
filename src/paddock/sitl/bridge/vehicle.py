"""One vehicle on the bridge: what it is, who flies it, where its rows are."""

from __future__ import annotations

from dataclasses import dataclass, field

from paddock.errors import InvalidValueError
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import Placed
from paddock.sitl.bridge.events import problem
from paddock.sitl.bridge.patience import Patience
from paddock.sitl.pilot import Pilot
from paddock.sitl.sensor_data import SensorData

FIRST_ID, LAST_ID = 1, 254
"""MAVLink's system ids; 255 is the ground station, 0 is everybody."""


@dataclass(eq=False)
class Vehicle:
    """Its sensors and actuators are rows of its station's blocks, or rows of its own while it has no station."""

    placed: Placed
    pilot: Pilot
    patience: Patience
    sysid: int = field(init=False)  # 1 to 254, unique on the bridge
    adapter: str = ""  # the name of the adapter it is in; empty: none yet
    sensors: SensorData = field(default_factory=SensorData)
    actuators: ActuatorCommands = field(default_factory=ActuatorCommands)
    awaited: bool = False  # it was offered sensors and has not answered them
    free_running: bool = False  # it missed a deadline and is not waited for until it speaks again
    holding: bool = False  # the world waits for it
    was_live: bool = False
    present: bool = True
    note: str = ""  # why it is in no simulator
    failed: str = ""  # what its pilot raised: it is not asked again before it begins anew

    def __post_init__(self) -> None:
        self.sysid = self.placed.id
        if not FIRST_ID <= self.sysid <= LAST_ID:
            raise InvalidValueError(f"a vehicle's id lies in {FIRST_ID} to {LAST_ID}, not {self.sysid}")

    def __str__(self) -> str:
        return f"vehicle {self.sysid} {self.placed.name!r}"

    def diagnosis(self) -> str:
        """What its pilot says about not answering."""
        try:
            return self.pilot.diagnosis()
        except Exception as error:
            return problem(error)

    def forget(self) -> None:
        """Nothing offered, nothing awaited, motors at rest."""
        self.awaited = self.free_running = self.holding = False
        self.failed = ""
        self.actuators.row[:] = 0.0
