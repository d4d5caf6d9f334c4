"""The motion of a fleet: its kernel on the CPU or on a GPU, and the alarms that it raises."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from paddock.compute.kernel import BLOCK, Kernel, KernelSpec, kernel
from paddock.compute.threads import DirectCall
from paddock.engine.behaviours import broken_value
from paddock.world.columns import Floats
from paddock.world.fleet import Fleet

NOT_FINITE, CRASHED, FAILED = "not_finite", "crashed", "fmu_failed"  # kinds of alarms and of their events


class Alarm(NamedTuple):
    """A vehicle whose state is not finite, that has crashed into the ground, or whose FMU has failed."""

    ticks: int  # since the motion began
    row: int
    kind: str
    detail: str


class CpuMotion:
    """Dynamics on the CPU, in place."""

    def __init__(self, spec: KernelSpec) -> None:
        self.kernel = kernel(spec)
        self._alarms, self._progress = np.zeros(0), np.zeros((3, 1), np.int64)
        self._begun = self._progress[0]
        self._run = DirectCall(self.kernel)

    def move(self, fleet: Fleet, ticks: int, substeps: int, constants: tuple[Floats, ...], dt: float) -> list[Alarm]:
        """Advance by ticks of that many substeps of `dt` seconds; return the alarms."""
        n = fleet.n
        if len(self._alarms) != n:
            self._alarms, self._progress = np.zeros(n), np.zeros((3, max(1, -(-n // BLOCK))), np.int64)
            self._begun = self._progress[0]
        progress = self._progress
        tables = fleet.tables
        arguments = n, ticks, tables["state"], tables["command"], *constants, dt, substeps, self._alarms, progress
        self._begun.fill(0)
        self._run(arguments)
        if not progress[2, 0]:
            return []
        alarms: list[Alarm] = []
        while progress[2, 0]:
            alarms += self._take_alarms(fleet)
            progress[2, 0] = 0
            self._run(arguments)
        self._alarms[:] = progress[1] = 0
        return alarms

    def _take_alarms(self, fleet: Fleet) -> Iterator[Alarm]:
        """Yield the new alarms; the blocks that have stopped can continue."""
        alarms, (ticks, known, _) = self._alarms, self._progress
        for row in np.flatnonzero((alarms != 0.0) & ~np.isinf(alarms)).tolist():
            alarm = raised_alarm(fleet, row, int(ticks[row // BLOCK]), alarms[row])
            known[row // BLOCK] += alarm.kind == NOT_FINITE
            alarms[row] = np.inf if alarm.kind == NOT_FINITE else 0.0  # infinite: known
            yield alarm


class CudaMotion:
    """Dynamics on a GPU: the state stays there until the fleet's own tables are read."""

    def __init__(self, spec: KernelSpec) -> None:
        from paddock.compute.cuda import alarm_arrays, cuda_kernel, to_device

        self.kernel: Kernel | None = None  # for the CPU
        self._launch = cuda_kernel(spec).watch
        self._to_device = to_device
        self._alarm_arrays = alarm_arrays
        self._state: Any = None
        self._command: Any = None
        self._constants: Any = None
        self._alarms: Any = ((), (), ())  # alarms, ticks until them, their number

    def move(self, fleet: Fleet, ticks: int, substeps: int, constants: tuple[Floats, ...], dt: float) -> list[Alarm]:
        """Copy data that the host may have changed, then launch the kernel; return the first alarm of each vehicle."""
        if fleet.bring_back is None:
            self._state = self._to_device(fleet.state)
            self._constants = [self._to_device(values) for values in constants]
        if fleet.command_changed:
            self._command = self._to_device(fleet.command)
            fleet.command_changed = False
        if len(self._alarms[0]) != fleet.n:
            self._alarms = self._alarm_arrays(fleet.n)
        self._launch(fleet.n, ticks, self._state, self._command, *self._constants, dt, substeps, *self._alarms)
        fleet.bring_back = lambda: self._state.copy_to_host(fleet.tables["state"])
        return self._take_alarms(fleet) if self._alarms[2].copy_to_host()[0] else []

    def _take_alarms(self, fleet: Fleet) -> list[Alarm]:
        alarms, ticks = (array.copy_to_host() for array in self._alarms[:2])
        self._alarms = self._alarm_arrays(fleet.n)
        rows = np.flatnonzero(alarms).tolist()
        return [raised_alarm(fleet, row, int(ticks[row]), alarms[row]) for row in rows]


def raised_alarm(fleet: Fleet, row: int, ticks: int, alarm: float) -> Alarm:
    """Return an alarm of a kernel: NaN, or the squared speed of a crash."""
    if np.isnan(alarm):
        return Alarm(ticks, row, NOT_FINITE, broken_value(fleet.state[:, row], fleet.state_fields))
    return Alarm(ticks, row, CRASHED, f"hit the ground at {np.sqrt(alarm):.1f} m/s")


MOTIONS: dict[str, type[CpuMotion | CudaMotion]] = {"cpu": CpuMotion, "cuda": CudaMotion}  # by name of the device
