"""What a person switches to see what the vehicle does then, as ArduPilot's SITL has it: no GNSS, a weak battery.

It works on what the autopilot is given, so in every simulator.
"""

from __future__ import annotations

from math import nan

from paddock.sitl.autopilot.parameters import Parameters
from paddock.sitl.sensor_data import COLUMN, Floats, empty_block

FIX, SATELLITES = COLUMN["gnss_fix"], COLUMN["gnss_satellites"]
MEASURED = slice(COLUMN["latitude"], COLUMN["gnss_epv"] + 1)
VOLTAGE = COLUMN["battery_voltage"]


class SimSwitches:
    """Between the sensors and the autopilot."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._changed: Floats = empty_block(1)[0]

    def seen(self, row: Floats) -> Floats:
        """The row of sensor data that the autopilot gets to see; valid until the next call."""
        blind, voltage = self._parameters.value("SIM_GPS_DISABLE"), self._parameters.value("SIM_BATT_VOLTAGE")
        if not blind and not voltage:
            return row
        changed = self._changed
        changed[:] = row
        if blind:  # the receiver goes on, and says that it has no fix
            changed[FIX] = changed[SATELLITES] = 0.0
            changed[MEASURED] = nan
        if voltage:
            changed[VOLTAGE] = voltage
        return changed
