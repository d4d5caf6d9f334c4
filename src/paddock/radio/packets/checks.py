"""Messages of a saved state: what no run can have left is refused, before compiled code works on it."""

from typing import Any

import numpy as np

from paddock.errors import PaddockError
from paddock.radio.packets import layout as c
from paddock.radio.packets.layout import Air, Devices, Ints, Rules
from paddock.radio.packets.queues import HORIZON, LONGEST_WAIT, OPEN, REPEATS
from paddock.radio.settings import MOST_BITS, MOST_HOPS

LATEST = 1.0  # s that a radio may wait before it contends with a packet
MOST_COUNTED = 1 << 53
LONGEST_AIRTIME = 1e12  # s
SOON = 1.0  # s: arrivals after the present, by the rest of a slot and the way


def check_radios(air: Air, n: int, number: int, served: int, time: float) -> None:
    """Raise PaddockError unless the numbers of radios are those of n radios at a time (s).

    `number` messages and `served` packets of services have been sent.
    """
    w, real = air.whole, air.real
    ranges = {
        c.PHASE: (c.IDLE, c.LISTENS),
        c.UNTIL: (0, c.NEVER),
        c.LEFT: (-1, 1 << 21),
        c.WINDOW: (1, 1 << 20),
        c.REPLY: (c.NO_REPLY, c.REPLIES),
        c.REPLY_AT: (0, c.NEVER),
        c.REPLY_TO: (-1, n - 1),
        c.LOCK: (-1, n - 1),
        c.LOCKED_AT: (0, c.NEVER),
        c.PART: (0, c.NEVER),
        c.SIGNALS: (0, n),
        c.HEARD: (0, n + 1),
        c.DRAWS: (0, 1 << 47),
        c.SENT: (0, 1 << 46),
        c.HEAD: (0, 0),
        c.COUNT: (0, air.queue.shape[1]),
        c.MAILS: (0, MOST_COUNTED),
        c.SEEN: (0, MOST_COUNTED),
    }
    good = all(((w[row] >= low) & (w[row] <= high)).all() for row, (low, high) in ranges.items())
    good = good and bool(np.isfinite(real).all() and (real[c.LOG_OK] <= 0.0).all() and (real[c.LOCK_BIT] <= 0.0).all())
    good = good and bool(((real[c.ON_AIR] >= 0.0) & (real[c.ON_AIR] <= LONGEST_AIRTIME)).all())
    good = good and _within(air.counts, 0, MOST_COUNTED) and _within(air.seen, -served, number)
    ages = air.heard_real[:, :, c.HEARD_AGE][air.heard >= 0]
    good = good and _within(air.heard, -1, n - 1) and bool(np.isfinite(air.heard_real).all()) and _past(ages, time)
    if good:
        sends, locked = (w[c.PHASE] == c.SENDS) | (w[c.REPLY] == c.REPLIES), w[c.LOCK] >= 0
        good = bool(((w[c.PHASE] == c.IDLE) == (w[c.COUNT] == 0)).all())
        good = good and bool(sends[w[c.LOCK][locked]].all()) and not (w[c.LOCK] == np.arange(n)).any()
        good = good and bool(((w[c.REPLY_TO] >= 0) == (w[c.REPLY] != c.NO_REPLY)).all())
    if not good:
        raise PaddockError("saved messages: the state of a radio is not valid")


def check_packets(packets: list[Any], n: int, rules: Rules, numbers: tuple[int, int], time: float, latest: int) -> None:
    """Raise PaddockError unless queued packets and mails are of n radios and a time (s).

    `numbers` of messages and of packets of services have been sent; `latest` is the last slot at which one can expire.
    """
    queue, real, mail, mail_real = packets
    number, served = numbers
    ranges = {
        c.NUMBER: (-served, number),
        c.ORIGIN: (-1, n - 1),
        c.GOAL: (-1, n - 1),
        c.HOPS: (0, MOST_HOPS),
        c.BITS: (0, MOST_BITS),
        c.ATTEMPTS: (0, rules.retries + 1),
        c.EXPIRES: (0, latest),
        c.KIND: (c.DATA, c.MISSION),
        c.NEXT: (-1, n - 1),
        c.TAKEN: (0, MOST_HOPS),
        c.NUMBERS: (0, c.VALUE_COUNT),
    }
    mails = {
        c.MAIL_NUMBER: (1, number),
        c.MAIL_ORIGIN: (-1, n - 1),
        c.MAIL_BITS: (0, MOST_BITS),
        c.MAIL_HOPS: (0, MOST_HOPS),
        c.MAIL_NUMBERS: (0, c.VALUE_COUNT),
    }
    good = all(_within(queue[:, at], low, high) for at, (low, high) in ranges.items())
    good = good and all(_within(mail[:, at], low, high) for at, (low, high) in mails.items())
    good = good and bool(np.isfinite(real).all() and np.isfinite(mail_real).all())
    kind = queue[:, c.KIND]
    numbered = np.sign(queue[:, c.NUMBER]) == np.select([kind == c.DATA, kind == c.BEACON], [1, 0], -1)
    good = good and bool((numbered & ((kind < c.COMMAND) | (queue[:, c.GOAL] >= 0))).all())
    good = good and bool(((queue[:, c.ORIGIN] >= 0) | (kind == c.DATA)).all())  # its sender may have been removed
    good = good and _past(real[:, c.SENT_TIME], time) and _past(mail_real[:, c.MAIL_SENT], time)
    if not good or not _past(mail_real[:, c.MAIL_ARRIVED], time + SOON):
        raise PaddockError("saved messages: a packet is not valid")


def check_times(air: Air, rules: Rules, devices: Devices, denied: Ints, ran: tuple[int, int]) -> None:
    """Raise PaddockError unless the next events of radios follow the slots up to which the channel can have run.

    `denied` is that of the present links.
    """
    w, (earliest, now), first = air.whole, ran, air.queue[:, 0]
    phase, until, due = w[c.PHASE], w[c.UNTIL], w[c.REPLY_AT]
    on_air = (phase == c.SENDS) | (phase == c.LISTENS)
    taken = devices.overhead + (rules.header_bits + first[:, c.BITS]) / devices.bit_rate
    replies = _slots(devices.overhead + rules.ack_bits / devices.bit_rate, rules.slot)
    longest = max(int(replies.max(initial=1)), 1) + rules.sifs + 2
    later = int(_slots(LATEST, rules.slot)) + 1
    counted = np.where(denied[REPEATS] == OPEN, np.maximum(w[c.LEFT], 0), HORIZON)  # with bursts, over many slots
    waits = np.where(w[c.LEFT] < 0, later, rules.difs + counted) + 1
    last = now + np.select([phase == c.SENDS, phase == c.LISTENS], [_slots(taken, rules.slot) + 1, longest], waits)
    pauses = (phase == c.WAITS) & (until == c.NEVER) & (w[c.LEFT] >= 0)
    good = np.where(phase == c.IDLE, until == c.NEVER, pauses | ((until > earliest) & (until <= last)))
    good &= np.where(w[c.REPLY] == c.NO_REPLY, due == c.NEVER, (due > earliest) & (due <= now + longest))
    longest_count = rules.window_most + (LONGEST_WAIT if devices.duty.any() else 0)
    good &= (w[c.LEFT] <= longest_count) & (w[c.WINDOW] <= rules.window_most)
    good &= (w[c.LOCKED_AT] <= now) & (w[c.PART] <= now)
    good &= ~on_air | ((first[:, c.NEXT] >= 0) == (first[:, c.GOAL] >= 0))  # where a packet on the air goes is known
    if not good.all():
        raise PaddockError("saved messages: a radio has an event at a time that is not valid")


def _slots(seconds: Any, slot: float) -> Any:
    return np.maximum(np.ceil(seconds / slot - 1e-9), 1.0).astype(np.int64)


def _within(values: Any, low: int, high: int) -> bool:
    return bool(((values >= low) & (values <= high)).all())


def _past(times: Any, time: float) -> bool:
    return bool(((times >= 0.0) & (times <= time + 1e-6)).all())
