"""Channel sharing and reception: radios with queues that contend for the air, in compiled code.

Time counts in slots; the loop jumps from event to event. A packet to one radio is acknowledged after SIFS by a real
transmission, and repeated with twice the window otherwise. Without sharing, radios neither wait for nor disturb each
other. Random numbers are functions of (seed, stream, purpose, count). Events of one slot are handled in the order ends,
timeouts, starts, so that the order of radios has no effect.

Receivers lock to the first packet that they can decode (of those that begin in the same slot, the strongest); every
change of the interference begins a new part of the packet with its own bit error rate; the packet survives with the
product of all parts. A radio that transmits does not receive. Propagation delays count for arrival times, not for
sensing: a slot is longer than they are.
"""

from typing import Any

from numpy import int64, zeros

from paddock.compute.math import absolute, exp, sqrt
from paddock.compute.philox import uniforms
from paddock.compute.routine import routine
from paddock.compute.twin import shared_code
from paddock.radio.links.radios import COLUMN, NEEDED_PER
from paddock.radio.links.rows import burst_time
from paddock.radio.links.table import BURST, CALM, LOAD, SHARE, airtime_of
from paddock.radio.packets.network import find_entry, sift_down
from paddock.radio.packets.queues import (
    ATTEMPTS,
    BEACON,
    BEACONS_HEARD,
    BROADCAST,
    CLOSED,
    DAMAGED,
    ENERGY,
    FORWARDED,
    GOAL,
    HOPS,
    KIND,
    LEFT,
    LISTENS,
    LOCK,
    LOCK_BIT,
    LOCK_FLOOR,
    LOCK_POWER,
    LOCKED_AT,
    LOG_OK,
    LOSS_PURPOSE,
    LOST,
    NEVER,
    NEXT,
    NO_REPLY,
    NUMBER,
    ON_AIR,
    OPEN,
    ORIGIN,
    PART,
    PENDING,
    PHASE,
    REPEATED,
    REPEATS,
    REPLIES,
    REPLY,
    REPLY_AT,
    REPLY_TO,
    RETRIES,
    SENDS,
    SENSED,
    SENT,
    SIGNALS,
    TAKEN,
    TRANSMITTED,
    TTL,
    UNTIL,
    WAITS,
    WINDOW,
    ChannelLinks,
    Devices,
    Events,
    Ints,
    PacketTables,
    Routes,
    Rules,
    ack_slots,
    airtime,
    contend,
    deliver,
    discard_expired,
    drop_head,
    enqueue,
    frame_bits,
    packet_slots,
    pause,
    received_before,
    resume,
    schedule,
    store_state,
    usable_head,
)
from paddock.radio.physics.propagation import LIGHT
from paddock.radio.physics.signal import NEPERS, ber, log1p, split_load

SATURATED = 0.999  # of packets: with more, an error rate does not say how many bits are wrong


def slot_bits(r: Rules, d: Devices, a: PacketTables, j: int) -> float:
    """Return the bits in each slot of the transmission of j; those of its preamble are no bits that can be wrong."""
    if a.whole[REPLY, j] == REPLIES:
        return float(r.ack_bits / ack_slots(r, d, j))
    bits = frame_bits(a.queue[j, a.head[j]])
    return bits / packet_slots(r, d, j, bits)


@shared_code
def bit_survival(modulation: int, ratio: float) -> float:
    """Return the logarithm of the probability that a bit has no error at Eb/N0 (ratio)."""
    return log1p(-min(ber(modulation, ratio), 0.5))


def settle(w: Any, real: Any, e: Events, d: Devices, i: int, now: int) -> None:
    """Close the part of the packet to which i is locked that ends now; `w` and `real` are those of `PacketTables`."""
    j = w[LOCK, i]
    bits = (now - w[PART, i]) * e.pace[j]
    w[PART, i] = now
    others = real[ENERGY, i] - real[LOCK_POWER, i] if w[SIGNALS, i] > 1 else 0.0
    if others <= 1e-9 * real[LOCK_FLOOR, i]:
        real[LOG_OK, i] += bits * real[LOCK_BIT, i]
        return
    ratio = real[LOCK_POWER, i] / (real[LOCK_FLOOR, i] + others)
    bit = bit_survival(d.modulation[j], ratio * d.bandwidth[j] / d.bit_rate[j])
    real[LOG_OK, i] += bits * min(bit, real[LOCK_BIT, i])


def decodes(paths: ChannelLinks, i: int, j: int, link: int) -> bool:
    """Return whether receiver i decodes transmitter j over a link.

    Links of transmitters that are always denied the channel are down, but what they have begun to send, and their
    acknowledgements, are decoded; so are packets between bursts.
    """
    if paths.up[link] != 0:
        return True
    if paths.bursts[SHARE, i] <= 0.0 and paths.denied[REPEATS, j] != CLOSED:
        return False
    return clear_between(paths, i, link)


@shared_code
def clear_between(paths: ChannelLinks, i: int, link: int) -> bool:
    """Return whether receiver i would decode a link without bursts."""
    _, bit = reception(paths, i, link, exp(NEPERS * paths.level[link]))
    clear = 1.0 - exp(paths.table[COLUMN.bits, i] * bit) <= NEEDED_PER
    return bool(clear and paths.level[link] >= paths.table[COLUMN.sensitivity, i])


def reception(paths: ChannelLinks, i: int, link: int, power: float) -> tuple[float, float]:
    """Return floor (mW) and logarithm of a bit's survival there, of a link of some power (mW) to receiver i.

    The floor is noise, jamming and background, without bursts and collisions.
    """
    table, ratio, load = paths.table, paths.sinr[link], 0.0
    if paths.collisions.shape[1] > 0:
        ratio, load = paths.collisions[CALM, link], paths.collisions[LOAD, link]
    floor = power * exp(-NEPERS * ratio)
    lost, burst = paths.per[link], paths.bursts[SHARE, i] > 0.0
    bit = min(log1p(-min(lost, SATURATED)) + load, 0.0) / table[COLUMN.bits, i]
    if burst:
        floor = max(floor - paths.bursts[BURST, i] * paths.bursts[SHARE, i], 1e-300)
    if burst or lost >= SATURATED:
        bit = bit_survival(int(table[COLUMN.modulation, i]), power / floor * table[COLUMN.spread, i])
    return floor, bit


def find_link(paths: ChannelLinks, j: int, i: int) -> int:
    """Return the entry in the row of transmitter j of its link to receiver i, -1 if there is none."""
    entry = find_entry(paths.first[j], paths.last[j], paths.entries["peer"], i)
    return entry if entry >= 0 and paths.entries["link"][entry] >= 0 else -1


def add_power(r: Rules, d: Devices, paths: ChannelLinks, a: PacketTables, e: Events, j: int, now: int) -> None:
    """Add a transmission that begins to what others receive and sense."""
    peers, powers = paths.entries["peer"], paths.entries["power"]
    w, real = a.whole, a.real
    for entry in range(paths.first[j], paths.last[j]):
        i: Any = int64(peers[entry])
        power = powers[entry]
        if w[LOCK, i] >= 0:
            settle(w, real, e, d, i, now)
        real[ENERGY, i] += absolute(power)
        w[SIGNALS, i] += 1
        if power < 0.0:
            w[SENSED, i] += 1
            if w[SENSED, i] == 1 and w[PHASE, i] == WAITS:
                pause(paths.denied, w, e, i, now)


def lock_receivers(paths: ChannelLinks, a: PacketTables, j: int, now: int) -> None:
    """Lock listening radios to a transmission that begins, unless they are locked to another or to a stronger one."""
    peers, powers, links = paths.entries["peer"], paths.entries["power"], paths.entries["link"]
    w, real = a.whole, a.real
    for entry in range(paths.first[j], paths.last[j]):
        i: Any = int64(peers[entry])
        link: Any = int64(links[entry])
        power = absolute(powers[entry])
        if link < 0 or w[PHASE, i] == SENDS or w[REPLY, i] == REPLIES:
            continue
        free = w[LOCK, i] < 0 or (w[LOCKED_AT, i] == now and power > real[LOCK_POWER, i])
        if free and decodes(paths, i, j, link):
            floor, bit = reception(paths, i, link, power)
            w[LOCK, i], w[LOCKED_AT, i], w[PART, i] = j, now, now
            real[LOCK_POWER, i], real[LOCK_FLOOR, i] = power, floor
            real[LOCK_BIT, i], real[LOG_OK, i] = bit, 0.0


@shared_code
def survival(
    paths: ChannelLinks, d: Devices, ends: tuple[int, int, int], parts: tuple[float, float, float],
    times: tuple[float, float, float], pace: float
) -> float:  # fmt: skip
    """Return the probability that bursts and radios with a duty miss a packet.

    ends: transmitter, receiver and their link
    parts: power and floor (mW), and logarithm of a bit's survival, as `reception` returns it
    times: begin, end and airtime of the packet, s
    pace: bits per s
    """
    j, i, link = ends
    power, floor, bit = parts
    begin, end, airtime = times
    free = 1.0
    if paths.load.size > 0:
        growing, usual = paths.table[COLUMN.growing, i], airtime_of(paths.table, i)
        load, gain = split_load(paths.load[link], paths.duty[link], growing, usual)
        free = exp(-(load + gain * airtime))
    if paths.bursts[SHARE, i] > 0.0:
        met = burst_time(paths.bursts, i, begin, end)
        ratio = power / (floor + paths.bursts[BURST, i]) * d.bandwidth[j] / d.bit_rate[j]
        worse = min(bit_survival(d.modulation[j], ratio) - bit, 0.0)
        free *= exp(met * pace * worse) if met > 0.0 else 1.0
    return free


def survives(seed: int, own: int, other: int, sent: int, chance: float) -> bool:
    """Return whether a packet survives, by the draw of its transmission on this link.

    `own` and `other` are the streams of receiver and transmitter, which has ended `sent` transmissions.
    """
    mix = (own ^ other) + 3 * (own & other)  # the same for both directions
    u, _ = uniforms(seed, mix, LOSS_PURPOSE, 2 * sent + (1 if other < own else 0))
    return u < chance


def remove_power(r: Rules, d: Devices, paths: ChannelLinks, a: PacketTables, e: Events, j: int, now: int) -> int:
    """Remove a transmission that ends; write the radios that received it, and return how many."""
    peers, powers, links = paths.entries["peer"], paths.entries["power"], paths.entries["link"]
    w, real, received = a.whole, a.real, 0
    own, sent, pace, plain = d.streams[j], w[SENT, j], e.pace[j] / r.slot, paths.load.size == 0
    for entry in range(paths.first[j], paths.last[j]):
        i: Any = int64(peers[entry])
        power = powers[entry]
        if w[LOCK, i] >= 0:
            settle(w, real, e, d, i, now)
            if w[LOCK, i] == j:
                w[LOCK, i] = -1
                chance = exp(real[LOG_OK, i])
                if not (plain and paths.bursts[SHARE, i] <= 0.0):
                    link: Any = int64(links[entry])
                    begin = w[LOCKED_AT, i]
                    parts = real[LOCK_POWER, i], real[LOCK_FLOOR, i], real[LOCK_BIT, i]
                    times = begin * r.slot, now * r.slot, (now - begin) * r.slot
                    chance *= survival(paths, d, (j, i, link), parts, times, pace)
                if survives(r.seed, d.streams[i], own, sent, chance):
                    e.received[received] = i
                    received += 1
                else:
                    a.counts[DAMAGED, i] += 1
        real[ENERGY, i] -= absolute(power)
        w[SIGNALS, i] -= 1
        if w[SIGNALS, i] == 0:
            real[ENERGY, i] = 0.0  # no remainder of rounding
        if power < 0.0:
            w[SENSED, i] -= 1
            if w[SENSED, i] == 0 and w[PHASE, i] == WAITS:
                resume(r.difs, paths.denied, w, e, i, now)
    return received


@shared_code
def survives_alone(
    r: Rules, d: Devices, paths: ChannelLinks, a: PacketTables, ends: tuple[int, int, int], bits: float, end: float
) -> bool:
    """Return whether a packet of some bits reaches its receiver without others on the channel.

    `ends` are transmitter, receiver and entry of the row of the transmitter. It ends at a time (s).
    """
    powers, links = paths.entries["power"], paths.entries["link"]
    j, i, entry = ends
    link: Any = int64(links[entry])
    power, airtime = absolute(powers[entry]), bits / d.bit_rate[j]
    floor, bit = reception(paths, i, link, power)
    chance = exp(bits * bit)
    if paths.load.size > 0 or paths.bursts[SHARE, i] > 0.0:
        times = end - airtime, end, airtime
        chance *= survival(paths, d, (j, i, link), (power, floor, bit), times, d.bit_rate[j])
    return survives(r.seed, d.streams[i], d.streams[j], a.whole[SENT, j], chance)


@shared_code
def received_alone(
    r: Rules, d: Devices, paths: ChannelLinks, a: PacketTables, e: Events, j: int, bits: float, end: float
) -> int:
    """Write the receivers of a transmission that shares the channel with no other; return how many.

    It ends at a time (s).
    """
    peers, links = paths.entries["peer"], paths.entries["link"]
    received = 0
    for entry in range(paths.first[j], paths.last[j]):
        i: Any = int64(peers[entry])
        link: Any = int64(links[entry])
        if link >= 0 and decodes(paths, i, j, link):
            if survives_alone(r, d, paths, a, (j, i, entry), bits, end):
                e.received[received] = i
                received += 1
            else:
                a.counts[DAMAGED, i] += 1
    return received


def _close_parts(r: Rules, d: Devices, a: PacketTables, e: Events, now: int) -> None:
    """Close the parts of all packets on the air, before the links change."""
    note_paces(r, d, a, e)
    for i in range(a.whole.shape[1]):
        if a.whole[LOCK, i] >= 0:
            settle(a.whole, a.real, e, d, i, now)


def note_paces(r: Rules, d: Devices, a: PacketTables, e: Events) -> None:
    """Note how many bits are in each slot of what radios transmit."""
    w = a.whole
    for j in range(w.shape[1]):
        if w[PHASE, j] == SENDS or w[REPLY, j] == REPLIES:
            e.pace[j] = slot_bits(r, d, a, j)


def _relink(r: Rules, paths: ChannelLinks, denied: Any, a: PacketTables, e: Events, now: int) -> None:
    """Set what radios receive and sense from those that transmit, after the links have changed.

    `denied` is that of the links before. Radios under jammers, before or now, begin with DIFS again.
    """
    peers, powers, links = paths.entries["peer"], paths.entries["power"], paths.entries["link"]
    w, real, n = a.whole, a.real, a.whole.shape[1]
    before = w[SENSED].copy()
    for i in range(n):
        w[SIGNALS, i], real[ENERGY, i] = 0, 0.0
        w[SENSED, i] = 1 if w[REPLY, i] != NO_REPLY else 0
        e.node[i] = -1
    e.size[0] = 0
    for j in range(n):
        if (w[PHASE, j] == SENDS or w[REPLY, j] == REPLIES) and r.shared:
            for entry in range(paths.first[j], paths.last[j]):
                i = peers[entry]
                real[ENERGY, i] += absolute(powers[entry])
                w[SIGNALS, i] += 1
                w[SENSED, i] += 1 if powers[entry] < 0.0 else 0
    for i in range(n):
        j = w[LOCK, i]
        if j < 0:
            continue
        entry = find_link(paths, j, i)
        link: Any = int64(links[entry]) if entry >= 0 else -1
        if link >= 0 and decodes(paths, i, j, link):
            power = absolute(powers[entry])
            real[LOCK_POWER, i] = power
            real[LOCK_FLOOR, i], real[LOCK_BIT, i] = reception(paths, i, link, power)
        else:
            w[LOCK, i] = -1
            a.counts[DAMAGED, i] += 1
    for i in range(n):
        jammed = denied[REPEATS, i] != OPEN or paths.denied[REPEATS, i] != OPEN
        if before[i] == 0 and (jammed or w[SENSED, i] > 0):
            pause(denied, w, e, i, now)
        if jammed:
            discard_expired(a, e, i, now)
        if w[SENSED, i] == 0 and (jammed or before[i] > 0):
            resume(r.difs, paths.denied, w, e, i, now)


close_parts, relink_radios = routine(_close_parts), routine(_relink, inline=True)


@shared_code
def receive_packet(r: Rules, d: Devices, a: PacketTables, e: Events, i: int, j: int, arrived: float, now: int) -> bool:
    """Handle the packet of j at a radio that received it at a time (s); return whether it is acknowledged."""
    at = a.head[j]
    packet, values = a.queue[j, at], a.queue_real[j, at]
    single = packet[GOAL] != BROADCAST
    if single and packet[NEXT] != i:
        return False
    if not single and packet[ORIGIN] >= 0 and d.group[packet[ORIGIN]] == d.group[i]:
        return False
    if single and (a.whole[PHASE, i] == LISTENS or a.whole[REPLY, i] != NO_REPLY):
        return False  # it awaits or sends a reply, and cannot acknowledge
    if received_before(a, i, packet[NUMBER]):
        return bool(single)
    copy = packet.copy()
    copy[HOPS] -= 1
    copy[TAKEN] += 1
    copy[ATTEMPTS] = 0
    if not single or packet[GOAL] == i:
        deliver(a, i, copy, values, arrived)
    if not single:
        spread(r, d, a, e, i, copy, values, now)
    elif packet[GOAL] != i and copy[HOPS] <= 0:
        a.counts[TTL, i] += 1
    elif packet[GOAL] != i:
        a.counts[FORWARDED, i] += 1
        enqueue(r, a, e, i, copy, values, now)
    return bool(single)


def spread(r: Rules, d: Devices, a: PacketTables, e: Events, i: int, packet: Any, values: Any, now: int) -> None:
    """Let all radios of the vehicle of i, which has received a broadcast, know it; they repeat it if it has hops left.

    Radios of one vehicle have numbers that follow each other.
    """
    k = i
    while k > 0 and d.group[k - 1] == d.group[i]:
        k -= 1
    while k < len(d.group) and d.group[k] == d.group[i]:
        new = k == i or not received_before(a, k, packet[NUMBER])
        if new and packet[HOPS] > 0:
            a.counts[FORWARDED, k] += 1
            enqueue(r, a, e, k, packet, values, now)
        k += 1


@shared_code
def succeed(
    r: Rules, d: Devices, paths: ChannelLinks, routes: Routes, a: PacketTables, e: Events, j: int, now: int
) -> None:
    """Remove the packet that was sent; continue with the next."""
    drop_head(a, j)
    a.whole[WINDOW, j] = r.window
    contend(r, d, paths.denied, routes, a, e, j, now)


@shared_code
def fail(
    r: Rules, d: Devices, paths: ChannelLinks, routes: Routes, a: PacketTables, e: Events, j: int, now: int
) -> None:
    """Repeat a packet that was not acknowledged, with twice the window, or give it up."""
    packet = a.queue[j, a.head[j]]
    if packet[ATTEMPTS] > packet[RETRIES]:
        a.counts[LOST, j] += 1
        succeed(r, d, paths, routes, a, e, j, now)
        return
    a.counts[REPEATED, j] += 1
    a.whole[WINDOW, j] = min(2 * a.whole[WINDOW, j], r.window_most)
    contend(r, d, paths.denied, routes, a, e, j, now)


def end_packet(
    r: Rules, d: Devices, paths: ChannelLinks, routes: Routes, a: PacketTables, e: Events, j: int, now: int
) -> None:
    """End the transmission of a packet: receivers handle it; the sender awaits the reply or continues."""
    w, at = a.whole, a.head[j]
    packet, values = a.queue[j, at], a.queue_real[j, at]
    bits, single = frame_bits(packet), packet[GOAL] != BROADCAST
    ended = (now - packet_slots(r, d, j, bits)) * r.slot + airtime(d, j, bits)
    w[PHASE, j], w[UNTIL, j] = LISTENS, NEVER  # no longer transmitting; decided below
    count = remove_power(r, d, paths, a, e, j, now) if r.shared else received_alone(r, d, paths, a, e, j, bits, ended)
    acknowledged = False
    if packet[KIND] == BEACON:
        for k in range(count):
            a.counts[BEACONS_HEARD, e.received[k]] += 1
            store_state(a.heard, a.heard_real, e.ages, e.received[k], packet[ORIGIN], values)
        count = 0
    for k in range(count):
        i = e.received[k]
        if receive_packet(r, d, a, e, i, j, ended + delay(paths.position, j, i), now):
            if r.shared:
                w[REPLY, i], w[REPLY_AT, i], w[REPLY_TO, i] = PENDING, now + r.sifs, j
                w[SENSED, i] += 1
                if w[SENSED, i] == 1:
                    pause(paths.denied, w, e, i, now)
                schedule(e, w, i)
            else:
                back = find_link(paths, i, j)
                w[SENT, i] += 1
                acknowledged = back >= 0 and survives_alone(r, d, paths, a, (i, j, back), r.ack_bits, ended)
    w[SENT, j] += 1
    if not single or acknowledged:
        succeed(r, d, paths, routes, a, e, j, now)
    elif not r.shared:
        fail(r, d, paths, routes, a, e, j, now)
    else:
        w[UNTIL, j] = now + r.sifs + ack_slots(r, d, packet[NEXT]) + 1
        schedule(e, w, j)


def delay(position: Any, j: int, i: int) -> float:
    """Return the time (s) that a signal takes between two radios at positions (3, n), m."""
    dx, dy, dz = position[0, i] - position[0, j], position[1, i] - position[1, j], position[2, i] - position[2, j]
    return float(sqrt(dx * dx + dy * dy + dz * dz) / LIGHT)


def end_reply(
    r: Rules, d: Devices, paths: ChannelLinks, routes: Routes, a: PacketTables, e: Events, i: int, now: int
) -> None:
    """End an acknowledgement: the sender of the packet, if it received it, is done with the packet."""
    to = a.whole[REPLY_TO, i]
    count = remove_power(r, d, paths, a, e, i, now)
    a.whole[REPLY, i], a.whole[REPLY_AT, i], a.whole[REPLY_TO, i] = NO_REPLY, NEVER, -1
    a.whole[SENT, i] += 1
    a.whole[SENSED, i] -= 1
    schedule(e, a.whole, i)
    if a.whole[SENSED, i] == 0:
        resume(r.difs, paths.denied, a.whole, e, i, now)
    for k in range(count):
        awaited = e.received[k] == to and a.whole[PHASE, to] == LISTENS
        if awaited and a.queue[to, a.head[to], NEXT] == i:
            succeed(r, d, paths, routes, a, e, to, now)


def begin(
    r: Rules, d: Devices, paths: ChannelLinks, routes: Routes, a: PacketTables, e: Events, j: int, now: int
) -> bool:
    """Begin to transmit what is due: a reply or a packet. Return whether it transmits."""
    w = a.whole
    if w[REPLY, j] == PENDING and w[REPLY_AT, j] == now:
        w[REPLY, j], w[REPLY_AT, j] = REPLIES, now + ack_slots(r, d, j)
        a.real[ON_AIR, j] += (w[REPLY_AT, j] - now) * r.slot
    elif w[PHASE, j] == WAITS and w[UNTIL, j] == now and w[LEFT, j] < 0:
        contend(r, d, paths.denied, routes, a, e, j, now)  # a packet has come to an idle radio
        return False
    elif w[PHASE, j] == WAITS and w[UNTIL, j] == now:
        if not usable_head(routes, a, j, now):
            contend(r, d, paths.denied, routes, a, e, j, now)
            return False
        packet = a.queue[j, a.head[j]]
        if packet[NEXT] != BROADCAST and d.group[packet[NEXT]] == d.group[j]:
            contend(r, d, paths.denied, routes, a, e, j, now)
            return False
        packet[ATTEMPTS] += 1
        w[PHASE, j] = SENDS
        w[UNTIL, j] = now + packet_slots(r, d, j, frame_bits(packet))
        a.real[ON_AIR, j] += (w[UNTIL, j] - now) * r.slot
    else:
        return False
    a.counts[TRANSMITTED, j] += 1
    w[LOCK, j] = -1  # what it was receiving is lost
    e.pace[j] = slot_bits(r, d, a, j)
    schedule(e, w, j)
    return True


def _run(until: int, r: Rules, d: Devices, paths: ChannelLinks, routes: Routes, a: PacketTables, e: Events) -> None:
    """Handle all events up to a slot, inclusive."""
    w = a.whole
    e.size[0] = 0
    note_paces(r, d, a, e)
    for i in range(w.shape[1]):
        e.node[i] = -1
    for i in range(w.shape[1]):
        if w[UNTIL, i] < NEVER or w[REPLY_AT, i] < NEVER:
            schedule(e, w, i)
    while e.size[0] > 0 and e.key[e.heap[0]] <= until:
        now, count = e.key[e.heap[0]], 0
        while e.size[0] > 0 and e.key[e.heap[0]] == now:
            i = e.heap[0]
            e.due[count] = i
            count += 1
            e.size[0] -= 1
            e.node[i] = -1
            if e.size[0] > 0:
                e.heap[0] = e.heap[e.size[0]]
                e.node[e.heap[0]] = 0
                sift_down(e.heap, e.node, e.key, 0, e.size[0])
        due = e.due[:count]
        due.sort()
        for i in due:
            if w[REPLY, i] == REPLIES and w[REPLY_AT, i] == now:
                end_reply(r, d, paths, routes, a, e, i, now)
            if w[PHASE, i] == SENDS and w[UNTIL, i] == now:
                end_packet(r, d, paths, routes, a, e, i, now)
        for i in due:
            if w[PHASE, i] == LISTENS and w[UNTIL, i] == now:
                fail(r, d, paths, routes, a, e, i, now)
        starting = 0
        for k in range(count):
            i = due[k]
            if begin(r, d, paths, routes, a, e, i, now):
                due[starting] = i
                starting += 1
            else:
                if w[UNTIL, i] <= now:  # in no state of a run: an event that nothing handles must not repeat
                    w[UNTIL, i] = NEVER
                if w[REPLY_AT, i] <= now:
                    w[REPLY_AT, i] = NEVER
                schedule(e, w, i)
        for k in range(starting if r.shared else 0):
            add_power(r, d, paths, a, e, due[k], now)
        for k in range(starting if r.shared else 0):
            lock_receivers(paths, a, due[k], now)


def _post(radios: Any, packets: Any, values: Any, slots: Any, r: Rules, a: PacketTables, e: Events) -> Ints:
    """Put packets (k, PACKET_WHOLE) into the queues of radios (k,); return 1 for those that were taken.

    An idle radio contends after the slot (k,) of its packet.
    """
    queued = zeros(len(radios), int64)
    for i in range(a.whole.shape[1]):
        e.node[i] = -1
    e.size[0] = 0
    for k in range(len(radios)):
        queued[k] = enqueue(r, a, e, radios[k], packets[k], values[k], slots[k])
    return queued


run_channel, post_packets = routine(_run, inline=True), routine(_post)
