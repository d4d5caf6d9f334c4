"""Radios of vehicles that a mission has damaged: no links, packets, beacons or interference; others go on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddock
from paddock.errors import PaddockError
from paddock.radio.packets.queues import LOST, TRANSMITTED
from paddock.world.archive import pack, unpack

TICKS = 100
PLACES = {"far": 600.0, "mid": 300.0}


def scenario(**via: Any) -> dict[str, Any]:
    """Return a station, a relay 300 m away and a vehicle 300 m behind it; links reach 400 m. A jammer on the relay."""
    quiet = {"bandwidth": 2e6, "bit_rate": 1e5, "noise_figure": 0.0, "duty": 0.0}
    jammer = {"name": "red", "kind": "spot", "vehicle": "mid", "frequency": 5.8e9, "bandwidth": 1e6}
    vehicles = [
        {"name": name, "model": "point", "pose": [x, 0, 20, 0], "radio": {"type": "t", "duty": duty}}
        for (name, x), duty in zip(PLACES.items(), (0.0, 0.2), strict=True)
    ]
    vehicles[1]["via"] = {"radio": "base", "telemetry": 10}
    mission: dict[str, Any] = {"altitude": 20, "separation": None}
    mission["tasks"] = [{"name": f"at_{name}", "point": {"at": [x, 0]}} for name, x in PLACES.items()]
    return {
        "clock": {"rate": TICKS},
        "radio": {
            "range": 400,
            "types": {"t": quiet},
            "stations": [{"name": "base", "position": [0, 0, 20], "radio": "t"}],
            "jammers": [jammer],
            "messages": {"beacons": {"rate": 5, "keep": 1.0}, "window": [1, 1]},
        },
        "vehicles": vehicles,
        "mission": mission | ({"via": {"radio": "base", **via}} if via else {}),
    }


def radio_of(sim: paddock.Simulation, name: str) -> int:
    return sim.radio.number(name)


def test_a_damaged_vehicle_is_no_longer_part_of_the_network() -> None:
    with paddock.load(scenario()) as sim:
        sim.step(TICKS)
        assert sim.radio.network().path("base", "far")[0] == ["base", "mid", "far"]
        links, far = sim.radio.links(), radio_of(sim, "far")
        assert links.interference[far] > 0.0 and sim.radio.link("base", "mid").up
        sim.radio.send("base", "far", "before")
        sim.step(50)
        assert [message.hops for message in sim.radio.received("far")] == [2]
        sim.mission.damage("mid")
        sim.step(20)  # the mission and the links are updated ten times a second
        network, snapshot = sim.radio.network(), sim.snapshot()
        assert network.names == ["far", "base"] and network.parts == 2 and not network.reach("base", "far")
        assert (snapshot["mid"]["radio.links"], snapshot["mid"]["radio.contact"]) == (0.0, 0.0)
        assert (snapshot["far"]["radio.links"], snapshot["far"]["radio.contact"]) == (0.0, 0.0)
        links = sim.radio.links()
        assert len(links.peer) == 0 and links.interference.max() < 1e-300
        budget = sim.radio.link("base", "mid")
        assert (budget.up, budget.per, budget.mismatch) == (False, 1.0, "damaged")
        assert "base -> mid: down (damaged)" in str(budget)
        assert len([event for event in sim.events.since() if event.kind == "link_down"]) == 2
        split = [event.subject for event in sim.events.since() if event.kind == "network_split"]
        assert len(split) == 1 and split[0] in ("far", "base")
        sim.radio.send("base", "far", "after")
        sim.step(10)
        assert sim.radio.traffic()["no_route"] == 1
        [red] = sim.radio.jammers()
        assert red.active == 1.0 and red.position is not None


def test_a_damaged_vehicle_sends_nothing_and_what_it_had_to_send_is_lost() -> None:
    """Three messages of 2 s each wait at the relay, the first of them on the air."""
    with paddock.load(scenario()) as sim:
        sim.step(TICKS)
        mid = radio_of(sim, "mid")
        for k in range(3):
            sim.radio.send("mid", "base", k, bits=200_000)
        sim.step(50)
        sim.mission.damage("mid")
        sim.step(20)
        counts = sim.engine.radio.messages.messages.state.counts[:, mid].copy()
        telemetry = sim.radio.telemetry("mid")
        assert counts[LOST] >= 3 and telemetry.sent == pytest.approx(16, abs=2)
        assert {neighbour["name"] for neighbour in sim.radio.heard("base")} == {"mid"}  # it has been heard
        sim.step(3 * TICKS)
        assert sim.engine.radio.messages.messages.state.counts[TRANSMITTED, mid] == counts[TRANSMITTED]
        assert sim.radio.telemetry("mid").sent == telemetry.sent and sim.radio.received("base") == []
        assert sim.radio.heard("base") == []  # of beacons of the last second
        assert sim.radio.survey().transmits[mid] == 0.0  # for spectra and followers
        with pytest.raises(PaddockError, match="send: 'mid' is damaged: its radio is dead"):
            sim.radio.send("mid", "base", 1)


def test_a_mission_loses_the_vehicles_behind_a_damaged_relay() -> None:
    """Damage of the relay at 3 s: the vehicle behind it is out of contact 1 s after its last report."""
    with paddock.load(scenario(reports=4.0, heartbeat=0.5, lost_after=1.0, timeout=5.0)) as sim:
        sim.step(3 * TICKS)
        assert sim.mission.vehicles[0].contact
        sim.mission.damage("mid")
        sim.step(2 * TICKS)
        lost = {event.subject: event.tick / TICKS for event in sim.events.since() if event.kind == "contact_lost"}
        assert lost["mid"] == pytest.approx(4.0, abs=0.4) and lost["far"] == pytest.approx(4.0, abs=0.4)


@pytest.mark.parametrize("ticks", [1, 4, 11, 40])
def test_silent_radios_are_saved(ticks: int) -> None:
    """Between the damage and the next update of the links, too; results do not depend on restores or on steps."""
    with paddock.load(scenario()) as sim, paddock.load(scenario()) as other:
        sim.step(95)
        sim.radio.send("base", "far", "x", bits=20_000)
        sim.step(1)
        sim.mission.damage("mid")
        sim.step(ticks)
        blob, now = sim.save(), sim.state_hash()
        other.restore(blob)
        assert other.state_hash() == now
        seen = [(run.radio.network().names, run.radio.links().peer.tolist()) for run in (sim, other)]
        assert seen[0] == seen[1]
        sim.step(120)
        for _ in range(60):
            other.step(2)
        assert sim.state_hash() == other.state_hash()
        sim.restore(blob)
        sim.spawn(name="x", model="point", pose=[100, 0, 20, 0], radio="t")
        sim.step(20)
        assert "mid" not in sim.radio.network().names and sim.radio.network().reach("x", "base")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (np.array([False, True, True]), "radios of damaged vehicles have links"),
        (np.array([0.0, 1.0, 0.0]), "radio.silent is an array of float64, not of bool"),
        (np.array([True]), r"radio.silent has the shape \(1,\), not \(3,\)"),
    ],
)
def test_crafted_silent_radios_are_refused(wrong: Any, text: str) -> None:
    with paddock.load(scenario()) as sim:
        sim.step(20)
        tree = unpack(sim.save())
        assert not tree["radio"]["silent"].any()
        with pytest.raises(PaddockError, match=text):
            sim.restore(pack({**tree, "radio": {**tree["radio"], "silent": wrong}}))
