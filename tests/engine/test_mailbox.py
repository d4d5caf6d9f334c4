"""The mailbox, the action log and the event log: order, limits and counters."""

from __future__ import annotations

import heapq
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import paddock
from paddock.engine.actions import (
    KINDS,
    ActionLog,
    CommandAction,
    EventAction,
    FrameAction,
    Mailbox,
    MissionAction,
    OverrideAction,
    PacketAction,
    PlaceAction,
    Posted,
    RadioAction,
    RemoveAction,
    SpawnAction,
    Valid,
    declared,
)
from paddock.engine.events import KEPT, EventLog
from paddock.engine.run_state import Run
from paddock.errors import InvalidValueError, PaddockError
from paddock.world.archive import pack, unpack
from paddock.world.columns import Environment, defaults_of
from paddock.world.state import load, save


def run() -> Run:
    """Return a holder of the state of a run."""
    return Run(60.0, defaults_of(Environment).copy(), 1)


def loaded(mailbox: Mailbox) -> Mailbox:
    """Return another mailbox with the saved state of this one."""
    other = run()
    load(other.state.mailbox, unpack(pack(save(mailbox._run.state.mailbox))))
    other.state.mailbox.continue_numbers()
    return Mailbox(other)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.lists(st.integers(0, 30), max_size=4)), max_size=12),
    st.booleans(),
)
def test_actions_are_due_at_their_tick_in_the_order_of_posting(
    rounds: list[tuple[int, list[int]]], saving: bool
) -> None:
    mailbox = Mailbox(run())
    expected, delivered, number, now = [], [], 0, 0
    for pause, ticks in [*rounds, (31, [])]:
        mailbox._run.clock.tick = now
        for tick in ticks:
            mailbox.post(RemoveAction(number), tick)
            expected.append((max(tick, now), number))
            number += 1
        if saving:  # neither reading nor restoring changes anything
            mailbox = loaded(mailbox)
        for tick in range(now, now + pause):
            due = mailbox.next_tick(tick)
            arrived = [(tick, posted.action.target) for posted in mailbox.due(tick)]
            assert not arrived or due == tick
            delivered += arrived
        now += pause
    assert delivered == sorted(expected)
    assert mailbox.next_tick(now) is None


def test_an_action_posted_during_a_restore_is_in_the_state_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    posting, replaced, insert = threading.Event(), threading.Event(), heapq.heappush
    stays: list[bool] = []
    with paddock.load({"vehicles": [{"name": "dot", "model": "point"}]}) as sim:
        prepared = sim.engine.prepare_restore(sim.save())

        def replace_state() -> None:
            sim.engine.take_over(prepared)
            replaced.set()

        def push(queue: list[Any], posted: Any) -> None:
            posting.set()
            replaced.wait(0.3)  # the other thread waits meanwhile
            stays.append(queue is sim.engine.world.state.mailbox.queue)
            insert(queue, posted)

        with monkeypatch.context() as patched:
            patched.setattr("paddock.engine.actions.heapq.heappush", push)
            poster = threading.Thread(target=sim.engine.mailbox.post, args=(RemoveAction("dot"),))
            poster.start()
            assert posting.wait(60)
            patched.undo()
            restorer = threading.Thread(target=replace_state)
            restorer.start()
            poster.join()
            restorer.join()
        assert stays == [True] and sim.engine.mailbox.waiting == 0  # posted before: discarded with its state
        sim.engine.mailbox.post(RemoveAction("dot"))
        assert sim.engine.mailbox.waiting == 1
        sim.step(1)
        assert not sim.engine.world.fleets


def test_saved_mailboxes_do_not_depend_on_earlier_actions() -> None:
    busy, other = Mailbox(run()), Mailbox(run())
    busy.post(RemoveAction("gone"), 0)
    assert len(list(busy.due(3))) == 1
    for mailbox in (busy, other):
        mailbox.post(RemoveAction("a"), 9)
        mailbox.post(RemoveAction("b"), 5)
    assert save(busy._run.state.mailbox) == save(other._run.state.mailbox)


@pytest.mark.parametrize(
    "action",
    [
        CommandAction("red", {"steer": 0.5}),
        SpawnAction({"model": "quad", "pose": [0, 0, 1]}),
        RemoveAction(7),
        EventAction("a", "b", "c"),
        PlaceAction("red", [1.0, 2, 3.0, 0.5], 2.0),
        FrameAction("camera", "red", [0.1, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], True),
        OverrideAction(["red", 7], {"name": "hold", "options": {}}),
        OverrideAction(3, None),
        MissionAction("add_task", {"name": "more", "point": {"at": [1, 2]}}),
        RadioAction("jammer", {"name": "noise", "on": True}),
        PacketAction("red", "base", 100, 8, 1, 5),
    ],
)
def test_actions_survive_as_plain_values(action: object) -> None:
    posted = Posted(5, 9, action, "me")
    again = Posted.from_tree(unpack(pack(posted.to_tree())))
    assert again == posted and again.action == action and again.source == "me"


CONTROL = {"target": "a", "inputs": {"vx": 1.0}, "timeout": None}
FRAME = {"name": "camera", "parent": "world", "position": [0, 0, 0], "quaternion": [0, 0, 0, 1], "moving": False}
INVALID = [
    ("control", CONTROL | {"inputs": [1]}, "inputs: is not a mapping of names to numbers or arrays"),
    ("control", CONTROL | {"inputs": None}, "inputs: is not a mapping"),
    ("control", CONTROL | {"inputs": {"vx": {"a": 1}}}, "inputs: is not a mapping"),
    ("control", CONTROL | {"inputs": {"\x1b[31m": 1.0}}, "inputs: is not a mapping"),
    ("control", CONTROL | {"target": ["a"]}, "target: is not a name, an id or an array of ids"),
    ("control", {"target": "a"}, "inputs: is missing"),
    ("control", CONTROL | {"\x1b": 1}, r"\\x1b: is unknown; valid: target, inputs, timeout"),
    *(
        ("control", CONTROL | {"timeout": timeout}, r"timeout: is not a number > 0 and <= 1e\+06, or none")
        for timeout in ("x", float("nan"), float("inf"), 1e300, 0, -1.0, 10**400)
    ),
    ("frame", FRAME | {"name": ["a"]}, "name: is not a name"),
    ("frame", FRAME | {"parent": []}, "parent: is not a name"),
    ("frame", FRAME | {"position": 7}, "position: is not 3 finite numbers"),
    ("frame", FRAME | {"quaternion": [0, 0, 0, "x"]}, "quaternion: is not 4 finite numbers"),
    ("frame", FRAME | {"moving": 3}, "moving: is not a flag"),
    ("radio", {"verb": [], "arguments": {}}, "verb: is not one of jammer, spoofer, send, allocate"),
    ("radio", {"verb": "send", "arguments": None}, "arguments: is not a mapping"),
    ("radio", {"verb": "send"}, "arguments: is missing"),
    ("radio", {"verb": "jammer", "arguments": [1]}, "arguments: is not a mapping"),
    ("mission", {"verb": ["a"], "arguments": {}}, "verb: is not printable text"),
    ("order", {"target": None, "behaviour": "hold"}, "target: is not a name, an id, or names and ids"),
    ("order", {"target": "a", "behaviour": ["hold"]}, "behaviour: is not a name or a mapping"),
    ("place", {"target": "a", "pose": None}, "pose: is not a list or array of numbers"),
    ("place", {"target": "a", "pose": [0, 0, 0, 0], "speed": "x"}, "speed: is not a number or an array"),
    ("remove", {"target": None}, "target: is not a name or an id"),
    ("spawn", {"entry": [1]}, "entry: is not a mapping"),
    ("report", {"kind": ["a"], "subject": "a"}, "kind: is not printable text"),
    ("report", {"kind": "\x1b[31m", "subject": "a"}, "kind: is not printable text"),
    ("report", {"kind": "a", "subject": {"x": 1}}, "subject: is not text"),
    ("report", {"kind": "a", "subject": "a", "detail": 3}, "detail: is not text"),
    (
        "packet",
        {"source": "a", "to": "b", "bits": 1.5, "header_bits": 0, "retries": 0, "queue": 1},
        "bits: is not a whole",
    ),
]


@pytest.mark.parametrize(("kind", "action", "message"), INVALID)
def test_a_queued_action_with_an_invalid_field_is_refused_with_its_path(
    kind: str, action: dict[str, object], message: str
) -> None:
    entry = {"tick": 0, "sequence": 1, "source": "eve", "kind": kind, "action": action}
    with pytest.raises(InvalidValueError, match=rf"^mailbox\.queue\[0\]\.action\.{message}"):
        load(run().state, save(run().state) | {"mailbox": {"queue": [entry]}})


@pytest.mark.parametrize("change", [{"tick": -1}, {"tick": 2**63}, {"sequence": 1.0}, {"source": 5}])
def test_a_queued_action_with_an_invalid_member_is_refused_with_its_path(change: dict[str, object]) -> None:
    entry = Posted(5, 9, RemoveAction(7)).to_tree() | change
    with pytest.raises(InvalidValueError, match=rf"^mailbox\.queue\[0\]\.{next(iter(change))}: is not "):
        load(run().state, save(run().state) | {"mailbox": {"queue": [entry]}})


def test_every_field_of_an_action_is_declared() -> None:
    for kind in KINDS.values():
        assert all(isinstance(valid, Valid) for valid in declared(kind).values())


def test_a_kind_of_an_event_is_printable() -> None:
    book = EventLog(run())
    book.report(1, "\x1b[31m", "a")
    assert book.since()[0].kind == r"\x1b[31m"


def test_an_unknown_kind_of_action_is_refused() -> None:
    tree = Posted(5, 9, RemoveAction(7)).to_tree() | {"kind": "destroy"}
    with pytest.raises(PaddockError) as caught:
        Posted.from_tree(tree)
    valid = "control, spawn, remove, place, frame, order, mission, radio, packet, report"
    assert str(caught.value) == f"unknown kind of action 'destroy'; valid: {valid}"


def test_the_log_keeps_a_limited_size_and_counts_lost_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.engine.actions.BYTES_KEPT", 1 << 20)
    actions, received = ActionLog(), []
    actions.listeners.append(received.append)
    for k in range(5000):
        actions.append(Posted(k, k, RemoveAction(k)))
    assert len(actions.entries) == (1 << 20) // 1024 and actions.lost == 5000 - 1024 and len(received) == 5000
    with pytest.raises(PaddockError, match="the log has lost 3976 actions beyond 1 MiB; record the run instead"):
        actions.complete()
    actions.restart()
    assert actions.complete() == [] and actions.lost == 0


def test_arrays_count_in_the_log() -> None:
    import numpy as np

    actions = ActionLog()
    actions.append(Posted(0, 0, CommandAction("f", {"vx": np.zeros(1000), "vy": 1.0})))
    assert actions.kept_bytes == 1024 + 8000


def test_events_are_numbered_and_the_oldest_are_dropped_and_counted() -> None:
    book, received = EventLog(run()), []
    book.listeners.append(received.append)
    for k in range(KEPT + 15):
        book.report(k, "kind", f"subject {k}")
    assert [event.number for event in book.since(KEPT + 5)] == list(range(KEPT + 6, KEPT + 16))
    assert len(book.since()) == KEPT and book.since()[0].tick == 15
    assert (book.count, book.dropped, len(received)) == (KEPT + 15, 15, KEPT + 15)
    other = run()
    load(other.state.events, unpack(pack(save(book._run.state.events))))
    log = EventLog(other)
    assert log.since() == book.since() and log.dropped == 15
    log.report(99, "more", "me")
    assert log.since()[-1].number == KEPT + 16 and log.since()[0].number == 17
