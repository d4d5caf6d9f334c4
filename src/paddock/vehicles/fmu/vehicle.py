"""An FMU as a vehicle: its inputs are commands, its outputs the pose and telemetry.

Where the start can be set by parameters of the FMU, its outputs are world coordinates; otherwise they are relative to
the vehicle's start pose.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import Annotated, Any, NamedTuple

from paddock.compute.math import sincos, wrap_angle
from paddock.compute.quaternion import euler_quaternion, heading, yaw_quaternion
from paddock.compute.twin import bound
from paddock.errors import PaddockError, unknown_name
from paddock.vehicles.fmu.imported import FmuFile, ForeignVariable
from paddock.vehicles.model import Desire, Placement, VehicleModel
from paddock.world.columns import Column, Environment, Pose, column_index, columns_of, named_tuple

ANGLES = ("roll", "pitch", "yaw")
QUATERNION = ("qx", "qy", "qz", "qw")
MAPPED = (*column_index(Pose), *ANGLES)
"""What outputs can be mapped to."""
STARTS = tuple(f"start_{name}" for name in column_index(Placement))
STEPS = "steps"
MOST_TELEMETRY = 256
START_TIME = "start_time"


class FmuMapping(NamedTuple):
    """How a user connects an FMU; empty parts are found by name."""

    inputs: Mapping[str, str]  # command -> variable
    outputs: Mapping[str, str]  # x, y, yaw, ... -> variable
    start: Mapping[str, str]  # x, y, z, yaw, speed -> variable
    telemetry: Sequence[str] | None  # variables; None: all other outputs


@dataclass(frozen=True, eq=False)
class FmuVehicle:
    """An FMU with its connections, and the vehicle model that they make."""

    file: FmuFile
    model: VehicleModel
    inputs: tuple[ForeignVariable, ...]  # in the order of the commands
    outputs: Mapping[str, ForeignVariable]  # of the pose
    start: Mapping[str, ForeignVariable]
    environment: Mapping[str, ForeignVariable]
    parameters: Mapping[str, ForeignVariable]  # that the user sets
    telemetry: tuple[ForeignVariable, ...]

    @property
    def shown(self) -> tuple[ForeignVariable, ...]:
        """All variables that are read after a step."""
        return *self.outputs.values(), *self.telemetry


def fmu_vehicle(file: FmuFile, mapping: FmuMapping, kind: str, parameters: Iterable[str]) -> FmuVehicle:
    """Connect an FMU; `parameters` are the names of those that the user sets."""
    inputs = _inputs(file, mapping.inputs)
    outputs = _outputs(file, mapping.outputs)
    settable = [variable for variable in file.variables.values() if variable.settable]
    start = _connected(file, "start", mapping.start, tuple(column_index(Placement)), settable)
    environment = _connected(file, "environment", {}, tuple(column_index(Environment)), settable)
    set_by_user = {identifier(name): _parameter(file, name) for name in parameters if name != START_TIME}
    if mapping.telemetry is None:
        others = [output for output in file.of_causality("output") if output not in outputs.values()]
        telemetry = tuple(others[:MOST_TELEMETRY])
    else:
        telemetry = tuple(file.variable(name, "variable") for name in mapping.telemetry)
    shown = _named(telemetry, (*column_index(Pose), *STARTS, STEPS))
    commands = [_column(name, variable, _between(variable.start or 0.0, variable)) for name, variable in inputs.items()]
    user_parameters = [_column(name, variable, variable.start or 0.0) for name, variable in set_by_user.items()]
    model = VehicleModel(
        kind=kind,
        summary=f"FMU {file.path.name}",
        state=_state([Column(output.unit, output.meaning, name=name) for name, output in shown.items()]),
        command=_tuple_class("Command", commands),
        parameters=_tuple_class(
            "Parameters", [Column("s", "time at the start", name=START_TIME, default=0.0), *user_parameters]
        ),
        step=_unmoved,
        pose=_shown_pose,
        place=_placed,
        guide=_unguided,
        energy=_no_energy,
        order=1,
        dt_max=1e9,
        telemetry=tuple(shown),
        name="fmu",
    )
    placed = bound(_placed, {"made": model.state})
    model = VehicleModel(**{**vars(model), "place": placed})
    return FmuVehicle(file, model, tuple(inputs.values()), outputs, start, environment, set_by_user, tuple(telemetry))


def world_pose(vehicle: FmuVehicle, values: Sequence[float], row: Mapping[str, float], dt: float) -> Pose:
    """Return the pose given by the outputs after a step; `row` is the state before, `dt` 0 at the start.

    Velocities and rates that no output gives are differences of positions and headings.
    """
    outputs = dict(zip(vehicle.outputs, values, strict=False))
    x, y, z = outputs["x"], outputs["y"], outputs.get("z", 0.0)
    turn = 0.0 if vehicle.start else row["start_yaw"]
    if "qw" in outputs:
        qx, qy, qz, qw = (outputs[name] for name in QUATERNION)
    else:
        qx, qy, qz, qw = euler_quaternion(*(outputs.get(name, 0.0) for name in ANGLES))
    vx, vy, vz = (outputs.get(name, 0.0) for name in ("vx", "vy", "vz"))
    if vehicle.start:
        z = outputs.get("z", row["start_z"])
    else:
        sine, cosine = sincos(turn)
        x, y = row["start_x"] + cosine * x - sine * y, row["start_y"] + sine * x + cosine * y
        z += row["start_z"]
        ax, ay, az, aw = yaw_quaternion(turn)
        qx, qy, qz, qw = (
            aw * qx + ax * qw + ay * qz - az * qy,
            aw * qy - ax * qz + ay * qw + az * qx,
            aw * qz + ax * qy - ay * qx + az * qw,
            aw * qw - ax * qx - ay * qy - az * qz,
        )
        vx, vy = cosine * vx - sine * vy, sine * vx + cosine * vy
    if dt and "vx" not in outputs:
        vx, vy = (x - row["x"]) / dt, (y - row["y"]) / dt
    if dt and "vz" not in outputs:
        vz = (z - row["z"]) / dt
    wx, wy, wz = (outputs.get(name, 0.0) for name in ("wx", "wy", "wz"))
    if dt and "wz" not in outputs:
        before = heading(*(row[name] for name in QUATERNION))
        wz = wrap_angle(heading(qx, qy, qz, qw) - before) / dt
    return Pose(x, y, z, qx, qy, qz, qw, vx, vy, vz, wx, wy, wz)


def _inputs(file: FmuFile, chosen: Mapping[str, str]) -> dict[str, ForeignVariable]:
    """Return the commands: those that the user names, else all inputs by names without `command.`."""
    variables = file.of_causality("input")
    if chosen:
        for name in chosen:
            if name != identifier(name):
                raise PaddockError(f"inputs: the name of a command has letters, digits and _, not {name!r}")
        return {name: file.variable(variable, "input", variables) for name, variable in chosen.items()}
    return _named(variables)


def _outputs(file: FmuFile, chosen: Mapping[str, str]) -> dict[str, ForeignVariable]:
    """Return the variables of the pose: those that the user names, else `pose.x` or `x`, ..."""
    for name in chosen:
        if name not in MAPPED:
            raise unknown_name("outputs:", name, MAPPED)
    variables = {name: file.variable(variable, "variable") for name, variable in chosen.items()}
    if not chosen:
        for name in MAPPED:
            same = file.variables.get(f"pose.{name}") or file.variables.get(name)
            if same is not None and same.causality in ("output", "local"):
                variables[name] = same
    if missing := [name for name in ("x", "y") if name not in variables]:
        raise PaddockError(f"outputs: name the variable of {file.path.name} that is {missing[0]}, in m")
    for group in (QUATERNION, ("vx", "vy")):
        present = [name for name in group if name in variables]
        if present and len(present) < len(group):
            lacking = next(name for name in group if name not in variables)
            raise PaddockError(f"outputs: {', '.join(group)} belong together: {lacking} is missing")
    return {name: variables[name] for name in MAPPED if name in variables}


def _connected(
    file: FmuFile, group: str, chosen: Mapping[str, str], fields: Sequence[str], settable: Sequence[ForeignVariable]
) -> dict[str, ForeignVariable]:
    """Return the variables that take the start pose or the environment; without a choice those named `start.x`, ..."""
    for name in chosen:
        if name not in fields:
            raise unknown_name(f"{group}:", name, fields)
    if chosen:
        return {name: file.variable(variable, "settable variable", settable) for name, variable in chosen.items()}
    names = {variable.name: variable for variable in settable}
    return {name: names[f"{group}.{name}"] for name in fields if f"{group}.{name}" in names}


def _parameter(file: FmuFile, name: str) -> ForeignVariable:
    settable = [variable for variable in file.variables.values() if variable.settable and variable.causality != "input"]
    by_name = {variable.name: variable for variable in settable}
    if name not in by_name and f"parameters.{name}" in by_name:
        return by_name[f"parameters.{name}"]
    return file.variable(name, "parameter", settable)


def _between(value: float, variable: ForeignVariable) -> float:
    return min(max(value, variable.low), variable.high)


def _named(variables: Iterable[ForeignVariable], taken: Iterable[str] = ()) -> dict[str, ForeignVariable]:
    """Return variables by the names of their columns; equal names get a number."""
    named: dict[str, ForeignVariable] = {}
    used = {*taken}
    for variable in variables:
        name = first = identifier(variable.name.removeprefix("command."))
        number = 2
        while name in used:
            name, number = f"{first}_{number}", number + 1
        used.add(name)
        named[name] = variable
    return named


def identifier(name: str) -> str:
    """Return a variable's name as a column's: letters, digits and underscores."""
    text = re.sub(r"\W+", "_", name).strip("_") or "value"
    return f"n{text}" if text[0].isdigit() else f"{text}_" if iskeyword(text) else text


def _column(name: str, variable: ForeignVariable, default: float) -> Column:
    return Column(variable.unit, variable.meaning, variable.low, variable.high, name=name, default=default)


def _tuple_class(name: str, columns: Sequence[Column]) -> Any:
    defaults = {column.name: column.default for column in columns if column.default is not None}
    return named_tuple(name, {column.name: Annotated[float, column] for column in columns}, defaults)


def _state(telemetry: Sequence[Column]) -> Any:
    """Return the class of the state: pose, start, steps taken, telemetry."""
    pose = [Column(c.unit, c.meaning, name=c.name, default=0.0) for c in columns_of(Pose)]
    starts = [Column(c.unit, f"start: {c.meaning}", name=f"start_{c.name}", default=0.0) for c in columns_of(Placement)]
    steps = Column("", "steps that the FMU has taken, NaN after an error", name=STEPS, default=0.0)
    shown = [Column(c.unit, c.meaning, name=c.name, default=0.0) for c in telemetry]
    return _tuple_class("State", [*pose, *starts, steps, *shown])


def made(*values: Any) -> Any:
    """Stand for the class of a vehicle's state."""
    raise NotImplementedError


def _placed(at: Placement, p: Any, w: Environment) -> Any:
    """Return the state before the FMU runs."""
    qx, qy, qz, qw = yaw_quaternion(at.yaw)
    sine, cosine = sincos(at.yaw)
    zero = 0.0 * at.x
    return made(
        *(at.x, at.y, at.z, qx, qy, qz, qw, at.speed * cosine, at.speed * sine, zero, zero, zero, zero),
        *(at.x, at.y, at.z, at.yaw, at.speed),
    )


def _shown_pose(s: Any, p: Any) -> Pose:
    return Pose(*s[: len(column_index(Pose))])


def _unmoved(s: Any, u: Any, p: Any, w: Environment, dt: float) -> Any:
    raise PaddockError("the FMU itself moves the vehicle")


def _unguided(s: Any, u: Any, p: Any, d: Desire) -> Any:
    raise PaddockError("no behaviour can drive an FMU")


def _no_energy(s: Any, p: Any, w: Environment) -> float:
    return 0.0 * float(s.x)
