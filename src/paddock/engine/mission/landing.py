"""Landing: what hovers and has come home goes down to the ground beside the others, and waits there."""

from __future__ import annotations

from math import inf

import numpy as np

from paddock.engine.mission.cast import Crew
from paddock.engine.mission.tracks import COLUMN, FleetTracks
from paddock.planning.mission.mission import Mission
from paddock.world.columns import Floats
from paddock.world.fleet import Ints

DEPTH = 1.0
"""m below the ground that those who land aim at: they keep going down, so that on the ground they carry no weight."""
APART = 3.0
"""m between neighbours on the ground, about."""
GOLDEN = 2.399963229728653
"""rad: the golden angle, by which the places on a spiral are turned."""
RATE = 1.0
"""m/s down."""


def landing_places(home: Floats, agents: Ints) -> Floats:
    """Places (k, 2) on the ground for some agents with homes (k, 2): on a spiral about them, the first at home."""
    reach, angle = 0.6 * APART * np.sqrt(agents), GOLDEN * agents
    found: Floats = home + np.column_stack([reach * np.cos(angle), reach * np.sin(angle)])
    return found


def may_land(mission: Mission, heights: Floats, ground: float, agents: Ints) -> Ints:
    """Those of some agents at home beneath whom nobody arrives before they are down; `heights` (m) are everybody's."""
    members = mission.members
    arriving = np.array([m.status == "returning" and m.agent.moves == "hover" for m in members.list], bool)
    left = np.where(arriving, (members.due - members.progress) / members.speed, inf)
    below = heights[None, :] < heights[agents, None]
    soon = left[None, :] < (heights[agents, None] - ground) / RATE
    found: Ints = agents[~(below & soon).any(axis=1)]
    return found


def land(crew: Crew, tracks: FleetTracks, agents: Ints, places: Floats, ground: float) -> None:
    """Let some agents of a crew go down at their places; they keep what they have flown of their routes."""
    rows = crew.rows[np.searchsorted(crew.agents, agents, sorter=np.argsort(crew.agents))]
    memory = tracks.memory
    memory[COLUMN["last"], rows] = memory[COLUMN["first"], rows]
    for name, values in (("x", places[:, 0]), ("y", places[:, 1]), ("z", ground - DEPTH), ("loop", -1.0)):
        memory[COLUMN[name], rows] = values
