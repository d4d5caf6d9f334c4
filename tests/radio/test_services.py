"""Packets of services: they share the channel with messages, arrive in one inbox, and are part of the state."""

from math import comb, sqrt
from typing import Any

import numpy as np
import pytest
from radio_messages import connect, keep_radios, links_of, load_messages, messages_over

from paddock.errors import PaddockError
from paddock.radio.packets import queues as c
from paddock.radio.packets.messages import Messages, Post
from paddock.scenario.radio_types import MessagesSection
from paddock.world.archive import digest, pack, unpack
from paddock.world.state import save

SLOT, OVERHEAD, HEADER = 2e-5, 1e-4, 272
ALONE = {"window": (1, 1), "overhead": OVERHEAD}
CHAIN = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) == 1


def post(messages: Messages, kind: int, goals: Any, time: float = 0.0, source: int = 0, bits: int = 200) -> Any:
    values = np.array([[10.0 * goal, time, 7.0] for goal in goals])
    return messages.post_service(Post(kind, np.full(len(goals), source), np.array(goals), values, bits), time)


@pytest.mark.parametrize("hops", [1, 3])
def test_the_delay_is_that_of_access_airtime_acknowledgement_and_way(hops: int) -> None:
    """3 km per hop; a relay contends after its acknowledgement."""
    messages = messages_over(links_of(CHAIN), MessagesSection(**ALONE), x=3000.0 * np.arange(4))
    [number] = post(messages, c.COMMAND, [hops])
    messages.advance(1.0)
    got = messages.take_service(c.COMMAND)
    airtime = OVERHEAD + (HEADER + 200) / 1e6
    slots = np.ceil(airtime / SLOT - 1e-9) * SLOT
    access = 3 * SLOT  # a slot until it contends, and DIFS
    reply = SLOT + np.ceil((OVERHEAD + 112 / 1e6) / SLOT - 1e-9) * SLOT  # SIFS and the acknowledgement
    relayed = slots + reply + 2 * SLOT  # DIFS after the acknowledgement
    expected = access + (hops - 1) * relayed + airtime + 3000.0 / 299_792_458.0
    assert got.arrived == pytest.approx([expected], abs=1e-12)
    assert (got.receiver.tolist(), got.origin.tolist(), got.number.tolist()) == ([hops], [0], [number])
    assert got.hops.tolist() == [hops] and got.values.tolist() == [[10.0 * hops, 0.0, 7.0]]
    assert len(messages.take_service(c.COMMAND).receiver) == 0 and messages.received(hops) == []
    assert messages.counted()["served"] == 1 and messages.counted()["delivered"] == 0


@pytest.mark.parametrize("retries", [0, 2])
def test_delivery_over_hops_with_repetitions_is_a_product(retries: int) -> None:
    """Each hop fails with p^(retries + 1); acknowledgements are as good as certain."""
    p, sent = 0.4, 1200
    fields = MessagesSection(retries=retries, ack_bits=1, queue=4, **ALONE)
    messages = messages_over(links_of(CHAIN, per=p), fields)
    for k in range(sent):
        post(messages, c.COMMAND, [3], 0.3 * k, bits=8192 - HEADER)
        messages.advance(0.3 * k + 0.3)
        assert not messages.busy
    got = messages.take_service(c.COMMAND)
    expected = (1.0 - p ** (retries + 1)) ** 3
    assert len(got.receiver) / sent == pytest.approx(expected, abs=4.0 * sqrt(expected * (1.0 - expected) / sent))


def test_commands_contend_with_messages() -> None:
    """Bianchi (2000), saturated: of n stations with window W each delivers as often; one of them sends commands.

    Each sends in a slot with 2 / (W + 1); the share of slots in which exactly one does is that of its deliveries.
    """
    n, window, bits, seconds = 4, 16, 1600, 4.0
    heard = ~np.eye(n + 1, dtype=bool)
    fields = {"window": (window, window), "overhead": 0.0, "header_bits": 0, "ack_bits": 1, "queue": 1024}
    messages = messages_over(links_of(heard, sinr=20.0), MessagesSection(lifetime=1e3, retries=0, **fields), seed=3)
    for radio in range(1, n):
        for _ in range(1024):
            messages.send(radio, n, b"", 0.0, bits=bits)
    post(messages, c.COMMAND, [n] * 1024, bits=bits)
    messages.advance(seconds)
    got = messages.take_service(c.COMMAND)
    assert (messages.state.queued[:n] > 0).all()  # still saturated
    tau = 2.0 / (window + 1)
    busy, alone = 1.0 - (1.0 - tau) ** n, comb(n, 1) * tau * (1.0 - tau) ** (n - 1)
    good = bits / 1e6 + 5 * SLOT  # SIFS, an acknowledgement of one slot, the end of the wait for it, DIFS
    expected = alone / ((1.0 - busy) * SLOT + busy * good) * seconds / n
    assert len(got.receiver) == pytest.approx(expected, rel=0.1)
    assert len(got.receiver) == pytest.approx(messages.counted()["delivered"] / (n - 1), rel=0.15)


def test_a_newer_state_replaces_the_one_that_waits() -> None:
    messages = messages_over(links_of(CHAIN), MessagesSection(queue=4, **ALONE))
    messages.send(0, 1, bytes(2000), 0.0)  # 16 ms on the air
    for k in range(5):
        post(messages, c.TELEMETRY, [1], 1e-3 * k)
        messages.advance(1e-3 * k)
    for k in range(5):
        post(messages, c.COMMAND, [1], 6e-3 + 1e-4 * k)
    assert messages.counted()["queue_full"] == 3  # the message, a state and two commands fill the queue
    messages.advance(1.0)
    assert messages.take_service(c.TELEMETRY).sent.tolist() == [4e-3]
    assert messages.take_service(c.COMMAND).sent == pytest.approx([6e-3, 6.1e-3])


def test_what_arrives_later_stays_in_the_inbox() -> None:
    messages = messages_over(links_of(CHAIN), MessagesSection(**ALONE), x=[0.0, 3e6, 6e6, 9e6])  # 10 ms per hop
    post(messages, c.MISSION, [1])
    messages.advance(0.002)
    assert messages.serves and len(messages.take_service(c.MISSION, 0.002).receiver) == 0
    assert len(messages.take_service(c.COMMAND).receiver) == 0
    assert len(messages.take_service(c.MISSION, 0.011).receiver) == 1 and not messages.serves


def test_a_full_inbox_drops_and_counts() -> None:
    messages = messages_over(links_of(CHAIN), MessagesSection(queue=1024, lifetime=1e3, **ALONE))
    for _ in range(2):
        assert (post(messages, c.COMMAND, [1] * 800) < 0).all()
        messages.advance(10.0)
    assert len(messages.state.inbox) == 1024
    assert messages.counted()["inbox_full"] == 1600 - 1024 and len(messages.take_service(c.COMMAND).receiver) == 1024


def busy() -> Messages:
    """Return commands at every stage of their ways: queued, relayed, in the inbox."""
    messages = messages_over(links_of(CHAIN, per=0.2), MessagesSection(queue=8))
    for k in range(12):
        post(messages, (c.COMMAND, c.TELEMETRY, c.MISSION)[k % 3], [3, 1], 1e-3 * k)
        post(messages, c.COMMAND, [0], 1e-3 * k, source=3)
        messages.send(1, 2, bytes(20), 1e-3 * k)
        messages.advance(1e-3 * k)
    return messages


def test_restored_packets_continue_equally() -> None:
    messages = busy()
    queued = messages.queued(c.COMMAND)
    assert messages.serves and len(queued) and len(np.unique(queued[:, c.ORIGIN])) == 2
    saved = unpack(pack(save(messages.state)))
    other = messages_over(links_of(CHAIN, per=0.2), messages.section)
    load_messages(other, saved, 0.011)
    assert digest(save(other.state)) == digest(save(messages.state))
    messages.advance(0.5)
    other.advance(0.5)
    assert digest(save(other.state)) == digest(save(messages.state))
    for kind in (c.COMMAND, c.TELEMETRY, c.MISSION):
        mine, theirs = messages.take_service(kind), other.take_service(kind)
        assert len(mine.number) and all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))


@pytest.mark.parametrize(
    ("name", "position", "value"),
    [
        ("inbox", (0, c.IN_RECEIVER), 99),
        ("inbox", (0, c.IN_ORIGIN), -1),
        ("inbox", (0, c.IN_KIND), c.DATA),
        ("inbox", (0, c.IN_NUMBER), 5),
        ("inbox", (0, c.IN_NUMBER), -1000),
        ("inbox_real", (0, c.IN_ARRIVED), 99.0),
        ("inbox_real", (0, c.IN_SENT), np.nan),
        ("numbers", (0,), -999),
        ("numbers", (0,), 0),
        ("values", (0, 0), np.inf),
        ("queue", (0, c.KIND), c.MAVLINK + 1),
        ("queue", (0, c.KIND), c.DATA),
    ],
)
def test_crafted_states_are_refused(name: str, position: Any, value: Any) -> None:
    messages = busy()
    saved = unpack(pack(save(messages.state)))
    saved[name] = saved[name].copy()
    saved[name][position] = value
    with pytest.raises(PaddockError):
        load_messages(messages_over(links_of(CHAIN), messages.section), saved, 0.011)


def test_radios_that_go_take_their_packets_with_them() -> None:
    messages = busy()
    assert messages.serves
    keep_radios(messages, np.arange(1, messages.n), 0.011)
    connect(messages, links_of(CHAIN[1:, 1:]), now=0.011)
    saved = save(messages.state)
    assert len(saved["inbox"]) == 0  # all were from or to the radio that has gone
    load_messages(messages, unpack(pack(saved)), 0.011)
    messages.advance(1.0)
    assert not messages.serves and not messages.busy
