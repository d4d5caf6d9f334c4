"""The contract of a vehicle model: plain scalar functions over named tuples.

The functions contain no `if` and no loop: they choose with `paddock.compute.math.select`, so that the same source runs
as Python, NumPy, packed CPU code and CUDA. `paddock.testing.check_vehicle_model` checks a model against all of this.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from math import inf
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from paddock.compute.contract import check_functions
from paddock.compute.kernel import KernelSpec, Rows, Shared, Value
from paddock.compute.twin import rebound
from paddock.errors import PaddockError, unknown_name, users_place
from paddock.plugins import PluginFolder, find_function
from paddock.vehicles import models
from paddock.world.columns import Column, column_index, columns_of
from paddock.world.pose import Environment, Pose


class Desire(NamedTuple):
    """The motion that a behaviour wants; each model translates it into its own commands."""

    vx: Annotated[float, Column("m/s", "wanted velocity east")]
    vy: Annotated[float, Column("m/s", "wanted velocity north")]
    vz: Annotated[float, Column("m/s", "wanted velocity up")]
    ahead: Annotated[float, Column("m", "distance to the point aimed at")]
    turn: Annotated[float, Column("rad/s", "turn rate of the path, left positive: feed-forward")] = 0.0
    gear: Annotated[float, Column("", "1: forwards; -1: backwards, tail first along the velocity")] = 1.0


class Placement(NamedTuple):
    """The initial pose and speed of a vehicle."""

    x: Annotated[float, Column("m", "position east")]
    y: Annotated[float, Column("m", "position north")]
    z: Annotated[float, Column("m", "position up")]
    yaw: Annotated[float, Column("rad", "heading, counter-clockwise from east")]
    speed: Annotated[float, Column("m/s", "speed along the heading")]


class Fitting(NamedTuple):
    """Functions that a choice replaces by others, and the parameters that follow from it."""

    functions: Mapping[Callable[..., Any], Callable[..., Any]]
    parameters: Mapping[str, float] = MappingProxyType({})


class Subsystem(NamedTuple):
    """A replaceable part of a model: the function that it stands for, and named choices: what each replaces by what."""

    function: Callable[..., Any]
    choices: Mapping[str, Mapping[Callable[..., Any], Callable[..., Any]]] = MappingProxyType({})
    suffix: str = ""  # of files that describe one
    read: Callable[[str], Fitting] | None = None  # for such a file


BATTERY_COLUMNS = ("charge", "voltage", "current")


@dataclass(frozen=True)
class VehicleModel:
    """A kind of vehicle; state, command and parameters are named tuples of floats with Column annotations."""

    kind: str  # the shape a viewer draws: car, quad, rover, aircraft, agent
    summary: str
    state: type
    command: type
    parameters: type
    step: Callable[..., Any]  # (state, command, parameters, environment, dt) -> state after dt seconds
    pose: Callable[..., Pose]  # (state, parameters) -> Pose
    place: Callable[..., Any]  # (placement, parameters, environment) -> state
    guide: Callable[..., Any]  # (state, command, parameters, desire) -> command
    energy: Callable[..., float]  # (state, parameters, environment) -> mechanical energy, J
    order: int  # of convergence when dt is halved
    dt_max: float  # s: the longest step for which the model is stable and passes its checks; longer ticks take substeps
    telemetry: tuple[str, ...] = ()  # state columns that snapshots carry beside the pose
    battery: str = ""  # parameter: where it is 0 there is no battery, and snapshots lack BATTERY_COLUMNS
    steady: tuple[str, ...] = ()  # commands that must not jump in the conformance check (modes, switches)
    report: Callable[..., Any] | None = None  # (state, command, parameters, environment) -> more columns of snapshots
    report_type: type | None = None  # the named tuple that `report` returns
    crash_sink: float = inf  # m/s: sink rate above which touching the ground is a crash; needs z, vx, vy and vz
    subsystems: Mapping[str, Subsystem] = field(default_factory=dict, hash=False)  # parts that a user may replace
    fixed_parameters: Mapping[str, float] = field(default_factory=dict, hash=False)  # of fitted files, over the preset
    name: str = ""  # set by `find_model`

    def __post_init__(self) -> None:
        """Require that telemetry and steady columns exist."""
        for what, names, known in (("telemetry", self.telemetry, self.state), ("steady", self.steady, self.command)):
            for name in names:
                if name not in column_index(known):
                    raise unknown_name(f"{what} column", name, column_index(known), users_place())

    def fitted(self, chosen: Mapping[str, str | Callable[..., Any]]) -> "VehicleModel":
        """Return the model with other subsystems: name of a choice, dotted path of a function, or a function for each."""
        others: dict[Callable[..., Any], Callable[..., Any]] = {}
        parameters = dict(self.fixed_parameters)
        for name, choice in chosen.items():
            if name not in self.subsystems:
                raise unknown_name(f"subsystem of {self.name}", name, self.subsystems)
            part = self.subsystems[name]
            if not isinstance(choice, str):
                others[part.function] = _compatible(choice, part.function, f"{name} of {self.name}")
            elif choice in part.choices:
                others |= part.choices[choice]
            elif part.read is not None and choice.lower().endswith(part.suffix):
                fitting = part.read(choice)
                others |= fitting.functions
                parameters |= fitting.parameters
            else:
                found = find_function(f"{name} of {self.name}", choice, part.choices)
                others[part.function] = _compatible(found, part.function, f"{name} of {self.name}")
        names = ("step", "pose", "place", "guide", "energy", *(() if self.report is None else ("report",)))
        functions = {name: rebound(getattr(self, name), others) for name in names}
        model = replace(self, **functions, fixed_parameters=parameters)
        check_functions(model)
        return model

    def step_spec(self, varying: tuple[str, ...] = (), dtype: str = "float64") -> KernelSpec:
        """Return the kernel that advances a fleet; `varying` are the parameters that differ between its vehicles."""
        parameters, environment = Shared("parameters", self.parameters, varying), Shared("environment", Environment)
        moved = Rows("state", self.state, "update"), Rows("command", self.command)
        arguments = (*moved, parameters, environment, Value("dt"))
        return KernelSpec(f"{self.name}-step", self.step, arguments, dtype, self.crash_sink)

    def pose_spec(self, varying: tuple[str, ...] = (), dtype: str = "float64") -> KernelSpec:
        """Return the kernel that writes a fleet's poses."""
        given = Rows("state", self.state), Shared("parameters", self.parameters, varying)
        return KernelSpec(f"{self.name}-pose", self.pose, (*given, Rows("pose", Pose, "write")), dtype)

    @property
    def report_columns(self) -> tuple[str, ...]:
        """The columns of the report; none for a model without one."""
        return () if self.report_type is None else tuple(column_index(self.report_type))

    def report_spec(self, varying: tuple[str, ...] = ()) -> KernelSpec | None:
        """Return the kernel that writes a fleet's reports; None for a model without one."""
        if self.report is None or self.report_type is None:
            return None
        parameters, environment = Shared("parameters", self.parameters, varying), Shared("environment", Environment)
        given = Rows("state", self.state), Rows("command", self.command), parameters, environment
        return KernelSpec(f"{self.name}-report", self.report, (*given, Rows("report", self.report_type, "write")))

    def specs(self) -> tuple[KernelSpec, ...]:
        """Return a kernel for each function of the contract; that of `energy` writes no column."""
        parameters, environment = Shared("parameters", self.parameters), Shared("environment", Environment)
        placing = Rows("state", self.state, "write"), Rows("at", Placement), parameters, environment
        guiding = Rows("state", self.state), Rows("command", self.command, "update"), parameters, Rows("desire", Desire)
        others = KernelSpec("place", self.place, placing), KernelSpec("guide", self.guide, guiding)
        energy = KernelSpec("energy", self.energy, (Rows("state", self.state), parameters, environment))
        report = self.report_spec()
        return (energy, *others, self.step_spec(), self.pose_spec(), *(() if report is None else (report,)))


def _compatible(function: Callable[..., Any], model_for: Callable[..., Any], what: str) -> Callable[..., Any]:
    """Return the function if it takes as many arguments as the one that it replaces."""
    taken, wanted = signature(function).parameters, signature(model_for).parameters
    if len(taken) != len(wanted):
        raise PaddockError(f"{what}: {function.__name__}({', '.join(taken)}) must take ({', '.join(wanted)})")
    return function


def check_model(model: VehicleModel) -> None:
    """Require columns with units, and functions that return them; raise PaddockError."""
    for tuple_class in filter(None, (model.state, model.command, model.parameters, model.report_type)):
        columns_of(tuple_class)
    check_functions(model)


MODELS = PluginFolder("model", models, "paddock.vehicles", "MODEL", VehicleModel, check_model)
find_model, model_names = MODELS.find, MODELS.names
