"""Messages of recordings other than states: starts of runs, actions, events, and state hashes."""

from typing import Any, NamedTuple

from paddock.errors import InvalidValueError
from paddock.wire import WireError
from paddock.wire import messages_pb2 as pb
from paddock.wire.messages.values import Codec, fields_of, from_tree, to_tree

REASONS = ("start", "reset", "restore")
HEX = frozenset("0123456789abcdef")


class ActionMessage(NamedTuple):
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


def _action_fields(action: ActionMessage) -> dict[str, Any]:
    fields = action._asdict()
    json, arrays = to_tree(fields.pop("action"))
    return {**fields, "json": json, "arrays": arrays}


def _action(message: pb.Action) -> ActionMessage:
    action = _members(from_tree(message.json, message.arrays, "action"), "action")
    return ActionMessage(**fields_of(message, ActionMessage._fields[:-1]), action=action)


def _hash(message: pb.StateHash) -> StateHash:
    if not HEX.issuperset(message.hash):
        raise WireError("value", f"a hash is written in hexadecimal digits, not {message.hash[:40]!r}")
    return StateHash(message.tick, message.run, message.hash)


def _start_fields(start: RunStart) -> dict[str, Any]:
    if start.reason not in REASONS:
        raise InvalidValueError(f"the reason of a start is one of {', '.join(REASONS)}, not {start.reason!r}")
    texts = {"scenario_json": _plain(start.scenario), "versions_json": _plain(start.versions)}
    return {"run": start.run, "seed": start.seed, "reason": start.reason.upper(), "state": start.state, **texts}


def _start(message: pb.RunStart) -> RunStart:
    scenario = from_tree(message.scenario_json, (), "scenario")
    versions = _members(from_tree(message.versions_json, (), "versions"), "versions")
    return RunStart(scenario=scenario, versions=versions, **fields_of(message, ("run", "seed", "reason", "state")))


def _plain(value: Any) -> str:
    json, arrays = to_tree(value)
    if arrays:
        raise InvalidValueError("it holds arrays: convert them to lists")
    return json


def _members(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WireError("json", f"{what}: an object is expected")
    return value


EVENT = Codec(EventMessage, pb.Event, what="event")
ACTION = Codec(ActionMessage, pb.Action, _action_fields, _action, what="action")
STATE_HASH = Codec(StateHash, pb.StateHash, read=_hash, what="hash", check=True)
RUN_START = Codec(RunStart, pb.RunStart, _start_fields, _start, what="start of a run")
encode_event, decode_event = EVENT.encode, EVENT.decode
encode_action, decode_action = ACTION.encode, ACTION.decode
encode_state_hash, decode_state_hash = STATE_HASH.encode, STATE_HASH.decode
encode_run_start, decode_run_start = RUN_START.encode, RUN_START.decode
