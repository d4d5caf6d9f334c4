"""Built-in autopilots of one vehicle type that run together: their numbers are rows of the same arrays.

At an exchange compiled loops run the estimators and the controls of all of them; Python runs only for a vehicle whose
slow loop (50 Hz) is due or whose estimator reports an event. A vehicle on its own is a group of one, with the same
results to the last bit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paddock.autopilot.contract import AutopilotGroup
from paddock.autopilot.estimator import FEW_VEHICLES, LARGEST, Ints, filter_arrays
from paddock.autopilot.vehicle_data import ACTUATOR_WIDTH, COLUMN, Floats
from paddock.compute.routine import Routine, parallel_range, parallel_routine
from paddock.compute.twin import bound
from paddock.world.parts import VEHICLE, array, count, fresh, part

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
Fail = Callable[[int, Exception], None]
"""Reports an exception of the autopilot in a row."""
MEASURED = slice(COLUMN["latitude"], COLUMN["gnss_epv"] + 1)


@part
class ControlArrays:
    """The controls of n vehicles; the widths of setpoint, gains and memory depend on the vehicle type."""

    n: int = count(VEHICLE)
    status: Floats = array("f8", VEHICLE, STATUS_WIDTH, low=-1.0, high=LARGEST)
    setpoint: Floats = array("f8", VEHICLE, "setpoint", low=-LARGEST, high=LARGEST, nan=True)  # NaN: free
    gains: Floats = array("f8", VEHICLE, "gains", low=-LARGEST, high=LARGEST)
    memory: Floats = array("f8", VEHICLE, "memory", low=-LARGEST, high=LARGEST)
    commands: Floats = array("f8", VEHICLE, ACTUATOR_WIDTH, low=-LARGEST, high=LARGEST)

    def __iter__(self) -> Iterator[Floats]:
        """Yield the arrays in the order of the compiled control's arguments."""
        yield from (self.status, self.setpoint, self.gains, self.memory, self.commands)


def control_arrays(n: int, widths: tuple[int, int, int]) -> ControlArrays:
    """Return arrays for n vehicles; `widths` of setpoint, gains and memory."""
    arrays = fresh(ControlArrays, vehicle=n, **dict(zip(("setpoint", "gains", "memory"), widths, strict=True)))
    arrays.n = n
    return arrays


def control_step(status: Floats, period_us: float) -> float:
    """Return the s since the last control of a vehicle, if one is due, and note it; 0 otherwise."""
    since = status[NOW] - status[CONTROLLED]
    if status[CONTROLLED] < 0.0:
        since = period_us
    if since < period_us:
        return 0.0
    status[CONTROLLED] = status[NOW]
    return float(min(since * 1e-6, LONGEST_STEP))


class ControlRows(NamedTuple):
    """The rows of one vehicle in the arrays of its group."""

    status: Floats
    setpoint: Floats
    gains: Floats
    memory: Floats
    commands: Floats  # its actuator row, which the control writes
    estimate: Floats
    sensors: Floats


def control_all(
    which: Ints,
    period_us: float,
    status: Floats,
    setpoint: Floats,
    gains: Floats,
    memory: Floats,
    commands: Floats,
    estimate: Floats,
    sensors: Floats,
) -> None:
    """Control the vehicles whose control period has passed.

    which: rows of the arrays. period_us: us. The other arguments are the arrays of `ControlArrays`, and estimate and
    sensor data of each vehicle.
    """
    for j in parallel_range(len(which)):
        k = which[j]
        dt = control_step(status[k], period_us)
        if dt > 0.0:
            commands[k, 0] = status[k, ARMED]
            rows = ControlRows(status[k], setpoint[k], gains[k], memory[k], commands[k], estimate[k], sensors[k])
            control_vehicle(rows, dt)


def control_vehicle(rows: ControlRows, dt: float) -> None:
    """Stand for the control of a vehicle type, which `control_kernel` binds in its place."""
    raise NotImplementedError


def control_kernel(control: Callable[[ControlRows, float], None]) -> Routine[..., None]:
    """Return the compiled loop over vehicles of one type; `control` gets the s since the vehicle's last period."""
    loop = bound(control_all, {"control_vehicle": control})
    return parallel_routine(loop, items=lambda which, *_: len(which), few=FEW_VEHICLES)


class BuiltInGroup(AutopilotGroup):
    """The arrays of several built-in autopilots, in their order."""

    def __init__(self, autopilots: "Sequence[BuiltInAutopilot]") -> None:
        n = len(autopilots)
        self.autopilots = dict(enumerate(autopilots))
        self.filters, self.controls = filter_arrays(n), control_arrays(n, autopilots[0].vehicle.widths)
        self._all = np.arange(n)
        for row, autopilot in self.autopilots.items():
            autopilot.move(self.filters, self.controls, row)

    def exchange(self, sensors: Floats, fresh: Ints | None, fail: Fail) -> Floats:
        """Run the autopilots with new sensor data; return the actuator commands (n, ACTUATOR_WIDTH) of all."""
        if fresh is None:
            run_autopilots(self.autopilots, self._all, sensors, fail)
        else:
            run_autopilots(self.autopilots, fresh, sensors[fresh], fail)
        return self.controls.commands


def run_autopilots(autopilots: "Mapping[int, BuiltInAutopilot]", which: Ints, sensors: Floats, fail: Fail) -> None:
    """Run estimators, events, slow loops and controls of autopilots of one vehicle type that share arrays.

    autopilots: by their row in the arrays. which: rows with new sensor data (m,). sensors: that data (m, SENSOR_WIDTH).
    fail: called with row and exception of an autopilot that raises one, and is not called again.
    """
    first, failed = autopilots[int(which[0])], set[int]()
    filters, controls, vehicle, estimator = first.estimator.arrays, first.controls, first.vehicle, first.estimator
    status, rows = controls.status, filters.sensors

    def call(step: "Callable[[BuiltInAutopilot], None]", chosen: Ints) -> None:
        for row in chosen.tolist():
            if row not in failed:
                try:
                    step(autopilots[row])
                except Exception as error:  # it concerns one vehicle only
                    failed.add(row)
                    fail(row, error)

    restarted = (sensors[:, 0] < status[which, NOW]) | (status[which, REBOOT] > 0.0)
    if restarted.any():
        call(lambda autopilot: autopilot.reset(), which[restarted])
    rows[which] = sensors
    status[which, NOW] = sensors[:, 0]
    if status[:, NO_GNSS:].any():  # SIM_GPS_DISABLE: the receiver keeps reporting, without a fix; SIM_BATT_VOLTAGE
        blind, drained = which[status[which, NO_GNSS] > 0.0], which[status[which, VOLTAGE] != 0.0]
        rows[blind, FIX] = rows[blind, SATELLITES] = 0.0
        rows[blind, MEASURED] = np.nan
        rows[drained, BATTERY] = status[drained, VOLTAGE]
    estimator.run(which, *filters)
    if (events := filters.events[which]).any():
        call(lambda autopilot: autopilot.estimator.handle(int(filters.events[autopilot.index])), which[events != 0])
    decided = status[which, DECIDED]
    due = (status[which, NOW] - decided >= SLOW_PERIOD_US) | (decided < 0.0)
    if due.any():
        deciding = which[due]
        requests = np.full(len(deciding), MODE)
        if vehicle.cruise is not None:
            vehicle.cruise(deciding, status, controls.setpoint, filters.estimate, requests)
        call(lambda autopilot: autopilot.check(), deciding[requests == CHECK])
        call(lambda autopilot: autopilot.decide(), deciding[requests == MODE])
    vehicle.kernel(which, float(vehicle.control_period_us), *controls, filters.estimate, rows)
