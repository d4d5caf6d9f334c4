"""The contract of a vehicle model: plain scalar functions over named tuples.

The functions contain no `if` and no loop: they choose with `paddock.compute.math.select`, so that the same source runs
as Python, NumPy, packed CPU code and CUDA. `paddock.testing.check_vehicle_model` checks a model against all of this.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from math import inf
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from paddock.compute.contract import check_functions
from paddock.compute.kernel import KernelSpec, Rows, Shared, Value
from paddock.compute.math import maximum, sqrt
from paddock.compute.quaternion import heading
from paddock.compute.twin import bound, rebound
from paddock.errors import CodeError, PaddockError, unknown_name, users_place
from paddock.plugins import PluginFolder, find_function
from paddock.vehicles import models
from paddock.vehicles.subsystem import actuated_model, checked_actuators, checked_part
from paddock.world.columns import Column, Environment, Floats, Pose, check_fields, column_index, columns_of
from paddock.world.ground import LEVEL, UNEVEN, Surface, slope_attitude, surface, uneven_surface


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


class PartFile(NamedTuple):
    """A file that describes a part: its name, for error messages, and its text."""

    name: str
    text: str


class PartFunction(NamedTuple):
    """A function that replaces a part: it or its dotted path, values of its own parameters, its memory at the start."""

    path: str | Callable[..., Any]
    parameters: Mapping[str, float] = MappingProxyType({})
    memory: Mapping[str, float] = MappingProxyType({})


class Subsystem(NamedTuple):
    """A replaceable part of a model: the function that it stands for, and named choices: what each replaces by what."""

    function: Callable[..., Any]
    choices: Mapping[str, Mapping[Callable[..., Any], Callable[..., Any]]] = MappingProxyType({})
    read: Callable[[str, str], Fitting] | None = None  # (text, name) of a file that describes one


def pass_commands(u: Any, s: Any, p: Any, dt: float) -> Any:
    """Return the commands as they are: a model without actuators of its own."""
    return u


ACTUATORS = Subsystem(pass_commands)  # the part of models whose commands may pass through a user's function


def _without(chosen: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in chosen.items() if key != name}


class Spare(NamedTuple):
    """A part that a vehicle may lack: it does where all these parameters are 0.

    Kernels of fleets without it are compiled with other functions, which give the same results for less work.
    """

    parameters: tuple[str, ...]
    functions: Mapping[Callable[..., Any], Callable[..., Any]]
    columns: tuple[str, ...] = ()  # of the state, which then never change


FRAME, SPHERE, CAPSULE, CONE, BOX, CYLINDER = -1.0, 0.0, 1.0, 2.0, 3.0, 4.0
"""Shapes of bodies; the last one is for obstacles only."""
UNTURNABLE = 1e30  # kg m2: moment of inertia about an axis that the model does not turn about


class Body(NamedTuple):
    """The solid body of a vehicle, in body axes: what others can touch, and how it resists impulses.

    A sphere has the radius `half_length`. A frame, of a drone that stands on legs, is such a sphere for other round
    bodies, and for boxes and cylinders a square box of `half_width` and `half_height`. A capsule lies along the larger
    of `half_length` and `half_width`, which includes its round ends of radius `half_height`. A cone stands on a round
    base of radius `half_length`; others touch its middle, a third as wide.
    """

    mass: Annotated[float, Column("kg", "mass", low=1e-6, high=1e9)]
    inertia_x: Annotated[float, Column("kg m2", "moment of inertia about the forward axis")]
    inertia_y: Annotated[float, Column("kg m2", "moment of inertia about the left axis")]
    inertia_z: Annotated[float, Column("kg m2", "moment of inertia about the up axis")]
    half_length: Annotated[float, Column("m", "half the size forward")]
    half_width: Annotated[float, Column("m", "half the size to the left")]
    half_height: Annotated[float, Column("m", "half the size up")]
    centre_z: Annotated[float, Column("m", "height of the shape's centre above the pose")]
    shape: Annotated[float, Column("", "-1 frame, 0 sphere, 1 capsule, 2 cone, 3 box")]
    centre_x: Annotated[float, Column("m", "shape's centre ahead of the pose")] = 0.0
    planar: Annotated[float, Column("0/1", "1: on wheels, without vertical motion, roll and pitch")] = 0.0
    falls: Annotated[float, Column("0/1", "1: the contact stage keeps it above the ground, not its own step")] = 0.0
    mass_z: Annotated[float, Column("m", "height of the centre of mass above the pose: what a bump shifts")] = 0.0
    rolling: Annotated[float, Column("m", "arm of the load against rolling and spinning on another body")] = 0.0


class Bump(NamedTuple):
    """What contact changes in one tick: position, velocity, angular velocity, rest and attitude, all in world axes."""

    dx: Annotated[float, Column("m", "shift east")]
    dy: Annotated[float, Column("m", "shift north")]
    dz: Annotated[float, Column("m", "shift up")]
    dvx: Annotated[float, Column("m/s", "change of the velocity east")]
    dvy: Annotated[float, Column("m/s", "change of the velocity north")]
    dvz: Annotated[float, Column("m/s", "change of the velocity up")]
    dwx: Annotated[float, Column("rad/s", "change of the angular velocity about east")]
    dwy: Annotated[float, Column("rad/s", "change of the angular velocity about north")]
    dwz: Annotated[float, Column("rad/s", "change of the angular velocity about up")]
    restless: Annotated[float, Column("0/1", "1: it may not fall asleep, or wakes: what it touches moves")] = 0.0
    tx: Annotated[float, Column("rad", "turn about east")] = 0.0
    ty: Annotated[float, Column("rad", "turn about north")] = 0.0
    tz: Annotated[float, Column("rad", "turn about up")] = 0.0


class ReadParameters:
    """Parameters that note which of them are read."""

    def __init__(self, values: Any) -> None:
        self.values, self.names = values, set[str]()

    def __getattr__(self, name: str) -> float:
        """Return a parameter."""
        self.names.add(name)
        return float(getattr(self.values, name))


Uneven = Callable[..., Surface] | None
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
    crash_gap: str = ""  # parameter: height above the ground at which it touches it, m; "": 0
    rides: bool = False  # `pose` returns that on level ground: on a slope the engine tilts it (`tilted`)
    subsystems: Mapping[str, Subsystem] = field(default_factory=dict, hash=False)  # parts that a user may replace
    spares: tuple[Spare, ...] = field(default=(), hash=False)  # parts that are left out of the kernels of some fleets
    problem: Callable[[Any], str] | None = None  # (parameters) -> what is impossible about them together, "" if nothing
    # contact: both or neither; a vehicle without them is not touched by others. x, y and z of the state are the pose's
    body: Callable[..., Body] | None = None  # (parameters) -> Body
    bumped: Callable[..., Any] | None = None  # (state, parameters, bump) -> state
    fixed_parameters: Mapping[str, float] = field(default_factory=dict, hash=False)  # of fitted files, over the preset
    other_parameters: tuple[str, ...] = ()  # that sensors, missions or autopilots read, and its functions do not
    # parameters that functions read without effect, as long as none of these functions is replaced
    idle_parameters: Mapping[str, tuple[Callable[..., Any], ...]] = field(default_factory=dict, hash=False)
    name: str = ""  # set by `find_model`

    def __post_init__(self) -> None:
        """Require fields of their types, a step longer than 0, columns that exist, and a body that can be bumped."""
        check_fields(self)
        if (self.body is None) != (self.bumped is None):
            raise PaddockError(f"{users_place()}: body and bumped belong together: give both or neither")
        if not 0.0 < self.dt_max < inf:
            where = f"{users_place()}: ".removeprefix(": ")
            raise CodeError(f"{where}VehicleModel.dt_max must be a time in s above 0, not {self.dt_max:g}")
        for what, names, fields in (
            ("telemetry", self.telemetry, self.state),
            ("steady", self.steady, self.command),
            ("crash_gap", (self.crash_gap,) if self.crash_gap else (), self.parameters),
        ):
            for name in names:
                if name not in column_index(fields):
                    raise unknown_name(f"{what} column", name, column_index(fields), users_place())

    def fitted(self, chosen: Mapping[str, str | Callable[..., Any] | PartFile | PartFunction]) -> "VehicleModel":
        """Return the model with other subsystems: for each a choice's name, a dotted path, a function, or a file."""
        others: dict[Callable[..., Any], Callable[..., Any]] = {}
        parameters = dict(self.fixed_parameters)
        for name, choice in chosen.items():
            if name not in self.subsystems:
                raise unknown_name(f"subsystem of {self.name}", name, self.subsystems)
            part = self.subsystems[name]
            if isinstance(choice, PartFile):
                if part.read is None:
                    able = ", ".join(sorted(key for key, other in self.subsystems.items() if other.read is not None))
                    raise PaddockError(f"{name} of {self.name} cannot be read from a file; these can: {able or 'none'}")
                fitting = part.read(choice.text, choice.name)
                others |= fitting.functions
                parameters |= fitting.parameters
            elif isinstance(choice, str) and choice in part.choices:
                others |= part.choices[choice]
            else:
                what, defaults = f"{name} of {self.name}", choice.parameters if isinstance(choice, PartFunction) else {}
                path = choice.path if isinstance(choice, PartFunction) else choice
                function = find_function(what, path, part.choices) if isinstance(path, str) else path
                memory = choice.memory if isinstance(choice, PartFunction) else {}
                if part is ACTUATORS:
                    return self._actuated(function, what, defaults, memory).fitted(_without(chosen, name))
                if memory:
                    raise PaddockError(f"{what} has no memory: only actuators have one")
                others[part.function] = checked_part(function, part.function, what, defaults)
        names = ("step", "pose", "place", "guide", "energy", *(() if self.report is None else ("report",)))
        functions: dict[str, Any] = {name: rebound(getattr(self, name), others) for name in names}
        idle = {key: read for key, read in self.idle_parameters.items() if not any(code in others for code in read)}
        model = replace(self, **functions, fixed_parameters=parameters, idle_parameters=idle)
        check_functions(model)
        return model

    def _actuated(
        self, function: Callable[..., Any], what: str, defaults: Mapping[str, float], memory: Mapping[str, float]
    ) -> "VehicleModel":
        """Return the model with a function between its commands and its step."""
        columns = dict.fromkeys(self.report_columns)
        types = self.state, self.command, self.parameters
        fitted = checked_actuators(function, *types, columns, what, defaults, memory)
        own = actuated_model(self.state, self.step, self.place, self.report, fitted, tuple(memory.items()))
        others = {name: part for name, part in self.subsystems.items() if part is not ACTUATORS}
        telemetry = (*self.telemetry, *memory)
        model = replace(self, **own._asdict(), telemetry=telemetry, subsystems=others)
        check_functions(model)
        return model

    def step_spec(
        self,
        varying: tuple[str, ...] = (),
        dtype: str = "float64",
        uneven: Uneven = None,
        parameters: Sequence[float] | Floats | None = None,
        wind: tuple[str, ...] = (),
    ) -> KernelSpec:
        """Return the kernel that advances a fleet; `varying` are the parameters that differ between its vehicles.

        `uneven`: the function of uneven ground, whose tables its environment has; None over flat ground. With the
        values of the `parameters`, spare parts are left out: the kernel is only for fleets with these values. `wind`:
        the fields of the environment that each vehicle has of its own.
        """
        absent = () if parameters is None else self._absent(varying, parameters)
        shared, environment = Shared("parameters", self.parameters, varying), environment_argument(uneven, wind)
        moved = Rows("state", self.state, "update"), Rows("command", self.command)
        arguments = (*moved, shared, environment, Value("dt"))
        step = over(self.step, uneven) if uneven else self.step
        step = rebound(step, {old: new for part in absent for old, new in part.functions.items()}) if absent else step
        columns = tuple(name for part in absent for name in part.columns)
        name, crash = f"{self.name}-step", (self.crash_sink, self.crash_gap, uneven)
        return KernelSpec(name, step, arguments, dtype, *crash, columns)

    def _absent(self, varying: tuple[str, ...], values: Sequence[float] | Floats) -> tuple[Spare, ...]:
        """Return the parts that no vehicle of a fleet has."""
        at = column_index(self.parameters)
        zero = {name for name in at if name not in varying and values[at[name]] == 0.0}
        return tuple(part for part in self.spares if zero.issuperset(part.parameters))

    def pose_spec(self, varying: tuple[str, ...] = (), dtype: str = "float64", uneven: Uneven = None) -> KernelSpec:
        """Return the kernel that writes a fleet's poses; of a model that rides, `uneven` as for `step_spec`."""
        arguments = Rows("state", self.state), Shared("parameters", self.parameters, varying)
        written = Rows("pose", Pose, "write")
        if uneven and self.rides:
            return KernelSpec(f"{self.name}-seated", _riding(self.pose, uneven), (*arguments, UNEVEN, written), dtype)
        return KernelSpec(f"{self.name}-pose", self.pose, (*arguments, written), dtype)

    @cached_property
    def effective_parameters(self) -> frozenset[str]:
        """The parameters that have an effect: those that its functions, which have no branches, read in one call."""
        names = column_index(self.parameters)
        values = self.parameters(
            **{column.name: 1.0 for column in columns_of(self.parameters) if column.default is None}
        )
        p, w = ReadParameters(values), Environment()
        try:
            state, command = self.place(Placement(0.0, 0.0, 0.0, 0.0, 1.0), p, w), self.command()
            self.step(state, command, p, w, self.dt_max)
            self.pose(state, p)
            self.guide(state, command, p, Desire(1.0, 0.0, 0.0, 1.0))
            self.energy(state, p, w)
            if self.report is not None:
                self.report(state, command, p, w)
            if self.body is not None and self.bumped is not None:
                self.body(p)
                self.bumped(state, p, Bump(*[0.0] * 9))
        except Exception:  # a user's function that needs a real tuple of parameters, or arrays: all may have an effect
            return frozenset(names)
        read = p.names | {self.battery, self.crash_gap} | set(self.other_parameters)
        return frozenset(name for name in names if name in read and name not in self.idle_parameters)

    @property
    def report_columns(self) -> tuple[str, ...]:
        """The columns of the report; none for a model without one."""
        return () if self.report_type is None else tuple(column_index(self.report_type))

    def report_spec(
        self, varying: tuple[str, ...] = (), uneven: Uneven = None, wind: tuple[str, ...] = ()
    ) -> KernelSpec | None:
        """Return the kernel that writes a fleet's reports, as `step_spec`; None for a model without one."""
        if self.report is None or self.report_type is None:
            return None
        parameters, environment = Shared("parameters", self.parameters, varying), environment_argument(uneven, wind)
        arguments = Rows("state", self.state), Rows("command", self.command), parameters, environment
        report = over(self.report, uneven) if uneven else self.report
        return KernelSpec(f"{self.name}-report", report, (*arguments, Rows("report", self.report_type, "write")))

    def specs(self) -> tuple[KernelSpec, ...]:
        """Return a kernel for each function of the contract; that of `energy` writes no column."""
        parameters, environment = Shared("parameters", self.parameters), LEVEL
        placing = Rows("state", self.state, "write"), Rows("at", Placement), parameters, environment
        guiding = Rows("state", self.state), Rows("command", self.command, "update"), parameters, Rows("desire", Desire)
        others = KernelSpec("place", self.place, placing), KernelSpec("guide", self.guide, guiding)
        energy = KernelSpec("energy", self.energy, (Rows("state", self.state), parameters, environment))
        report = self.report_spec()
        contact = self._contact_specs()
        return (energy, *others, self.step_spec(), self.pose_spec(), *contact, *(() if report is None else (report,)))

    def _contact_specs(self) -> tuple[KernelSpec, ...]:
        if self.body is None or self.bumped is None:
            return ()
        parameters, state = Shared("parameters", self.parameters), Rows("state", self.state, "update")
        body = KernelSpec("body", self.body, (parameters, Rows("body", Body, "write")))
        return body, KernelSpec("bumped", self.bumped, (state, parameters, Rows("bump", Bump)))


def environment_argument(uneven: Uneven, wind: tuple[str, ...]) -> Shared:
    """Return the argument of kernels for the environment; `wind` are the fields that each vehicle has of its own."""
    return replace(UNEVEN if uneven else LEVEL, varying=wind)


def over(function: Callable[..., Any], ground: Callable[..., Surface] = uneven_surface) -> Callable[..., Any]:
    """Return a function of a model for uneven ground."""
    return rebound(function, {surface: ground})


def level_pose(state: Any, parameters: Any) -> Pose:
    """Stand for a model's `pose`."""
    raise NotImplementedError


@cache
def _riding(pose: Callable[..., Pose], ground: Callable[..., Surface]) -> Callable[..., Pose]:
    return over(bound(seated, {"level_pose": pose}), ground)


def seated(state: Any, parameters: Any, w: Environment) -> Pose:
    """Return the pose of a vehicle on the ground under it."""
    at = level_pose(state, parameters)
    return tilted(at, surface(at.x, at.y, w))


def tilted(at: Pose, g: Surface) -> Pose:
    """Return a level pose turned so that the vehicle stands on a slope, with the same heading and speed."""
    qx, qy, qz, qw = slope_attitude(g, heading(at.qx, at.qy, at.qz, at.qw))
    climb = g.slope_x * at.vx + g.slope_y * at.vy
    level = sqrt(at.vx * at.vx + at.vy * at.vy)
    share = level / maximum(sqrt(level * level + climb * climb), 1e-12)
    return Pose(
        *(at.x, at.y, g.height, qx, qy, qz, qw),
        *(at.vx * share, at.vy * share, climb * share, at.wx, at.wy, at.wz),
    )


def check_model(model: VehicleModel) -> None:
    """Require columns with units, and functions that return them; raise PaddockError."""
    for tuple_class in filter(None, (model.state, model.command, model.parameters, model.report_type)):
        columns_of(tuple_class)
    if model.body is not None and not {"x", "y", "z"} <= set(column_index(model.state)):
        raise PaddockError(f"model {model.name!r}: a model with a body has the state columns x, y and z")
    check_functions(model)


MODELS = PluginFolder("model", models, "paddock.vehicles", "MODEL", VehicleModel, check_model)
find_model, model_names = MODELS.find, MODELS.names
