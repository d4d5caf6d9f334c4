"""The mailbox, the action log and the event log: order, limits and counters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.engine import events
from paddock.engine.actions import ActionLog, CommandAction, EventAction, Mailbox, Posted, RemoveAction, SpawnAction
from paddock.engine.events import EventLog
from paddock.errors import PaddockError
from paddock.world.archive import pack, unpack


@given(
    st.lists(st.tuples(st.integers(0, 30), st.lists(st.integers(0, 30), max_size=4)), max_size=12),
    st.booleans(),
)
def test_actions_are_due_at_their_tick_in_the_order_of_posting(
    rounds: list[tuple[int, list[int]]], saving: bool
) -> None:
    mailbox = Mailbox()
    expected, delivered, number, now = [], [], 0, 0
    for pause, ticks in [*rounds, (31, [])]:
        for tick in ticks:
            mailbox.post(RemoveAction(number), tick)
            expected.append((max(tick, now), number))
            number += 1
        if saving:  # neither reading nor restoring changes anything
            saved = unpack(pack(mailbox.save(now)))
            mailbox = Mailbox()
            mailbox.restore(saved)
        for tick in range(now, now + pause):
            due = mailbox.next_tick(tick)
            arrived = [(tick, posted.action.target) for posted in mailbox.due(tick)]
            assert not arrived or due == tick
            delivered += arrived
        now += pause
    assert delivered == sorted(expected)
    assert mailbox.next_tick(now) is None


def test_saved_mailboxes_do_not_depend_on_earlier_actions() -> None:
    busy, fresh = Mailbox(), Mailbox()
    busy.post(RemoveAction("gone"), 0)
    assert len(list(busy.due(3))) == 1
    for mailbox in (busy, fresh):
        mailbox.post(RemoveAction("a"), 9)
        mailbox.post(RemoveAction("b"), 5)
    assert busy.save(4) == fresh.save(4)


@pytest.mark.parametrize(
    "action",
    [
        CommandAction("red", {"steer": 0.5}),
        SpawnAction({"model": "quad", "pose": [0, 0, 1]}),
        RemoveAction(7),
        EventAction("a", "b", "c"),
    ],
)
def test_actions_survive_as_plain_values(action: object) -> None:
    posted = Posted(5, 9, action, "me")
    again = Posted.from_tree(unpack(pack(posted.to_tree())))
    assert again == posted and again.action == action and again.source == "me"


def test_an_unknown_kind_of_action_is_refused() -> None:
    tree = Posted(5, 9, RemoveAction(7)).to_tree() | {"kind": "destroy"}
    with pytest.raises(PaddockError) as caught:
        Posted.from_tree(tree)
    valid = "control, spawn, remove, place, frame, order, mission, radio, report"
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
    actions.clear()
    assert actions.complete() == [] and actions.lost == 0


def test_arrays_count_in_the_log() -> None:
    import numpy as np

    actions = ActionLog()
    actions.append(Posted(0, 0, CommandAction("f", {"vx": np.zeros(1000), "vy": 1.0})))
    assert actions.kept_bytes == 1024 + 8000


def test_events_are_numbered_and_the_oldest_are_dropped_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "KEPT", 10)
    book, received = EventLog(), []
    book.listeners.append(received.append)
    for k in range(25):
        book.report(k, "kind", f"subject {k}")
    assert [event.number for event in book.since()] == list(range(16, 26))
    assert [event.tick for event in book.since(23)] == [23, 24]
    assert (book.count, book.dropped, len(received)) == (25, 15, 25)
    other = EventLog()
    other.restore(unpack(pack(book.save())))
    assert other.since() == book.since() and other.dropped == 15
    other.report(99, "more", "me")
    assert other.since()[-1].number == 26
    book.clear()
    assert (book.count, book.since(), book.dropped) == (0, [], 0)
