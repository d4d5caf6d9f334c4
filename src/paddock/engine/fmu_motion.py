"""Dynamics by FMUs: one instance per vehicle, stepped by the ticking thread at every tick."""

from math import isfinite

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

POSES = len(column_index(Pose))


@part
class FmuState:
    """The states of a fleet's FMUs, as their own bytes: not hashed, because these may contain addresses."""

    states: list[bytes | None] = blob(VEHICLE)


class FmuMotion:
    """The FMUs of a fleet, in the order of its rows."""

    kernel = None

    def __init__(self, vehicle: FmuVehicle, environment: Floats) -> None:
        self.vehicle = vehicle
        self._environment = environment  # of the world, when vehicles arrive
        self._instances: list[FmuInstance] = []
        self._columns = list(column_index(vehicle.model.state))
        self._steps = self._columns.index(STEPS)
        self._sent: list[tuple[float, ...]] = []  # commands and environment that each instance has

    def pose(self, n: int, _: int, state: Floats, *given: Floats) -> None:
        """Write the poses into the last array, as a kernel would."""
        given[-1][:POSES, :n] = state[:POSES, :n]

    def admit(self, program: FleetProgram, rows: range) -> None:
        """Start an instance for each of these rows, which have been added to the fleet."""
        file, fleet = self.vehicle.file, program.fleet
        if file.single and len(self._instances) + len(rows) > 1:
            raise PaddockError(f"FMU {file.path.name} can run once per process only; count must be 1")
        started = [self._started(program, row) for row in rows]
        self._instances += started
        self._sent += [()] * len(started)
        for row, instance in zip(rows, started, strict=True):
            self._read(fleet, row, instance, 0.0)

    def _started(self, program: FleetProgram, row: int) -> FmuInstance:
        vehicle, state = self.vehicle, program.fleet.state[:, row]
        values = {one: float(program.parameter_column(name)[row]) for name, one in vehicle.parameters.items()}
        values |= {one: float(state[self._columns.index(f"start_{name}")]) for name, one in vehicle.start.items()}
        around = dict(zip(column_index(Environment), self._environment.tolist(), strict=False))
        values |= {one: around[name] for name, one in vehicle.environment.items()}
        values |= dict(zip(vehicle.inputs, program.fleet.tables["command"][:, row].tolist(), strict=True))
        instance = FmuInstance(vehicle.file)
        instance.begin(float(program.parameter_column(START_TIME)[row]), values)
        return instance

    def keep(self, rows: Ints) -> None:
        """Keep only these rows."""
        kept = set(rows.tolist())
        for row, instance in enumerate(self._instances):
            if row not in kept:
                instance.close()
        self._instances = [self._instances[row] for row in rows]
        self._sent = [self._sent[row] for row in rows]

    def move(self, fleet: Fleet, ticks: int, substeps: int, constants: tuple[Floats, ...], dt: float) -> list[Alarm]:
        """Step every instance; return the alarms."""
        environment = next(values for values in constants[1:] if values.ndim == 1)  # after the parameters
        around = dict(zip(column_index(Environment), environment.tolist(), strict=False))
        present = tuple(around[name] for name in self.vehicle.environment)
        variables = *self.vehicle.inputs, *self.vehicle.environment.values()
        found: list[Alarm] = []
        for tick in range(ticks):
            for row, instance in enumerate(self._instances):
                taken = float(fleet.state[self._steps, row])
                if not isfinite(taken):  # it has failed
                    continue
                try:
                    given = (*fleet.tables["command"][:, row].tolist(), *present)
                    if given != self._sent[row]:
                        instance.put(dict(zip(variables, given, strict=True)))
                        self._sent[row] = given
                    instance.step(instance.start_time + taken * dt, dt)
                    self._read(fleet, row, instance, dt)
                except FmuError as error:
                    fleet.state[self._steps, row] = np.nan
                    found.append(Alarm(tick + 1, row, FAILED, str(error)))
                    continue
                fleet.state[self._steps, row] = taken + 1.0
                if not np.isfinite(fleet.state[:, row]).all():
                    found.append(
                        Alarm(tick + 1, row, NOT_FINITE, broken_value(fleet.state[:, row], fleet.state_fields))
                    )
        return found

    def _read(self, fleet: Fleet, row: int, instance: FmuInstance, dt: float) -> None:
        """Write the outputs of an instance into the state of its vehicle."""
        values = instance.get(self.vehicle.shown)
        before = dict(zip(self._columns, fleet.state[:, row].tolist(), strict=True))
        fleet.state[:POSES, row] = world_pose(self.vehicle, values, before, dt)
        fleet.state[self._steps + 1 :, row] = values[len(self.vehicle.outputs) :]

    def save(self, fleet: Fleet) -> None:
        """Write the state of each instance into the part of the fleet; PaddockError if the FMU cannot save it."""
        if not self.vehicle.file.saves:
            raise PaddockError(
                f"{fleet.name!r} cannot be saved: FMU {self.vehicle.file.path.name} has no canSerializeFMUstate"
            )
        fleet.fmu.states = [instance.save() for instance in self._instances]

    def load(self, program: FleetProgram) -> None:
        """Start instances that continue from the part of the fleet, for all its vehicles."""
        states = program.fleet.fmu.states
        if None in states or not self.vehicle.file.saves:
            raise PaddockError(f"the saved state has no FMU states of {program.fleet.name!r}")
        self._instances = [self._started(program, row) for row in range(program.fleet.n)]
        self._sent = [()] * program.fleet.n
        for instance, state in zip(self._instances, states, strict=True):
            instance.load(state)
