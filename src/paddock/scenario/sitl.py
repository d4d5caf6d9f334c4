"""The section `sitl`: autopilots in the loop, the vehicles they fly, their simulators, time and ground stations."""

import ipaddress
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from paddock.errors import suggestion
from paddock.scenario.base import Flag, Number, Numbers, Positive, Section, Text, Vector3, Whole, invalid
from paddock.scenario.problems import KeyPath
from paddock.scenario.radio import RadioSection
from paddock.scenario.serve import LAST_PORT, is_loopback
from paddock.scenario.vehicle import VehicleEntry
from paddock.scenario.via import MavlinkVia, MavlinkViaSection, via_problem

WORLD = "world"  # the built-in adapter: this scenario's own vehicles
LAST_SYSID = 254
LOCAL = "127.0.0.1"
FARTHEST = 100_000.0  # largest distance of a mission point from the vehicle's start, along each axis, in m
Port = Annotated[Whole, Field(ge=1, le=LAST_PORT)]
CraftName = Literal["copter", "rover", "rover_ackermann", "plane"]
MODEL_CRAFTS: dict[str, CraftName] = {
    "quad": "copter",
    "rover": "rover",
    "car.kinematic": "rover_ackermann",
    "car.bicycle": "rover_ackermann",
    "fixed_wing": "plane",
    "plane": "plane",
}
"""The default vehicle type of each vehicle model."""


class Mavlink(Section):
    """Connection of ground stations to the built-in autopilots, each of which is a MAVLink system."""

    host: Text = Field(default="127.0.0.1", min_length=1, description="Address of the ground stations.")
    station: Port = Field(
        default=14550, description="UDP port of the ground station of system 1; k - 1 more for system k."
    )
    port: Port = Field(default=18570, description="UDP port that system 1 binds; k - 1 more for system k.")
    shared: Port | None = Field(default=None, description="UDP port shared by all systems, for multi-vehicle stations.")
    tcp: Annotated[Whole, Field(ge=0, le=LAST_PORT)] | None = Field(
        default=None,
        description="TCP port at which system 1 listens; 10 (k - 1) more for system k; 0 is none; null is 5760 where "
        "that is free.",
    )
    log: Text | None = Field(default=None, description="Folder for a .tlog file of each system.")
    via: MavlinkVia | None = Field(
        default=None,
        description="How packets travel between the built-in autopilots of this scenario's vehicles and their ground "
        "stations: radio, or {radio: station}; null: immediately and without loss.",
    )


class AdapterEntry(Section):
    """An additional simulator."""

    name: Text = Field(default="", description="Name; by default its type.")
    type: Text = Field(min_length=1, description="lightweight, jsbsim, ardupilot_gazebo, or a module of your own.")
    options: dict[Text, Any] = Field(default_factory=dict, description="Options of that type.")
    timeout: Positive = Field(default=1.0, description="Longest time to answer, in seconds of wall time.")
    on_timeout: Literal["free_run", "hold", "stop"] = Field(
        default="hold", description="On timeout: continue without it, keep waiting, or stop."
    )

    @model_validator(mode="before")
    @classmethod
    def _own_name(cls, data: Any) -> Any:
        return {"name": data["type"], **data} if isinstance(data, dict) and "type" in data else data


def _checked_mission(mission: Any) -> Any:
    """Distinguish file name and points here; otherwise pydantic also reports an invalid point as an invalid name."""
    if mission is None or isinstance(mission, str):
        return mission
    if not isinstance(mission, list | tuple):
        raise invalid(f"a mission is the name of a file or a list of points [x, y, z], not {mission!r}")
    if not mission:
        raise invalid("a mission has at least one point")
    for k, point in enumerate(mission):
        if not isinstance(point, list | tuple) or len(point) != 3:
            raise invalid(f"a point of a mission is [x, y, z], not {point!r}", (k,))
        for axis, value in enumerate(point):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (number and abs(value) <= FARTHEST):  # NaN is in no range
                raise invalid(f"a mission point is at most {FARTHEST / 1000:g} km away, not {value!r} m", (k, axis))
    return mission


class AutopilotEntry(Section):
    """Autopilots of one kind, for a vehicle or a fleet of this scenario, or for new vehicles in another adapter."""

    vehicles: Text | None = Field(default=None, description="Name of an entry of vehicles; each vehicle gets one.")
    autopilot: Literal["builtin", "ardupilot", "px4"] = Field(
        default="builtin", description="The built-in autopilot, or an external one in its own process."
    )
    craft: CraftName | None = Field(default=None, description="Vehicle type; null follows from the model.")
    sysid: Whole | None = Field(
        default=None, ge=1, le=LAST_SYSID, description="MAVLink id of the first; null is the next free."
    )
    frame: Text | None = Field(
        default=None, description="Frame of a real ArduPilot, e.g. copter-plus; null is the default."
    )
    instance: Whole | None = Field(
        default=None, ge=0, le=LAST_SYSID, description="First instance, if real; null is sysid - 1."
    )
    adapter: Text = Field(default=WORLD, min_length=1, description="Name of the simulator; world is this scenario.")
    count: Whole = Field(default=1, ge=1, le=LAST_SYSID, description="Number of vehicles in another adapter.")
    position: Vector3 = Field(
        default=(0.0, 0.0, 0.0), description="Start of the first [x, y, z] in another adapter, in m."
    )
    spacing: Number = Field(default=5.0, description="Distance to the next, to the east, in another adapter, in m.")
    parameters: Numbers = Field(default_factory=dict, description="Parameters of the built-in autopilot: WP_SPEED, ...")
    mission: Annotated[Text | tuple[Vector3, ...] | None, BeforeValidator(_checked_mission)] = Field(
        default=None,
        description="Mission that the scenario's ground station uploads and starts: a QGroundControl file, or points "
        "[x, y, z] in m relative to each vehicle's start.",
    )
    start: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0.0, description="Simulated time at which the ground station starts it, in s."
    )
    lockstep: Flag = Field(default=True, description="Whether time waits for a real ArduPilot.")
    via: MavlinkVia | None = Field(
        default=None, description="As via of mavlink, for these autopilots; null: as mavlink says."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        """Reject contradictions and settings without effect."""
        if self.adapter == WORLD and self.vehicles is None:
            raise invalid("name the vehicles of this scenario that they fly: vehicles: name")
        if self.adapter != WORLD and self.vehicles is not None:
            raise invalid("vehicles belong to this scenario; in another adapter give count and craft", ("vehicles",))
        if self.adapter != WORLD and self.craft is None:
            raise invalid("an adapter other than world needs craft")
        if self.frame is not None and self.autopilot != "ardupilot":
            raise invalid("frame is only for a real ArduPilot", ("frame",))
        if self.autopilot != "builtin" and (self.parameters or self.mission is not None):
            raise invalid("parameters and mission are only for the built-in autopilot")
        if self.autopilot == "builtin" and self.instance is not None:
            raise invalid("instance is only for a real autopilot; the built-in one has a sysid", ("instance",))
        if self.autopilot != "ardupilot" and not self.lockstep:
            why = {"builtin": "the built-in one always runs in lockstep", "px4": "PX4 reports how it was built"}
            raise invalid(f"lockstep is only for a real ArduPilot; {why[self.autopilot]}", ("lockstep",))
        if self.start and self.mission is None:
            raise invalid("start needs a mission", ("start",))
        for name in ("count", "position", "spacing") if self.vehicles is not None else ():
            if getattr(self, name) != type(self).model_fields[name].default:
                raise invalid(f"{name} is only for another adapter; vehicles {self.vehicles!r} define it here", (name,))
        return self


def _adapters_differ(adapters: tuple[AdapterEntry, ...]) -> tuple[AdapterEntry, ...]:
    names = [WORLD]
    for k, adapter in enumerate(adapters):
        if adapter.name in names:
            raise invalid(f"adapter name {adapter.name!r} is already used", (k, "name"))
        names.append(adapter.name)
    return adapters


def _checked_listen(listen: str | None) -> str | None:
    """Check the address that sockets bind: they use IPv4."""
    try:
        ipaddress.IPv4Address(LOCAL if listen in (None, "localhost") else listen)
    except ValueError:
        text = f"listen is an IPv4 address of this machine, or 0.0.0.0 for all of them, not {listen!r}"
        raise invalid(text) from None
    return listen


class Sitl(Section):
    """Autopilots in the loop."""

    pilots: tuple[AutopilotEntry, ...] = Field(description="Autopilots and the vehicles they fly.")
    adapters: Annotated[tuple[AdapterEntry, ...], AfterValidator(_adapters_differ)] = Field(
        default=(), description="Additional simulators."
    )
    time: Literal["lockstep", "free", "scaled"] = Field(
        default="lockstep",
        description="Time waits for every connected autopilot (lockstep), never waits (free), or waits and "
        "follows clock.pace (scaled).",
    )
    timeout: Positive = Field(default=1.0, description="Longest time of an autopilot to answer, in s of wall time.")
    on_timeout: Literal["free_run", "hold", "stop"] = Field(
        default="free_run", description="On timeout: continue without it until it is back, keep waiting, or stop."
    )
    listen: Annotated[Text | None, AfterValidator(_checked_listen)] = Field(
        default=None,
        description="Address that all sockets of autopilots bind: one of this machine's, or 0.0.0.0 for all; null is "
        "127.0.0.1. Ground stations on another machine need it.",
    )
    mavlink: Mavlink = Field(default=Mavlink(), description="Connection of ground stations to the built-in autopilots.")
    parameters: Text | None = Field(
        default=None, description="Folder of the built-in autopilots' parameters; null is none."
    )
    logs: Text | None = Field(
        default=None, description="Folder of the built-in autopilots' on-board logs (.BIN); null is none."
    )
    truth: Flag = Field(default=False, description="Whether built-in autopilots use the true state, not an estimate.")

    @model_validator(mode="after")
    def _reaches_stations(self) -> Self:
        """Reject ground stations on another machine unless the user listens beyond this one."""
        host, flown = self.mavlink.host, any(entry.autopilot == "builtin" for entry in self.pilots)
        if flown and is_loopback(self.address) and not is_loopback(host):
            text = f"ground stations at {host} cannot be reached from {self.address}; set listen (--listen), too: the"
            raise invalid(f"{text} address of this machine in their network, or 0.0.0.0 for all", ("mavlink", "host"))
        return self

    @property
    def address(self) -> str:
        """The address that every socket of autopilots binds."""
        return self.listen or LOCAL


def mavlink_via(sitl: Sitl, pilots: AutopilotEntry) -> MavlinkViaSection | None:
    """Return how MAVLink packets of these autopilots travel; None: immediately."""
    if pilots.adapter != WORLD:
        return None
    own = pilots.autopilot == "builtin"
    return sitl.mavlink.via if pilots.via is None and own else pilots.via


def mavlink_vias(sitl: Sitl) -> list[tuple[KeyPath, MavlinkViaSection]]:
    """Return all ways of MAVLink packets that are given, with the paths of their owners."""
    vias: list[tuple[KeyPath, MavlinkViaSection | None]] = [(("sitl", "mavlink"), sitl.mavlink.via)]
    vias += [(("sitl", "pilots", k), pilots.via) for k, pilots in enumerate(sitl.pilots)]
    return [(path, via) for path, via in vias if via is not None]


def _check_via(
    sitl: Sitl,
    pilots: AutopilotEntry,
    entries: dict[str, VehicleEntry],
    radio: RadioSection | None,
    at: tuple[Any, ...],
) -> None:
    """Refuse links over radio that cannot exist."""
    entry = entries.get(pilots.vehicles or "")
    if pilots.via is not None and entry is None:
        raise invalid("via is for vehicles of this scenario: another simulator has no radio", (*at, "via"))
    if pilots.via is not None and (pilots.autopilot == "builtin") != (pilots.via.relay is None):
        real = f"{pilots.autopilot} sends its MAVLink packets from its own process: give relay, a port for them"
        own = "relay is only for a real autopilot; the built-in one has its own ports"
        raise invalid(own if pilots.autopilot == "builtin" else real, (*at, "via"))
    if pilots.via is not None and entry is not None and (pilots.via.relay or 0) + entry.count - 1 > LAST_PORT:
        raise invalid(f"the ports of the relay of {entry.count} vehicles end at {LAST_PORT}", (*at, "via", "relay"))
    if pilots.via is not None and pilots.autopilot != "builtin" and pilots.via.heartbeat is not None:
        raise invalid("heartbeat is only for the built-in autopilot", (*at, "via", "heartbeat"))
    if sitl.mavlink.via is not None and sitl.mavlink.via.relay is not None:
        raise invalid("relay belongs to via of an entry of pilots", ("sitl", "mavlink", "via", "relay"))
    if entry is None:
        return
    if entry.via is not None:
        text = f"{entry.name!r} is flown by an autopilot: set via of its entry in sitl.pilots, or of sitl.mavlink"
        raise invalid(text, (*at, "vehicles"))
    via = mavlink_via(sitl, pilots)
    if via is not None:
        problem, station = via_problem(via, radio, entry.radio, [vehicle.radio for vehicle in entries.values()])
        location = ("sitl", "mavlink", "via") if pilots.via is None else (*at, "via")
        if problem:
            raise invalid(problem, (*location, "radio") if station else location)


def check_sitl(sitl: Sitl, vehicles: tuple[VehicleEntry, ...], radio: RadioSection | None = None) -> None:
    """Reject unknown vehicles and adapters, system ids that are used twice, and impossible links over radio."""
    if not sitl.pilots:
        raise invalid("pilots needs at least one entry", ("sitl", "pilots"))
    entries = {entry.name: entry for entry in vehicles}
    adapters = [WORLD, *(adapter.name for adapter in sitl.adapters)]
    for k, pilots in enumerate(sitl.pilots):
        at = ("sitl", "pilots", k)
        if pilots.adapter not in adapters:
            hint = suggestion(pilots.adapter, adapters)
            raise invalid(f"unknown adapter {pilots.adapter!r}; {hint}", (*at, "adapter"))
        if pilots.vehicles is not None:
            _check_entry(pilots, pilots.vehicles, entries, at)
        _check_via(sitl, pilots, entries, radio, at)
    owners: dict[int, int] = {}
    for k, numbers in enumerate(system_ids(sitl, entries)):
        for number in numbers:
            if number > LAST_SYSID:
                raise invalid(f"system ids end at {LAST_SYSID}; this is {number}", ("sitl", "pilots", k))
            if number in owners:
                text = f"system id {number} is already used by pilots[{owners[number]}]"
                raise invalid(text, ("sitl", "pilots", k, "sysid"))
            owners[number] = k


def _check_entry(pilots: AutopilotEntry, name: str, entries: dict[str, VehicleEntry], at: tuple[Any, ...]) -> None:
    if name not in entries:
        raise invalid(f"unknown vehicles {name!r}; {suggestion(name, entries)}", (*at, "vehicles"))
    entry = entries[name]
    if entry.controller is not None:
        raise invalid(f"{name!r} has a behaviour; an autopilot cannot drive it, too", (*at, "vehicles"))
    if pilots.craft is None and entry.model not in MODEL_CRAFTS:
        raise invalid(f"model {entry.model!r} has no default craft; set craft", (*at, "vehicles"))
    fitting = MODEL_CRAFTS.get(entry.model)
    if pilots.craft is not None and fitting is not None and pilots.craft != fitting:
        raise invalid(f"model {entry.model!r} is flown as a {fitting}, not as a {pilots.craft}", (*at, "craft"))


def system_ids(sitl: Sitl, entries: dict[str, VehicleEntry]) -> list[list[int]]:
    """Return the system ids of each entry of pilots."""
    numbers, free = [], 1
    for pilots in sitl.pilots:
        count = pilots.count if pilots.vehicles is None else entries[pilots.vehicles].count
        first = free if pilots.sysid is None else pilots.sysid
        numbers.append(list(range(first, first + count)))
        free = max(free, first + count)
    return numbers
