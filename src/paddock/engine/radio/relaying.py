"""What behaviours get from the radio: states that were heard, and places in a chain of relays.

Relays know where they are themselves and where stations stand. A vehicle at an end of the chain is where it is (`sees:
truth`), or where the newest beacon says that one of the relays has heard: they share what they hear.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from paddock.engine.behaviours import PoseBlocks
from paddock.engine.radio.stage import RadioStage
from paddock.errors import PaddockError
from paddock.radio.fading import NONE, SHADOW_WAVES, WAVES, shadow_phasors
from paddock.radio.heard import PREDICTED, TRUTH, FleetHeard
from paddock.radio.radios import CLASS, COLUMN, Floats, Ints, turn
from paddock.radio.relays import ChainLinks, candidates, placed_chain
from paddock.radio.survey import LEVEL
from paddock.world.columns import Pose, column_index

VELOCITY = [column_index(Pose)[name] for name in ("vx", "vy", "vz")]
SENT_VELOCITY = slice(8, 11)  # of a state that was heard, after time, position and attitude
APART = 3.0  # m of height between relays that share a place


@dataclass(frozen=True)
class RadioSenses:
    """The radio at one tick, for behaviours."""

    radio: RadioStage
    poses: PoseBlocks
    tick: int
    renew: bool  # whether places are chosen at this tick

    def __call__(self, fleet: str) -> FleetHeard:
        """Return what the vehicles of a fleet have heard."""
        assert self.radio.messages is not None
        return self.radio.messages.heard(fleet, tick=self.tick)

    def relays(self, fleet: str, rows: Ints, between: tuple[str, str], options: Any) -> Floats | None:
        """Return the places (3, n) of vehicles that are relays between two ends.

        None: not now, an end is gone, or no relay has heard of an end for `beacons.keep` s: they stay in their places.
        """
        stage = self.radio
        if not self.renew:
            return None
        roster = stage.roster
        try:
            ends = [stage.number_of(name) for name in between]
        except PaddockError:  # it was removed
            return None
        [part] = [one for one in roster.radios.parts if one.fleet == fleet]
        stage.locate()
        table = roster.radios.table
        first, last = (self._end(end, fleet, rows, options.sees) for end in zip(ends, between, strict=True))
        if first is None or last is None:
            return None
        now = np.concatenate([first[0], last[0]], axis=1)
        later = self._later(now, np.stack([first[1], last[1]], axis=1), options.ahead)
        ground = candidates(now[:2, 0], later[:2, 1])
        places = np.vstack([ground, stage.heights(ground[0], ground[1]) + options.height])
        relay = table[:, [part.first + int(rows[0]) * part.slots]].copy()
        turn(relay, LEVEL)
        relay[COLUMN.height] = options.height
        links = self._links(np.concatenate([now[:3], later[:3], places], axis=1))
        present = self.poses(fleet)[:3, rows]
        found, _ = placed_chain(now, later, relay, places, present, links, options.enough)
        shared = (found[:2, 1:] == found[:2, :-1]).all(axis=0)
        found[2, 1:] += APART * np.cumsum(shared)
        return found

    def _end(self, end: tuple[int, str], fleet: str, rows: Ints, sees: float) -> tuple[Floats, Floats] | None:
        """Return the column (columns, 1) of the radio at an end, and its velocity (3,); None: nothing was heard.

        `end` is the number of the radio and the name of its vehicle or station.
        """
        number, name = end
        column = self.radio.roster.radios.table[:, [number]].copy()
        if name.partition("/")[0] in self.radio.roster.radios.stations:
            return column, np.zeros(3)
        if sees == TRUTH:
            own, at = self.radio.world.find(name)
            return column, self.poses(own.name)[VELOCITY, at[0]]
        heard = self(fleet)
        state = newest_state(heard, rows, number - int(self.radio.roster.radios.slot[number]))
        if state is None:
            return None
        age, velocity = heard.time - float(state[0]), state[SENT_VELOCITY]
        column[:3, 0] = state[1:4] + (age * velocity if sees == PREDICTED else 0.0)
        column[COLUMN.height] = column[2] - self.radio.heights(column[0], column[1])
        turn(column, state[4:8, None])
        return column, velocity

    def _later(self, ends: Floats, velocities: Floats, ahead: float) -> Floats:
        """Return the columns of both ends, moved on at their velocities (3, 2) over the ground for `ahead` s."""
        later = ends.copy()
        later[:2] += ahead * velocities[:2]
        before, then = (self.radio.heights(one[0], one[1]) for one in (ends, later))
        later[2] += then - before
        return later

    def _links(self, places: Floats) -> ChainLinks:
        """Return what predicted links between antennas at places (3, n) depend on."""
        roster, fields = self.radio.roster, self.radio.roster.tables.fields
        classes = roster.classes.table.copy()
        classes[CLASS.fading] = NONE
        shadows = np.zeros((max(len(fields), 1), places.shape[1] if fields else 1, 2, SHADOW_WAVES))
        for k, (waves, distance) in enumerate(fields):
            shadow_phasors(waves, np.ascontiguousarray(places), distance, shadows[k])
        paths = roster.paths._replace(phasors=np.zeros((1, 2, WAVES)), shadows=shadows)
        return ChainLinks(classes, roster.classes.of, roster.radios.patterns, paths)


def newest_state(heard: FleetHeard, rows: Ints, radio: int) -> Floats | None:
    """Return the newest state (11,) of a radio that any of the vehicles `rows` has heard and that still counts."""
    own = heard.first + rows * heard.slots
    about = heard.who[own] == radio
    sent = np.where(about, heard.states[own, :, 0], -np.inf)
    row, k = np.unravel_index(int(np.argmax(sent)), sent.shape)
    if heard.time - sent[row, k] > heard.keep:
        return None
    state: Floats = heard.states[own[row], k]
    return state
