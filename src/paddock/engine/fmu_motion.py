"""Dynamics by FMUs: one instance per vehicle, stepped by the ticking thread at every tick."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from paddock.engine.behaviours import broken_value
from paddock.engine.motion import FAILED, NOT_FINITE, Alarm
from paddock.engine.program import FleetProgram
from paddock.errors import PaddockError
from paddock.vehicles.fmu.imported import FmuError, FmuInstance
from paddock.vehicles.fmu.vehicle import START_TIME, STEPS, FmuVehicle, world_pose
from paddock.world.columns import Environment, Floats, Pose, column_index
from paddock.world.fleet import Fleet, Ints
from paddock.world.parts import VEHICLE, blob, part
from paddock.world.wind import VARYING_WIND, WIND_TABLE

POSES = len(column_index(Pose))


@dataclass(eq=False)
class RunningFmu:
    """The instance of one vehicle."""

    instance: FmuInstance
    fleet: str
    sent: tuple[float, ...] = ()  # commands and environment that it has

    def save(self) -> bytes:
        """Return its state; PaddockError if the FMU cannot save it."""
        file = self.instance.file
        if not file.saves:
            raise PaddockError(f"{self.fleet!r} cannot be saved: FMU {file.path.name} has no canSerializeFMUstate")
        return self.instance.save()


@part
class FmuState:
    """The FMUs of a fleet, saved as their own bytes: not hashed, because these may contain addresses."""

    running: list[Any] = blob(VEHICLE)  # a RunningFmu each; bytes until they are started


class FmuMotion:
    """Moves the vehicles of a fleet by their FMUs."""

    kernel = None

    def __init__(self, vehicle: FmuVehicle, environment: Floats) -> None:
        self.vehicle = vehicle
        self._environment = environment  # of the world, when vehicles arrive
        self._columns = list(column_index(vehicle.model.state))
        self._steps = self._columns.index(STEPS)

    def pose(self, n: int, _: int, state: Floats, *arrays: Floats) -> None:
        """Write the poses into the last array, as a kernel would."""
        arrays[-1][:POSES, :n] = state[:POSES, :n]

    def admit(self, program: FleetProgram, rows: range) -> None:
        """Start an instance for each of these rows, which have been added to the fleet."""
        file, fleet = self.vehicle.file, program.fleet
        if file.single and fleet.n > 1:
            raise PaddockError(f"FMU {file.path.name} can run once per process only; count must be 1")
        for row in rows:
            fleet.fmu.running[row] = running = self._started(program, row)
            self._read(fleet, row, running.instance, 0.0)

    def _started(self, program: FleetProgram, row: int) -> RunningFmu:
        vehicle, state = self.vehicle, program.fleet.state[:, row]
        parameters, start = program.parameters.of(row), dict(zip(self._columns, state.tolist(), strict=True))
        values = {variable: parameters[name] for name, variable in vehicle.parameters.items()}
        values |= {variable: start[f"start_{name}"] for name, variable in vehicle.start.items()}
        around = dict(zip(column_index(Environment), self._environment.tolist(), strict=False))
        values |= {variable: around[name] for name, variable in vehicle.environment.items()}
        values |= dict(zip(vehicle.inputs, program.fleet.tables["command"][:, row].tolist(), strict=True))
        instance = FmuInstance(vehicle.file)
        instance.begin(parameters[START_TIME], values)
        return RunningFmu(instance, program.fleet.name)

    def close(self, fleet: Fleet, rows: Ints) -> None:
        """Stop the instances of these rows."""
        for row in rows.tolist():
            fleet.fmu.running[row].instance.close()

    def move(self, fleet: Fleet, ticks: int, substeps: int, constants: tuple[Floats, ...], dt: float) -> list[Alarm]:
        """Step every instance; return the alarms."""
        environment = next(values for values in constants[1:] if values.ndim == 1)  # after the parameters
        around = dict(zip(column_index(Environment), environment.tolist(), strict=False))
        winds = fleet.tables.get(WIND_TABLE)
        present = tuple(around[name] for name in self.vehicle.environment)
        variables = *self.vehicle.inputs, *self.vehicle.environment.values()
        alarms: list[Alarm] = []
        for tick in range(ticks):
            for row, running in enumerate(fleet.fmu.running):
                instance, taken = running.instance, float(fleet.state[self._steps, row])
                if not isfinite(taken):  # it has failed
                    continue
                if winds is not None:
                    around |= dict(zip(VARYING_WIND, winds[:, row].tolist(), strict=False))
                    present = tuple(around[name] for name in self.vehicle.environment)
                try:
                    inputs = (*fleet.tables["command"][:, row].tolist(), *present)
                    if inputs != running.sent:
                        instance.put(dict(zip(variables, inputs, strict=True)))
                        running.sent = inputs
                    instance.step(instance.start_time + taken * dt, dt)
                    self._read(fleet, row, instance, dt)
                except FmuError as error:
                    fleet.state[self._steps, row] = np.nan
                    alarms.append(Alarm(tick + 1, row, FAILED, str(error)))
                    continue
                fleet.state[self._steps, row] = taken + 1.0
                if not np.isfinite(fleet.state[:, row]).all():
                    alarms.append(
                        Alarm(tick + 1, row, NOT_FINITE, broken_value(fleet.state[:, row], fleet.state_fields))
                    )
        return alarms

    def _read(self, fleet: Fleet, row: int, instance: FmuInstance, dt: float) -> None:
        """Write the outputs of an instance into the state of its vehicle."""
        values = instance.get(self.vehicle.shown)
        before = dict(zip(self._columns, fleet.state[:, row].tolist(), strict=True))
        fleet.state[:POSES, row] = world_pose(self.vehicle, values, before, dt)
        fleet.state[self._steps + 1 :, row] = values[len(self.vehicle.outputs) :]

    def load(self, program: FleetProgram) -> None:
        """Start instances that continue from the bytes in the part of the fleet, for all its vehicles."""
        states = program.fleet.fmu.running
        if None in states or not self.vehicle.file.saves:
            raise PaddockError(f"the saved state has no FMU states of {program.fleet.name!r}")
        started = [self._started(program, row) for row in range(program.fleet.n)]
        for running, state in zip(started, states, strict=True):
            running.instance.load(state)
        program.fleet.fmu.running = started


def close_fmus(programs: Mapping[str, FleetProgram]) -> None:
    """Stop the FMUs of a run that ends: some can run once per process only."""
    for program in programs.values():
        if program.fmus is not None:
            program.fmus.close(program.fleet, program.fleet.rows)


@contextmanager
def single_fmus_stopped(programs: Mapping[str, FleetProgram]) -> Iterator[None]:
    """Stop FMUs that can run once per process only, while others are started; on an error they continue."""
    stopped = []
    for program in programs.values():
        if program.fmus is not None and program.fmus.vehicle.file.single:
            part, saves = program.fleet.fmu, program.fmus.vehicle.file.saves
            stopped.append((program, [running.save() for running in part.running] if saves else None))
            program.fmus.close(program.fleet, program.fleet.rows)
    try:
        yield
    except Exception:
        for program, states in stopped:
            if states is not None and program.fmus is not None:
                program.fleet.fmu.running = states
                program.fmus.load(program)
        raise
