"""The contract of a behaviour: a scalar function from a vehicle's surroundings to its desired velocity.

The vehicle's model turns that desire into commands (`guide`), so every rule drives every kind of vehicle.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.behaviour import rules
from paddock.behaviour.paths import path_points
from paddock.compute.contract import check_functions
from paddock.compute.kernel import Each, KernelSpec, Rows, Shared, Value
from paddock.compute.math import maximum, minimum, select, sqrt
from paddock.compute.neighbours import NeighbourSpec
from paddock.compute.twin import bound
from paddock.errors import HINTS, InvalidValueError, users_code
from paddock.plugins import PluginFolder
from paddock.vehicles.model import Desire, VehicleModel
from paddock.world.columns import Column, Pose, check_fields, column_index, columns_of

Floats = NDArray[np.float64]
STILL = 1e-9
NO_TARGET = -1
"""Target row of a vehicle whose target no longer exists: it stops."""


class Nothing(NamedTuple):
    """The memory of a rule without memory."""

    unused: Annotated[float, Column("", "nothing")] = 0.0


HINTS[Nothing] = "this behaviour has no memory; declare a named tuple of columns and add memory=... to Rule(...)"


class Urge(NamedTuple):
    """The change of velocity that the neighbours cause; zero without neighbours."""

    x: Annotated[float, Column("m/s", "wanted change of velocity, east")] = 0.0
    y: Annotated[float, Column("m/s", "north")] = 0.0
    z: Annotated[float, Column("m/s", "up")] = 0.0


AVOID = "avoid"  # the option of rules whose vehicles may keep clear of others: see behaviour/avoid.py
AvoidOption = Annotated[float, Column("m", "distance to keep from other fleets and obstacles, 0: not seen", 0.0, 1e4)]


SEES = "sees"  # the option of rules that may use what was heard over radio: see radio/packets/heard.py
SeesOption = Annotated[
    float,
    Column(
        "",
        "other vehicles as they are, as last heard over radio, or heard and moved on at their velocity",
        0.0,
        2.0,
        choices=("truth", "heard", "predicted"),
    ),
]


class RouteLine(NamedTuple):
    """The line that vehicles follow, or the point that they go to, for display."""

    points: Floats  # (k, 3) m
    closed: bool  # the last joins the first


class Road(NamedTuple):
    """The road on which vehicles drive, for display."""

    points: Floats  # (k, 3) m, along its middle
    width: float  # m
    closed: bool  # the last point joins the first


@dataclass(frozen=True)
class Rule:
    """A behaviour. `desire(me, memory, options, urge, target, path, dt) -> (Desire, memory)`.

    me: own Pose; target: Pose of the vehicle that the option `target` names (own Pose without one);
    path: array of x, y, z, speed at each point, from the option `path` (empty without one); `prepare_path` may add
    columns. A rule with `look` sees the vehicles of all fleets: `look(poses, n, memory, options, path)` returns a row
    of `senses` for the first n of the vehicles, which arrives as `urge`. A rule with `reads_radio` gets the first rows
    of its vehicle's radio status there: signal, SINR, jammed, links; zeros without a radio.

    A driver that gives inputs itself has `inputs(guided, me, memory, options, path, dt) -> (command, memory)`, called
    with the command for its desire; it drives models with the commands `command`. A memory column `stream` is a random
    whole number of the vehicle and the run, for draws of `compute.philox`.

    The `senses` of a rule that `hears` are the numbers of the newest message that the vehicle has received by radio, a
    list in the order of the columns; a column `age` is the time (s) since it was sent.

    The vehicles of a rule that `relays` are a chain between the two ends (vehicles or stations) that the option
    `between` names. Once per second their `senses` are their places in the chain and 1: x, y, z, known; zeros in
    between. Its options `height` (m above the ground), `enough` (dB) and `ahead` (s) are those of the places.
    """

    summary: str
    options: type
    desire: Callable[..., tuple[Desire, Any]]
    memory: type = Nothing
    needs_path: bool = False
    needs_target: bool = False
    neighbours: NeighbourSpec | None = None
    senses: type = Urge
    look: Callable[[Floats, int, Floats, Any, Floats], Floats] | None = None
    hears: bool = False
    reads_radio: bool = False
    relays: bool = False
    path_option: str = "path"  # the option that is the path
    optional_path: bool = False
    read_path: Callable[[Any, str], Floats] = path_points  # (what the user wrote, where) -> points (k, 3)
    prepare_path: Callable[[Floats, Any], Floats] | None = None  # (points (k, 3), options) -> (k, 4 or more)
    inputs: Callable[..., tuple[Any, Any]] | None = None
    command: type | None = None  # that `inputs` returns; None: any
    slots: Callable[[int, Any], Floats] | None = None  # (vehicles, options) -> memory table (columns, n)
    route: Callable[[Any, Floats], RouteLine | None] | None = None  # (options, path (k, 4)) -> the line to display
    road: Callable[[Any, Floats], Road | None] | None = None  # (options, path (k, 4)) -> the road to display
    name: str = ""

    def __post_init__(self) -> None:
        """Require fields of their types."""
        check_fields(self)

    @property
    def solitary(self) -> bool:
        """Whether each vehicle decides alone, without a shared path, slots or neighbours."""
        together = self.prepare_path, self.slots, self.neighbours, self.look
        return all(part is None for part in together) and not self.relays

    def planned(self, options: Any, path: Floats) -> RouteLine | None:
        """Return the line to display: the rule's `route`, else the points of its path; None if nothing is fixed."""
        if self.route is not None:
            with users_code():
                return self.route(options, path)
        return RouteLine(path[:, :3], False) if self.needs_path else None

    def spec(self, model: VehicleModel, varying: tuple[str, ...] = (), each: tuple[str, ...] = ()) -> KernelSpec:
        """Return the kernel for a fleet of one model; `varying` parameters and `each` option differ by vehicle."""
        arguments = (
            Rows("state", model.state),
            Rows("command", model.command, "update"),
            Shared("parameters", model.parameters, varying),
            Rows("desire", Desire, "watch"),
            Rows("memory", self.memory, "update"),
            Shared("options", self.options, each),
            Rows("urge", self.senses),
            Rows("away", Urge),
            Each("target_row"),
            Value("targets", "fixed table"),
            Value("path", "table"),
            Value("dt"),
        )
        if self.command not in (None, model.command):
            expected, available = (
                ", ".join(column_index(command)) for command in (self.command, model.command) if command is not None
            )
            raise InvalidValueError(
                f"behaviour {self.name!r} drives models with the commands {expected}; {model.name} has {available}"
            )
        acting = _acting(model, self.desire, self.inputs, AVOID in column_index(self.options))
        return KernelSpec(f"{model.name}-{self.name}", acting, arguments)

    def specs(self) -> tuple[KernelSpec, ...]:
        """Return a kernel for each function of the contract: `desire`, and `visit` and `finish` of its neighbours."""
        seeing = Rows("me", Pose), Rows("memory", self.memory, "update"), Shared("options", self.options)
        arguments = Rows("urge", self.senses), Rows("target", Pose), Value("path", "table"), Value("dt")
        desire = KernelSpec(f"{self.name}-desire", self.desire, (Rows("desire", Desire, "write"), *seeing, *arguments))
        own: tuple[KernelSpec, ...] = (desire,)
        if self.inputs is not None and self.command is not None:
            direct = Rows("command", self.command, "update"), *seeing, Value("path", "table"), Value("dt")
            own = desire, KernelSpec(f"{self.name}-inputs", self.inputs, direct)
        near = self.neighbours
        if near is None:
            return own
        apart, options = tuple(Value(name) for name in ("dx", "dy", "dz", "d2")), Shared("options", near.options)
        two = Rows("gathered", near.gathered, "update"), Rows("me", near.seen), Rows("other", near.seen)
        rows = Rows("result", near.result, "write"), Rows("gathered", near.gathered), Rows("me", near.seen)
        visit = KernelSpec(f"{self.name}-visit", near.visit, (*two, *apart, options))
        return *own, visit, KernelSpec(f"{self.name}-finish", near.finish, (*rows, options))


def unbound(*arguments: Any) -> Any:
    """Stand for the model's `pose` and `guide` and the rule's `desire`, to which `act` is bound when it is compiled."""
    raise RuntimeError("unbound")


pose_of = desire_of = guide_of = inputs_of = clear_of = unbound


def kept_clear(d: Desire, away: Urge) -> Desire:
    """Add the urge away from others and obstacles to a desire; the speed is at most the larger one of both."""
    vx, vy, vz = d.vx + away.x, d.vy + away.y, d.vz + away.z
    most = sqrt(maximum(d.vx * d.vx + d.vy * d.vy + d.vz * d.vz, away.x * away.x + away.y * away.y + away.z * away.z))
    scale = minimum(1.0, most / maximum(sqrt(vx * vx + vy * vy + vz * vz), STILL))
    return Desire(vx * scale, vy * scale, vz * scale, d.ahead, d.turn, d.gear)


def as_desired(d: Desire, away: Urge) -> Desire:
    """Return the desire of a rule without the option `avoid`."""
    return d


def as_guided(guided: Any, me: Pose, memory: Any, options: Any, path: Floats, dt: float) -> tuple[Any, Any]:
    """Return the command for the desire of a rule that gives no inputs itself."""
    return guided, memory


def act(
    state: Any,
    command: Any,
    parameters: Any,
    memory: Any,
    options: Any,
    urge: Any,
    away: Urge,
    target_row: int,
    targets: Floats,
    path: Floats,
    dt: float,
) -> tuple[Any, Desire, Any]:
    """Compute the commands of one vehicle: pose, desire, the model's commands for the desire, and the rule's inputs."""
    me = pose_of(state, parameters)
    t = targets[:, target_row]
    target = Pose(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], t[10], t[11], t[12])
    desire, remembered = desire_of(me, memory, options, urge, target, path, dt)
    desire = clear_of(desire, away)
    go = select(target_row == NO_TARGET, 0.0, 1.0)
    desire = Desire(desire.vx * go, desire.vy * go, desire.vz * go, desire.ahead, desire.turn * go, desire.gear)
    guided = guide_of(state, command, parameters, desire)
    inputs, remembered = inputs_of(guided, me, remembered, options, path, dt)
    return inputs, desire, remembered


@lru_cache(maxsize=512)
def _acting(
    model: VehicleModel, desire: Callable[..., Any], inputs: Callable[..., Any] | None, clear: bool
) -> Callable[..., Any]:
    """Return `act` with its parts bound; the same function for the same parts, so that its kernel is built once."""
    parts = {"pose_of": model.pose, "desire_of": desire, "guide_of": model.guide}
    parts |= {"inputs_of": inputs or as_guided, "clear_of": kept_clear if clear else as_desired}
    return bound(act, parts)


SETTLING = 2.0
"""s: the shortest time constant of an approach; with a shorter one a car overshoots its goal."""


def towards(me: Pose, x: float, y: float, z: float, speed: float, slow_within: float) -> Desire:
    """Go to a point at a speed (m/s) that falls in proportion to the distance within `slow_within` (m)."""
    dx, dy, dz = x - me.x, y - me.y, z - me.z
    distance = sqrt(dx * dx + dy * dy + dz * dz)
    pace = speed * minimum(1.0, distance / maximum(slow_within, STILL)) / maximum(distance, STILL)
    return Desire(dx * pace, dy * pace, dz * pace, distance)


def station(
    me: Pose, x: float, y: float, z: float, vx: float, vy: float, vz: float, gain: float, most: float
) -> Desire:
    """Stay at a moving point: its velocity plus `gain` (1/s) times the gap, limited to `most` (m/s)."""
    dx, dy, dz = x - me.x, y - me.y, z - me.z
    wx, wy, wz = vx + gain * dx, vy + gain * dy, vz + gain * dz
    speed = sqrt(wx * wx + wy * wy + wz * wz)
    scale = minimum(1.0, most / maximum(speed, STILL))
    return Desire(wx * scale, wy * scale, wz * scale, maximum(sqrt(dx * dx + dy * dy + dz * dz), speed))


def index_in(value: float, count: int) -> int:
    """Return an index from a rule's memory, for a table of `count` rows; 0 where the memory holds no valid one."""
    return int(select((value >= 0.0) & (value < count), value, 0.0))


def distance_to(me: Pose, x: float, y: float, z: float) -> float:
    """Return the distance to a point, m."""
    dx, dy, dz = x - me.x, y - me.y, z - me.z
    return sqrt(dx * dx + dy * dy + dz * dz)


def stopped_within(d: Desire, distance: float, tolerance: float) -> Desire:
    """Stop once the goal is within the tolerance (m)."""
    go = select(distance > tolerance, 1.0, 0.0)
    return Desire(d.vx * go, d.vy * go, d.vz * go, d.ahead)


def check_rule(rule: Rule) -> None:
    """Require columns with units, and functions that return them; raise PaddockError."""
    for tuple_class in (rule.options, rule.memory, rule.senses):
        columns_of(tuple_class)
    check_functions(rule)


RULES = PluginFolder("behaviour", rules, "paddock.behaviours", "RULE", Rule, check_rule)
find_rule, rule_names = RULES.find, RULES.names
