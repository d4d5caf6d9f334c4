"""What the server tells without being asked."""

from __future__ import annotations

from typing import TypedDict

from paddock.serve.subscribers.shapes.mission import MissionTree
from paddock.serve.subscribers.shapes.roster import FramesTree, RosterTree
from paddock.serve.subscribers.shapes.run import FiguresTree


class RestartTree(TypedDict):
    """A run has begun again (`reset`) or gone back to a saved state (`restore`)."""

    how: str
    run: int
    tick: int


class PreparingTree(TypedDict):
    """What the simulation does before it can begin, and calls wait for; empty when it is done."""

    text: str


class ClosedTree(TypedDict):
    """Why the server ends the connection."""

    reason: str


class RefusedTree(TypedDict):
    """Why calls without an answer were refused, and how many since this was told last."""

    of: str
    reason: str
    count: int


class Notifications(TypedDict):
    """What the server tells without being asked, by method."""

    roster: RosterTree
    figures: FiguresTree
    mission: MissionTree
    restart: RestartTree
    frames: FramesTree
    preparing: PreparingTree
    closed: ClosedTree
    refused: RefusedTree
    command_refused: RefusedTree
