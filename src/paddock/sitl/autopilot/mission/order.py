"""In which order the items of a mission come: jumps are followed and counted here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from paddock.sitl.autopilot.mission.items import KINDS, Command, Role
from paddock.sitl.autopilot.mission_item import MissionItem

FIRST = 1
"""Item 0 is the place of home: ground stations send it, nobody flies it."""

MOST_JUMPS = 64
"""Jumps from one item that goes somewhere to the next; more are a loop in which nothing is done."""


class Stretch(NamedTuple):
    """The way from one place in the mission to the next item that goes somewhere."""

    nav: int | None  # its sequence; None: the mission ends
    actions: tuple[int, ...]  # sequences of what is passed: actions and conditions, in their order
    looped: bool = False  # it ends because the jumps lead nowhere


class Order:
    """The items with the count of jumps that were made."""

    def __init__(self, items: Sequence[MissionItem]) -> None:
        self.items = items
        self.jumps: dict[int, int] = {}  # by the sequence of the DO_JUMP

    def advance(self, sequence: int) -> Stretch:
        """From that item (itself included) to the next that goes somewhere; jumps on the way are counted."""
        return _walk(self.items, sequence, self.jumps)

    def peek(self, sequence: int) -> Stretch:
        """As `advance`, but nothing is counted."""
        return _walk(self.items, sequence, dict(self.jumps))


def _walk(items: Sequence[MissionItem], sequence: int, jumps: dict[int, int]) -> Stretch:
    actions: list[int] = []
    made = 0
    while FIRST <= sequence < len(items):
        item = items[sequence]
        role = KINDS[item.command].role
        if role is Role.NAV:
            return Stretch(sequence, tuple(actions))
        if role is not Role.JUMP:
            actions.append(sequence)
        if item.command == Command.DO_JUMP and _jumps_now(item, sequence, jumps):
            made += 1
            if made > MOST_JUMPS:
                return Stretch(None, (), True)
            sequence = int(item.p1)
        else:
            sequence += 1
    return Stretch(None, tuple(actions))


def _jumps_now(item: MissionItem, sequence: int, jumps: dict[int, int]) -> bool:
    """Whether a DO_JUMP still jumps, which counts; -1 times is for ever."""
    made = jumps.get(sequence, 0)
    if 0.0 <= item.p2 <= made:
        return False
    jumps[sequence] = made + 1
    return True
