"""The demo `relay` and its rule: drones place themselves between two ends so that these stay in contact."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.errors import PaddockError
from paddock.radio.relays import choose_chain
from paddock.scenario.loading import bundled_path
from paddock.scenario.marked_yaml import load_yaml, plain


def relay(relays: int) -> dict[str, Any]:
    """Return the demo with some relays, as point masses, which take fewer ticks."""
    path = bundled_path("relay")
    tree: dict[str, Any] = plain(load_yaml(path.read_text(), str(path))[0])
    tree["clock"] = {"rate": 20}
    tree["every"] = {"behaviour": 1}
    rover, drones = tree["vehicles"]
    rover["behaviour"]["patrol"]["path"] = rover["behaviour"]["patrol"]["path"][2:]
    rover["pose"] = [-100, -400, 1, 0]
    drones |= {"model": "point", "count": relays, "preset": "default"}
    del drones["preset"]
    if not relays:
        tree["vehicles"].remove(drones)
    return tree


def contact(tree: dict[str, Any], seconds: int) -> tuple[float, list[float], Any]:
    """Return the share of seconds with a path between base and rover, the SINR of the direct link, and the relays."""
    paths, sinr, where = [], [], []
    with paddock.load(tree) as sim:
        for _ in range(seconds):
            sim.step(20)
            paths.append(bool(sim.radio.network().path("base", "rover")[0]))
            sinr.append(sim.radio.link("base", "rover").sinr)
            if len(tree["vehicles"]) > 1:
                fleet = sim.snapshot().fleet("relays")
                where.append([fleet[name].copy() for name in "xyz"])
    return float(np.mean(paths)), sinr, np.array(where)


def test_relays_keep_the_rover_in_contact_behind_the_hill() -> None:
    without, sinr, _ = contact(relay(0), 240)
    assert without < 0.35  # behind the hill the link is down
    assert min(sinr) < -15.0
    share, _, places = contact(relay(3), 240)
    assert share >= 0.95
    # they went there by themselves: the last one from the base to the hill, 400 m away and 95 m high
    start, moved = places[0], np.abs(places - places[0]).max(axis=0)
    assert np.hypot(start[0] + 400.0, start[1]).max() < 60.0
    assert moved[0, 2] > 250.0
    assert places[:, 2, 2].max() > 80.0


def test_relay_is_deterministic_and_saved() -> None:
    tree = relay(2)
    with paddock.load(tree) as one, paddock.load(tree) as two:
        one.step(30 * 20 + 7)
        saved = one.save()
        one.step(30 * 20)
        two.restore(saved)
        two.step(30 * 20)
        assert one.state_hash() == two.state_hash()


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
        found = choose_chain(margins, places, places[:, :relays].copy(), 100.0, chain)
        assert found == pytest.approx(brute_force(margins, relays), abs=1e-12)
        way = [0, *(chain + 2).tolist(), 1]
        worst = min(margins[a, b] for a, b in pairwise(way) if a != b)
        assert found - 0.5 <= worst <= found + 1e-12  # links within 0.5 dB of the best are equal


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
