"""What behaviours get from the radio: states that were heard, and places in a chain of relays."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from paddock.engine.behaviours import PoseBlocks
from paddock.engine.radio.stage import RadioStage
from paddock.errors import PaddockError
from paddock.radio.fading import NONE, SHADOW_WAVES, WAVES, shadow_phasors
from paddock.radio.heard import FleetHeard
from paddock.radio.radios import CLASS, COLUMN, Floats, Ints, turn
from paddock.radio.relays import ChainLinks, candidates, placed_chain
from paddock.radio.survey import LEVEL
from paddock.world.columns import column_index
from paddock.world.pose import Pose

VELOCITY = [column_index(Pose)[name] for name in ("vx", "vy")]
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
        """Return the places (3, n) of vehicles that are relays between two ends; None: not now, or an end is gone."""
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
        later = self._later(table[:, ends], between, options.ahead)
        ground = candidates(table[:2, ends[0]], later[:2, 1])
        places = np.vstack([ground, stage.heights(ground[0], ground[1]) + options.height])
        relay = table[:, [part.first + int(rows[0]) * part.slots]].copy()
        turn(relay, LEVEL)
        relay[COLUMN.height] = options.height
        links = self._links(np.concatenate([table[:3, ends], later[:3], places], axis=1))
        present = self.poses(fleet)[:3, rows]
        found, _ = placed_chain(table[:, ends].copy(), later, relay, places, present, links, options.enough)
        shared = (found[:2, 1:] == found[:2, :-1]).all(axis=0)
        found[2, 1:] += APART * np.cumsum(shared)
        return found

    def _later(self, ends: Floats, names: tuple[str, str], ahead: float) -> Floats:
        """Return the columns of both ends, moved on at their velocity over the ground for `ahead` s."""
        later = ends.copy()
        for k, name in enumerate(names):
            if name not in self.radio.roster.radios.stations:
                fleet, rows = self.radio.world.find(name)
                later[:2, k] += ahead * self.poses(fleet.name)[VELOCITY, rows[0]]
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
