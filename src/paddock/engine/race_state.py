"""The race of a saved state: what no run can have saved is refused."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddock.errors import PaddockError
from paddock.track import race_log, timing
from paddock.track.race_log import check_log
from paddock.track.timing import OUT
from paddock.world.archive import typed
from paddock.world.world import LARGEST_ID

if TYPE_CHECKING:
    from paddock.engine.race import RulesStage

MOST = 1e12  # of any number in the table
MOST_GATES = 10_000_000  # passed by the first car


def check_saved_race(stage: "RulesStage", saved: Mapping[str, Any], present: Mapping[int, str]) -> None:
    """Refuse a race that no run saves; `present` are the ids and names of the cars in the saved world."""
    names = typed(list[str], saved["names"], "names of cars in the race")
    n, now = len(names), stage.world.clock.time
    _check_array(saved, "ids", np.int64, (n,))
    _check_array(saved, "table", np.float64, (timing.TABLE_ROWS, n))
    _check_array(saved, "hit", np.uint8, stage.hit.shape)
    _check_array(saved, "first_at", np.float64, (None,))
    _check_array(saved, "touched", np.int64, (None, 2))
    _check_array(saved, "counted", np.int64, (None,))
    _check_table(saved["table"], len(stage.course.gates), len(stage.course.points), now)
    named = dict(zip(saved["ids"].tolist(), names, strict=True))
    if len(named) != n or any(named.get(number) != name for number, name in present.items()):
        raise PaddockError("the saved race has other cars than the saved world")
    cones = _cones(stage, saved["log"])
    check_log(saved["log"], n, cones, now)
    kinds, cars = saved["log"][0], saved["log"][1].astype(np.int64)
    logged = (
        (timing.LAPS, race_log.LAP),
        (timing.CONES, race_log.CONE_HIT),
        (timing.OFF_COURSE, race_log.OFF_COURSE),
    )
    for row, kind in logged:
        if (np.bincount(cars[kinds == kind], minlength=n) != saved["table"][row]).any():
            raise PaddockError("the saved race has other laps, cones or times off course than its log")
    passed = saved["first_at"]
    if len(passed) > MOST_GATES or not ((passed == -1.0) | ((passed >= 0.0) & (passed <= now))).all():
        raise PaddockError("the saved times of the first car at gates are not valid")
    touched, counted = saved["touched"], saved["counted"]
    if not _possible(stage, touched[:, 0]).all() or not _within(touched[:, 1], n):
        raise PaddockError("the saved race has touched cones that cannot exist")
    if not _possible(stage, counted).all():
        raise PaddockError("the saved race has counted cones that cannot exist")


def _check_array(saved: Mapping[str, Any], key: str, kind: type, shape: tuple[int | None, ...]) -> None:
    found = saved[key]
    of_kind = isinstance(found, np.ndarray) and found.dtype == kind and found.ndim == len(shape)
    if of_kind and all(want in (None, has) for want, has in zip(shape, found.shape, strict=True)):
        return
    raise PaddockError(f"the saved {key} of the race is not {np.dtype(kind).name} of shape {shape}")


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
        raise PaddockError("the saved race has values that no run has")


def _cones(stage: "RulesStage", log: Any) -> set[int]:
    """Return the numbers of cones that a log may name."""
    if not stage.cones.homes:
        return set(range(len(stage.cone_names)))
    if not isinstance(log, np.ndarray) or log.ndim != 2 or len(log) <= 4 or log.dtype != np.float64:
        return set()  # refused by what checks the log
    numbers = log[4, log[0] == race_log.CONE_HIT]
    numbers = numbers[(np.abs(numbers) <= LARGEST_ID) & (numbers == np.floor(numbers))].astype(np.int64)
    return set(numbers[_possible(stage, numbers)].tolist())


def _possible(stage: "RulesStage", numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which ids are those of cones that are, or have been, in the world."""
    others = [p.fleet.ids for name, p in stage.programs.items() if name not in stage.cones.homes]
    taken = np.isin(numbers, np.concatenate([np.zeros(0, np.int64), *others]))
    return np.asarray(~taken & (numbers >= 0) & (numbers < stage.world.next_id))


def _within(numbers: NDArray[np.int64], end: int) -> bool:
    return bool(((numbers >= 0) & (numbers < end)).all())
