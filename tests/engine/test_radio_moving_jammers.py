"""Jammers whose frequency moves, with fading: the present frequency counts, and a restored run goes on as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddock
from paddock import Simulation


def fading(jammer: dict[str, Any], **types: Any) -> dict[str, Any]:
    """Return a vehicle that orbits between a station and a jammer, with Rayleigh fading."""
    radio, orbit = {"duty": 0.3, **types}, {"behaviour": {"orbit": {"radius": 20}}}
    return {
        "seed": 5,
        "clock": {"rate": 100},
        "radio": {
            "default": {"fading": "rayleigh"},
            "types": {"t": radio},
            "stations": [{"name": "base", "position": [0, 0, 6], "radio": "t"}],
            "jammers": [{"name": "j", "position": [200, 0, 30], "power": 10, **jammer}],
        },
        "vehicles": [{"name": "dot", "model": "point", "pose": [100, 0, 30, 0], "radio": "t", **orbit}],
    }


MOVING: dict[str, dict[str, Any]] = {
    "follower": fading(
        {"kind": "follower", "frequency": 2.3e9, "reaction": 0.03}, hopping={"channels": [1, 6, 11], "dwell": 0.2}
    ),
    "swept": fading({"kind": "swept", "sweep": [2.38e9, 2.42e9], "period": 0.7}),
    "set": fading({"kind": "barrage"}),
}


@pytest.mark.parametrize("case", MOVING)
def test_a_restored_run_with_fading_and_moving_frequencies_goes_on(case: str) -> None:
    """The same hashes at every update, in the same simulation and in a fresh one."""
    with paddock.load(MOVING[case]) as sim:
        sim.step(70)
        if case == "set":
            sim.radio.jammers.set("j", frequency=2.43e9)
        sim.step(35)
        blob, wanted = sim.save(), []
        for _ in range(8):
            sim.step(10)
            wanted.append(sim.state_hash())
        sim.restore(blob)
        assert after(sim) == wanted
    with paddock.load(MOVING[case]) as fresh:
        fresh.restore(blob)
        assert after(fresh) == wanted


def after(sim: Simulation) -> list[str]:
    positions = []
    for _ in range(8):
        sim.step(10)
        positions.append(sim.state_hash())
    return positions


def test_fading_of_a_follower_is_that_of_its_present_frequency() -> None:
    """At the update at which it tunes it has the power of a jammer that has always been there."""
    there = {"kind": "spot", "frequency": 2.4e9, "bandwidth": 1e6}
    with paddock.load(fading({**there, "kind": "follower", "frequency": 2.3e9, "reaction": 0.0})) as sim:
        follows = sim.radio.links().jamming.copy()
        with paddock.load(fading(there)) as other:
            assert np.array_equal(follows, other.radio.links().jamming) and follows.all()
