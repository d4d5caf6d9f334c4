"""The demo `relay` and its rule: drones place themselves between two ends so that these stay in contact."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.behaviour.rules.relay import Options
from paddock.engine.radio.relaying import RadioSenses, choose_chain, newest_state
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.radio.packets.state import HEARD_STATES, PREDICTED, TRUTH, FleetHeard
from paddock.scenario.loading import bundled_path
from paddock.scenario.marked_yaml import load_yaml, plain


def relay(relays: int) -> dict[str, Any]:
    """Return the demo with some relays, as point masses, which take fewer ticks."""
    path = bundled_path("relay")
    tree: dict[str, Any] = plain(load_yaml(path.read_text(), str(path))[0])
    tree["clock"] = {"rate": 20}
    tree["every"] = {"behaviour": 1}
    rover, drones = tree["vehicles"]
    rover["behaviour"]["patrol"]["path"] = rover["behaviour"]["patrol"]["path"][1:]
    rover["pose"] = [-250, -300, 1, -0.8]
    drones |= {"model": "point", "count": relays, "preset": "default"}
    del drones["preset"]
    if not relays:
        tree["vehicles"].remove(drones)
    return tree


def contact(tree: dict[str, Any], seconds: int) -> tuple[float, list[float], Any, float]:
    """Return the share of seconds with a path between base and rover, the SINR of the direct link, and the relays.

    The last is the share of seconds in which the base knows a state of the rover that is less than a second old.
    """
    paths, sinr, where, fresh = [], [], [], []
    with paddock.load(tree) as sim:
        for _ in range(seconds):
            sim.step(20)
            paths.append(bool(sim.radio.network().path("base", "rover")[0]))
            sinr.append(sim.radio.link("base", "rover").sinr)
            age = sim.radio.telemetry("rover").age
            fresh.append(age is not None and age < 1.0)
            if len(tree["vehicles"]) > 1:
                fleet = sim.snapshot().fleet("relays")
                where.append([fleet[name].copy() for name in "xyz"])
    return float(np.mean(paths)), sinr, np.array(where), float(np.mean(fresh))


def test_relays_keep_the_rover_in_contact_behind_the_hill() -> None:
    without, sinr, _, alone = contact(relay(0), 240)
    assert without < 0.35 and alone < 0.35  # behind the hill the link is down
    assert min(sinr) < -15.0
    share, _, places, fresh = contact(relay(3), 240)
    assert share >= 0.99 and fresh >= 0.98  # over several hops
    # they went there by themselves: the last one from the base to the hill, 400 m away and 95 m high
    start, moved = places[0], np.abs(places - places[0]).max(axis=0)
    assert np.hypot(start[0] + 400.0, start[1]).max() < 60.0
    assert moved[0, 2] > 250.0
    assert places[:, 2, 2].max() > 80.0


def test_relay_is_deterministic_and_saved() -> None:
    tree = relay(2)
    with paddock.load(tree) as sim, paddock.load(tree) as two:
        sim.step(30 * 20 + 7)
        saved = sim.save()
        sim.step(30 * 20)
        two.restore(saved)
        two.step(30 * 20)
        assert sim.state_hash() == two.state_hash()


def chosen(sim: Simulation, sees: float) -> Any:
    """Return where the relays would place themselves now; None: they stay."""
    engine, options = sim.engine, Options(height=40.0, sees=sees)
    senses = RadioSenses(engine.radio, engine.publisher.poses, sim.tick, True)
    return senses.relays("relays", np.arange(2), ("base", "rover"), options)


def place_of_rover(sim: Simulation, sees: float) -> Any:
    """Return where the relays take the rover to be, m."""
    senses = RadioSenses(sim.engine.radio, sim.engine.publisher.poses, sim.tick, True)
    sim.engine.radio.locate()
    rows = senses._end((sim.radio.number("rover"), "rover"), "relays", np.arange(2), sees)
    assert rows is not None
    return rows[0][:3, 0]


def test_relays_place_themselves_by_what_they_have_heard() -> None:
    """A rover that moves elsewhere is where its last beacon was sent, until that is older than `keep`."""
    tree = relay(2)
    tree["radio"]["messages"] = {"beacons": {"rate": 0.5, "keep": 6}}
    for entry in tree["vehicles"]:
        del entry["behaviour"]
    tree["vehicles"][0] |= {"model": "point", "pose": [-200, -100, 60, 0], "parameters": {}}
    del tree["vehicles"][0]["preset"]
    with paddock.load(tree) as sim:
        assert chosen(sim, TRUTH) is not None and chosen(sim, HEARD_STATES) is None  # nothing yet
        sim.step(80)
        before = chosen(sim, TRUTH)
        for sees in (HEARD_STATES, PREDICTED):
            assert np.array_equal(chosen(sim, sees), before)  # it stands still
        sim.command("rover", vx=5.0)
        sim.step(185)
        ages = [neighbour["age"] for neighbour in sim.radio.heard("relays[0]") if neighbour["name"] == "rover"]
        moved = [place_of_rover(sim, sees) for sees in (TRUTH, HEARD_STATES, PREDICTED)]
        assert 0.1 < ages[0] < 3.1  # beacons are 1 to 3 s apart
        assert moved[1] == pytest.approx(moved[0] - [5.0 * ages[0], 0.0, 0.0], abs=1e-6)
        assert moved[2] == pytest.approx(moved[0], abs=1e-6)
        sim.vehicles.place("rover", [3000.0, 3000.0, 5.0, 0.0])  # out of range
        sim.step(20)
        blob, known = sim.save(), chosen(sim, HEARD_STATES)
        assert place_of_rover(sim, TRUTH)[0] > 2900.0 and place_of_rover(sim, HEARD_STATES)[0] < -50.0
        sim.step(20 * 6)
        assert chosen(sim, HEARD_STATES) is None and chosen(sim, TRUTH) is not None
        sim.restore(blob)
        assert np.array_equal(chosen(sim, HEARD_STATES), known)


def test_the_newest_state_that_any_relay_has_heard_counts() -> None:
    states, who = np.zeros((6, 3, 11)), np.full((6, 3), -1)
    who[1] = 5, 4, -1  # radio 1 of vehicle 0 does not count: the first one hears beacons
    states[1, :, 0] = 9.9
    who[2], who[4] = (5, 4, -1), (4, 5, -1)
    states[2, :, 0], states[4, :, 0] = (8.0, 9.0, 0.0), (7.5, 9.5, 0.0)
    heard = FleetHeard(10.0, 2.0, 0, 2, 3, who, states, *(np.zeros(0, np.int64),) * 3, np.zeros(0))
    rows = np.array([0, 1, 2])
    newest = [newest_state(heard, rows, radio) for radio in (5, 4, 3)]
    assert newest[0] is not None and newest[0][0] == 9.5 and newest[1] is not None and newest[1][0] == 9.0
    assert newest[2] is None
    assert newest_state(heard, rows[:2], 5)[0] == 8.0 and newest_state(heard, rows[2:], 4) is None  # older than 2 s


def brute_force(margins: Any, relays: int) -> float:
    """Return the best worst link of all chains."""
    m = len(margins) - 2
    best = -np.inf
    for chain in np.ndindex(*(m,) * relays):
        way = [0, *(k + 2 for k in chain), 1]
        best = max(best, min(margins[a, b] for a, b in pairwise(way) if a != b))
    return float(best)


@pytest.mark.parametrize("relays", [1, 2, 3])
def test_chain_has_the_best_worst_link(relays: int) -> None:
    random = np.random.default_rng(relays)
    for _ in range(20):
        m = 6
        margins = random.uniform(-40, 40, (m + 2, m + 2))
        margins = np.minimum(margins, margins.T)
        np.fill_diagonal(margins, 200.0)
        chain = np.zeros(relays, np.int64)
        places = random.uniform(-100, 100, (3, m))
        best = choose_chain(margins, places, places[:, :relays].copy(), 100.0, chain)
        assert best == pytest.approx(brute_force(margins, relays), abs=1e-12)
        way = [0, *(chain + 2).tolist(), 1]
        worst = min(margins[a, b] for a, b in pairwise(way) if a != b)
        assert best - 0.5 <= worst <= best + 1e-12  # links within 0.5 dB of the best are equal


def test_relays_stay_where_links_are_good_enough() -> None:
    margins = np.full((5, 5), 30.0)
    places = np.array([[0.0, 50.0, 100.0], [0.0, 0.0, 0.0], [40.0, 40.0, 40.0]])
    chain = np.zeros(1, np.int64)
    choose_chain(margins, places, places[:, 2:3].copy(), 10.0, chain)
    assert chain.tolist() == [2]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "needs its ends"),
        ({"between": ["base"]}, "two ends"),
        ({"between": ["base", "relays[0]"]}, r"'relays\[0\]' is one of the relays: name another vehicle"),
        ({"between": ["base", "base"]}, "both ends are 'base'"),
        ({"between": ["bose", "rover"]}, "did you mean 'base'"),
        ({"between": ["base", "rover"], "hight": 3}, "did you mean 'height'"),
    ],
)
def test_mistakes(options: dict[str, Any], words: str) -> None:
    tree = relay(1)
    tree["vehicles"][1]["behaviour"] = {"relay": options}
    with pytest.raises(PaddockError, match=words):
        paddock.load(tree)
