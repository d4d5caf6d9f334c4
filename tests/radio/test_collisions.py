"""Packets that meet transmissions of radios with a duty: against simulated traffic, a pulsed jammer, and limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddock
from paddock.radio.links.radios import COLUMN, Floats
from paddock.radio.links.table import CALM
from paddock.radio.physics.signal import duty_load, duty_pace

TYPE = {"bandwidth": 2e6, "bit_rate": 4e6}
AIRTIME = 8192 / 4e6  # s, of a packet


def loaded(duty: float, count: int = 9, **more: Any) -> Any:
    """Return a grid of points 40 m apart with a duty."""
    fleet = {"name": "p", "count": count, "model": "point", "spawn": {"grid": {"spacing": 40, "z": 20}}, "radio": "t"}
    radio = {"types": {"t": {**TYPE, "duty": duty}}, **more}
    return paddock.load({"clock": {"rate": 100}, "radio": radio, "vehicles": [fleet]})


def simulated(random: Any, duties: Floats, airtimes: Floats, airtime: float, packets: int) -> float:
    """Return the share of packets, of an airtime (s), that overlap a transmission of one of several interferers.

    Each transmits for its airtime and is silent for an exponential time, on one time line for all packets.
    """
    spacing = 20.0 * airtime
    begins = np.arange(packets) * spacing + random.uniform(0.0, spacing - airtime, packets)
    hit = np.zeros(packets, bool)
    for duty, length in zip(duties, airtimes, strict=True):
        cycles = int(1.2 * packets * spacing * duty / length) + 100
        silences = random.exponential(length * (1.0 - duty) / duty, cycles)
        starts = np.cumsum(silences + length) - length - random.uniform(0.0, length / duty)
        assert starts[-1] > begins[-1] + airtime
        nearest = np.searchsorted(starts, begins + airtime) - 1  # the last that begins before the packet ends
        hit |= (nearest >= 0) & (starts[nearest] + length > begins)
    return float(hit.mean())


@pytest.mark.parametrize(("count", "duty", "lengths"), [(1, 0.3, (1, 1)), (8, 0.02, (1, 1)), (20, 0.01, (0.2, 3))])
@pytest.mark.parametrize("airtime", [0.5e-3, 2e-3, 10e-3])
def test_the_share_of_packets_that_collide(
    count: int, duty: float, lengths: tuple[float, float], airtime: float
) -> None:
    """Interferers of equal and of different airtimes; short and long packets."""
    random = np.random.default_rng(3)
    airtimes = AIRTIME * random.uniform(*lengths, count)
    duties = duty * random.uniform(0.5, 1.5, count)
    wanted = simulated(random, duties, airtimes, airtime, 40_000)
    load = sum(duty_load(d) + airtime * duty_pace(d, length) for d, length in zip(duties, airtimes, strict=True))
    assert 1.0 - np.exp(-load) == pytest.approx(wanted, abs=0.012)


@pytest.mark.parametrize("duty", [0.002, 0.005, 0.02])
def test_links_of_a_network_with_little_traffic_are_up(duty: float) -> None:
    """Nine radios that all hear each other: a packet is lost if it meets one of seven others, or of its receiver."""
    with loaded(duty) as sim:
        links = sim.radio.links()
    assert len(links.up) == 72 and links.up.all()
    lost = simulated(np.random.default_rng(1), np.full(8, duty), np.full(8, AIRTIME), AIRTIME, 40_000)
    assert links.per == pytest.approx(np.full(72, lost), abs=0.012)
    assert links.per == pytest.approx(1.0 - (1.0 - duty) ** 8 * np.exp(-8.0 * duty / (1.0 - duty)), abs=1e-6)


def test_traffic_that_destroys_most_packets_ends_links() -> None:
    """Half of the packets meet one of seven others, or of their receiver, at a duty of 4.2 %."""
    lost = []
    for duty in (0.040, 0.045):
        with loaded(duty) as sim:
            lost.append(int(sim.radio.links().up.sum()))
    assert lost == [72, 0]


def test_radios_that_are_always_on_add_to_the_noise() -> None:
    """Their mean power is in SINR, from a duty of a half on also without what packets collide with."""
    with loaded(1.0, count=3) as sim:
        links = sim.radio.links()
        assert links.collisions[CALM] == pytest.approx(links.sinr, abs=1e-8)
        table = sim.radio.radios.table
        power = 10.0 ** (links.power / 10.0)
        rows = np.repeat(np.arange(3), 2)
        other = power[np.arange(6) ^ 1]  # the one of two that is not the transmitter
        assert links.sinr == pytest.approx(10.0 * np.log10(power / (other + table[COLUMN.noise, rows])), abs=1e-8)
        assert (links.per > 0.999).all() and not links.up.any()


@pytest.mark.parametrize("duty", [0.1, 0.25])
def test_a_radio_does_not_receive_while_it_transmits(duty: float) -> None:
    """(1 - d) exp(-t d / ((1 - d) T)) of packets arrive, of the length T of its own and of a tenth of it."""
    stations = [{"name": "a", "position": [0, 0, 10], "radio": "t"}, interferer(0, 0.0, duty=duty)]
    messages = {"sharing": "aloha", "header_bits": 0, "overhead": 0, "slot": 1e-5}
    radio = {"types": {"t": TYPE}, "stations": stations, "messages": messages}
    with paddock.load({"clock": {"rate": 100}, "radio": radio, "vehicles": [{"name": "v", "model": "point"}]}) as sim:
        lost = simulated(np.random.default_rng(1), np.array([duty]), np.array([AIRTIME]), AIRTIME, 40_000)
        assert sim.radio.link("a", "i0").per == pytest.approx(lost, abs=0.012)
        assert sim.radio.link("i0", "a").per < 1e-6  # the other direction is free
        for bits in (8192, 819):
            before = sim.radio.traffic()["delivered"]
            for _ in range(600):
                sim.radio.send("a", "*", b"", bits=bits)
                sim.step(1)
            sim.step(5)
            arrived = (sim.radio.traffic()["delivered"] - before) / 600
            expected = (1.0 - duty) * np.exp(-bits / 8192 * duty / (1.0 - duty))
            assert arrived == pytest.approx(expected, abs=0.06)  # three deviations


@pytest.mark.parametrize("duty", [0.4, 0.9, 1.0])
def test_a_radio_that_transmits_most_of_the_time_has_no_links(duty: float) -> None:
    radio = {"types": {"t": TYPE}, "stations": [interferer(0, 0.0, duty=duty), interferer(1, 50.0)]}
    with paddock.load({"clock": {"rate": 100}, "radio": radio, "vehicles": [{"name": "v", "model": "point"}]}) as sim:
        link = sim.radio.link("i1", "i0")
        expected = 1.0 if duty == 1.0 else 1.0 - (1.0 - duty) * np.exp(-duty / (1.0 - duty))
        assert link.collided == pytest.approx(expected, abs=1e-9) and (link.up, link.per) == (False, 1.0)
        assert sim.radio.link("i0", "i1").up
        blob, known = sim.save(), sim.state_hash()
        sim.restore(blob)
        assert sim.state_hash() == known


def pair(interferers: list[dict[str, Any]], jammers: list[dict[str, Any]]) -> float:
    """Return the packet error rate between two stations 100 m apart, among others."""
    stations = [{"name": name, "position": [x, 0, 10], "radio": "t"} for name, x in (("a", 0), ("b", 100))]
    radio = {"types": {"t": TYPE}, "stations": [*stations, *interferers], "jammers": jammers}
    with paddock.load({"clock": {"rate": 100}, "radio": radio, "vehicles": [{"name": "v", "model": "point"}]}) as sim:
        links, at, of = sim.radio.links(), sim.radio.number("b"), sim.radio.number("a")
        row = slice(links.start[at], links.start[at + 1])
        per = float(links.per[row][links.peer[row] == of][0])
        assert sim.radio.link("a", "b").per == pytest.approx(per, abs=1e-5)
        return per


def interferer(k: int, distance: float, **changes: Any) -> dict[str, Any]:
    return {"name": f"i{k}", "position": [100, distance, 10], "radio": {"type": "t", **changes}}


def test_eight_radios_of_2_percent_are_like_a_jammer_of_16() -> None:
    """The jammer's pulses have the length of a packet, and nearly no chance to overlap each other."""
    radios = pair([interferer(k, 50.0 + k, duty=0.02) for k in range(8)], [])
    pulses = {"name": "j", "kind": "pulsed", "position": [100, 50, 10], "power": 20, "bandwidth": 2e6}
    jammer = pair([], [{**pulses, "period": AIRTIME / 0.16, "duty": 0.16}])
    assert jammer == pytest.approx(0.32, abs=0.01)
    assert radios == pytest.approx(1.0 - np.exp(-0.32), abs=0.01)  # 0.27: some of them overlap


def test_more_interference_never_helps() -> None:
    """Weak radios that add up to noise stay noise when a strong one is on now and then."""
    weak = [interferer(k, 500.0 + k, duty=0.4, power=24.0) for k in range(12)]
    alone = pair(weak, [])
    assert alone > 0.9
    assert pair([*weak, interferer(99, 5.0, duty=0.001)], []) >= alone


def test_jammers_and_collisions_are_independent() -> None:
    pulses = {"name": "j", "kind": "pulsed", "position": [100, 50, 10], "power": 40, "period": 0.05, "duty": 0.02}
    others = [interferer(k, 50.0 + k, duty=0.01) for k in range(4)]
    both, jammed, collided = pair(others, [pulses]), pair([], [pulses]), pair(others, [])
    assert jammed == pytest.approx(0.02 + AIRTIME / 0.05, abs=1e-3)
    assert 1.0 - both == pytest.approx((1.0 - jammed) * (1.0 - collided), abs=1e-6)


@pytest.mark.parametrize("messages", [{"sharing": "aloha"}, {"sharing": "none"}, {"sense": -50.0}, {}])
def test_messages_collide_like_packets_of_links(messages: dict[str, Any]) -> None:
    """A broadcast of 8192 bits, and one of 819: the share that arrives is that of simulated traffic.

    With CSMA nothing collides with transmissions of radios that the sender senses.
    """
    stations = [{"name": name, "position": [x, 0, 10], "radio": "t"} for name, x in (("a", 0), ("b", 100))]
    others = [interferer(k, 50.0 + k, duty=0.03) for k in range(8)]
    fields = {"header_bits": 0, "overhead": 0, "mailbox": 4096, "slot": 1e-5, **messages}
    radio = {"types": {"t": TYPE}, "stations": [*stations, *others], "messages": fields}
    with paddock.load({"clock": {"rate": 100}, "radio": radio, "vehicles": [{"name": "v", "model": "point"}]}) as sim:
        for bits in (8192, 819):
            before = len(sim.radio.received("b"))
            for _ in range(600):
                sim.radio.send("a", "*", b"", bits=bits)
                sim.step(1)
            sim.step(5)
            lost = 1.0 - (len(sim.radio.received("b")) - before) / 600
            traffic = np.full(8, 0.03), np.full(8, AIRTIME), bits / 4e6, 40_000
            expected = simulated(np.random.default_rng(2), *traffic) if messages else 0.0
            assert lost == pytest.approx(expected, abs=0.06 if expected else 1e-9)  # three deviations


def test_only_traffic_that_the_sender_does_not_sense_collides() -> None:
    """Of two radios with a duty near b, a senses one; b itself has a duty, and a senses it, too."""
    near, far = interferer(0, 30.0, duty=0.1), interferer(1, 30.0, duty=0.08, power=0.0)
    stations = [
        {"name": "a", "position": [0, 0, 10], "radio": "t"},
        {"name": "b", "position": [100, 0, 10], "radio": {"type": "t", "duty": 0.05}},
    ]
    messages = {"header_bits": 0, "overhead": 0, "mailbox": 4096, "slot": 1e-5, "sense": -75.0}
    types = {"t": {**TYPE, "power": 10.0}}
    radio = {"types": types, "stations": [*stations, near, far], "messages": messages}
    with paddock.load({"clock": {"rate": 100}, "radio": radio, "vehicles": [{"name": "v", "model": "point"}]}) as sim:
        assert sim.radio.link("i0", "a").received > -75.0 > sim.radio.link("i1", "a").received
        duties = np.array([0.1, 0.08, 0.05])
        everything = simulated(np.random.default_rng(1), duties, np.full(3, AIRTIME), AIRTIME, 40_000)
        assert sim.radio.link("a", "b").per == pytest.approx(everything, abs=0.012)  # of packets that begin at any time
        for _ in range(1000):
            sim.radio.send("a", "*", b"", bits=8192)
            sim.step(1)
        sim.step(5)
        lost = 1.0 - len(sim.radio.received("b")) / 1000
        hidden = simulated(np.random.default_rng(1), duties[1:2], np.array([AIRTIME]), AIRTIME, 40_000)
        assert lost == pytest.approx(hidden, abs=0.035)  # three deviations
