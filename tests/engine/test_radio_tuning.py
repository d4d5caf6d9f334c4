"""Tuning in a run: allocated channels, hopping and jammers are where they were, after a change of vehicles too."""

from __future__ import annotations

from typing import Any

import pytest

import paddock
from paddock.engine.simulation import Simulation
from paddock.errors import UnknownNameError
from paddock.world.archive import unpack

QUIET = {"noise_figure": 0.0, "duty": 0.0, "power": 20.0}
ROW = [[0, 0, 50, 0], [300, 0, 50, 0], [600, 0, 50, 0], [900, 0, 50, 0]]


def loaded(radio: dict[str, Any], *vehicles: dict[str, Any]) -> Simulation:
    return paddock.load({"clock": {"rate": 100}, "radio": radio, "vehicles": list(vehicles)})


def points(name: str = "p", **fields: Any) -> dict[str, Any]:
    return {"name": name, "count": 4, "model": "point", "spawn": {"poses": ROW}, "radio": "t", **fields}


def allocated(sim: Simulation) -> list[tuple[str, str]]:
    return [(event.subject, event.detail) for event in sim.events.since() if event.kind == "channel_allocated"]


def test_an_allocated_channel_is_that_of_one_radio() -> None:
    """A fleet with radios of two bands: only the first follows, `p/1` names the second."""
    types = {"t": {**QUIET, "bandwidth": 2e6}, "low": {**QUIET, "frequency": 868e6, "channel_spacing": 2e6}}
    with loaded({"types": types, "stations": [{"name": "b", "position": [0, 0, 5], "radio": "low"}]},
                points(radio=["t", "low"])) as sim:  # fmt: skip
        sim.step(20)
        sim.radio.allocate(["p"], [3])
        sim.step(20)
        assert sim.radio.link("p[0]", "p[1]").frequency == 2.415e9  # 2.4 GHz and three channels of 5 MHz
        assert sim.radio.link("p[0]/1", "b").frequency == 868e6 and sim.radio.network().reach("p[0]", "b")
        sim.radio.allocate(["p/1"], [2])
        sim.step(20)
        budget = sim.radio.link("b", "p[0]/1")
        assert budget.mismatch and not sim.radio.network().reach("p[0]", "b")
        assert allocated(sim) == [("p", "channel 3"), ("p/1", "channel 2")]
        blob, known = sim.save(), sim.state_hash()
        sim.restore(blob)
        assert sim.state_hash() == known and sim.radio.link("p[0]/1", "p[1]/1").frequency == 872e6
        with pytest.raises(UnknownNameError, match="unknown fleet or station with radios 'p/2'"):
            sim.radio.allocate(["p/2"], [1])
        sim.remove("p")
        assert unpack(sim.save())["radio"]["channels"] == []


def test_channels_are_allocated_by_jammers_at_present_places() -> None:
    """After a spawn, and after a restore, as in a run without them."""
    jammer = {"name": "j", "kind": "spot", "position": [300, 0, 60], "bandwidth": 2e6, "on": [[1, 99]]}
    radio = {"types": {"t": {**QUIET, "bandwidth": 2e6}}, "jammers": [jammer]}
    with loaded(radio, points()) as sim:
        sim.step(145)
        blob = sim.save()
        active = sim.radio.jammers()
        assert active[0].active == 1.0
        sim.radio.allocate(["p"], [0, 2])
        known = sim.state_hash()
        assert sim.events.since()[-1].detail == "channel 2"  # 10 MHz away from the jammer
        with loaded(radio, points()) as other:
            other.restore(blob)
            assert other.radio.jammers() == active
            other.radio.allocate(["p"], [0, 2])
            assert other.state_hash() == known
        hashes = []
        for _ in range(2):
            sim.restore(blob)
            sim.spawn(name="q", count=30, model="point", radio="t", spawn={"grid": {"spacing": 40, "z": 50}})
            sim.radio.allocate(["q", "p"], [0, 2])
            assert {e.detail for e in sim.events.since()[-2:]} == {"channel 2"}
            hashes.append(sim.state_hash())
        assert hashes[0] == hashes[1]


def hopping() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a section `radio` and two fleets, one of which hops; a jammer at 2.4 GHz."""
    narrow = {**QUIET, "bandwidth": 5e6, "channel_spacing": 10e6}
    types = {"t": narrow, "h": {**narrow, "hopping": {"channels": [2, 3, 4, 5], "dwell": 1, "key": "k"}}}
    spot = {"kind": "spot", "position": [0, 0, 60], "frequency": 2.4e9, "bandwidth": 5e6, "power": 10}
    follower = {"kind": "follower", "position": [0, 0, 90], "bandwidth": 2e6, "power": -20, "reaction": 0.1}
    jammers = [{"name": "j", **spot}, {"name": "k", **follower}]
    return {"types": types, "jammers": jammers}, [points(), points("g"), points("h", radio="h")]


def seen(sim: Simulation) -> tuple[Any, ...]:
    """Return what the table of radios decides: a spectrum, a budget, coverage, and where the jammers are."""
    spectrum, budget = sim.radio.spectrum("h[0]"), sim.radio.link("g[0]", "p[0]")
    cover = sim.radio.coverage(of="p[0]", receiver="p", side=4)
    bands = [(jammer.frequency, jammer.bandwidth, jammer.power) for jammer in sim.radio.jammers()]
    where = spectrum.low, spectrum.power.tolist(), budget.frequency, budget.mismatch
    return *where, cover.jamming.tolist(), cover.sinr.tolist(), bands


@pytest.mark.parametrize("steps", [0, 20])
def test_frequencies_are_kept_by_a_restore_and_by_new_vehicles(steps: int) -> None:
    """Before the next update of the links as after it: channels, hops and jammers do not go back to the scenario's."""
    radio, vehicles = hopping()
    with loaded(radio, *vehicles) as sim, loaded(radio, *vehicles) as other:
        sim.step(15)
        sim.radio.send("p[0]", "p[1]", "x" * 4000)  # for the follower
        sim.step(20)
        sim.radio.allocate(["g"], [3])
        sim.radio.jammers.set("j", frequency=2.46e9, power=40.0)
        sim.step(steps)
        now, blob = seen(sim), sim.save()
        assert now[2] == 2.43e9 and now[3] == "other channel"
        assert now[0] + 10e6 in {2.42e9, 2.43e9, 2.44e9, 2.45e9}  # four bandwidths around a hop
        other.restore(blob)
        assert seen(other) == now
        sim.spawn(name="x", model="point", pose=[0, 500, 50, 0])  # without a radio: the table is built again
        assert seen(sim) == now
        for run in (sim, other):
            run.restore(blob)
            run.radio.allocate(["p"], [3, 6, 0])
            assert allocated(run)[-1] == ("p", "channel 0")  # g is on 3, the jammer on 6
        assert sim.state_hash() == other.state_hash()


@pytest.mark.parametrize("method", ["least_interfered", "least_used"])
@pytest.mark.parametrize("modulation", ["qpsk", "bpsk"])
def test_radios_of_another_waveform_are_interference(modulation: str, method: str) -> None:
    narrow = {**QUIET, "bandwidth": 5e6, "channel_spacing": 10e6}
    types = {"t": narrow, "o": {**narrow, "modulation": modulation, "channel": 1, "duty": 1.0}}
    with loaded({"types": types}, points(), points("g", radio="o")) as sim:
        sim.step(20)
        sim.radio.allocate(["p"], [1, 3], method)
        assert allocated(sim) == [("p", "channel 3")]
        sim.step(20)
        assert sim.radio.link("p[0]", "p[1]").sinr > 30.0  # -69.6 dBm in 300 m, noise -107 dBm


def test_an_allocation_sees_the_one_before_it() -> None:
    with loaded({"types": {"t": {**QUIET, "bandwidth": 2e6}}}, points(), points("q")) as sim:
        sim.radio.allocate(["p"], [1, 2])
        sim.radio.allocate(["q"], [1, 2])
        assert allocated(sim) == [("p", "channel 1"), ("q", "channel 2")]
