"""Messages: contents, mailboxes, saved states, and radios that come and go."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from radio_messages import STREAM, connect, keep_radios, links_of, load_messages, messages_over

from paddock.errors import InvalidValueError, PaddockError
from paddock.radio.packets import queues as c
from paddock.radio.packets.messages import Messages
from paddock.radio.packets.state import decoded, encoded
from paddock.scenario.radio_types import MessagesSection
from paddock.world.archive import digest, pack, unpack
from paddock.world.state import save

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(st.binary(max_size=64) | JSON)
def test_contents_return_as_they_were(data: Any) -> None:
    content, values = encoded(data)
    assert decoded(content) == data
    numbers = isinstance(data, list) and len(data) <= 10 and all(type(content) in (int, float) for content in data)
    assert values == (data if numbers else [])


def test_contents_that_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="a message is bytes or what JSON can hold"):
        encoded({1, 2})
    with pytest.raises(InvalidValueError, match="at most 65536 bytes, not 65537"):
        encoded(bytes(65537))


def busy_messages(seed: int) -> Messages:
    """Return lossy, contending radios in the middle of their traffic."""
    n, draw = 8, np.random.default_rng(seed)
    heard = draw.random((n, n)) < 0.6
    np.fill_diagonal(heard, False)
    messages = messages_over(links_of(heard, per=draw.random((n, n)) * 0.3), MessagesSection(queue=4, mailbox=6), seed)
    for k in range(60):
        goal = int(draw.integers(-1, n))
        source = int(draw.integers(n))
        messages.send(source, goal if goal != source else c.BROADCAST, bytes(int(draw.integers(1, 200))), 1e-3 * k)
        messages.advance(1e-3 * k)
    return messages


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000))
def test_restored_messages_continue_equally(seed: int) -> None:
    messages = busy_messages(seed)
    saved = unpack(pack(save(messages.state)))
    other = messages_over(links_of(np.zeros((8, 8))), messages.section, seed)
    load_messages(other, saved, 0.059)
    assert digest(save(other.state)) == digest(save(messages.state))
    other.links, other.routes = messages.links, messages.routes
    messages.advance(0.5)
    other.advance(0.5)
    assert digest(save(other.state)) == digest(save(messages.state))
    assert messages.received(3) == other.received(3)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.booleans())
def test_all_traffic_ends_and_every_message_is_accounted_for(seed: int, relinked: bool) -> None:
    """After a while all radios are idle and hear nothing; a message to one was delivered, dropped, or both.

    Both: the sender gives up if all acknowledgements are lost.
    """
    messages = busy_messages(seed)
    if relinked:  # links that change while packets are on the air
        draw = np.random.default_rng(seed + 1)
        heard = draw.random((8, 8)) < 0.4
        np.fill_diagonal(heard, False)
        connect(messages, links_of(heard, per=0.2), now=0.0601)
    messages.advance(60.0)
    w = messages.state.whole
    assert not messages.busy
    for row in (c.SENSED, c.SIGNALS, c.REPLY):
        assert (w[row] == 0).all()
    assert (messages.state.queued == 0).all()
    assert (w[c.LOCK] == -1).all() and (messages.state.real[c.ENERGY] == 0.0).all()
    assert (w[c.UNTIL] == c.NEVER).all() and (w[c.REPLY_AT] == c.NEVER).all()
    counted = messages.counted()
    dropped = sum(counted[reason] for reason in ("queue_full", "no_route", "lost", "ttl", "expired"))
    assert messages.state.number == 60 and counted["delivered"] + dropped >= 50


CRAFTED = [
    ("whole", (c.PHASE, 0), 9, r"whole\[0, 0\] \(phase\): 9 is out of its limits"),
    ("whole", (c.LOCK, 0), 99, r"whole\[7, 0\] \(lock\): 99 is out of its limits"),
    ("queued", (0,), 50, r"queued\[0\]: 50 is out of its limits"),
    ("heard", (0, 0), 99, r"heard\[0, 0\]: 99 is out of its limits"),
    ("seen", (0, 0), 61, "a radio has received what was not sent"),
    ("counts", (0, 0), 1 << 60, r"counts\[0, 0\]: 1.15292e\+18 is out of its limits"),
    ("whole", (c.LEFT, 0), 1025, "a radio has an event"),
    ("whole", (c.PART, 0), 99999, "a radio has an event"),
    ("queue", (0, c.NUMBERS), 11, r"queue\[0, 10\] \(numbers\): 11 is out of its limits"),
    ("queue", (0, c.BITS), 1 << 40, r"\(bits\)"),
    ("queue", (0, c.ATTEMPTS), 7, "was repeated too often"),
    ("queue", (0, c.EXPIRES), 1 << 61, "expires too late"),
    ("queue", (0, c.GOAL), 99, r"queue\[0, 2\] \(goal\): 99 is out of its limits"),
    ("mail", (0, c.MAIL_NUMBERS), 11, r"\(numbers\)"),
    ("mail_real", (0, c.MAIL_SENT), 1.0, "in the future"),
    ("mail_real", (0, 0), np.nan, r"mail_real\[0, 0\]: nan is out of its limits"),
    ("number", (), 7, "a packet has a number that was not given"),
]


@pytest.mark.parametrize(("name", "position", "value", "message"), CRAFTED)
def test_crafted_states_are_refused(name: str, position: tuple[int, ...], value: float, message: str) -> None:
    messages = busy_messages(4)
    saved = unpack(pack(save(messages.state)))
    other = messages_over(links_of(np.zeros((8, 8))), messages.section)
    if position:
        saved[name] = saved[name].copy()
        saved[name][position] = value
    else:
        saved[name] = value
    with pytest.raises(PaddockError, match=message):
        load_messages(other, saved, 0.059)


@pytest.mark.parametrize("slot", [0, 99, 10**6, c.NEVER - 1])
def test_events_at_impossible_times_are_refused_and_end(slot: int) -> None:
    """Slot 99 is before the present, the others are after the longest packet; the channel ends in any case."""
    messages = busy_messages(4)
    saved = save(messages.state)
    other = messages_over(links_of(np.zeros((8, 8))), messages.section)
    for row in (c.UNTIL, c.REPLY_AT):
        for radio in range(8):
            broken = {**saved, "whole": saved["whole"].copy()}
            broken["whole"][row, radio] = slot
            with pytest.raises(PaddockError, match="a radio has an event"):
                load_messages(other, broken, 0.059)
    idle = messages_over(links_of(~np.eye(2, dtype=bool)), MessagesSection())
    idle.state.whole[c.UNTIL, 0] = idle.state.whole[c.REPLY_AT, 1] = 99
    idle.advance(1.0)
    assert (idle.state.whole[[c.UNTIL, c.REPLY_AT]] == c.NEVER).all()


def test_states_that_lack_a_part_are_refused() -> None:
    messages = busy_messages(4)
    saved = save(messages.state)
    for name in saved:
        with pytest.raises(PaddockError, match=f"the field '{name}' is missing"):
            load_messages(messages, {key: part for key, part in saved.items() if key != name}, 0.059)


def test_airtime_is_that_of_packets_and_acknowledgements() -> None:
    """1 Mbit/s, slots of 20 us: a packet of 272 + 8000 bits and 0.1 ms takes 419 slots, an acknowledgement 11."""
    messages = messages_over(links_of(~np.eye(2, dtype=bool)), MessagesSection())
    messages.send(0, 1, bytes(1000), 0.0)
    messages.advance(0.004)
    first = messages.airtimes(0.004)
    assert 0.0 < first[0] < 0.004 and first[1] == 0.0
    messages.advance(0.1)
    assert first + messages.airtimes(0.1) == pytest.approx([419 * 2e-5, 11 * 2e-5])
    assert messages.airtimes(0.2).tolist() == [0.0, 0.0]


def test_streams_of_others_do_not_change_a_link() -> None:
    """What a radio sends to another does not depend on a third pair that neither of them hears."""

    def arrivals(n: int) -> list[float]:
        heard = np.zeros((n, n), bool)
        for k in range(0, n - 1, 2):
            heard[k, k + 1] = heard[k + 1, k] = True
        messages = messages_over(links_of(heard, per=0.4), MessagesSection(retries=1), 9)
        for k in range(40):
            for source in range(0, n - 1, 2):
                messages.send(source, source + 1, bytes(100), 0.01 * k)
            messages.advance(0.01 * k)
        return [message.arrived for message in messages.received(1)]

    assert arrivals(2) == arrivals(6)


def test_radios_that_leave_take_their_packets_along() -> None:
    n = 4
    messages = messages_over(links_of(~np.eye(n, dtype=bool)), MessagesSection())
    messages.send(3, 0, "arrives", 0.0)
    messages.advance(0.1)
    messages.send(0, 1, "lost", 0.1)
    messages.send(0, 3, "kept", 0.1)
    keep_radios(messages, np.array([0, 2, 3]), 0.1)
    assert messages.counted()["no_route"] == 1
    connect(messages, links_of(~np.eye(3, dtype=bool)), now=0.1)
    messages.advance(0.3)
    assert [message.data for message in messages.received(2)] == ["kept"]
    assert [(message.data, message.source) for message in messages.received(0)] == [("arrives", 2)]
    assert messages.devices.streams.tolist() == [STREAM, 3 * STREAM, 4 * STREAM]


def test_beacons_keep_the_newest_state_of_each_sender() -> None:
    n = 4
    messages = messages_over(links_of(~np.eye(n, dtype=bool)), MessagesSection(beacons={"neighbours": 2, "rate": 10}))
    states = np.zeros((n, 10))
    for k in range(3):
        states[:, 0] = 10.0 * k + np.arange(n)
        messages.beacon(np.arange(n - (k == 2)), states[: n - (k == 2)], 0.1 * k)
        messages.advance(0.1 * k + 0.1)
    heard = dict(zip(messages.state.heard[0].tolist(), messages.state.heard_real[0, :, :2].tolist(), strict=True))
    assert heard == {1: [0.2, 21.0], 2: [0.2, 22.0]}  # the oldest, that of 3, was replaced
