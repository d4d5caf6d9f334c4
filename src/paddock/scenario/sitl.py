"""Autopilots in the loop: which vehicles they fly, in which simulator, on whose time, and who may talk to them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from paddock.errors import suggestion
from paddock.scenario.base import Number, Numbers, Positive, Section, Text, Vector3, Whole, trouble
from paddock.scenario.serve import LAST_PORT, Flag
from paddock.scenario.vehicle import VehicleEntry

WORLD = "world"
"""The adapter that is always there: this scenario's own vehicles."""
LAST_SYSID = 254
FARTHEST = 100_000.0
"""m from where a vehicle starts to a point of its mission, along each axis."""
Port = Annotated[Whole, Field(ge=1, le=LAST_PORT)]
CraftName = Literal["copter", "rover", "rover_ackermann", "plane"]
MODEL_CRAFTS: dict[str, CraftName] = {
    "quad": "copter",
    "rover": "rover",
    "car.kinematic": "rover_ackermann",
    "car.bicycle": "rover_ackermann",
    "fixed_wing": "plane",
}
"""What flies a model, unless the entry says so."""


class Mavlink(Section):
    """How ground stations reach the built-in autopilots, each of which is a MAVLink system of its own."""

    host: Text = Field(default="127.0.0.1", min_length=1, description="Where the ground stations are.")
    station: Port = Field(
        default=14550, description="UDP port of the station of system 1; that of system k is k - 1 higher."
    )
    port: Port = Field(default=18570, description="UDP port that system 1 binds; system k binds the one k - 1 higher.")
    shared: Port | None = Field(
        default=None, description="One more UDP port that all systems share, for stations that show many vehicles."
    )
    log: Text | None = Field(default=None, description="Folder for a .tlog file of each system.")


class AdapterEntry(Section):
    """A simulator beside this world."""

    name: Text = Field(default="", description="Its name; by default its type.")
    type: Text = Field(min_length=1, description="lightweight, jsbsim, ardupilot_gazebo, or a module of your own.")
    options: dict[Text, Any] = Field(default_factory=dict, description="Options of that type.")
    timeout: Positive = Field(default=1.0, description="Seconds of wall time that it may take to answer.")
    on_timeout: Literal["free_run", "hold", "stop"] = Field(
        default="hold", description="What happens then: go on without it, wait on, or stop."
    )

    @model_validator(mode="before")
    @classmethod
    def _own_name(cls, data: Any) -> Any:
        return {"name": data["type"], **data} if isinstance(data, dict) and "type" in data else data


def _flyable(mission: Any) -> Any:
    """A file's name or points, told apart here: else a bad point would be told of as a bad name too."""
    if mission is None or isinstance(mission, str):
        return mission
    if not isinstance(mission, list | tuple):
        raise trouble(f"a mission is the name of a file or a list of points [x, y, z], not {mission!r}")
    if not mission:
        raise trouble("a mission has at least one point")
    for k, point in enumerate(mission):
        _check_point(point, k)
    return mission


def _check_point(point: Any, k: int) -> None:
    if not isinstance(point, list | tuple) or len(point) != 3:
        raise trouble(f"a point of a mission is [x, y, z], not {point!r}", (k,))
    for axis, value in enumerate(point):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number and abs(value) <= FARTHEST):  # NaN is in no range
            raise trouble(f"a mission reaches {FARTHEST / 1000:g} km at most, not {value!r} m", (k, axis))


class Pilots(Section):
    """Autopilots of one kind: for a vehicle or a fleet of this scenario, or for new vehicles of another adapter."""

    vehicles: Text | None = Field(default=None, description="Name of an entry of vehicles; each of it gets one.")
    autopilot: Literal["builtin", "ardupilot", "px4"] = Field(
        default="builtin", description="The built-in one, or a real one in a process of its own."
    )
    craft: CraftName | None = Field(default=None, description="What it flies; null is what fits the model.")
    sysid: Whole | None = Field(
        default=None, ge=1, le=LAST_SYSID, description="MAVLink system id of the first; null takes the next free one."
    )
    frame: Text | None = Field(
        default=None, description="Frame of a real ArduPilot, e.g. copter-plus; null is what fits the craft."
    )
    instance: Whole | None = Field(
        default=None, ge=0, le=LAST_SYSID, description="Instance of the first real autopilot; null is sysid - 1."
    )
    adapter: Text = Field(default=WORLD, min_length=1, description="Name of the simulator; world is this scenario.")
    count: Whole = Field(default=1, ge=1, le=LAST_SYSID, description="How many, in an adapter other than world.")
    position: Vector3 = Field(
        default=(0.0, 0.0, 0.0), description="In another adapter: where the first starts [x, y, z], in m."
    )
    spacing: Number = Field(default=5.0, description="In another adapter: how far east the next one stands, in m.")
    parameters: Numbers = Field(default_factory=dict, description="Parameters of the built-in autopilot: WP_SPEED, ...")
    mission: Annotated[Text | tuple[Vector3, ...] | None, BeforeValidator(_flyable)] = Field(
        default=None,
        description="What the scenario's own ground station uploads and starts: a QGroundControl file, or points "
        "[x, y, z] in m from where each vehicle starts.",
    )
    start: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0.0, description="Simulated seconds after which its ground station begins."
    )
    lockstep: Flag = Field(default=True, description="Whether time waits for a real ArduPilot.")

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        if self.adapter == WORLD and self.vehicles is None:
            raise trouble("say which vehicles of this scenario they fly: vehicles: name")
        if self.adapter != WORLD and self.vehicles is not None:
            raise trouble("vehicles are those of this scenario; in another adapter say count and craft", ("vehicles",))
        if self.adapter != WORLD and self.craft is None:
            raise trouble("say what they fly in that adapter: craft")
        return self

    @model_validator(mode="after")
    def _all_used(self) -> Self:
        """What would do nothing is refused."""
        if self.frame is not None and self.autopilot != "ardupilot":
            raise trouble("a frame is for a real ArduPilot", ("frame",))
        if self.autopilot != "builtin" and (self.parameters or self.mission is not None):
            raise trouble("parameters and mission are for the built-in autopilot; a real one has its own")
        if self.autopilot == "builtin" and self.instance is not None:
            raise trouble("instance is for a real autopilot; the built-in one has a sysid", ("instance",))
        if self.autopilot != "ardupilot" and not self.lockstep:
            why = {"builtin": "the built-in one is always in step", "px4": "a PX4 says itself how it was built"}
            raise trouble(f"lockstep is for a real ArduPilot; {why[self.autopilot]}", ("lockstep",))
        if self.start and self.mission is None:
            raise trouble("start is when a mission begins: there is none", ("start",))
        self._refuse_beside_vehicles()
        return self

    def _refuse_beside_vehicles(self) -> None:
        for name in ("count", "position", "spacing") if self.vehicles is not None else ():
            if getattr(self, name) != type(self).model_fields[name].default:
                raise trouble(f"{name} is for another adapter; here it is that of vehicles {self.vehicles!r}", (name,))


def _adapters_differ(adapters: tuple[AdapterEntry, ...]) -> tuple[AdapterEntry, ...]:
    names = [WORLD]
    for k, adapter in enumerate(adapters):
        if adapter.name in names:
            raise trouble(f"there is another adapter called {adapter.name!r}", (k, "name"))
        names.append(adapter.name)
    return adapters


class Sitl(Section):
    """Autopilots in the loop."""

    pilots: tuple[Pilots, ...] = Field(description="Who flies what.")
    adapters: Annotated[tuple[AdapterEntry, ...], AfterValidator(_adapters_differ)] = Field(
        default=(), description="Simulators beside this world."
    )
    time: Literal["lockstep", "free", "scaled"] = Field(
        default="lockstep",
        description="Time waits for every autopilot that has spoken (lockstep), for nobody (free), or it waits and "
        "keeps to clock.pace (scaled).",
    )
    timeout: Positive = Field(default=1.0, description="Seconds of wall time that an autopilot may take to answer.")
    on_timeout: Literal["free_run", "hold", "stop"] = Field(
        default="free_run", description="What happens then: go on without it until it is back, wait on, or stop."
    )
    listen: Text | None = Field(
        default=None,
        min_length=1,
        description="Address at which autopilots can be reached, 0.0.0.0 for other machines; null is this machine "
        "only, unless the ground stations are elsewhere.",
    )
    mavlink: Mavlink = Field(default=Mavlink(), description="How ground stations reach the built-in autopilots.")
    parameters: Text | None = Field(
        default=None, description="Folder in which the built-in autopilots keep their parameters; null keeps none."
    )
    truth: Flag = Field(default=False, description="The built-in autopilots know the truth instead of estimating it.")


def check_sitl(sitl: Sitl, vehicles: tuple[VehicleEntry, ...]) -> None:
    """Refuse pilots of vehicles or adapters that are not there, and systems that would be there twice."""
    if not sitl.pilots:
        raise trouble("there is at least one entry of pilots", ("sitl", "pilots"))
    entries = {entry.name: entry for entry in vehicles}
    adapters = [WORLD, *(adapter.name for adapter in sitl.adapters)]
    for k, pilots in enumerate(sitl.pilots):
        at = ("sitl", "pilots", k)
        if pilots.adapter not in adapters:
            hint = suggestion(pilots.adapter, adapters)
            raise trouble(f"there is no adapter {pilots.adapter!r}; {hint}", (*at, "adapter"))
        if pilots.vehicles is not None:
            _check_entry(pilots, pilots.vehicles, entries, at)
    _check_sysids(sitl, entries)


def _check_entry(pilots: Pilots, name: str, entries: dict[str, VehicleEntry], at: tuple[Any, ...]) -> None:
    if name not in entries:
        raise trouble(f"there is no entry of vehicles called {name!r}; {suggestion(name, entries)}", (*at, "vehicles"))
    entry = entries[name]
    if entry.controller is not None:
        raise trouble(f"{name!r} has a behaviour: a vehicle is driven by it or by an autopilot", (*at, "vehicles"))
    if pilots.craft is None and entry.model not in MODEL_CRAFTS:
        raise trouble(f"say what flies model {entry.model!r}: craft", (*at, "vehicles"))
    fitting = MODEL_CRAFTS.get(entry.model)
    if pilots.craft is not None and fitting is not None and pilots.craft != fitting:
        raise trouble(f"model {entry.model!r} is flown as a {fitting}, not as a {pilots.craft}", (*at, "craft"))


def _check_sysids(sitl: Sitl, entries: dict[str, VehicleEntry]) -> None:
    taken: dict[int, int] = {}
    for k, numbers in enumerate(system_ids(sitl, entries)):
        for number in numbers:
            if number > LAST_SYSID:
                raise trouble(f"there are at most {LAST_SYSID} systems, this is number {number}", ("sitl", "pilots", k))
            if number in taken:
                raise trouble(f"system id {number} is taken by pilots[{taken[number]}]", ("sitl", "pilots", k, "sysid"))
            taken[number] = k


def system_ids(sitl: Sitl, entries: dict[str, VehicleEntry]) -> list[list[int]]:
    """The system ids of each entry of pilots."""
    numbers, free = [], 1
    for pilots in sitl.pilots:
        count = pilots.count if pilots.vehicles is None else entries[pilots.vehicles].count
        first = free if pilots.sysid is None else pilots.sysid
        numbers.append(list(range(first, first + count)))
        free = max(free, first + count)
    return numbers
