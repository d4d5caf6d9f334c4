"""The state of a race: cars, what they are timed by, the log. What no run can have saved is refused."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paddock.errors import PaddockError
from paddock.track import race_log, timing
from paddock.track.race_log import check_log
from paddock.track.timing import OUT
from paddock.world.columns import Floats
from paddock.world.fleet import Ints
from paddock.world.parts import array, count, mapping, part, record, rows
from paddock.world.world import LARGEST_ID

if TYPE_CHECKING:
    from paddock.engine.race import RulesStage

MOST = 1e12  # of any number in the table
MOST_GATES = 10_000_000  # passed by the first car


@part
class RaceState:
    """Cars are numbered in the order in which they joined; one that is removed keeps its number."""

    names: list[str] = rows(str)
    ids: Ints = array("i8", "car", low=0, high=LARGEST_ID)
    table: Floats = array("f8", timing.TABLE_ROWS, "car", low=-MOST, high=MOST)  # see `timing`
    logged: int = count("entry")
    log: Floats = array("f8", race_log.COLUMNS, "entry", low=-MOST, high=MOST)  # see `race_log`
    first_at: list[float] = rows(float, longest=MOST_GATES)  # s after the start: the first car at each gate of each lap
    hit: NDArray[np.uint8] = array("u1", "cone")
    touched_by: dict[int, int] = mapping(int, int)  # id of a cone -> car that touched it last, also of counted ones
    counted: set[int] = record(set[int], set)  # cones

    @property
    def entries(self) -> Floats:
        """The log, (columns, entries)."""
        return self.log[:, : self.logged]


def check_race(stage: "RulesStage", race: RaceState, present: Mapping[int, str]) -> None:
    """Refuse a race that no run has; `present` are the ids and names of the cars in the world."""
    n, now = len(race.names), stage.world.clock.time
    named = dict(zip(race.ids.tolist(), race.names, strict=False))
    if len(named) != n or len(race.ids) != n or any(named.get(number) != name for number, name in present.items()):
        raise PaddockError("race: the cars are not those of the world")
    _check_table(race.table, len(stage.course.gates), len(stage.course.points), now)
    check_log(race.entries, n, _cones(stage, race.entries), now)
    kinds, cars = race.entries[0], race.entries[1].astype(np.int64)
    logged = (
        (timing.LAPS, race_log.LAP),
        (timing.CONES, race_log.CONE_HIT),
        (timing.OFF_COURSE, race_log.OFF_COURSE),
    )
    for row, kind in logged:
        if (np.bincount(cars[kinds == kind], minlength=n) != race.table[row]).any():
            raise PaddockError("race: laps, cones or times off course are not those of the log")
    passed = np.array(race.first_at)
    if not ((passed == -1.0) | ((passed >= 0.0) & (passed <= now))).all():
        raise PaddockError("race: the times of the first car at gates are not valid")
    touched, by = (np.array(list(numbers), np.int64) for numbers in (race.touched_by, race.touched_by.values()))
    if not _possible(stage, touched).all() or not _within(by, n):
        raise PaddockError("race: there are touched cones that cannot exist")
    if not _possible(stage, np.array(sorted(race.counted), np.int64)).all():
        raise PaddockError("race: there are counted cones that cannot exist")


def _check_table(table: NDArray[np.float64], gates: int, points: int, now: float) -> None:
    counts = table[[timing.STATUS, timing.LAPS, timing.GATE, timing.SEGMENT, timing.CONES, timing.OFF_COURSE]]
    most = np.array([OUT, 1e9, gates - 1, points - 1, 1e9, 1e9])[:, None]
    times = table[[timing.STARTED, timing.LAP_BEGAN, timing.SECTOR_BEGAN, timing.ENDED]]
    flags = table[[timing.KNOWN, timing.OUTSIDE]]
    valid = (
        bool((np.abs(table) <= MOST).all())  # also refuses NaN
        and bool(((counts >= 0.0) & (counts <= most) & (counts == np.floor(counts))).all())
        and bool(((times >= 0.0) & (times <= now)).all())
        and bool(((flags == 0.0) | (flags == 1.0)).all())
    )
    if not valid:
        raise PaddockError("race: the table has values that no run has")


def _cones(stage: "RulesStage", log: Floats) -> set[int]:
    """Return the numbers of cones that a log may name."""
    if not stage.cones.homes:
        return set(range(len(stage.cone_names)))
    numbers = log[4, log[0] == race_log.CONE_HIT]
    numbers = numbers[(np.abs(numbers) <= LARGEST_ID) & (numbers == np.floor(numbers))].astype(np.int64)
    return set(numbers[_possible(stage, numbers)].tolist())


def _possible(stage: "RulesStage", numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which ids are those of cones that are, or have been, in the world."""
    others = [p.fleet.ids for name, p in stage.world.programs.items() if name not in stage.cones.homes]
    taken = np.isin(numbers, np.concatenate([np.zeros(0, np.int64), *others]))
    return np.asarray(~taken & (numbers >= 0) & (numbers < stage.world.state.next_id))


def _within(numbers: NDArray[np.int64], end: int) -> bool:
    return bool(((numbers >= 0) & (numbers < end)).all())
