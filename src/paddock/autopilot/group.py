"""Built-in autopilots of one vehicle type that run together: their numbers are rows of the same arrays.

At an exchange compiled loops run the estimators and the controls of all of them; Python runs only for a vehicle whose
slow loop (50 Hz) is due or whose estimator reports an event. A vehicle on its own is a group of one, with the same
results to the last bit.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paddock.autopilot.contract import AutopilotGroup
from paddock.autopilot.estimator import Ints, filter_arrays, run_filters
from paddock.autopilot.vehicle_data import ACTUATOR_WIDTH, COLUMN, Floats, SensorData

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot

# status of an autopilot
NOW, CONTROLLED, DECIDED = 0, 1, 2  # us: newest sensor data, last control, last slow loop; -1 never
ARMED, REBOOT = 3, 4  # 0 or 1
NO_GNSS, VOLTAGE = 5, 6  # injected faults: 1; V, 0 for none
STATUS_WIDTH = 7

MODE, CHECK = 1, 2  # what a vehicle in or out of steady flight needs in Python

SLOW_PERIOD_US = 20_000
LONGEST_STEP = 0.1  # s: longer gaps are clipped

FIX, SATELLITES, BATTERY = COLUMN["gnss_fix"], COLUMN["gnss_satellites"], COLUMN["battery_voltage"]
MEASURED = slice(COLUMN["latitude"], COLUMN["gnss_epv"] + 1)


class ControlArrays(NamedTuple):
    """The controls of n vehicles; the widths of setpoint, gains and memory depend on the vehicle type."""

    status: Floats  # (n, STATUS_WIDTH)
    setpoint: Floats
    gains: Floats
    memory: Floats
    commands: Floats  # (n, ACTUATOR_WIDTH)


def control_arrays(n: int, widths: tuple[int, int, int]) -> ControlArrays:
    """Return arrays for n vehicles; `widths` of setpoint, gains and memory."""
    return ControlArrays(*(np.zeros((n, width)) for width in (STATUS_WIDTH, *widths, ACTUATOR_WIDTH)))


def control_step(status: Floats, period_us: float) -> float:
    """Return the s since the last control of a vehicle, if one is due, and note it; 0 otherwise."""
    since = status[NOW] - status[CONTROLLED]
    if status[CONTROLLED] < 0.0:
        since = period_us
    if since < period_us:
        return 0.0
    status[CONTROLLED] = status[NOW]
    return float(min(since * 1e-6, LONGEST_STEP))


def inject_faults(row: Floats, status: Floats) -> None:
    """Change a row as SIM_GPS_DISABLE and SIM_BATT_VOLTAGE say."""
    if status[NO_GNSS]:  # the receiver keeps reporting, without a fix
        row[FIX] = row[SATELLITES] = 0.0
        row[MEASURED] = np.nan
    if status[VOLTAGE]:
        row[BATTERY] = status[VOLTAGE]


class BuiltInGroup(AutopilotGroup):
    """The arrays of several built-in autopilots, in their order."""

    def __init__(self, autopilots: "Sequence[BuiltInAutopilot]") -> None:
        vehicle, n = autopilots[0].vehicle, len(autopilots)
        self.autopilots = list(autopilots)
        self.filters, self.controls = filter_arrays(n), control_arrays(n, vehicle.widths)
        self._all = np.arange(n)
        assert vehicle.kernel is not None
        self._control, self._period_us = vehicle.kernel, float(vehicle.control_period_us)
        self._cruise = vehicle.cruise
        for place, autopilot in enumerate(autopilots):
            autopilot.move(self.filters, self.controls, place)

    def exchange(self, sensors: Floats, fresh: Ints | None, fail: Callable[[int, Exception], None]) -> Floats:
        """Run estimators, events, slow loops, controls; return the actuator commands (n, ACTUATOR_WIDTH)."""
        status, rows = self.controls.status, self.filters.sensors
        which = self._all if fresh is None else fresh
        rows[which] = sensors[which]
        if (restart := (rows[:, 0] < status[:, NOW]) | (status[:, REBOOT] > 0.0)).any():
            restarted = [k for k in which.tolist() if restart[k]]
            for k in restarted:  # on their own
                self._guard(k, partial(self.autopilots[k].offer, SensorData(sensors[k])), fail)
            which = np.setdiff1d(which, restarted)
        status[which, NOW] = rows[which, 0]
        if status[:, NO_GNSS:].any():
            for k in which.tolist():
                inject_faults(rows[k], status[k])
        run_filters(which, *self.filters)
        for k in which[self.filters.events[which] != 0].tolist():
            self._guard(k, self.autopilots[k].handle_events, fail)
        due = (status[:, NOW] - status[:, DECIDED] >= SLOW_PERIOD_US) | (status[:, DECIDED] < 0.0)
        if (deciding := which[due[which]]).size:
            asks = np.full(len(deciding), MODE)
            if self._cruise is not None:
                self._cruise(deciding, *self.controls[:2], self.filters.estimate, asks)
            for k in deciding[asks == CHECK].tolist():
                self._guard(k, self.autopilots[k].check, fail)
            for k in deciding[asks == MODE].tolist():
                self._guard(k, self.autopilots[k].decide, fail)
        self._control(which, self._period_us, *self.controls, self.filters.estimate, rows)
        return self.controls.commands

    def _guard(self, place: int, call: Callable[[], None], fail: Callable[[int, Exception], None]) -> None:
        """Call; an exception concerns one vehicle only."""
        try:
            call()
        except Exception as error:
            fail(place, error)
