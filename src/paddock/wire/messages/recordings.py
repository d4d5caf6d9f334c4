"""Messages of recordings other than states: starts of runs, actions, events, and state hashes."""

from __future__ import annotations

from typing import Any, NamedTuple

from paddock.errors import InvalidValueError
from paddock.wire import messages_pb2 as pb
from paddock.wire.error import WireError
from paddock.wire.messages.values import Buffer, enumerated, from_tree, parsed, sending, to_tree

REASONS = ("start", "reset", "restore")
HEX = frozenset("0123456789abcdef")


class Action(NamedTuple):
    """An action from outside, with the fields of the engine's `Posted.to_tree()`."""

    tick: int
    sequence: int
    source: str
    kind: str
    action: dict[str, Any]  # may hold arrays


class StateHash(NamedTuple):
    """The hash of the complete state at a tick."""

    tick: int
    run: int
    hash: str  # hexadecimal digits


class RunStart(NamedTuple):
    """The start of a run, or its continuation from another state."""

    run: int
    seed: int
    scenario: Any  # plain values
    versions: dict[str, Any]
    reason: str = "start"  # one of REASONS
    state: bytes = b""  # the saved state that was restored


class EventMessage(NamedTuple):
    """An event."""

    number: int  # counts from 1
    tick: int
    kind: str
    subject: str
    detail: str = ""


def encode_action(action: Action) -> bytes:
    """Encode an action."""
    with sending("action"):
        json, arrays = to_tree(action.action)
        message = pb.Action(tick=action.tick, sequence=action.sequence, json=json, arrays=arrays)
        message.source, message.kind = action.source, action.kind
        return message.SerializeToString()


def decode_action(data: Buffer) -> Action:
    """Decode an action; the engine validates its kind."""
    message = parsed(pb.Action, data)
    action = _members(from_tree(message.json, message.arrays, "action"), "action")
    return Action(message.tick, message.sequence, message.source, message.kind, action)


def encode_state_hash(state: StateHash) -> bytes:
    """Encode a hash."""
    if not HEX.issuperset(state.hash):
        raise InvalidValueError(f"a hash is written in hexadecimal digits, not {state.hash!r}")
    with sending("hash"):
        return pb.StateHash(**state._asdict()).SerializeToString()


def decode_state_hash(data: Buffer) -> StateHash:
    """Decode a hash in hexadecimal digits."""
    message = parsed(pb.StateHash, data)
    if not HEX.issuperset(message.hash):
        raise WireError("value", f"a hash is written in hexadecimal digits, not {message.hash[:40]!r}")
    return StateHash(message.tick, message.run, message.hash)


def encode_run_start(start: RunStart) -> bytes:
    """Encode a start; scenario and versions are plain values without arrays."""
    if start.reason not in REASONS:
        raise InvalidValueError(f"the reason of a start is one of {', '.join(REASONS)}, not {start.reason!r}")
    with sending("start of a run"):
        message = pb.RunStart(run=start.run, seed=start.seed, reason=start.reason.upper(), state=start.state)
        message.scenario_json, message.versions_json = _plain(start.scenario), _plain(start.versions)
        return message.SerializeToString()


def decode_run_start(data: Buffer) -> RunStart:
    """Decode a start."""
    message = parsed(pb.RunStart, data)
    scenario = from_tree(message.scenario_json, (), "scenario")
    versions = _members(from_tree(message.versions_json, (), "versions"), "versions")
    reason = enumerated(message.reason, REASONS, "reason")
    return RunStart(message.run, message.seed, scenario, versions, reason, message.state)


def encode_event(event: EventMessage) -> bytes:
    """Encode an event."""
    with sending("event"):
        return event_message(event).SerializeToString()


def decode_event(data: Buffer) -> EventMessage:
    """An event."""
    return event_value(parsed(pb.Event, data))


def event_message(event: EventMessage) -> pb.Event:
    """As a part of another message."""
    return pb.Event(**event._asdict())


def event_value(message: pb.Event) -> EventMessage:
    """From a part of another message."""
    return EventMessage(message.number, message.tick, message.kind, message.subject, message.detail)


def _plain(value: Any) -> str:
    json, arrays = to_tree(value)
    if arrays:
        raise InvalidValueError("it holds arrays: convert them to lists")
    return json


def _members(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WireError("json", f"{what}: an object is expected")
    return value
