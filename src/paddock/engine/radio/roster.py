"""The radios of the present vehicles and their state: links, jammers, spoofers, channels and packets.

Both follow when vehicles are added or removed.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.engine.behaviours import PoseBlocks
from paddock.errors import PaddockError, UnknownNameError, unknown_name
from paddock.radio.links.jamming import ROWS, Jammers, JammerState, check_emitters, possible_acts
from paddock.radio.links.paths import Bands, PathTables, check_frequencies, classes_of
from paddock.radio.links.radios import COLUMN, Classes, FleetRadios, Floats, Ints, Radios, radios_of
from paddock.radio.links.table import BURST_ROWS, COLLISION_ROWS, Bools, Indices, moved_links
from paddock.radio.links.update import LinkUpdate
from paddock.radio.packets.channel_links import unplaced_radios
from paddock.radio.packets.state import PacketState, new_packets
from paddock.scenario import Scenario
from paddock.scenario.radio_types import MessagesSection
from paddock.wire.radio_results import Links
from paddock.world.columns import Environment, column_index
from paddock.world.fleet import Fleet
from paddock.world.parts import LINK, RADIO, array, child, count, fresh, mapping, part, rows, value
from paddock.world.state import transfer
from paddock.world.world import World

if TYPE_CHECKING:
    from paddock.engine.run_state import Run

NOT_JAMMED = -1  # tick
STRONGEST = 1e6  # dB or mW
LATEST_TICK = 2**53
HIGHEST_CHANNEL = 10_000


@part
class LinkState:
    """The links of the last update: rows of transmitters that each receiver gets, see `Links`."""

    m: int = count(LINK)
    tick: int = value(-1, low=-1, high=LATEST_TICK)  # of the update; -1: there was none
    start: Ints = array("i8", "begin", low=0)  # (n + 1,)
    peer: Indices = array("i4", LINK, refers=RADIO)
    power: Floats = array("f8", LINK, unit="dBm", low=-STRONGEST, high=STRONGEST)
    sinr: Floats = array("f8", LINK, unit="dB", low=-STRONGEST, high=STRONGEST)
    per: Floats = array("f8", LINK, low=0.0, high=1.0)
    up: Bools = array("u1", LINK, high=1)
    interference: Floats = array("f8", RADIO, unit="mW", low=0.0, high=STRONGEST)
    jamming: Floats = array("f8", RADIO, unit="mW", low=0.0, high=STRONGEST)
    outside: Ints = array("i8", RADIO, low=0)
    bursts: Floats = array("f8", BURST_ROWS, RADIO, low=0.0, high=STRONGEST)
    collisions: Floats = array("f8", COLLISION_ROWS, "collision", low=-STRONGEST, high=STRONGEST)

    @property
    def table(self) -> Links:
        """The links as compiled code takes them."""
        kept: Links | None = self.__dict__.get("_table")
        if kept is None or kept.peer is not self.peer or kept.start is not self.start:
            kept = self.__dict__["_table"] = Links(*(getattr(self, name) for name in Links._fields))
        return kept

    def set(self, links: Links) -> None:
        """Take the links of an update."""
        self.m = len(links.peer)
        for name, values in links._asdict().items():
            setattr(self, name, values)
        self.__dict__["_table"] = links

    def check(self, state: Any) -> None:
        """Refuse links that no update can have made."""
        n, start = len(self.interference), self.start
        if len(start) != n + 1 or start[0] != 0 or start[-1] != self.m or (np.diff(start) < 0).any():
            raise PaddockError("the rows of links do not follow each other")
        receiver = np.repeat(np.arange(n), np.diff(start))
        if (self.peer < 0).any() or (self.peer == receiver).any():
            raise PaddockError("links have transmitters that do not exist")
        if not ((np.diff(self.peer) > 0) | (np.diff(receiver) > 0)).all():
            raise PaddockError("transmitters do not ascend within their row")
        _, share, period, cycle, _, length = self.bursts
        some = (share == 0.0) | ((period > 0.0) & (cycle > 0.0) & (length <= cycle))
        if (share > 1.0).any() or not some.all():
            raise PaddockError("bursts of jammers are not valid")
        if self.collisions.shape[1] not in (0, self.m) or (self.collisions[1] < 0.0).any():
            raise PaddockError("collisions are not valid")


@part
class RadioState:
    """Everything about radio that changes in a run, but for the tables of fleets (commands, telemetry, GNSS)."""

    n: int = count(RADIO)
    owner: Ints = array("i8", RADIO)  # id of the vehicle; -1 - k: the k-th radio of stations
    slot: Ints = array("i8", RADIO, low=0)  # number among the radios of its vehicle or station
    silent: Any = array("?", RADIO)  # radios of vehicles that the mission has damaged, as of the last update of links
    on_air: Floats = array("f8", RADIO, low=0.0, high=1.0)  # share of time with packets before the last update
    jammed: Ints = array("i8", RADIO, unit="tick", fill=NOT_JAMMED, low=NOT_JAMMED)  # last update with jamming
    chances: Floats = array("f8", "deceptive", RADIO, low=0.0, high=1.0)  # that a receiver accepts a false frame
    doing: Floats = array("f8", ROWS, "jammer")  # what the jammers do from the last update on
    ups: int = value(0, low=0, high=LATEST_TICK)  # links that have come up since the start, each direction by itself
    downs: int = value(0, low=0, high=LATEST_TICK)
    channels: dict[str, int] = mapping(str, int)  # allocated, by the names of fleets and stations
    jammers: list[JammerState] = rows(JammerState)
    spoofers: list[JammerState] = rows(JammerState)
    links: LinkState = child(LinkState)
    packets: PacketState = child()
    jammer_names: tuple[str, ...] = ()
    spoofer_names: tuple[str, ...] = ()

    def check(self, state: Any) -> None:
        """Refuse what no run can have left."""
        if self.packets.n != self.n:
            raise PaddockError(f"packets are those of {self.packets.n} radios, not {self.n}")
        check_emitters(self.jammers, self.jammer_names)
        check_emitters(self.spoofers, self.spoofer_names)
        if not possible_acts(self.doing):
            raise PaddockError("acts of jammers are not valid")
        if not all(0 <= channel <= HIGHEST_CHANNEL for channel in self.channels.values()):
            raise PaddockError("channels are not valid")
        peer, receiver = self.links.peer, np.repeat(np.arange(self.n), np.diff(self.links.start))
        if self.silent[peer].any() or self.silent[receiver].any():
            raise PaddockError("radios of damaged vehicles have links")


def new_radio_state(
    n: int, section: MessagesSection, jammers: list[JammerState], spoofers: list[JammerState], sizes: dict[str, int]
) -> RadioState:
    """Return the state of n radios without links; sizes: numbers of columns of jammers, and of deceptive ones."""
    names = tuple(state.name for state in jammers), tuple(state.name for state in spoofers)
    made = fresh(RadioState, radio=n, **sizes, jammer_names=names[0], spoofer_names=names[1])
    made.n, made.jammers, made.spoofers = n, jammers, spoofers
    made.packets = new_packets(n, section)
    made.links.start = np.zeros(n + 1, np.int64)
    return made


def identify(radios: Radios) -> tuple[Ints, Ints]:
    """Return owner and slot of all radios, as in `RadioState`."""
    stations = -1 - np.arange(len(radios.stations))
    return np.concatenate([radios.owner[: radios.carried], stations]), radios.slot.astype(np.int64)


def is_of(state: RadioState, radios: Radios) -> bool:
    """Return whether a state is that of these radios."""
    owner, slot = identify(radios)
    return np.array_equal(owner, state.owner[: state.n]) and np.array_equal(slot, state.slot[: state.n])


def with_radios(
    state: RadioState, radios: Radios, section: MessagesSection, slot: int
) -> tuple[RadioState, dict[int, int]]:
    """Return the state after radios came or went at a slot, and the removed sender of messages, by their numbers.

    Transmissions in progress start again, without links. Packets of removed radios are lost, and those to them.
    """
    owner, number = identify(radios)
    index = {key: k for k, key in enumerate(zip(owner.tolist(), number.tolist(), strict=True))}
    keys = zip(state.owner[: state.n].tolist(), state.slot[: state.n].tolist(), strict=True)
    new_number = np.array([index.get(key, -1) for key in keys], np.int64)
    senders = state.packets.drop_removed(new_number < 0)
    sizes = {"jammer": state.doing.shape[1], "deceptive": state.chances.shape[0]}
    made = new_radio_state(radios.n, section, state.jammers, state.spoofers, sizes)
    transfer(state, made, RADIO, new_number)
    made.n = made.packets.n = radios.n
    made.owner, made.slot = owner, number
    made.links.set(moved_links(state.links.table, new_number, radios.n))
    kept = made.packets.labels >= 0
    made.packets.labels[kept] = np.unique(made.packets.labels[kept], return_inverse=True)[1]
    new = ~made.packets.placed.any(axis=0)
    made.packets.placed[:, new] = unplaced_radios(radios)[:, new]
    made.packets.reset_radios(section.window[0], slot)
    return made, senders


GROUND_Z = column_index(Environment)["ground_z"]


def path_tables(world: World, radios: Radios, classes: Classes) -> PathTables:
    """Return the tables of the paths between radios in a world."""
    return PathTables(radios, classes, world.scenery, float(world.environment[GROUND_Z]), world.seed)


class RadioRoster:
    """What does not change while the vehicles stay the same."""

    def __init__(
        self,
        scenario: Scenario,
        world: "Run",
        jammers: Sequence[JammerState] | None = None,
    ) -> None:
        """jammers: their states; None: as at the start of a run."""
        programs = world.programs
        section = scenario.radio
        assert section is not None
        fleets = [
            FleetRadios(name, p.fleet.ids[p.fleet.rows], p.fleet.tables["streams"][p.fleet.rows], p.settings.radio)
            for name, p in programs.items()
            if p.settings.radio and p.fleet.n
        ]
        self.radios: Radios = radios_of(section, fleets)
        self._members = {
            name: None if p.fleet.single else p.fleet.members[p.fleet.rows] for name, p in programs.items()
        }
        self.jammers = Jammers(section.jammers, self.radios, jammers)
        self.classes = classes_of(section, self.radios.groups)
        self.scenario, self.world = scenario, world
        self.check_bands()
        self.tables = path_tables(world, self.radios, self.classes)
        self.paths = self.tables.paths
        longest = float(np.inf if section.range is None else section.range)
        limits = section.hysteresis, section.margin, longest
        self.update = LinkUpdate(self.radios, self.classes, self.paths, *limits)
        self.needs_heights = bool((self.classes.table[0] > 0.0).any())  # every model but free space
        self.deceptive = np.array(
            [k for k, jammer in enumerate(self.jammers.sections) if jammer.kind == "deceptive"], np.int64
        )

    def name_of(self, radio: int) -> str:
        """Return the vehicle or station of a radio, with its number where it has several: `red`, `red/1`."""
        radios, slot = self.radios, int(self.radios.slot[radio])
        if radio >= radios.carried:
            name = radios.stations[radio - radios.carried]
        else:
            [part] = [part for part in radios.parts if part.radios.start <= radio < part.radios.stop]
            members, place = self._members[part.fleet], (radio - part.first) // part.slots
            name = part.fleet if members is None else f"{part.fleet}[{members[place]}]"
        return f"{name}/{slot}" if slot else name

    def number_of(self, name: str | int) -> int:
        """Return the number of a radio by the name or id of its vehicle or station; `red/1` is its second radio."""
        radios = self.radios
        plain, slash, slot = str(name).partition("/")
        if plain in radios.stations:
            own = np.array([radios.carried + k for k, station in enumerate(radios.stations) if station == plain])
        else:
            try:
                fleet, rows = self.world.find(name if isinstance(name, int) else plain)
            except UnknownNameError:
                fleet_name = plain.partition("[")[0]
                if (members := self.world.fleets.get(fleet_name)) is not None and members.n:
                    raise UnknownNameError(_no_member(plain, members)) from None
                names = [*(part.fleet for part in radios.parts), *dict.fromkeys(radios.stations)]
                raise unknown_name("vehicle or station", plain, names) from None
            if len(rows) != 1:
                raise PaddockError(f"{plain!r} is a fleet of {len(rows)}: name one vehicle, e.g. {plain}[0]")
            own = np.flatnonzero(radios.owner == fleet.ids[rows[0]])
        if not len(own):
            raise PaddockError(f"{plain!r} has no radio: add `radio: default` to its entry")
        if slash and not (slot.isdecimal() and int(slot) < len(own)):
            raise UnknownNameError(f"unknown radio {str(name)!r}; {plain!r} has the radios 0 to {len(own) - 1}")
        return int(own[int(slot or 0)])

    def check_bands(self, changes: Mapping[str, Bands] | None = None) -> None:
        """Raise InvalidValueError if a model of propagation is used outside its range of frequencies."""
        check_frequencies(self.scenario, self.radios.groups, self.classes, changes)


def put_emitters(world: World, poses: PoseBlocks, jammers: Jammers, radios: Radios) -> None:
    """Put jammers where their vehicles are; `radios` is their table."""
    table = radios.table
    for k, state in enumerate(jammers.states):
        if state.vehicle is None:
            jammers.place(k, np.array(state.position), None, -1.0)
            continue
        try:
            fleet, rows = world.find(state.vehicle)
        except UnknownNameError:
            jammers.place(k, None, None, -1.0)
            continue
        pose = poses(fleet.name)[:7, fleet.ranks[rows[0]]]
        own = np.flatnonzero(radios.owner == fleet.ids[rows[0]])
        jammers.place(k, pose[:3], pose[3:], float(table[COLUMN.owner, own[0]]) if len(own) else -1.0)


def _no_member(name: str, fleet: Fleet) -> str:
    """Return why a fleet does not have a vehicle of this name."""
    members = np.sort(fleet.members[: fleet.n])
    if fleet.n == members[-1] - members[0] + 1:
        return f"{fleet.name} has {fleet.n} vehicles, {members[0]} to {members[-1]}, not {name!r}"
    number = name.partition("[")[2].removesuffix("]")
    gone = number.isdecimal() and int(number) < fleet.next_member
    what = "has been removed" if gone else "does not exist"
    others = f"{fleet.name}[{members[0]}] and {fleet.name}[{members[-1]}]"
    return f"{name!r} {what}; {fleet.name} has {fleet.n} vehicles, {others} among them"
