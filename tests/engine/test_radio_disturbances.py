"""Packets that disturb each other without a link: of overlapping channels, of other waveforms, and weak ones."""

from math import erfc, log10, pi, sqrt
from typing import Any

import numpy as np
import pytest

import paddock
from paddock import PaddockError, Simulation
from paddock.compute.threads import available_threads, limit_threads
from paddock.radio.packets.channel_links import PLACED
from paddock.world.archive import pack, unpack

TYPE = {"bandwidth": 2e6, "bit_rate": 2e6, "power": 20.0, "sensitivity": -90.0}
BITS = 8000  # 4 ms


def distance(dbm: float, power: float = 20.0) -> float:
    """Return the distance (m) at which a radio is received with a power in free space at 2.4 GHz."""
    return float(10.0 ** ((power - dbm) / 20.0) * 299_792_458.0 / (4.0 * pi * 2.4e9))


def stations(places: dict[str, float], second: dict[str, Any], **fields: Any) -> Simulation:
    """Return stations at x (m); those from c on are of a type of their own."""
    first = TYPE | fields.pop("type", {})
    types = {"t": first, "u": first | second}
    made = [
        {"name": name, "position": [x, 0, 5], "radio": "t" if name < "c" else "u"} for name, x in sorted(places.items())
    ]
    messages = {"header_bits": 0, "overhead": 0.0, "retries": 0, "mailbox": 4096, "queue": 64, **fields}
    radio = {"types": types, "stations": made, "messages": messages}
    return paddock.load({"clock": {"rate": 1000}, "radio": radio, "vehicles": [{"name": "p", "model": "point"}]})


@pytest.mark.parametrize(
    ("second", "least", "share"),
    [
        ({"bit_rate": 2.02e6}, -90.0, 1.0),  # another waveform
        ({"frequency": 2.401e9}, -90.0, 0.5),
        ({"frequency": 2.4015e9}, -90.0, 0.25),
        ({"frequency": 2.402e9}, -90.0, 0.0),
        ({}, -60.0, 1.0),  # no link: 1 dB weaker than the hysteresis allows
    ],
)
def test_bits_that_overlap_other_packets_are_lost_by_the_power_in_the_band(
    second: dict[str, Any], least: float, share: float
) -> None:
    """QPSK: b receives a with -58 dBm and, for up to 4 ms, c with -64 dBm and a share of it in the band.

    Packets of c begin up to 4 ms before or after those of a, at random.
    """
    trials, random = 400, np.random.default_rng(3)
    places = {"a": 0.0, "b": distance(-58.0), "c": distance(-58.0) + distance(-64.0)}
    noise = 10.0 ** (0.1 * (-174.0 + 10.0 * log10(2e6) + 6.0))
    ratio = 10.0**-5.8 / (noise + share * 10.0**-6.4)
    with stations(places, second, type={"sensitivity": least}, sharing="aloha", window=[1, 1]) as sim:
        survive = 0.0
        for later in random.integers(0, 9, trials).tolist():
            for tick in range(12):
                if tick == 4:
                    sim.radio.send("a", "*", b"", bits=BITS)
                if tick == later:
                    sim.radio.send("c", "*", b"", bits=BITS)
                sim.step(1)
            survive += (1.0 - 0.5 * erfc(sqrt(ratio))) ** (2000 * max(4 - abs(later - 4), 0))
        arrived = len(sim.radio.received("b"))
    assert arrived == pytest.approx(survive, abs=4.0 * sqrt(survive * (1.0 - survive / trials)) + 1e-9)
    assert {0.5: 0.6, 0.25: 0.99, 0.0: 0.99}.get(share, 0.1) < survive / trials < {0.5: 0.99, 1.0: 0.4}.get(share, 1.01)


@pytest.mark.parametrize(
    ("second", "fields", "waits"),
    [
        ({}, {"sense": -93.0}, False),  # weaker than any link
        ({}, {"sense": -96.0}, True),
        ({}, {"sense": -120.0}, True),
        ({"bit_rate": 2.02e6}, {"sense": -120.0, "energy": -93.0}, False),
        ({"bit_rate": 2.02e6}, {"energy": -95.0}, True),
        ({"frequency": 2.401e9}, {"energy": -96.0}, False),  # -94 - 3 dBm are in the band
        ({"frequency": 2.401e9}, {"energy": -98.0}, True),
    ],
)
def test_radios_wait_for_packets_that_they_sense(second: dict[str, Any], fields: dict[str, Any], waits: bool) -> None:
    """a and c, which receive each other with -94 dBm, always have packets: they share the time, or each has all of it.

    Packets take 200 slots; DIFS and the countdown 2 + 7.5. With a window W each of two sends in a slot with the
    probability p = 2 / (W + 1) (Bianchi 2000).
    """
    places = {"a": 0.0, "b": -30.0, "c": distance(-94.0), "d": distance(-94.0) + 30.0}
    with stations(places, second, window=[16, 16], **fields) as sim:
        for _ in range(50):
            for name in "ac":
                for _ in range(4):
                    sim.radio.send(name, "*", b"", bits=BITS)
            sim.step(16)
        count = sim.radio.traffic()["transmitted"]
    p, slots = 2.0 / 17.0, 0.8 / 2e-5
    busy = 1.0 - (1.0 - p) ** 2
    expected = slots * 2.0 * p / (1.0 - busy + busy * 202.0) if waits else slots * 2.0 / 209.5
    assert count == pytest.approx(expected, rel=0.03)


def swarm(seed: int = 5) -> dict[str, Any]:
    """Return vehicles on two overlapping channels that move, fade and send beacons."""
    types = {
        "t": {**TYPE, "power": 10.0, "sensitivity": -75.0},
        "u": {**TYPE, "power": 10.0, "sensitivity": -75.0, "frequency": 2.401e9},
    }
    spawn = {"random": {"low": [0, 0, 20], "high": [400, 400, 60]}}
    fleets = [
        {"name": name, "count": 12, "model": "point", "spawn": spawn, "speed": 8.0, "radio": name} for name in "tu"
    ]
    fading = {"fading": {"rician": 3}, "shadowing": {"sigma": 4, "distance": 30}}
    radio = {"types": types, "default": {"model": "two_ray", **fading}, "messages": {"beacons": {"rate": 20}}}
    return {"seed": seed, "clock": {"rate": 100}, "radio": radio, "vehicles": fleets}


@pytest.mark.parametrize("several", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_disturbances_do_not_depend_on_steps_threads_queries_or_restoring(
    several: bool, request: pytest.FixtureRequest
) -> None:
    """Messages between two updates of the links, and queries of places that move the table of radios."""
    if several:
        request.getfixturevalue("shared_loops")
    hashes, threads = [], available_threads()
    try:
        for count, steps, looks in ((1, 1, True), (threads, 4, False)):
            limit_threads(count)
            with paddock.load(swarm()) as sim:
                sim.command("t", vx=8.0)
                sim.command("u", vy=-8.0)
                for k in range(0, 96, 4):
                    if k % 16 == 4:
                        sim.radio.send("t[0]", "*", [k], hops=3)
                    for _ in range(4 // steps):
                        if looks:
                            sim.radio.link("t[0]", "u[1]")
                        sim.step(steps)
                    if k == 52:
                        blob = sim.save()
                hashes.append(sim.state_hash())
                air = sim.engine.radio.messages.messages.links
                spans = zip(air.first.tolist(), air.last.tolist(), strict=True)
                others = sum(int((air.entries["link"][first:last] < 0).sum()) for first, last in spans)
                assert others > 100 and sim.radio.traffic()["damaged"] > 20
    finally:
        limit_threads(threads)
    with paddock.load(swarm()) as sim:
        sim.restore(blob)
        for k in range(56, 96, 4):
            if k % 16 == 4:
                sim.radio.send("t[0]", "*", [k], hops=3)
            sim.step(4)
        hashes.append(sim.state_hash())
    assert len(set(hashes)) == 1


def test_a_message_after_restoring_meets_the_same_packets() -> None:
    """The channel was idle: disturbances are found when the first message is sent, after the radios have moved."""
    tree = swarm()
    tree["radio"]["messages"] = {"sharing": "aloha"}
    with paddock.load(tree) as sim:
        sim.command("t", vx=8.0)
        sim.step(14)
        blob, hashes = sim.save(), []
        for _ in range(2):
            for name in "tu":
                for k in range(0, 12, 4):
                    sim.radio.send(f"{name}[{k}]", "*", b"", bits=2000)
            sim.step(4)
            traffic = sim.radio.traffic()
            hashes.append((sim.state_hash(), traffic["delivered"], traffic["damaged"]))
            sim.restore(blob)
        assert hashes[0] == hashes[1] and hashes[0][1] > 0
    with paddock.load(tree) as sim:
        sim.restore(blob)
        sim.spawn(name="w", count=3, model="point", radio="t", spawn={"grid": {"spacing": 5, "z": 20}})
        sim.radio.send("t[0]", "*", b"")
        air = sim.engine.radio.messages.messages.links
        assert ((air.last - air.first)[24:] == 0).all()  # not placed yet
        sim.step(10)
        sim.radio.send("t[0]", "*", b"")
        air = sim.engine.radio.messages.messages.links
        assert ((air.last - air.first)[24:] > 0).all()


@pytest.mark.parametrize(
    ("row", "value"), [(0, np.nan), (2, 1e10), (3, 1.5), (9, -2.0), (10, 1e11), (11, 0.0), (11, np.inf)]
)
def test_places_that_no_update_can_have_left_are_refused(row: int, value: float) -> None:
    with paddock.load(swarm()) as sim:
        tree = unpack(sim.save())
        packets = tree["radio"]["packets"]
        assert packets["placed"].shape == (len(PLACED), 24)
        placed = packets["placed"].copy()
        placed[row, 3] = value
        for wrong, text in (
            (placed, "places of radios are not valid|out of its limits"),
            (placed[1:], "has the shape"),
        ):
            changed = {**tree, "radio": {**tree["radio"], "packets": {**packets, "placed": wrong}}}
            with pytest.raises(PaddockError, match=text):
                sim.restore(pack(changed))
