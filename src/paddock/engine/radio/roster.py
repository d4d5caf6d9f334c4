"""The radios of the present vehicles, and what moves with them when vehicles are added or removed."""

from collections.abc import Mapping, Sequence

import numpy as np

from paddock.engine.behaviours import PoseBlocks
from paddock.engine.program import FleetProgram
from paddock.errors import PaddockError, UnknownNameError, unknown_name
from paddock.radio.links.jamming import Jammers, JammerState
from paddock.radio.links.paths import Bands, PathTables, check_frequencies, classes_of
from paddock.radio.links.radios import COLUMN, FleetRadios, Radios, radios_of
from paddock.radio.links.update import LinkUpdate
from paddock.scenario import Scenario
from paddock.world.columns import Environment, column_index
from paddock.world.fleet import Fleet
from paddock.world.world import World

GROUND_Z = column_index(Environment)["ground_z"]


class RadioRoster:
    """What does not change while the vehicles stay the same."""

    def __init__(
        self,
        scenario: Scenario,
        world: World,
        programs: Mapping[str, FleetProgram],
        jammers: Sequence[JammerState] | None = None,
    ) -> None:
        """jammers: their states; None: as at the start of a run."""
        section = scenario.radio
        assert section is not None
        fleets = [
            FleetRadios(name, p.fleet.ids.copy(), p.fleet.tables["streams"][: p.fleet.n].copy(), p.radio)
            for name, p in programs.items()
            if p.radio and p.fleet.n
        ]
        self.radios: Radios = radios_of(section, fleets)
        self._members = {
            name: None if p.fleet.single else p.fleet.members[: p.fleet.n].copy() for name, p in programs.items()
        }
        self.jammers = Jammers(section.jammers, self.radios, jammers)
        self.classes = classes_of(section, self.radios.groups)
        self.scenario, self.world = scenario, world
        self.check_bands()
        self.tables = PathTables(
            self.radios, self.classes, world.scenery, float(world.environment[GROUND_Z]), world.seed
        )
        self.paths = self.tables.paths
        longest = float(np.inf if section.range is None else section.range)
        limits = section.hysteresis, section.margin, longest
        self.update = LinkUpdate(self.radios, self.classes, self.paths, *limits)
        self.needs_heights = bool((self.classes.table[0] > 0.0).any())  # every model but free space
        self.deceptive = np.array(
            [k for k, one in enumerate(self.jammers.sections) if one.kind == "deceptive"], np.int64
        )

    def name_of(self, radio: int) -> str:
        """Return the vehicle or station of a radio, with its number where it has several: `red`, `red/1`."""
        radios, slot = self.radios, int(self.radios.slot[radio])
        if radio >= radios.carried:
            name = radios.stations[radio - radios.carried]
        else:
            [part] = [one for one in radios.parts if one.first <= radio < one.first + one.n * one.slots]
            members, row = self._members[part.fleet], (radio - part.first) // part.slots
            name = part.fleet if members is None else f"{part.fleet}[{members[row]}]"
        return f"{name}/{slot}" if slot else name

    def number_of(self, name: str | int) -> int:
        """Return the number of a radio by the name or id of its vehicle or station; `red/1` is its second radio."""
        radios = self.radios
        plain, slash, slot = str(name).partition("/")
        if plain in radios.stations:
            own = np.array([radios.carried + k for k, one in enumerate(radios.stations) if one == plain])
        else:
            try:
                fleet, rows = self.world.find(name if isinstance(name, int) else plain)
            except UnknownNameError:
                fleet_name = plain.partition("[")[0]
                if (members := self.world.fleets.get(fleet_name)) is not None and members.n:
                    raise UnknownNameError(_no_member(plain, members)) from None
                known = [*(part.fleet for part in radios.parts), *dict.fromkeys(radios.stations)]
                raise unknown_name("vehicle or station", plain, known) from None
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
        pose = poses(fleet.name)[:7, int(rows[0])]
        own = np.flatnonzero(radios.owner == fleet.ids[rows[0]])
        jammers.place(k, pose[:3], pose[3:], float(table[COLUMN.owner, own[0]]) if len(own) else -1.0)


def _no_member(name: str, fleet: Fleet) -> str:
    """Return why a fleet does not have a vehicle of this name."""
    known = np.sort(fleet.members[: fleet.n])
    if fleet.n == known[-1] - known[0] + 1:
        return f"{fleet.name} has {fleet.n} vehicles, {known[0]} to {known[-1]}, not {name!r}"
    number = name.partition("[")[2].removesuffix("]")
    gone = number.isdecimal() and int(number) < fleet.next_member
    what = "has been removed" if gone else "does not exist"
    others = f"{fleet.name}[{known[0]}] and {fleet.name}[{known[-1]}]"
    return f"{name!r} {what}; {fleet.name} has {fleet.n} vehicles, {others} among them"
