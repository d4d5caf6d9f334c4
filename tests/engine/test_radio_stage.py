"""Radio in a run: budgets with known numbers, jammers, snapshot columns, events, saving, replay, determinism."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.compute.threads import available_threads, limit_threads
from paddock.engine.columns import snapshot_columns
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.radio.links.table import sinr_of
from paddock.record import Recorder, verify
from paddock.serve.subscribers.groups import encode_status
from paddock.serve.subscribers.subscription import select
from paddock.wire.stream.positions import decode_telemetry
from paddock.world.archive import pack, unpack

QUIET = {"bandwidth": 20e6, "noise_figure": 0.0, "duty": 0.0, "power": 20.0}
ROW = [[0, 0, 50, 0], [300, 0, 50, 0], [600, 0, 50, 0], [900, 0, 50, 0]]


def loaded(radio: dict[str, Any], *vehicles: dict[str, Any], **more: Any) -> Simulation:
    return paddock.load({"clock": {"rate": 100}, **more, "radio": radio, "vehicles": list(vehicles)})


def points(name: str = "p", **fields: Any) -> dict[str, Any]:
    return {"name": name, "count": 4, "model": "point", "spawn": {"poses": ROW}, "radio": "t", **fields}


def two_stations(distance: float, **radio: Any) -> Simulation:
    stations = [{"name": name, "position": [x, 0, 0], "radio": "t"} for name, x in (("a", 0.0), ("b", distance))]
    return loaded({"types": {"t": {**QUIET, **radio}}, "stations": stations})


def test_budget_of_one_kilometre() -> None:
    """Free space of 1 km at 2.4 GHz costs 100.05 dB; kTB of 20 MHz at 290 K is -100.96 dBm."""
    with two_stations(1000.0) as sim:
        assert sim.radio is not None
        budget = sim.radio.link("a", "b")
        assert budget.path_loss == pytest.approx(100.05, abs=0.005)
        assert budget.received == pytest.approx(-80.05, abs=0.005)
        assert budget.noise == pytest.approx(-100.96, abs=0.01)
        assert budget.sinr == pytest.approx(20.91, abs=0.01) and budget.up
        assert budget.capacity == pytest.approx(20e6 * np.log2(1.0 + 10.0**2.091), rel=1e-3)
        links = sim.radio.links()
        assert links.power == pytest.approx([-80.05, -80.05], abs=0.005) and links.up.tolist() == [1, 1]
        assert "path loss (free_space)          100.05 dB" in str(budget)
        with pytest.raises(PaddockError, match="unknown vehicle or station 'c'"):
            sim.radio.link("a", "c")


def test_dipoles_in_the_plane_of_their_wires() -> None:
    with two_stations(1000.0, antenna="dipole") as sim:
        assert sim.radio is not None
        assert sim.radio.link("a", "b").received == pytest.approx(-80.05 + 2 * 2.15, abs=0.01)
        assert sim.radio.links().power == pytest.approx([-75.75, -75.75], abs=0.01)


def test_interference_of_a_third_radio() -> None:
    """A second transmitter as far away as the first, all the time on the channel: the SINR is 0 dB."""
    stations = [
        {"name": name, "position": [x, 0, 0], "radio": {"type": "t", "duty": duty}}
        for name, x, duty in (("one", -100.0, 0.0), ("middle", 0.0, 0.0), ("two", 100.0, 1.0))
    ]
    with loaded({"types": {"t": QUIET}, "stations": stations}) as sim:
        assert sim.radio is not None
        assert sim.radio.link("one", "middle").sinr == pytest.approx(0.0, abs=0.001)
        assert sim.radio.link("two", "middle").sinr == pytest.approx(
            -60.05 + 100.96, abs=0.02
        )  # it does not disturb itself


def test_jamming_to_signal_by_distance_band_and_time() -> None:
    """Equal power from a tenth of the distance is J/S = 20 dB; a barrage of 100 MHz has a fifth of it in the band."""
    jammers = [
        {"name": "barrage", "kind": "barrage", "position": [900.0, 0, 0], "power": 20.0, "frequency": 2.4e9},
        {"name": "elsewhere", "kind": "spot", "position": [999.0, 0, 0], "power": 40.0, "frequency": 2.5e9},
        {"name": "pulse", "kind": "pulsed", "position": [900, 0, 0], "power": 20.0, "period": 0.01, "duty": 0.25},
        {"name": "sweep", "kind": "swept", "position": [900, 0, 0], "sweep": [5e9, 6e9], "period": 1},
    ]
    stations = [{"name": name, "position": [x, 0, 0], "radio": "t"} for name, x in (("a", 0.0), ("b", 1000.0))]
    with loaded({"types": {"t": QUIET}, "stations": stations, "jammers": jammers}) as sim:
        assert sim.radio is not None
        sim.radio.jammers.set("pulse", on=False)
        sim.step(10)
        budget = sim.radio.link("a", "b")
        assert budget.jammer_to_signal == pytest.approx(20.0 - 10.0 * np.log10(5.0), abs=0.01)
        assert not budget.up and budget.per == pytest.approx(1.0)
        sim.radio.jammers.set("barrage", on=False)
        sim.radio.jammers.set("pulse", on=True)
        sim.step(10)
        assert sim.radio.link("a", "b").jammer_to_signal == pytest.approx(20.0 - 10.0 * np.log10(4.0), abs=0.01)
        sim.radio.jammers.set("pulse", position=[-9000.0, 0, 0])
        sim.step(10)
        assert sim.radio.link("a", "b").jammer_to_signal == pytest.approx(-20.0 - 10.0 * np.log10(4.0), abs=0.01)
        assert [event.kind for event in sim.events.since()].count("jammer") == 4
        for wrong, text in (
            ({"name": "puls"}, "unknown jammer 'puls'"),
            ({"name": "sweep", "frequency": 5e9}, "jammer 'sweep' sweeps: its frequency cannot be set"),
            ({"name": "pulse", "vehicle": "x"}, "unknown"),
        ):
            with pytest.raises(PaddockError, match=text):
                sim.radio.jammers.set(wrong.pop("name"), **wrong)


def test_pulses_hit_packets() -> None:
    """Packets of 1 ms under strong pulses: those of 1 us every 8 ms hit 12.5 % of them, every 0.1 ms all."""
    packets = {"type": "t", "bit_rate": 8.192e6, "bandwidth": 20e6}
    stations = [{"name": name, "position": [x, 0, 0], "radio": packets} for name, x in (("a", 0.0), ("b", 1000.0))]
    pulse = {"name": "pulse", "kind": "pulsed", "position": [900, 0, 0], "power": 60.0}
    for period, lost, up in ((8e-3, 0.125, False), (1e-4, 1.0, False), (20e-3, 0.05, True)):
        radio = {
            "types": {"t": QUIET},
            "stations": stations,
            "jammers": [{**pulse, "period": period, "duty": 1e-6 / period}],
        }
        with loaded(radio) as sim:
            sim.step(10)
            links = sim.radio.links()
            at = int(links.start[1])
            assert links.per[at] == pytest.approx(lost, rel=0.02) and bool(links.up[at]) is up
            budget = sim.radio.link("a", "b")
            assert budget.per == pytest.approx(float(links.per[at]), abs=1e-5)
            blob = sim.save()
            sim.restore(blob)
            assert sim.radio.link("a", "b") == budget


@pytest.mark.parametrize("sharing", ["csma", "none"])
def test_pulses_hit_long_messages_more_often(sharing: str) -> None:
    """Strong pulses every 19.7 ms: 5 ms on the air are hit with a probability of 25.4 %, 0.1 ms with 0.5 %.

    Packets are sent every 10 ms, so that they meet pulses at all phases.
    """
    packets = {"type": "t", "bit_rate": 8.192e6, "bandwidth": 20e6}
    stations = [{"name": name, "position": [x, 0, 0], "radio": packets} for name, x in (("a", 0.0), ("b", 1000.0))]
    pulse = {"name": "p", "kind": "pulsed", "position": [900, 0, 0], "power": 60, "period": 0.0197, "duty": 5e-5}
    messages = {"sharing": sharing, "retries": 0, "header_bits": 0, "overhead": 0, "mailbox": 4096}
    radio = {"types": {"t": QUIET}, "stations": stations, "jammers": [pulse], "messages": messages}
    with loaded(radio) as sim:
        lost = []
        for bits in (40_960, 819):
            before = len(sim.radio.received("b"))
            for _ in range(400):
                sim.radio.send("a", "b", b"", bits=bits)
                sim.step(1)
            sim.step(10)
            lost.append(1.0 - (len(sim.radio.received("b")) - before) / 400)
    assert lost[0] == pytest.approx(5.0 / 19.7, abs=0.03)
    assert lost[1] <= 0.0175


def test_a_follower_reacts_after_its_time() -> None:
    follower = {
        "name": "f",
        "kind": "follower",
        "position": [500, 10, 0],
        "frequency": 5e9,
        "reaction": 0.35,
        "power": 30,
    }
    stations = [
        {"name": name, "position": [x, 0, 0], "radio": {"type": "t", "duty": 0.5}}
        for name, x in (("a", 0), ("b", 1000))
    ]
    with loaded({"types": {"t": QUIET}, "stations": stations, "jammers": [follower]}) as sim:
        assert sim.radio is not None
        seen = []
        for _ in range(6):
            [view] = sim.radio.jammers()
            seen.append((sim.tick, view.frequency, view.active, bool(sim.radio.links().jamming[0] > 0.0)))
            sim.step(10)
        assert [tick for tick, *rest in seen if rest == [5e9, 0.0, False]] == [0, 10, 20]
        assert seen[3][:2] == (30, 2.4e9) and seen[3][2] == pytest.approx(0.5)  # from 0.35 s on
        assert [tick for tick, *rest in seen if rest == [2.4e9, 1.0, True]] == [40, 50]


def test_a_follower_hears_messages_beacons_and_commands() -> None:
    """Without a duty: it tunes to what is sent until nothing is; the spectrum shows the share of time on the air."""
    follower = {"name": "f", "kind": "follower", "position": [50, 10, 0], "frequency": 5e9, "reaction": 0.1}
    kind = {**QUIET, "duty": 0.0, "bit_rate": 1e4}
    stations = [{"name": name, "position": [x, 0, 0], "radio": "t"} for name, x in (("a", 0), ("b", 100))]
    section = {"types": {"t": kind}, "stations": stations, "jammers": [{**follower, "power": -60}]}
    fleet = {"name": "p", "model": "point", "pose": [50, 0, 0, 0], "radio": "t", "via": {"radio": "a"}}
    with loaded(section, fleet) as sim:
        sim.step(50)
        quiet = float(sim.radio.spectrum("b").power.max())
        assert sim.radio.jammers()[0].frequency == 5e9
        sim.radio.send("a", "*", b"x" * 1000)  # 0.8272 s on the air, with the header
        sim.step(60)
        assert sim.radio.jammers()[0].frequency == 2.4e9
        assert float(sim.radio.spectrum("b").power.max()) > quiet + 20.0
        blob, known = sim.save(), sim.state_hash()
        sim.step(20)
        later = sim.state_hash()
        sim.restore(blob)
        assert sim.state_hash() == known
        sim.step(20)
        assert sim.state_hash() == later
        sim.step(80)
        assert sim.radio.jammers()[0].frequency == 5e9 and float(sim.radio.spectrum("b").power.max()) == quiet
        for _ in range(8):
            sim.command("p", vx=0.0)
            sim.step(10)
        assert sim.radio.jammers()[0].frequency == 2.4e9
    section["messages"] = {"beacons": {"rate": 10}}
    with loaded(section, fleet) as sim:
        sim.step(50)
        assert sim.radio.jammers()[0].frequency == 2.4e9


def test_deceptive_frames_are_accepted_near_the_jammer() -> None:
    """At 100 m false frames are decoded like real ones; at 100 km they are lost in the noise."""
    liar = {"name": "liar", "kind": "deceptive", "position": [0, 100, 50], "power": 20, "frames": 10}
    poses = [[0, 0, 50, 0], [100_000, 0, 50, 0]]
    fleet = {"name": "p", "count": 2, "model": "point", "spawn": {"poses": poses}, "radio": "t"}
    with loaded({"types": {"t": QUIET}, "jammers": [liar]}, fleet) as sim:
        sim.step(100)
        assert sim.radio is not None
        assert sim.snapshot().fleet("p")["radio.deceived"] == pytest.approx([1.0, 0.0], abs=1e-6)
        assert sim.radio.jammers()[0].false_frames == 10.0  # 10 per s, of 1 s


def test_deceptive_frames_count_by_the_power_in_the_band() -> None:
    """A tenth of 20 MHz lies in the band of 2 MHz: as good as a matched frame with a tenth of the power."""
    shares = []
    poses = [[x, 0, 50, 0] for x in (100, 1_000, 1_500, 9_000)]
    fleet = {"name": "p", "count": 4, "model": "point", "spawn": {"poses": poses}, "radio": "t"}
    for bandwidth, power in ((20e6, 10.0), (2e6, 0.0), (2e6, 10.0)):
        liar = {"name": "liar", "kind": "deceptive", "position": [0, 0, 50], "power": power, "bandwidth": bandwidth}
        with loaded({"types": {"t": {**QUIET, "bandwidth": 2e6}}, "jammers": [liar]}, fleet) as sim:
            shares.append(sim.snapshot().fleet("p")["radio.deceived"])
    assert shares[0] == pytest.approx(shares[1], abs=1e-9) and shares[0][0] > 0.999 and shares[0][3] < 0.001
    assert (shares[2] - shares[0]).max() > 0.5


def test_snapshot_columns_telemetry_and_events() -> None:
    """Four in a row, 300 m apart, with a range of 500 m: each hears its neighbours; a station hears the first."""
    reach = 10.0 ** ((100.05 - 20.0 * np.log10(2.0)) / 20.0)  # free space of 500 m
    sensitivity = 20.0 - 20.0 * np.log10(reach)
    radio = {
        "types": {"t": {**QUIET, "sensitivity": sensitivity, "bandwidth": 1e6}},
        "hysteresis": 0.0,
        "stations": [{"name": "base", "position": [-300, 0, 50], "radio": "t"}],
        "jammers": [{"name": "j", "kind": "spot", "position": [901, 0, 50], "power": 60, "enabled": False}],
    }
    with loaded(radio, points()) as sim:
        fleet = sim.snapshot().fleet("p")
        assert fleet["radio.links"].tolist() == [2.0, 2.0, 2.0, 1.0]
        assert fleet["radio.signal"][0] == 1.0 and fleet["radio.signal"][1:].tolist() == [0.0, 0.0, 0.0]
        assert fleet["radio.sinr"][1] == -100.0
        assert snapshot_columns(["radio.sinr"], None, {})["radio.sinr"].unit == "dB"
        ids = fleet.ids.tolist()
        assert fleet["radio.peers"][1].tolist() == [*sorted((ids[0], ids[2])), -1, -1, -1, -1]
        assert fleet["radio.peers"][0].tolist()[:2] == [ids[1], -2.0]
        assert fleet["radio.peer_sinr"][1][0] == pytest.approx(fleet["radio.peer_sinr"][1][1])
        sim.radio.jammers.set("j", on=True)
        sim.step(20)
        snapshot = sim.snapshot()
        assert snapshot.fleet("p")["radio.jammed"].tolist() == [1.0, 1.0, 1.0, 1.0]
        frame = decode_telemetry(encode_status(snapshot, select(snapshot.layout, None))[5:])  # after the header
        assert (frame["flags"] & 1).tolist() == [1, 1, 1, 1] and frame["signal"].tolist() == [0.0] * 4
        downs = [(e.subject, e.detail) for e in sim.events.since() if e.kind == "link_down"]
        assert ("p[0]", "base") in downs and ("p[2]", "p[3]") in downs and len(downs) == 4
        assert sim.radio.report().downs == 2 * 4 and sim.radio.report().jammed == 5  # four pairs, both directions


def jam_events(sim: Simulation) -> list[tuple[int, str, str, str]]:
    events = [(e.tick, e.kind, e.subject, e.detail) for e in sim.events.since()]
    return [event for event in events if event[1] in ("jammed", "unjammed")]


def test_events_of_jammed_vehicles_name_the_strongest_jammer() -> None:
    """Links need 12.5 dB. 0 dBm 10 m from p[3] is -60 dBm there, above links of 300 m (-69.6 dBm); -90 dBm at p[2]."""
    stations = [{"name": "base", "position": [905, 0, 50], "radio": "t"}]
    spot = {"kind": "spot", "position": [910, 0, 50], "frequency": 2.4e9, "enabled": False}
    jammers = [
        {**spot, "name": "near", "power": 0},
        {
            **spot,
            "name": "strong",
            "position": [930, 0, 50],
            "power": 11.5,
        },  # 2 dB above `near` at p[3], -2.5 dB at base
        {**spot, "name": "elsewhere", "power": 30, "frequency": 5e9, "enabled": True},
    ]
    with loaded({"types": {"t": QUIET}, "stations": stations, "jammers": jammers}, points()) as sim:
        sim.step(20)
        assert jam_events(sim) == []
        sim.radio.jammers.set("near", on=True)
        sim.step(10)
        assert jam_events(sim) == [(30, "jammed", "p[3]", "near"), (30, "jammed", "base", "near")]
        sim.radio.jammers.set("strong", on=True)
        sim.step(10)  # -78.9, -84.5 and -88 dBm at p[2], p[1] and p[0]: half of their links or more
        assert jam_events(sim)[2:] == [(40, "jammed", f"p[{k}]", "strong") for k in range(3)]
        sim.radio.jammers.set("near", on=False)
        sim.radio.jammers.set("strong", on=False)
        sim.step(300)
        free = [(240, "unjammed", name, "") for name in ("p[0]", "p[1]", "p[2]", "p[3]", "base")]
        assert jam_events(sim)[5:] == free
        sim.radio.jammers.set("near", on=True)
        sim.radio.jammers.set("strong", on=True)
        sim.step(10)
        named = [(f"p[{k}]", "strong") for k in range(4)]
        assert [event[2:] for event in jam_events(sim)[10:]] == [*named, ("base", "near")]


def test_a_sweep_is_one_event() -> None:
    """The sweep crosses the band of 20 MHz for a tenth of each second; 2 s after its end receivers are free."""
    sweep = {"name": "s", "kind": "swept", "sweep": [2.39e9, 2.59e9], "period": 1.0, "bandwidth": 1e6, "power": 30}
    radio = {"types": {"t": QUIET}, "jammers": [{**sweep, "position": [0, 0, 60], "on": [[0.95, 5.35]]}]}
    with loaded(radio, points()) as sim:
        flags = []
        for _ in range(90):
            sim.step(10)
            flags.append(float(sim.snapshot().fleet("p")["radio.jammed"][0]))
        assert 4 <= np.count_nonzero(np.diff(flags) > 0.0) <= 5  # it comes and goes with every period
        last = 10 * (1 + int(np.flatnonzero(flags)[-1]))
        names = [f"p[{k}]" for k in range(4)]
        expected = [("jammed", name, "s") for name in names] + [("unjammed", name, "") for name in names]
        assert [event[1:] for event in jam_events(sim)] == expected
        assert [event[0] for event in jam_events(sim)[4:]] == [last + 200] * 4


def test_events_of_jammed_vehicles_are_bounded_and_saved() -> None:
    grid = {"grid": {"spacing": 2, "z": 20}}
    jammer = {"name": "j", "kind": "barrage", "position": [0, 0, 30], "on": [[0.25, 0.55]]}
    with loaded({"types": {"t": QUIET}, "jammers": [jammer]}, points(count=130, spawn=grid)) as sim:
        sim.step(40)
        events = jam_events(sim)
        assert len(events) == 101 and events[-1] == (20, "jammed", "", "30 more vehicles and stations")
        sim.remove("p[7]")
        blob, known = sim.save(), sim.state_hash()
        sim.step(300)
        after, rest = sim.state_hash(), jam_events(sim)[101:]
        assert len(rest) == 101 and rest[-1] == (250, "unjammed", "", "29 more vehicles and stations")
        assert "p[7]" not in [event[2] for event in rest] and rest[7][2] == "p[8]"
        sim.restore(blob)
        assert sim.state_hash() == known
        sim.step(300)
        assert sim.state_hash() == after and jam_events(sim)[101:] == rest


def busy() -> dict[str, Any]:
    """Two fleets with fading, antennas, two radios per vehicle, a station and jammers of all kinds."""
    at = {"position": [200, 50, 40], "power": 0}
    jammers = [
        {"name": "barrage", "kind": "barrage", **at, "on": [[0.05, 0.3]]},
        {"name": "swept", "kind": "swept", **at, "sweep": [2.3e9, 2.5e9], "period": 0.7, "bandwidth": 1e6},
        {"name": "pulsed", "kind": "pulsed", **at, "period": 0.13},
        {"name": "follower", "kind": "follower", **at, "reaction": 0.15},
        {"name": "liar", "kind": "deceptive", "vehicle": "b[1]", "power": 0},
    ]
    radio = {
        "types": {"t": {"bandwidth": 2e6, "duty": 0.2, "power": 5.0}, "d": {"antenna": "dipole", "channel": 1}},
        "links": [{"between": ["a", "a"], "shadowing": {"sigma": 4}, "fading": {"rician": 3}, "model": "two_ray"}],
        "stations": [{"name": "base", "position": [0, 0, 2], "radio": ["t", "d"]}],
        "jammers": jammers,
    }
    fly = {"model": "quad", "behaviour": {"flock": {"range": 100}}}
    random = {"low": [-100, -100, 20], "high": [100, 100, 60]}
    fleets = [
        {"name": "a", "count": 12, "spawn": {"random": random}, "radio": "t", **fly},
        {"name": "b", "count": 8, "spawn": {"random": random}, "radio": ["t", {"type": "d", "power": 3}], **fly},
    ]
    return {"seed": 3, "clock": {"rate": 60}, "radio": radio, "vehicles": fleets}


def test_restore_and_step_is_step() -> None:
    with paddock.load(busy()) as sim:
        assert sim.radio is not None
        sim.step(20)
        sim.radio.jammers.set("swept", position=[10, 20, 30], at_tick=31)
        blob, known = sim.save(), sim.state_hash()
        links = sim.radio.links()
        sim.step(25)
        after, final = sim.state_hash(), sim.radio.links()
        assert not np.array_equal(links.power, final.power)
        sim.restore(blob)
        assert sim.state_hash() == known
        for first, two in zip(sim.radio.links(), links, strict=True):
            assert np.array_equal(first, two)
        sim.step(25)
        assert sim.state_hash() == after
        sim.reset()
        sim.step(20)
        sim.radio.jammers.set("swept", position=[10, 20, 30], at_tick=31)
        assert sim.state_hash() == known


def test_vehicles_that_come_and_go_keep_the_links_of_others() -> None:
    with paddock.load(busy()) as sim:
        assert sim.radio is not None
        sim.step(14)
        before = {(sim.radio.name(i), sim.radio.name(int(j))) for i, j in entries(sim)}
        sim.remove("a[3]")
        sim.remove("b[1]")  # carries a jammer
        sim.spawn(name="c", model="point", pose=[5, 5, 30, 0], radio="t")
        kept = {pair for pair in before if not {name.partition("/")[0] for name in pair} & {"a[3]", "b[1]"}}
        assert {(sim.radio.name(i), sim.radio.name(int(j))) for i, j in entries(sim)} == kept
        blob = sim.save()
        sim.step(20)
        assert any("c" in pair for pair in {(sim.radio.name(i), sim.radio.name(int(j))) for i, j in entries(sim)})
        assert [jammer.position for jammer in sim.radio.jammers() if jammer.name == "liar"] == [None]
        after = sim.state_hash()
        sim.restore(blob)
        sim.step(20)
        assert sim.state_hash() == after


def entries(sim: Simulation) -> list[tuple[int, int]]:
    assert sim.radio is not None
    links = sim.radio.links()
    rows = np.repeat(np.arange(len(links.start) - 1), np.diff(links.start))
    return list(zip(rows.tolist(), links.peer.tolist(), strict=True))


@pytest.mark.usefixtures("shared_loops")
def test_threads_and_the_order_of_fleets_do_not_matter() -> None:
    hashes = set()
    for threads in (1, min(2, available_threads())):
        for reverse in (False, True):
            scenario = busy()
            if reverse:
                scenario["vehicles"].reverse()
                scenario["radio"]["jammers"].reverse()
            limit_threads(threads)
            with paddock.load(scenario) as sim:
                sim.step(30)
                tree = sim.engine.saved_state()
                hashes.add((str(tree["radio"]["links"]["power"].tobytes()), str(tree["radio"]["jammers"])))
    assert len(hashes) == 1


def test_a_recording_with_jammers_verifies(tmp_path: Path) -> None:
    with paddock.load(busy()) as sim, Recorder(sim, tmp_path / "run.mcap", rate=30):
        assert sim.radio is not None
        sim.step(20)
        sim.radio.jammers.set("barrage", on=False)
        sim.radio.jammers.set("pulsed", vehicle="a[2]", at_tick=33)
        sim.step(30)
    result = verify(tmp_path / "run.mcap")
    assert result.same and result.ticks == 50


CRAFTED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a transmitter that does not exist": lambda radio: radio["links"]["peer"].__setitem__(0, 99),
    "a row that descends": lambda radio: radio["links"]["start"].__setitem__(3, 0),
    "power that is not finite": lambda radio: radio["links"]["power"].__setitem__(0, np.nan),
    "an error rate above 1": lambda radio: radio["links"]["per"].__setitem__(0, 1.5),
    "a tick in the future": lambda radio: radio["links"].update(tick=1000),
    "another jammer": lambda radio: radio["jammers"][0].__setitem__(0, "x"),
    "a frequency that is not finite": lambda radio: radio["jammers"][0].__setitem__(6, float("nan")),
    "no jammers": lambda radio: radio.update(jammers=[]),
    "less than nothing": lambda radio: radio.update(ups=-1),
    "no packets": lambda radio: radio.pop("packets"),
    "a component that does not exist": lambda radio: radio["packets"]["labels"].__setitem__(0, 10**6),
    "a channel of no fleet": lambda radio: radio.update(channels=[["ghost", 3]]),
    "jammed in the future": lambda radio: radio["jammed"].__setitem__(0, 1000),
    "jammed radios that do not exist": lambda radio: radio.update(jammed=np.zeros(3, np.int64)),
    "more than always on the air": lambda radio: radio["on_air"].__setitem__(0, 1.5),
    "no links": lambda radio: radio.pop("links"),
}


def test_crafted_states_are_refused() -> None:
    with paddock.load(busy()) as sim:
        sim.step(20)
        blob, known = sim.save(), sim.state_hash()
        for what, craft in CRAFTED.items():
            tree = copy.deepcopy(unpack(blob))
            tree["radio"]["links"] = {
                key: value.copy() if isinstance(value, np.ndarray) else value
                for key, value in tree["radio"]["links"].items()
            }
            craft(tree["radio"])
            with pytest.raises(PaddockError):
                sim.restore(pack(tree))
            assert sim.state_hash() == known, what


def test_without_radio() -> None:
    with paddock.load({"vehicles": [{"name": "p", "model": "point"}]}) as sim:
        assert "radio.signal" not in sim.snapshot()["p"].columns
        for use in (lambda: sim.radio.report(), lambda: sim.radio.stations, lambda: sim.radio.jammers()):
            with pytest.raises(PaddockError, match="there is no radio: add a section"):
                use()
        with pytest.raises(PaddockError, match="there is no radio"):
            sim.spawn(name="q", model="point", radio="default")


def test_compiled_links_are_the_budgets_of_plain_functions() -> None:
    """Antennas, two-ray, shadowing and fading: compiled rows against the same functions run as Python."""
    with paddock.load(busy()) as sim:
        assert sim.radio is not None
        sim.step(12)  # an update is due at tick 12
        links = sim.radio.links()
        assert links.tick == 12
        compiled = entries(sim)
        for m in range(0, len(compiled), max(1, len(compiled) // 40)):
            i, j = compiled[m]
            budget = sim.radio.link(sim.radio.name(j), sim.radio.name(i))
            assert budget.received == pytest.approx(links.power[m], abs=1e-9)
            assert budget.sinr == pytest.approx(sinr_of(links)[m], abs=1e-9)
            assert budget.up == bool(links.up[m])
            silent = not budget.up and budget.burst_share == 0.0  # a link that is down, also between bursts
            assert silent or budget.per in (1.0, pytest.approx(links.per[m], abs=1e-6))
            assert not silent or budget.per == 1.0


def test_a_hill_and_a_wall_weaken_links() -> None:
    """A ridge 30 m above the line is a knife edge: at 500 m from both ends and 2.4 GHz, v = 5.37 and J(v) = 27.5 dB."""
    heights = np.zeros((3, 41))
    heights[:, 20] = 50.0  # 500 m east of the first station
    ground = {"height_map": {"values": heights.tolist(), "cell": 25.0, "origin": [0.0, -25.0]}}
    wall = {"box": {"center": [0.0, 10.0, 0.0], "size": [20.0, 0.4, 60.0]}, "material": "concrete"}
    stations = [
        {"name": name, "position": position, "radio": "t"}
        for name, position in (("a", [0, 0, 20]), ("b", [1000, 0, 20]), ("c", [0, 20, 20]))
    ]
    radio = {"types": {"t": QUIET}, "stations": stations, "default": {"terrain": True, "obstacles": True}}
    with loaded(radio, world={"ground": ground, "obstacles": [wall]}) as sim:
        assert sim.radio is not None
        hill = sim.radio.link("a", "b")
        v = 30.0 * np.sqrt(2.0 / (299_792_458.0 / 2.4e9) * (1.0 / 500.0 + 1.0 / 500.0))
        edge = 6.9 + 20.0 * np.log10(np.sqrt((v - 0.1) ** 2 + 1.0) + v - 0.1)
        assert hill.diffraction == pytest.approx(edge, abs=1.0)  # the ridge is 50 m wide at its foot
        assert hill.received == pytest.approx(-80.05 - hill.diffraction, abs=0.01)
        assert sim.radio.link("a", "c").obstacles == pytest.approx(0.4 * 15.0, abs=1e-6)
        links = sim.radio.links()
        row = slice(int(links.start[1]), int(links.start[2]))
        assert 0 not in links.peer[row].tolist()  # -107 dBm is below the sensitivity of b


@pytest.mark.parametrize(
    ("other", "mismatch", "outside"),
    [({"channel": 2}, "other channel", 10.0 * np.log10(2.0)), ({"channel": 8}, "other channel", 300.0),
     ({"modulation": "bpsk"}, "other modulation", 0.0)],
)  # fmt: skip
def test_the_budget_of_radios_that_cannot_decode_each_other(
    other: dict[str, Any], mismatch: str, outside: float
) -> None:
    """Channels 5 MHz apart, of 20 MHz: two channels further, half of the transmission is in the band."""
    stations = [{"name": name, "position": [x, 0, 10], "radio": name} for name, x in (("a", 0.0), ("b", 500.0))]
    types = {"a": {"bandwidth": 20e6}, "b": {"bandwidth": 20e6, **other}}
    tree = {"radio": {"types": types, "stations": stations}, "vehicles": [{"name": "p", "model": "point"}]}
    with paddock.load(tree) as sim:
        sim.step(20)
        budget = sim.radio.link("a", "b")
    free = 20.0 - 20.0 * np.log10(4.0 * np.pi * 2.4e9 / 299_792_458.0 * 500.0)
    assert (budget.mismatch, budget.up, budget.per, budget.capacity) == (mismatch, False, 1.0, 0.0)
    assert budget.outside == pytest.approx(outside, abs=0.01) and budget.received == pytest.approx(
        free - outside, abs=0.05
    )
    assert f"a -> b: down ({mismatch})" in str(budget)


def noisy(jammers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a vehicle 150 m from a station, and a radio with a duty of 5 % beside the station."""
    kind = {"bandwidth": 2e6, "bit_rate": 1e6}
    radio = {
        "types": {"noisy": {**kind, "duty": 0.05, "packet_bits": 1000}, "mesh": kind},
        "stations": [{"name": "base", "position": [0, 0, 6], "radio": "mesh"}],
        "jammers": jammers,
    }
    loud = {"name": "loud", "model": "point", "pose": [10, 0, 6, 0], "radio": "noisy"}
    return {"radio": radio, "vehicles": [loud, {**loud, "name": "dot", "pose": [150, 0, 6, 0], "radio": "mesh"}]}


def test_a_budget_with_collisions_is_consistent() -> None:
    """Packets of 8192 bits take 8.192 ms, those of the other radio 1 ms: none collides for 0.95 exp(-8.192 / 19)."""
    kept = 0.95 * np.exp(-8.192 * 0.05 / 0.95)
    signal, noise = -63.57, 10.0 * np.log10(1.380649e-23 * 290.0 * 2e6 * 1e3) + 6.0  # dBm
    with paddock.load(noisy([])) as sim:
        sim.step(50)
        budget = sim.radio.link("dot", "base")
        assert budget.up and budget.sinr == pytest.approx(signal - noise, abs=0.01)
        assert budget.collided == pytest.approx(1.0 - kept, rel=1e-3) and budget.per == pytest.approx(
            1.0 - kept, rel=1e-3
        )
        assert budget.throughput == pytest.approx(kept * 1e6, rel=1e-3) and budget.throughput < budget.capacity
        assert budget.interference < -290.0 and budget.burst_share == 0.0
        assert "bursts" not in str(budget) and "packets that collide             38." in str(budget)
        snapshot = sim.snapshot()["dot"]
        assert snapshot["radio.uplink"] == pytest.approx(budget.sinr, abs=0.01) and snapshot["radio.signal"] == 1.0
    with paddock.load(noisy([PULSED])) as sim:
        sim.step(50)
        budget = sim.radio.link("dot", "base")
        floor = sum(10.0 ** (0.1 * power) for power in (budget.noise, budget.interference, budget.jamming))
        assert budget.sinr == pytest.approx(budget.received - 10.0 * np.log10(floor), abs=1e-6)
        assert budget.burst_sinr < budget.sinr - 5.0 and budget.burst_share == pytest.approx(0.1)
        assert budget.throughput == pytest.approx((1.0 - budget.per) * 1e6) and budget.throughput < budget.capacity
        assert "SINR in bursts" in str(budget)


PULSED = {"name": "jp", "kind": "pulsed", "position": [0, 200, 30], "period": 0.01, "duty": 0.1, "power": 0}
