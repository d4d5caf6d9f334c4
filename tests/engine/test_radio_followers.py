"""Followers that tune to another frequency between two updates of the links."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddock
from paddock import Simulation
from paddock.errors import PaddockError
from paddock.radio.links.jamming import JammerState, started
from paddock.radio.links.table import BURST, SHARE
from paddock.scenario.radio import JammerSection
from paddock.world.archive import pack, unpack

DWELL = 0.1  # s, also the time between updates of the links
CHANNELS = [1, 6, 11, 16, 21, 26, 31]
FOLLOWER = {"kind": "follower", "position": [60, 30, 6], "power": 35, "bandwidth": 2e6, "sensitivity": -110}
FAR = 4500.0**0.5  # m, from the first station


def hopping(jammer: dict[str, Any], rate: float = 100, seed: int = 4) -> Simulation:
    """Return two stations that hop, a radio that the jammer alone hears, and the jammer."""
    hops = {"hopping": {"channels": CHANNELS, "dwell": DWELL, "key": "k"}}
    quiet = {"bandwidth": 2e6, "bit_rate": 1e6, "power": 20.0, "duty": 0.0, **hops}
    mark = {**quiet, "duty": 0.6, "power": -60.0}
    places = (("a", [0, 0, 6], "t"), ("b", [100, 0, 6], "t"), ("mark", [60, 29, 6], "mark"))
    stations = [{"name": name, "position": at, "radio": kind} for name, at, kind in places]
    radio = {"rate": 1.0 / DWELL, "types": {"t": quiet, "mark": mark}, "stations": stations}
    radio |= {"jammers": [{"name": "j", **jammer}], "messages": {"sharing": "aloha", "mailbox": 2048}}
    point = {"name": "p", "model": "point", "pose": [0, 0, 0, 0]}
    return paddock.load({"seed": seed, "clock": {"rate": rate}, "radio": radio, "vehicles": [point]})


def free_space_mw(frequency: float) -> float:
    """Return the power (mW) of the jammer at the first station, by Friis."""
    return float(10.0**3.5 * (299_792_458.0 / (4.0 * np.pi * FAR * frequency)) ** 2)


@pytest.mark.parametrize("reaction", [0.0, 0.02, 0.05, 0.09, 0.25])
def test_a_follower_jams_a_hop_for_the_rest_of_the_dwell(reaction: float) -> None:
    """That is 1 - reaction / dwell of the time after a change of the channel, and all of it after none."""
    shares, expected, before = [], [], 0.0
    with hopping({**FOLLOWER, "reaction": reaction}) as sim:
        for _ in range(30):
            now, links = sim.radio.link("a", "b").frequency, sim.radio.links()
            shares.append(links.jamming[0] / free_space_mw(now))
            expected.append(max(1.0 - reaction / DWELL, 0.0) if now != before else 1.0)
            if 0.0 < expected[-1] < 1.0:
                assert links.bursts[SHARE, 0] == pytest.approx(expected[-1], abs=1e-9)
                assert links.bursts[BURST, 0] == pytest.approx(free_space_mw(now), rel=1e-6)
            before = now
            sim.step(10)
    assert sum(time < 1.0 for time in expected) > 15 or reaction == 0.0
    if reaction < 0.2:
        assert shares == pytest.approx(expected, abs=1e-6)
    else:
        assert max(shares[:2]) == 0.0 and np.mean(shares) < 0.2  # hops are over before it has reacted


def test_packets_meet_a_follower_at_its_times() -> None:
    """Of packets of 0.4 ms, sent at all phases of a dwell, the share 1 - reaction / dwell is lost, and few more."""
    reaction, ticks = 0.04, 3500
    with hopping({**FOLLOWER, "reaction": reaction}, rate=1000) as sim:
        changes, before, phases = 0, 0.0, []
        for tick in range(ticks):
            if tick % 100 == 0:
                now = sim.radio.link("a", "b").frequency
                changes, before = changes + (now != before), now
            if tick % 7 == 0:
                sim.radio.send("a", "*", b"", bits=8)
            sim.step(1)
        arrived = sim.radio.received("b")
        assert all(time.sent < 0.1 * ticks for time in arrived)
        phases = [time.arrived % DWELL for time in arrived]
    total, free = len(range(0, ticks, 7)), changes / (ticks / 100) * reaction / DWELL
    assert max(phases) < reaction and changes > 20
    assert len(arrived) / total == pytest.approx(free, abs=0.02)


def test_a_follower_of_a_wide_band_does_not_pause_when_it_tunes() -> None:
    """Its band has all channels before and after: it is always there. Only the loss changes with the frequency."""
    with hopping({**FOLLOWER, "reaction": 0.05, "bandwidth": 400e6}) as sim:
        sim.step(10)
        for _ in range(10):
            links = sim.radio.links()
            assert (links.bursts[BURST] * links.bursts[SHARE] < 0.07 * links.jamming).all()
            assert links.jamming[0] == pytest.approx(free_space_mw(2.48e9) * 2e6 / 400e6, rel=0.08)
            sim.step(10)


def test_the_schedule_of_a_follower_cuts_what_it_does_between_updates() -> None:
    with hopping({**FOLLOWER, "reaction": 0.05, "on": [[0.0, 0.375], [0.48, 9.0]]}) as sim:
        seen = {}
        for k in range(6):
            doing = sim.engine.radio.state.doing
            seen[k] = doing[0].tolist(), doing[7:, 0].tolist(), sim.radio.jammers()[0].active
            sim.step(10)
        assert sum(seen[3][0]) == pytest.approx(0.75) == seen[3][2]
        assert sum(seen[4][0]) == pytest.approx(0.2)


def test_reactions_longer_and_shorter_than_an_update() -> None:
    """Times at which it leaves a frequency, by hand: it hears f from 0 s on, g from 0.2 s on, nothing from 0.4 s on."""
    section = JammerSection.model_validate({"name": "j", "kind": "follower", "position": [0, 0, 0]})
    for reaction, wanted in (
        (0.0, [(0, 1), (0, 1), (0, 2), (0, 2), (0, 0)]),
        (0.03, [(0.03, 1), (0, 1), (0.03, 2), (0, 2), (0.03, 0)]),
        (0.13, [(0, 0), (0.03, 1), (0, 1), (0.03, 2), (0, 2)]),
        (0.25, [(0, 0), (0, 0), (0, 0), (0, 0), (0, 0)]),
    ):
        state, shares = started(section), []
        for k, heard in enumerate([1e9, 1e9, 2e9, 2e9, 0.0]):
            later = state.follow(reaction, heard, 0.1 * k, 0.1)
            shares.append((round(later, 9), state.tuned / 1e9))
        assert shares == wanted


@pytest.mark.parametrize(("field", "value"), [("left", 1.0), ("left", -1e9), ("left", float("nan")), ("tuned", 1.0)])
def test_impossible_frequencies_of_a_follower_are_refused(field: str, value: float) -> None:
    with hopping({**FOLLOWER, "reaction": 0.05}) as sim:
        sim.step(70)
        known = sim.state_hash()
        tree = unpack(sim.save())
        tree["radio"]["jammers"][0][list(JammerState.__dataclass_fields__).index(field)] = value
        with pytest.raises(PaddockError):
            sim.restore(pack(tree))
        assert sim.state_hash() == known
