"""Where everybody was, sampled: for plots, animations and separation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError
from paddock.planning.mission.kinematic import Followed, KinematicRun
from paddock.planning.mission.members import STATUSES
from paddock.world.columns import Floats

MOST_POSES = 50_000_000


class Trace(NamedTuple):
    """Samples of a run."""

    names: tuple[str, ...]  # of n vehicles
    times: Floats  # (k,) s
    poses: Floats  # (k, n, 4) x, y, z in m, heading in rad
    statuses: NDArray[np.int8]  # (k, n) places in STATUSES


def trace(run: KinematicRun, dt: float) -> Trace:
    """A run so far, every `dt` seconds; its beginning and its end are among them."""
    mission = run.mission
    begin = min((followed.since for followed in run.history), default=run.time)
    if not dt > 0.0 or (run.time - begin) / dt * max(len(mission.agents), 1) > MOST_POSES:
        raise InvalidValueError(f"a trace every {dt!r} s would be none, or more than {MOST_POSES:,} poses")
    times = np.append(np.arange(begin, run.time, dt), run.time)
    poses = np.empty((len(times), len(mission.agents), 4))
    for row, member in enumerate(mission.agents):
        own = [followed for followed in run.history if followed.row == row]
        poses[:, row] = member.agent.pose
        for followed in own:
            later = times >= followed.since
            poses[later, row] = _flown(followed, times[later])
    return Trace(tuple(member.name for member in mission.agents), times, poses, _statuses(run, times))


def _flown(followed: Followed, times: Floats) -> Floats:
    """The poses (k, 4) on a route, as if it were followed to its end."""
    legs = followed.route.legs
    if not legs:
        return np.tile(np.array(followed.drawn.agent.pose), (len(times), 1))
    when = np.array([legs[0].begins, *(leg.ends for leg in legs)])
    where = np.concatenate([[0.0], np.cumsum([leg.flown for leg in legs])])
    return followed.route.path.at(np.interp(times, when, where))


def _statuses(run: KinematicRun, times: Floats) -> NDArray[np.int8]:
    rows = run.mission.members.row
    found = np.zeros((len(times), len(rows)), dtype=np.int8)
    for entry in run.mission.log:
        if entry.kind == "state":
            found[np.searchsorted(times, entry.time) :, rows[str(entry.agent)]] = STATUSES.index(entry.detail)
    return found
