"""Snapshots as ZeroMQ messages."""

from time import time as wall_clock

from paddock.wire.messages.requests import ControlRequestMessage, Reply, encode_reply
from paddock.wire.messages.states import FleetMessage, RosterMessage, StateUpdate
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot


def roster_of(layout: Layout) -> RosterMessage:
    """Return the roster of a layout."""
    names = FleetMessage._fields
    fleets = [FleetMessage(*(getattr(fleet, name) for name in names)) for fleet in layout.fleets]
    return RosterMessage(layout.roster, tuple(fleets))


def state_of(snapshot: Snapshot, wall_time: float, sent_layout: Layout | None) -> StateUpdate:
    """Return the state, with its roster unless the receiver has it."""
    layout = snapshot.layout
    blocks = tuple(layout.block(snapshot.buffer, k) for k in range(len(layout.fleets)))
    roster = None if layout is sent_layout or layout == sent_layout else roster_of(layout)
    arrays = tuple(array for k in range(len(layout.fleets)) for array in layout.arrays(snapshot.buffer, k).values())
    return StateUpdate(snapshot.tick, snapshot.time, wall_time, snapshot.run, layout.roster, blocks, roster, arrays)


class StateEncoder:
    """Encodes replies with a state; remembers which roster each client has.

    They are encoded in the simulation's process with the id 0; the endpoint prepends the id of the request, which
    Protobuf merges.
    """

    def __init__(self) -> None:
        self._sent_layouts: dict[str, Layout] = {}  # by client

    def state(self, client: str, snapshot: Snapshot) -> bytes:
        """Return an encoded reply with the state."""
        return encode_reply(Reply(0, snapshot.tick, snapshot.time, self._update(client, snapshot)))

    def control_request(self, client: str, snapshot: Snapshot, deadline: float, vehicles: tuple[str, ...]) -> bytes:
        """Return an encoded control request; the deadline is in s from now."""
        request = ControlRequestMessage(snapshot.tick, max(0.0, deadline), vehicles, self._update(client, snapshot))
        return encode_reply(Reply(0, snapshot.tick, snapshot.time, request))

    def forget(self, client: str) -> None:
        """Send the roster to this client again."""
        self._sent_layouts.pop(client, None)

    def _update(self, client: str, snapshot: Snapshot) -> StateUpdate:
        update = state_of(snapshot, wall_clock(), self._sent_layouts.get(client))
        self._sent_layouts[client] = snapshot.layout
        return update
