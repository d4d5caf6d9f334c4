"""Snapshots as the messages that clients are sent."""

from __future__ import annotations

from time import time as wall_clock

from paddock.wire.messages.replies import ControlRequest, Reply, encode_reply
from paddock.wire.messages.states import Fleet, Roster, StateUpdate
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot


def roster_of(layout: Layout) -> Roster:
    """Who is there."""
    fleets = [Fleet(f.name, f.kind, f.model, f.columns, f.ids, f.members, f.single) for f in layout.fleets]
    return Roster(layout.roster, tuple(fleets))


def state_of(snapshot: Snapshot, wall_time: float, known: Layout | None) -> StateUpdate:
    """The state, with its roster unless the receiver knows it."""
    layout = snapshot.layout
    blocks = tuple(layout.block(snapshot.buffer, k) for k in range(len(layout.fleets)))
    roster = None if layout is known or layout == known else roster_of(layout)
    return StateUpdate(snapshot.tick, snapshot.time, wall_time, snapshot.run, layout.roster, blocks, roster)


class StateEncoder:
    """Whole replies with a state, for clients of whom it is known which roster they were told last.

    They are made where the state is, and only passed on from there; their id is 0, whoever passes them on puts another
    one before (of two values of a field in a message, the last but default one counts).
    """

    def __init__(self) -> None:
        self._told: dict[str, Layout] = {}  # by client

    def state(self, client: str, snapshot: Snapshot) -> bytes:
        """A reply that holds the state."""
        return encode_reply(Reply(0, snapshot.tick, snapshot.time, self._update(client, snapshot)))

    def control_request(self, client: str, snapshot: Snapshot, deadline: float, vehicles: tuple[str, ...]) -> bytes:
        """A reply that asks for controls within so many s."""
        request = ControlRequest(snapshot.tick, max(0.0, deadline), vehicles, self._update(client, snapshot))
        return encode_reply(Reply(0, snapshot.tick, snapshot.time, request))

    def forget(self, client: str) -> None:
        """It is told the roster again."""
        self._told.pop(client, None)

    def _update(self, client: str, snapshot: Snapshot) -> StateUpdate:
        update = state_of(snapshot, wall_clock(), self._told.get(client))
        self._told[client] = snapshot.layout
        return update
