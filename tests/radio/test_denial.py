"""Radios that jammers keep off the channel: counts of idle slots against single slots, throughput against shares."""

from math import ceil
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from radio_messages import connect, links_of, load_messages, messages_over

from paddock.errors import PaddockError
from paddock.radio.links.table import BEGIN, BURST, BURST_ROWS, CYCLE, LENGTH, PERIOD, SHARE
from paddock.radio.packets.messages import Messages
from paddock.radio.packets.queues import (
    BROADCAST,
    CLOSED,
    DELIVERED,
    EXPIRED,
    IDLE,
    NEVER,
    PHASE,
    REPEATS,
    TRANSMITTED,
    denied_slots,
    floor_sum,
    idle_slots,
    slot_after,
)
from paddock.scenario.radio_types import MessagesSection
from paddock.world.archive import digest, pack, unpack
from paddock.world.state import save

SLOT, DIFS = 2e-5, 2
BOTH = ~np.eye(2, dtype=bool)


def pattern(cycle: float, begin: float, length: float, n: int = 1, anchor: int = 0, power: float = 2.0) -> Any:
    """Return the slots that bursts (s) of a power (mW) deny; the threshold is 1 mW."""
    bursts = np.zeros((BURST_ROWS, n))
    bursts[BURST], bursts[SHARE], bursts[PERIOD] = power, length / cycle, cycle
    bursts[CYCLE], bursts[BEGIN], bursts[LENGTH] = cycle, begin, length
    return denied_slots(bursts, np.zeros(n), np.ones(n), SLOT, DIFS, anchor)


def is_idle(slot: int, cycle: int, begin: int, length: int, unit: int = 64) -> bool:
    """Return whether no burst touches a slot or the DIFS before it; times in units, of which a slot has `unit`."""
    number = ((slot + 1) * unit - begin) // cycle
    begins = (begin + k * cycle for k in (number - 1, number))
    return not any(start < (slot + 1) * unit and start + length + DIFS * unit > slot * unit for start in begins)


@given(st.integers(0, 300), st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_sums_of_quotients(count: int, divisor: int, factor: int, offset: int) -> None:
    assert floor_sum(count, divisor, factor, offset) == sum((factor * k + offset) // divisor for k in range(count))


@settings(max_examples=60, deadline=None)
@given(st.integers(4 * 64, 60 * 64), st.integers(0, 60 * 64), st.integers(1, 60 * 64), st.integers(0, 400), st.data())
def test_idle_slots_are_those_that_no_burst_touches(cycle: int, begin: int, length: int, first: int, data: Any) -> None:
    """Times in 64ths of a slot: bursts begin and end within slots."""
    begin, length = begin % cycle, min(length, cycle)
    times = [span / 64 * SLOT for span in (cycle, begin, length)]
    denied = pattern(*times, anchor=data.draw(st.integers(0, first)))
    idle = [k for k in range(first, first + 400) if is_idle(k, cycle, begin, length)]
    last = data.draw(st.integers(first, first + 400))
    assert idle_slots(denied, 0, first, last) == sum(k < last for k in idle)
    wanted = data.draw(st.integers(0, 40))
    if wanted < len(idle):
        assert slot_after(denied, 0, first, wanted) == idle[wanted]
    elif not idle and denied[REPEATS, 0] == CLOSED:
        assert slot_after(denied, 0, first, wanted) == NEVER


def test_phases_stay_exact_in_long_runs() -> None:
    """After 10^5 s, or 1.5 x 10^8 cycles, idle slots are those of exact times."""
    slot, count = 5 * 10**9, 5000
    cycle, begin, length = 2134, 85, 854  # 64ths of a slot; no burst begins or ends with a slot
    denied = pattern(*(span / 64 * SLOT for span in (cycle, begin, length)), anchor=slot)
    idle = [is_idle(k, cycle, begin, length) for k in range(slot, slot + count)]
    assert idle_slots(denied, 0, slot, slot + count) == sum(idle)
    assert slot_after(denied, 0, slot, 0) == slot + idle.index(True)


def saturated(denied: Any, seconds: float, window: int = 16, **fields: Any) -> Messages:
    """Return two radios of which the first has sent broadcasts of 1 ms all the time."""
    section = MessagesSection(window=(window, window), overhead=0.0, header_bits=0, queue=1024, mailbox=4096, **fields)
    messages = messages_over(links_of(BOTH), section)
    connect(messages, links_of(BOTH), denied=denied)
    now = 0.0
    while now < seconds:
        for _ in range(1024 - int(messages.state.queued[0])):
            messages.send(0, BROADCAST, b"", now, bits=1000)
        now += 0.5
        messages.advance(now)
    return messages


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.8])
def test_throughput_under_long_pulses_is_the_share_between_them(share: float) -> None:
    messages = saturated(pattern(1.0, 0.3, share, 2) if share else None, 10.0)
    each = 1e-3 + SLOT * (DIFS + 7.5)  # packet, DIFS, half the window
    assert messages.state.counts[TRANSMITTED, 0] == pytest.approx((1.0 - share) * 10.0 / each, rel=0.02)
    assert messages.state.counts[DELIVERED, 1] >= messages.state.counts[TRANSMITTED, 0] - 1  # the last is on the air


def test_contending_radios_share_the_time_between_pulses() -> None:
    """Counts stop for packets of others and for pulses: Bianchi's throughput (see `test_channel.py`), times 1 - q."""
    n, window, bits, share, seconds = 5, 16, 1600, 0.4, 4.0
    fields = {"window": (window, window), "overhead": 0.0, "header_bits": 0, "queue": 1024, "lifetime": 1e3}
    hears = ~np.eye(n, dtype=bool)
    messages = messages_over(links_of(hears, sinr=20.0), MessagesSection(**fields), seed=3)
    connect(messages, links_of(hears, sinr=20.0), denied=pattern(0.5, 0.1, share * 0.5, n))
    for radio in range(n):
        for _ in range(1024):
            messages.send(radio, BROADCAST, b"", 0.0, bits=bits)
    messages.advance(seconds)
    assert (messages.state.queued > 0).all()  # still saturated
    tau = 2.0 / (window + 1)
    busy, alone = 1.0 - (1.0 - tau) ** n, n * tau * (1.0 - tau) ** (n - 1)
    rate = alone / ((1.0 - busy) * SLOT + busy * (bits / 1e6 + DIFS * SLOT))
    assert messages.state.counts[DELIVERED].sum() / (n - 1) == pytest.approx((1.0 - share) * rate * seconds, rel=0.05)


def test_packets_begin_between_pulses() -> None:
    """One packet at a time, as soon as it may: all begin outside of pulses and DIFS after them."""
    cycle, begin, length = 0.0137, 0.002, 0.006
    section = MessagesSection(window=(64, 64), overhead=0.0, header_bits=0, mailbox=4096)
    messages = messages_over(links_of(BOTH), section)
    connect(messages, links_of(BOTH), denied=pattern(cycle, begin, length, 2))
    for k in range(400):
        messages.send(0, BROADCAST, b"", 0.05 * k, bits=100)
        messages.advance(0.05 * k + 0.05)
    starts = np.array([message.arrived for message in messages.received(1)]) - 1e-4
    assert len(starts) == 400
    phase = (starts - begin) % cycle
    assert phase.min() > length + DIFS * SLOT - 1e-9
    waits = starts - 0.05 * np.arange(400)
    assert waits.max() < 66 * SLOT + length + 3 * SLOT + DIFS * SLOT  # at most one pulse in the way
    assert (waits > length).any()


def test_short_gaps_leave_no_room_for_difs() -> None:
    assert saturated(pattern(1e-4, 0.0, 5e-5, 2), 0.5).state.counts[TRANSMITTED, 0] == 0
    assert saturated(pattern(2e-4, 0.0, 5e-5, 2), 0.5).state.counts[TRANSMITTED, 0] > 0
    assert (
        saturated(pattern(1e-4, 0.0, 5e-5, 2, power=0.9), 0.5).state.counts[TRANSMITTED, 0] > 300
    )  # below the threshold


def closed(n: int) -> Any:
    return denied_slots(np.zeros((BURST_ROWS, n)), np.ones(n), np.ones(n), SLOT, DIFS, 0)


def test_a_radio_counts_on_where_it_was_after_a_time_without_access() -> None:
    """Without access from slot 20 to the next links: what was left of the count follows, after DIFS."""
    section = MessagesSection(window=(64, 64), overhead=0.0, header_bits=0)
    starts = []
    for denied in (False, True):
        messages = messages_over(links_of(BOTH), section, seed=12)
        messages.send(0, BROADCAST, b"", 0.0, bits=1000)
        messages.advance(20 * SLOT)
        if denied:
            connect(messages, links_of(BOTH), now=20 * SLOT, denied=closed(2))
            messages.advance(0.1)
            assert messages.busy and messages.state.counts[TRANSMITTED, 0] == 0
            connect(messages, links_of(BOTH), now=0.1)
        messages.advance(0.2)
        [message] = messages.received(1)
        starts.append(round((message.arrived - 1e-3) / SLOT))
    assert starts[0] > 20
    assert starts[1] - round(0.1 / SLOT) == starts[0] - 20 + DIFS


def test_packets_expire_while_the_channel_is_denied() -> None:
    messages = messages_over(links_of(BOTH), MessagesSection(queue=4, lifetime=1.0, energy=-70.0))
    connect(messages, links_of(BOTH), denied=closed(2))
    for k in range(6):
        messages.send(0, 1, [k], 0.0)
    for k in range(1, 11):
        messages.advance(0.2 * k)
        connect(messages, links_of(BOTH), now=0.2 * k, denied=closed(2))
        counted = messages.counted()
        assert counted["queue_full"] == 2 and counted["expired"] == (4 if k > 5 else 0)
    assert not messages.busy and messages.state.whole[PHASE, 0] == IDLE
    messages.send(0, 1, "new", 2.0)
    messages.advance(2.1)
    connect(messages, links_of(BOTH), now=2.1)
    messages.advance(2.2)
    assert [message.data for message in messages.received(1)] == ["new"]
    assert messages.state.counts[EXPIRED, 0] == 4
    assert messages.counted()["transmitted"] == 2  # the message and its reply


def test_states_between_pulses_are_saved() -> None:
    denied = pattern(0.0137, 0.002, 0.009, 2)
    first = saturated(denied, 1.0, window=1024, lifetime=1e3)
    first.advance(1.0)
    two = messages_over(links_of(BOTH), first.section)
    with pytest.raises(PaddockError, match="a radio has an event"):  # not without the pulses
        load_messages(two, unpack(pack(save(first.state))), 1.0)
    two.use(first.links)
    load_messages(two, unpack(pack(save(first.state))), 1.0)
    for messages in (first, two):
        for k in range(21):
            messages.advance(1.0 + 0.05 * k)
    assert digest(save(first.state)) == digest(save(two.state))
    three = messages_over(links_of(BOTH), first.section)
    three.use(first.links)
    load_messages(three, unpack(pack(save(two.state))), 2.0)
    assert digest(save(three.state)) == digest(save(first.state))


def test_thresholds() -> None:
    """Steady power, bursts over it, and bursts that alone are too weak."""
    bursts = np.zeros((BURST_ROWS, 4))
    bursts[BURST], bursts[SHARE], bursts[PERIOD] = 0.6, 0.5, 0.1
    bursts[CYCLE], bursts[LENGTH] = 0.1, 0.05
    steady = np.array([0.3, 0.4, 1.0, 0.0])
    slots = denied_slots(bursts, steady, np.array([1.0, 1.0, 1.0, np.inf]), SLOT, DIFS, 0)
    assert (slots[REPEATS] == [0, ceil(0.1 / SLOT) * 2**20, CLOSED, 0]).all()
