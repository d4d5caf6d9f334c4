"""Channel sharing: delays, losses, ALOHA, CSMA and hidden terminals, against formulas."""

from math import comb, e, erfc, exp, sqrt
from typing import Any

import numpy as np
import pytest
from radio_messages import connect, links_of, messages_over

from paddock.radio.packets.messages import Messages
from paddock.radio.packets.queues import BROADCAST, DELIVERED
from paddock.scenario.radio_types import MessagesSection

LIGHT = 299_792_458.0  # m/s
ALONE = {"window": (1, 1), "overhead": 1e-4}


def all_hear(n: int) -> Any:
    return ~np.eye(n, dtype=bool)


def chain(n: int) -> Any:
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) == 1


def section(**fields: Any) -> MessagesSection:
    return MessagesSection(**fields)


def test_delay_of_one_hop_is_access_airtime_and_propagation() -> None:
    messages = messages_over(links_of(all_hear(2)), section(**ALONE), x=[0.0, 3000.0])
    messages.send(0, 1, bytes(1000), 0.0)
    messages.advance(1.0)
    [message] = messages.received(1)
    airtime = 1e-4 + (272 + 8000) / 1e6
    access = 3 * 2e-5  # a slot until it contends, and DIFS
    assert message.arrived == pytest.approx(access + airtime + 3000.0 / LIGHT, abs=1e-12)
    assert messages.received(1, message.arrived - 1e-9) == []


def test_delay_of_queued_broadcasts_adds_up() -> None:
    messages = messages_over(links_of(all_hear(2)), section(**ALONE))
    for _ in range(5):
        messages.send(0, BROADCAST, bytes(100), 0.0)
    messages.advance(1.0)
    airtime, slot = 1e-4 + (272 + 800) / 1e6, 2e-5
    slots = int(np.ceil(airtime / slot - 1e-9))
    expected = [(3 + k * (slots + 2)) * slot + airtime for k in range(5)]
    assert [message.arrived for message in messages.received(1)] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_delivery_with_retransmissions(retries: int) -> None:
    """A message arrives with probability 1 - p^(k + 1); p: error rate of its packet."""
    p, sent = 0.5, 1500
    heard = all_hear(2)
    per = np.where(np.eye(2, k=1) > 0, 0.0, p)  # the acknowledgement, received by 0, always survives
    bits = 8192 - 272
    messages = messages_over(links_of(heard, per=per), section(retries=retries, mailbox=4096, **ALONE))
    for k in range(sent):
        messages.send(0, 1, b"", 0.1 * k, bits=bits)
        messages.advance(0.1 * k + 0.1)
    expected = 1.0 - p ** (retries + 1)
    share = len(messages.received(1)) / sent
    assert share == pytest.approx(expected, abs=4.0 * sqrt(expected * (1.0 - expected) / sent) + 1e-12)
    assert messages.counted()["lost"] == sent - len(messages.received(1))


@pytest.mark.parametrize("sharing", ["csma", "aloha", "none"])
def test_bits_that_can_be_wrong_are_those_of_packet_and_acknowledgement(sharing: str) -> None:
    """Half of the packets of 8192 bits are lost; those of 800 bits, after a preamble of 1 ms, by 1 - 0.5^(800 / 8192).

    The first radio sends packets that arrive; only their acknowledgements, of 800 bits, can be lost.
    """
    sent, fields = 2000, {"sharing": sharing, "retries": 0, "overhead": 1e-3, "window": (1, 1), "mailbox": 4096}
    per = np.where(np.eye(2, k=1) > 0, 0.5, 0.0)  # of what the first radio receives
    messages = messages_over(links_of(all_hear(2), per=per), section(header_bits=0, ack_bits=800, **fields))
    for k in range(sent):
        messages.send(1, BROADCAST, b"", 0.1 * k, bits=800)
        messages.send(0, 1, b"", 0.1 * k + 0.05, bits=800)
        messages.advance(0.1 * k + 0.1)
    expected = 1.0 - 0.5 ** (800 / 8192)
    deviation = sqrt(expected * (1.0 - expected) / sent)
    assert 1.0 - len(messages.received(0)) / sent == pytest.approx(expected, abs=4.0 * deviation)
    assert len(messages.received(1)) == sent
    assert messages.counted()["lost"] / sent == pytest.approx(expected, abs=4.0 * deviation)


def test_short_packets_survive_by_their_bits_where_long_ones_never_do() -> None:
    """BPSK at an SINR of 4 dB has 1.25 % wrong bits: no packet of 8192 bits arrives, and 28 % of those of 100."""
    sent = 1500
    messages = messages_over(
        links_of(all_hear(2), sinr=4.0, per=1.0), section(sharing="aloha", header_bits=0, mailbox=4096, **ALONE)
    )
    for k in range(sent):
        messages.send(0, BROADCAST, b"", 0.1 * k, bits=100)
        messages.advance(0.1 * k + 0.1)
    expected = (1.0 - 0.5 * erfc(sqrt(10.0**0.4))) ** 100
    assert len(messages.received(1)) / sent == pytest.approx(expected, abs=4.0 * sqrt(expected * (1 - expected) / sent))


def test_delivery_over_hops_is_a_product() -> None:
    p, hops, sent = 0.2, 3, 1200
    messages = messages_over(links_of(chain(hops + 1), per=p), section(retries=0, mailbox=4096, **ALONE))
    for k in range(sent):
        messages.send(0, hops, b"", 0.2 * k, bits=8192 - 272)
        messages.advance(0.2 * k + 0.2)
    expected = (1.0 - p) ** hops
    got = messages.received(hops)
    assert len(got) / sent == pytest.approx(expected, abs=4.0 * sqrt(expected * (1.0 - expected) / sent))
    assert {message.hops for message in got} == {hops}


def test_repetitions_are_delivered_once() -> None:
    per = np.where(np.eye(2, k=1) > 0, 0.99, 0.0)  # most acknowledgements are lost
    messages = messages_over(links_of(all_hear(2), per=per), section(ack_bits=8192, retries=8, **ALONE))
    for k in range(20):
        messages.send(0, 1, [k], 0.5 * k)
        messages.advance(0.5 * k + 0.5)
    assert [message.data for message in messages.received(1)] == [[k] for k in range(20)]
    assert messages.counted()["repeated"] > 100


def load(messages: Messages, sources: int, attempts: float, packet: float, packets: int, seed: int) -> float:
    """Send at random times, `attempts` per packet time in total; return the deliveries per packet time to the last."""
    draw, slot = np.random.default_rng(seed), messages.rules.slot
    steps = round(packet / slot)
    share = attempts / (sources * steps)
    for k in range(packets * steps):
        for source in np.flatnonzero(draw.random(sources) < share):
            messages.send(int(source), BROADCAST, b"", k * slot, bits=10_000)
        messages.advance(k * slot)
    return int(messages.state.counts[DELIVERED, sources]) / packets


def to_a_sink(n: int) -> Any:
    """Return who hears whom if the last radio hears all others, and these hear nothing."""
    heard = np.zeros((n + 1, n + 1), bool)
    heard[n, :n] = True
    return heard


def aloha(n: int, slot: float) -> Messages:
    fields = {"sharing": "aloha", "window": (1, 1), "overhead": 0.0, "header_bits": 0, "queue": 64, "slot": slot}
    return messages_over(links_of(to_a_sink(n), sinr=20.0), section(**fields))


def test_slotted_aloha_reaches_one_over_e() -> None:
    """A slot of one packet: G (1 - G / n)^(n - 1) packets per slot, 1 / e at G = 1 for many sources."""
    n, packets = 40, 3000
    rate = load(aloha(n, 0.01), n, 1.0, 0.01, packets, 5)
    expected = (1.0 - 1.0 / n) ** (n - 1)
    assert expected == pytest.approx(1.0 / e, rel=0.02)
    assert rate == pytest.approx(expected, abs=4.0 * sqrt(expected / packets))


def test_pure_aloha_reaches_half_of_it() -> None:
    """Packets that begin at any of 20 slots: G exp(-2 G), 1 / 2e at G = 0.5."""
    n, packets = 40, 1500
    rate = load(aloha(n, 0.0005), n, 0.5, 0.01, packets, 6)
    assert rate == pytest.approx(0.5 * exp(-1.0), abs=4.0 * sqrt(0.18 / packets) + 0.01)


@pytest.mark.parametrize(("n", "window"), [(2, 8), (5, 16), (10, 32)])
def test_saturated_csma_against_bianchi(n: int, window: int) -> None:
    """Broadcasts of saturated radios with a fixed window W: each sends in a slot with probability 2 / (W + 1).

    Bianchi (2000), equation 13, with packets of equal length.
    """
    slot, bits, seconds, turns = 2e-5, 1600, 1.6, 4
    fields = {"window": (window, window), "overhead": 0.0, "header_bits": 0, "queue": 1024, "slot": slot}
    messages = messages_over(links_of(all_hear(n), sinr=20.0), section(lifetime=1e3, **fields), seed=3)
    for turn in range(turns):
        for radio in range(n):
            for _ in range(1024 - int(messages.state.queued[radio])):
                messages.send(radio, BROADCAST, b"", turn * seconds, bits=bits)
        messages.advance((turn + 1) * seconds)
        assert (messages.state.queued > 0).all()  # still saturated
    tau = 2.0 / (window + 1)
    busy = 1.0 - (1.0 - tau) ** n
    alone = comb(n, 1) * tau * (1.0 - tau) ** (n - 1)
    packet = bits / 1e6 + 2 * slot  # DIFS
    expected = alone / ((1.0 - busy) * slot + busy * packet) * turns * seconds
    delivered = messages.state.counts[DELIVERED].sum() / (n - 1)
    assert delivered == pytest.approx(expected, rel=0.04)


def test_hidden_terminals_collide_and_exposed_ones_wait() -> None:
    """0 and 2 do not hear each other: their packets collide at 1 unless 0 is much stronger."""
    power = np.full((3, 3), -60.0)
    fields = section(retries=0, window=(1, 1), overhead=0.0)
    equal = messages_over(links_of(chain(3), power=power), fields)
    power[1, 2] = -90.0  # 1 receives 0 by 30 dB more
    captured = messages_over(links_of(chain(3), power=power), fields)
    heard = messages_over(links_of(all_hear(3)), section(retries=0, window=(1024, 1024), overhead=0.0))
    for messages in (equal, captured, heard):
        messages.send(0, 1, bytes(500), 0.0)
        messages.send(2, 1, bytes(500), 0.0)
        messages.advance(1.0)
    assert len(equal.received(1)) == 0 and equal.counted()["lost"] == 2
    assert [message.source for message in captured.received(1)] == [0]
    assert len(heard.received(1)) == 2


def test_drops_are_counted_by_reason() -> None:
    line = links_of(chain(4))
    messages = messages_over(line, section(queue=2, hops=2, **ALONE))
    for _ in range(4):
        messages.send(0, 1, b"", 0.0)
    messages.advance(0.5)
    assert messages.counted()["queue_full"] == 2
    messages.send(0, 3, b"", 0.5)  # three hops
    messages.send(0, 1, b"", 0.5, bits=100_000)
    messages.send(1, 0, b"late", 0.5, lifetime=1e-4)
    messages.advance(2.0)
    connect(messages, links_of(np.zeros((4, 4))), now=2.0)
    messages.send(0, 3, b"", 2.0)
    messages.advance(3.0)
    counted = messages.counted()
    assert (counted["ttl"], counted["expired"], counted["no_route"]) == (1, 1, 1)


def test_without_sharing_nothing_collides() -> None:
    n = 12
    messages = messages_over(links_of(all_hear(n)), section(sharing="none", window=(1, 1)))
    for radio in range(n):
        messages.send(radio, BROADCAST, [radio], 0.0)
    messages.advance(0.1)
    assert all(len(messages.received(radio)) == n - 1 for radio in range(n))


def test_flooding_crosses_from_one_radio_of_a_vehicle_to_the_other() -> None:
    """0 - 1 on one channel, 2 - 3 on another; 1 and 2 belong to one vehicle, which hears it once and repeats it."""
    heard = np.zeros((5, 5), bool)
    heard[[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]] = True
    messages = messages_over(links_of(heard), section(**ALONE), group=[0, 1, 1, 2, 3])
    messages.send(0, BROADCAST, "all", 0.0, hops=2)
    messages.send(0, BROADCAST, "near", 0.1)
    messages.send(4, BROADCAST, "back", 0.2, hops=3)
    messages.advance(1.0)
    assert [[message.data for message in messages.received(k)] for k in range(5)] == [
        ["back"],
        ["all", "near"],
        ["back"],
        ["all", "back"],
        [],
    ]
    assert [message.hops for message in messages.received(3)] == [2, 1]


def test_a_vehicle_with_two_radios_takes_a_broadcast_once() -> None:
    """Both radios of the second vehicle hear the first, on one channel; neither takes what their own vehicle sent."""
    messages = messages_over(links_of(all_hear(4)), section(**ALONE), group=[0, 1, 1, 2])
    messages.send(0, BROADCAST, "one", 0.0, hops=3)
    messages.send(1, BROADCAST, "two", 0.5, hops=3)
    messages.advance(1.0)
    assert sum(len(messages.received(k)) for k in (1, 2)) == 1
    assert [len(messages.received(k)) for k in (0, 3)] == [1, 2]


def test_flooding_reaches_as_many_hops_as_given() -> None:
    messages = messages_over(links_of(chain(6)), section(**{**ALONE, "window": (16, 64)}))
    messages.send(0, BROADCAST, "flood", 0.0, hops=4)
    messages.advance(1.0)
    assert [len(messages.received(k)) for k in range(6)] == [0, 1, 1, 1, 1, 0]
