"""The engine's own things <-> the messages of a recording. The bytes are made and read by `wire.messages` alone."""

from __future__ import annotations

from paddock.engine.actions import Posted
from paddock.engine.events import Event
from paddock.errors import PaddockError
from paddock.wire.messages import recordings, states
from paddock.world.layout import FleetLayout, Layout
from paddock.world.pool import BufferPool, frozen
from paddock.world.snapshot import Snapshot

Buffer = bytes | memoryview


def encode_layout(layout: Layout) -> bytes:
    """Fleets, columns, ids."""
    fleets = [
        states.Fleet(fleet.name, fleet.kind, fleet.model, fleet.columns, fleet.ids, fleet.members, fleet.single)
        for fleet in layout.fleets
    ]
    return states.encode_roster(states.Roster(layout.roster, tuple(fleets)))


def decode_layout(data: Buffer) -> Layout:
    """The inverse."""
    roster = states.decode_roster(data)
    return Layout(tuple(FleetLayout(n=len(fleet.ids), **fleet._asdict()) for fleet in roster.fleets), roster.number)


def encode_snapshot(snapshot: Snapshot, precision: str) -> bytes:
    """All columns of all vehicles in `double` or `single` precision; who they are is said by the roster before it."""
    blocks = tuple(fleet.block for fleet in snapshot)
    state = states.State(snapshot.tick, snapshot.time, snapshot.run, snapshot.roster, blocks, precision)
    return states.encode_state(state)


def decode_snapshot(data: Buffer, layout: Layout, pool: BufferPool) -> Snapshot:
    """The inverse."""
    state = states.decode_state(data)
    if [block.size for block in state.blocks] != [fleet.nbytes // 8 for fleet in layout.fleets]:
        raise PaddockError(f"the state of tick {state.tick} does not fit its roster")
    buffer = pool.take(layout.nbytes)
    for k, block in enumerate(state.blocks):
        layout.block(buffer, k).reshape(-1)[:] = block
    return Snapshot(state.tick, state.sim_time, state.run, layout, frozen(buffer))


def encode_posted(posted: Posted) -> bytes:
    """A command, spawn, removal, ..."""
    return recordings.encode_action(recordings.Action(**posted.to_tree()))


def decode_posted(data: Buffer) -> Posted:
    """The inverse."""
    try:
        return Posted.from_tree(recordings.decode_action(data)._asdict())
    except TypeError as error:  # fields that this kind of action does not have
        raise PaddockError(f"an action that does not exist here: {error}") from None


def encode_event(event: Event) -> bytes:
    """Something that happened."""
    return recordings.encode_event(recordings.Event(event.number, event.tick, event.kind, event.subject, event.detail))


def decode_event(data: Buffer) -> Event:
    """The inverse."""
    return Event(*recordings.decode_event(data))
