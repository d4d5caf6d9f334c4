"""GNSS that a person switches off to see what the vehicle does without it: SIM_GPS_DISABLE, as ArduPilot's SITL has it.

It works on what the autopilot is given, so in every simulator.
"""

from __future__ import annotations

from paddock.sitl.autopilot.parameters import Parameters
from paddock.sitl.sensor_data import COLUMN, Floats, empty_block

FIX, SATELLITES = COLUMN["gnss_fix"], COLUMN["gnss_satellites"]
MEASURED = slice(COLUMN["latitude"], COLUMN["gnss_epv"] + 1)


class GnssSwitch:
    """Between the sensors and the autopilot: a receiver that is switched off goes on to say that it has no fix."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._blind: Floats = empty_block(1)[0]

    def seen(self, row: Floats) -> Floats:
        """The row of sensor data that the autopilot gets to see; valid until the next call."""
        if not self._parameters.value("SIM_GPS_DISABLE"):
            return row
        self._blind[:] = row
        self._blind[FIX] = self._blind[SATELLITES] = 0.0
        self._blind[MEASURED] = float("nan")
        return self._blind
