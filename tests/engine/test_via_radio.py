"""Commands over the radio: delay, rate, loss, timeouts behind a jammer; the queue is part of the state."""

from __future__ import annotations

from collections import deque
from math import erfc, log10, pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.errors import PaddockError
from paddock.mavlink.radio_path import RadioEnds
from paddock.record import Recorder, verify
from paddock.scenario import ScenarioError, load_scenario
from paddock.world.archive import pack, unpack

LIGHT = 299_792_458.0
SLOT, OVERHEAD, HEADER, INPUT, REPLY = 2e-5, 1e-4, 272, 32, 112  # s, s, bits
AT_ONCE = {"window": [1, 1]}  # no backoff


def world(
    entry: dict[str, Any],
    radio: dict[str, Any] | None = None,
    jammers: Any = (),
    rate: int = 200,
    messages: dict[str, Any] | None = None,
) -> Any:
    base = {"name": "base", "position": [0.0, 0.0, 0.0]}
    section = {"stations": [base], "jammers": list(jammers), "types": {"default": radio or {}}}
    section["messages"] = messages or {}
    vehicle = {"name": "dot", "model": "point", "pose": [300.0, 0.0, 0.0, 0.0], "radio": "default", "via": "radio"}
    return {"seed": 5, "clock": {"rate": rate}, "radio": section, "vehicles": [{**vehicle, **entry}]}


def noise_dbm(bandwidth: float, figure: float = 6.0) -> float:
    return 10.0 * log10(1.380649e-23 * 290.0 * bandwidth * 1e3) + figure


def in_slots(seconds: float) -> float:
    return SLOT * np.ceil(seconds / SLOT - 1e-9)


def test_a_command_arrives_after_access_airtime_and_flight() -> None:
    with paddock.load(world({}, {"bit_rate": 1000.0}, messages=AT_ONCE)) as sim:
        sim.step(10)
        sim.command("dot", vx=2.0)
        sim.step(1)
        posted = 10 / 200
        while sim.snapshot()["dot"].velocity[0] == 0.0:
            sim.step(1)
        airtime = OVERHEAD + (HEADER + INPUT) / 1000.0  # 0.3 s; light takes 1 us for 300 m
        delay = 3 * SLOT + airtime + 300.0 / LIGHT  # a slot until it contends, and DIFS
        assert sim.radio.commands("dot").delay == pytest.approx(delay, abs=1e-9)
        assert sim.tick == int(np.ceil((posted + delay) * 200)) + 1  # latched before the tick that moves the vehicle


def test_a_newer_command_joins_the_one_that_waits() -> None:
    """Of five commands in one tick one packet is sent; those that follow wait together for its acknowledgement."""
    with paddock.load(world({}, {"bit_rate": 1000.0}, messages=AT_ONCE)) as sim:
        for speed in (1.0, 2.0, 3.0, 4.0, 5.0):
            sim.command("dot", vx=speed)
        sim.step(1)
        traffic = sim.radio.commands("dot")
        assert (traffic.sent, traffic.dropped, traffic.waiting) == (5, 4, 1)
        sim.command("dot", vx=6.0, vy=6.0)
        sim.step(10)  # 0.055 s
        sim.command("dot", vy=7.0)
        sim.step(10)
        assert (sim.radio.commands("dot").dropped, sim.radio.commands("dot").waiting) == (5, 2)
        sim.step(50)  # 0.355 s: the first has arrived, its acknowledgement is on the air
        assert sim.snapshot()["dot"]["command.vx"] == 5.0 and sim.snapshot()["dot"]["command.vy"] == 0.0
        assert sim.radio.commands("dot").waiting == 1
        sim.step(100)
        assert (sim.snapshot()["dot"]["command.vx"], sim.snapshot()["dot"]["command.vy"]) == (6.0, 7.0)
        first = 3 * SLOT + OVERHEAD + (HEADER + INPUT) / 1e3
        reply = in_slots(first) + SLOT + in_slots(OVERHEAD + REPLY / 1e3)
        sent = np.ceil(reply * 200) / 200  # the station posts the next at a tick
        second = sent - 11 / 200 + 3 * SLOT + OVERHEAD + (HEADER + 2 * INPUT) / 1e3
        mean = (first + second) / 2 + 300.0 / LIGHT
        traffic = sim.radio.commands("dot")
        assert traffic.delay == pytest.approx(mean, abs=1e-9)
        assert (traffic.sent, traffic.delivered, traffic.dropped, traffic.waiting, traffic.lost) == (7, 2, 5, 0, 0)


def test_inputs_that_a_command_leaves_out_stay() -> None:
    with paddock.load(world({})) as sim:
        sim.command("dot", vx=1.0, vy=2.0)
        sim.step(5)
        sim.command("dot", vy=-3.0)
        sim.step(5)
        vehicle = sim.snapshot()["dot"]
        assert (vehicle["command.vx"], vehicle["command.vy"]) == (1.0, -3.0)


@pytest.mark.parametrize("retries", [0, 1])
def test_losses_follow_the_packet_error_rate(retries: int) -> None:
    """BPSK at 2.4 GHz over 300 m of free space, the power chosen for a bit error rate of about 1e-3.

    A fleet of 100 shares the channel: one command after the other, in 0.85 ms. Bits are those of header and command.
    """
    bandwidth, n, turns = 1e6, 100, 12
    loss = 20.0 * log10(4.0 * pi * 300.0 * 2.4e9 / LIGHT)
    power = noise_dbm(bandwidth) + loss + 6.8  # Eb/N0 of 6.8 dB
    entry = {"name": "dots", "count": n, "pose": None, "spawn": {"poses": [[300.0, 0.0, 0.0, 0.0]] * n}}
    radio = {"bandwidth": bandwidth, "bit_rate": bandwidth, "power": power, "modulation": "bpsk", "duty": 0.0}
    radio |= {"sensitivity": -130.0, "packet_bits": 50}
    with paddock.load(world(entry, radio, messages={"retries": retries, "ack_bits": 1})) as sim:
        for k in range(turns):
            sim.command("dots", vx=np.full(n, 1e-3 * k))
            sim.step(60)
        traffic = sim.radio.commands("dots")
    bits = HEADER + INPUT
    expected = (1.0 - (1.0 - 0.5 * erfc(sqrt(10.0**0.68))) ** bits) ** (retries + 1)
    sent = turns * n
    assert 0.01 < expected < 0.4 and traffic.dropped == 0
    assert traffic.sent == sent and traffic.waiting == 0 and traffic.delivered + traffic.lost == sent
    assert traffic.lost / sent == pytest.approx(expected, abs=4.0 * sqrt(expected / sent))


JAMMER = {"name": "red", "kind": "barrage", "position": [320.0, 0.0, 0.0], "power": 40.0, "on": [[1.0, 2.0]]}


def drive(sim: Any, seconds: float) -> None:
    for _ in range(round(seconds * 20)):
        sim.command("dot", vx=1.0)
        sim.step(10)


def test_a_jammer_fires_the_timeout_and_commands_come_back(tmp_path: Path) -> None:
    scenario = world({"timeout": 0.4, "failsafe": {"vx": 0.0}}, jammers=[JAMMER])
    with paddock.load(scenario) as sim, Recorder(sim, tmp_path / "run.mcap"):
        drive(sim, 3.0)
        events = {event.kind: event.tick / 200 for event in sim.events.since()}
        traffic = sim.radio.commands("dot")
        moved = float(sim.snapshot()["dot"].position[0]) - 300.0
    assert events["link_down"] == pytest.approx(1.0, abs=0.1)  # links are updated ten times a second
    assert events["failsafe"] == pytest.approx(events["link_down"] + 0.4, abs=0.06)  # a command every 0.05 s
    assert events["recovered"] == pytest.approx(2.0, abs=0.11) and events["link_up"] == pytest.approx(2.0, abs=0.1)
    assert traffic.lost == pytest.approx(20, abs=2) and traffic.delivered + traffic.lost + traffic.dropped == 60
    assert traffic.dropped <= 2  # while repetitions are on the air
    assert moved == pytest.approx(3.0 - (events["recovered"] - events["failsafe"]), abs=0.2)  # it accelerates twice
    assert verify(tmp_path / "run.mcap").same


def test_commands_on_their_way_are_part_of_the_state() -> None:
    scenario = world({"timeout": 0.4}, {"bit_rate": 1000.0}, [JAMMER])
    with paddock.load(scenario) as sim:
        drive(sim, 0.3)
        state, before = sim.save(), sim.state_hash()
        assert sim.radio.commands("dot").waiting == 2
        sim.step(300)
        after = sim.state_hash()
        sim.restore(state)
        assert sim.state_hash() == before
        sim.step(100)
        sim.step(200)
        assert sim.state_hash() == after
    with paddock.load(scenario) as sim:
        sim.restore(state)
        sim.step(300)
        assert sim.state_hash() == after


def test_a_command_that_a_newer_one_has_overtaken_is_not_latched() -> None:
    """The first waits at a relay that senses another packet; the second takes another relay, and its timeout counts."""
    radio = {"bandwidth": 2e6, "bit_rate": 1e4, "modulation": "bpsk", "sensitivity": -95}
    scenario = world({"pose": [2000.0, 0.0, 20.0, 0.0], "timeout": 2.5, "failsafe": {"vx": 0.0}}, radio, [], 100)
    scenario["radio"]["stations"][0]["position"], scenario["radio"]["range"] = [0, 0, 20], 1200.0
    for name, x, y in (("r1", 1000.0, -300.0), ("r2", 1000.0, 400.0), ("talks", 1300.0, -1300.0)):
        relay = {"name": name, "model": "point", "pose": [x, y, 20.0, 0.0], "radio": "default"}
        scenario["vehicles"].append(relay)
    with paddock.load(scenario) as sim:
        sim.step(97)
        sim.command("dot", vx=1.0)
        sim.step(2)  # r1 receives it
        sim.radio.send("talks", "*", b"", bits=30_000)  # for 3 s; r1 alone hears it
        sim.step(50)
        sim.vehicles.place("r1", [1400.0, -300.0, 20.0, 0.0])  # out of reach of the station
        sim.step(48)
        assert sim.radio.commands("dot").delivered == 0
        sim.command("dot", vx=-5.0)
        speeds = []
        for _ in range(320):
            sim.step(1)
            speeds.append(float(sim.snapshot()["dot"]["command.vx"]))
        traffic = sim.radio.commands("dot")
        assert (traffic.sent, traffic.delivered) == (2, 2)  # the first at 4.05 s
        taken = speeds.index(-5.0)
        assert set(speeds[:taken]) == {0.0} and set(speeds[taken : taken + 250]) == {-5.0}
        assert set(speeds[taken + 250 :]) == {0.0}  # 2.5 s after the second


@pytest.mark.parametrize(
    ("row", "value"),
    [(0, -1.0), (0, 0.5), (0, 1e16), (1, 9.0), (3, -1.0), (4, 1.0), (4, 99.0), (5, 2.0), (6, 99.0), (7, 0.0)],
)
def test_crafted_counts_and_waiting_commands_are_refused(row: int, value: float) -> None:
    with paddock.load(world({}, {"bit_rate": 1000.0})) as sim:
        for _ in range(2):
            sim.command("dot", vx=1.0)
            sim.step(2)
        tree = unpack(sim.save())
        tree["fleets"]["dot"]["tables"]["uplink"][row, 0] = value
        with pytest.raises(PaddockError, match="commands on their way to 'dot' are not valid"):
            sim.restore(pack(tree))


@pytest.mark.parametrize(("column", "value"), [(0, 1e9), (0, -1.0), (1, 0.0), (1, 0.5)])
def test_crafted_packets_are_refused(column: int, value: float) -> None:
    with paddock.load(world({}, {"bit_rate": 1000.0})) as sim:
        sim.command("dot", vx=1.0)
        sim.step(2)
        tree = unpack(sim.save())
        packets = tree["radio"]["packets"]
        packets["values"] = packets["values"].copy()
        packets["values"][0, column] = value
        with pytest.raises(PaddockError, match="commands on their way to 'dot' are not valid"):
            sim.restore(pack(tree))
        tree = unpack(sim.save())
        packets = tree["radio"]["packets"]
        packets["queue"] = packets["queue"].copy()
        packets["queue"][0, 2] = 1  # to the station
        with pytest.raises(PaddockError, match="on their way to vehicles without `via: radio`"):
            sim.restore(pack(tree))


def test_telemetry_freezes_and_ages_while_a_jammer_is_on(tmp_path: Path) -> None:
    """A vehicle at 2 m/s sends its state at 10 Hz; the client knows it as it was at the last one that arrived."""
    scenario = world({"via": {"radio": "base", "telemetry": 10}}, jammers=[JAMMER])
    known: list[tuple[float, Any, float]] = []
    with paddock.load(scenario) as sim, Recorder(sim, tmp_path / "run.mcap"):
        first = sim.radio.telemetry("dot")
        assert (first.sent, first.time, first.age, first.position) == (0, None, None, None)
        sim.command("dot", vx=2.0)
        for _ in range(60):
            sim.step(10)
            snapshot = sim.snapshot()
            known.append((sim.time, sim.radio.telemetry("dot"), float(snapshot["dot"].position[0])))
        saved, before = sim.save(), sim.state_hash()
        sim.step(37)
        after = sim.state_hash()
        sim.restore(saved)
        assert sim.state_hash() == before
        sim.step(37)
        assert sim.state_hash() == after
        tree = unpack(saved)
        tree["fleets"]["dot"]["tables"]["telemetry"][2, 0] = 99.0
        with pytest.raises(PaddockError, match="saved telemetry of 'dot' is not valid"):
            sim.restore(pack(tree))
    for time, status, x in known[16:]:  # it has accelerated
        assert status.position[0] == pytest.approx(x - 2.0 * status.age, abs=2e-3)
        assert status.velocity == pytest.approx((2, 0, 0), abs=0.01)
        assert status.charge is None and status.orientation == (0.0, 0.0, 0.0, 1.0)
        if 1.15 < time < 2.0:  # links are updated ten times a second
            assert 0.9 <= status.time <= 1.1 and status.age == pytest.approx(time - status.time)
        elif not 1.1 <= time <= 2.25:
            assert status.age < 0.11
    last = known[-1][1]
    assert last.sent == 30 and last.received == pytest.approx(20, abs=1)
    assert verify(tmp_path / "run.mcap").same


def test_the_phases_of_telemetry_follow_a_restore() -> None:
    """A run that goes back and takes another turn is as one that was restored from the start."""
    entry = {"count": 4, "pose": None, "spawn": {"grid": {"spacing": 20, "z": 20}}}
    scenario = world({**entry, "via": {"radio": "base", "telemetry": 3}}, rate=100)
    with paddock.load(scenario) as sim, paddock.load(scenario) as fresh:
        sim.step(20)
        blob = sim.save()
        sim.remove("dot[0]")
        sim.step(20)
        sim.restore(blob)
        fresh.restore(blob)
        for run in (sim, fresh):
            run.remove("dot[3]")
            run.step(100)
        assert sim.state_hash() == fresh.state_hash()
        sim.restore(blob)
        via = {"radio": "base", "telemetry": 3}
        sim.spawn(name="x", model="point", pose=[5, 5, 20, 0], radio="default", via=via)
        sim.step(100)
        assert sim.radio.telemetry("x").sent == 3


def test_mistakes_of_telemetry() -> None:
    with paddock.load(world({})) as sim, pytest.raises(PaddockError, match="'dot' sends no telemetry: add `via: "):
        sim.radio.telemetry("dot")
    entry = {"name": "dots", "count": 2, "pose": None, "spawn": {"grid": {"spacing": 3}}, "via": {"telemetry": 5}}
    with paddock.load(world(entry)) as sim, pytest.raises(PaddockError, match="'dots' is a fleet of 2: name one"):
        sim.radio.telemetry("dots")


def test_a_vehicle_behind_relays_takes_commands_and_reports() -> None:
    """Radios reach 1.2 km, the vehicle is 3 km away: three hops over two relays, until one of them is gone."""
    places = [[1000.0, 0.0, 5.0, 0.0], [2000.0, 0.0, 5.0, 0.0]]
    relays = {"name": "relays", "count": 2, "model": "point", "radio": "default", "spawn": {"poses": places}}
    scenario = world({"pose": [3000.0, 0.0, 5.0, 0.0], "timeout": 0.5, "via": {"telemetry": 10}}, messages=AT_ONCE)
    scenario["radio"]["range"] = 1200.0
    scenario["radio"]["types"]["default"] = {"bandwidth": 2e6, "bit_rate": 1e6}
    scenario["vehicles"].append(relays)
    with paddock.load(scenario) as sim:
        assert sim.radio.network().path("base", "dot")[0] == ["base", "relays[0]", "relays[1]", "dot"]
        assert sim.engine.radio.connected("dot", "base") and not sim.engine.radio.connected("nobody", "base")
        ends, arrivals = RadioEnds(sim.engine.applier, "dot", "base", 8, 3, 100), deque[str]()  # of MAVLink packets
        assert ends.send_down(125, arrivals, "up")
        sim.step(25)
        assert ends.send_up(125, arrivals, "down")
        sim.step(25)
        assert list(arrivals) == ["up", "down"]
        sim.command("dot", vx=1.0)
        sim.step(100)
        delay = sim.radio.commands("dot").delay
        airtime = OVERHEAD + (HEADER + INPUT) / 1e6
        hop = in_slots(airtime) + SLOT + in_slots(OVERHEAD + REPLY / 1e6) + 2 * SLOT  # SIFS, acknowledgement, DIFS
        least = 3 * SLOT + 2 * hop + airtime + 1000.0 / LIGHT  # the ways to relays are within their slots
        assert least <= delay + 1e-9 and delay < least + 3 * (OVERHEAD + (HEADER + 320) / 1e6 + 1e-3)  # a state between
        assert sim.snapshot()["dot"]["command.vx"] == 1.0
        state = sim.radio.telemetry("dot")
        assert state.age < 0.11 and state.received >= state.sent - 1
        sim.remove("relays[1]")
        sim.step(200)
        assert [event.subject for event in sim.events.since() if event.kind == "failsafe"] == ["dot"]
        assert sim.radio.telemetry("dot").age > 0.9 and not sim.engine.radio.connected("dot", "base")


def several(first: str, steps: list[int]) -> tuple[Any, ...]:
    """Return what two fleets that share a lossy channel know and do, with one of them declared first."""
    entries = {}
    for name, x in (("left", 250.0), ("right", 330.0)):
        spawn = {"line": {"start": [x, -20.0, 0.0], "end": [x, 20.0, 0.0]}}
        via = {"radio": "base", "telemetry": 20}
        entries[name] = {"name": name, "count": 3, "model": "point", "radio": "default", "spawn": spawn, "via": via}
    power = noise_dbm(1e5) + 20.0 * log10(4.0 * pi * 330.0 * 2.4e9 / LIGHT) + 7.0
    radio = {"bandwidth": 1e5, "bit_rate": 1e5, "power": power, "modulation": "bpsk", "duty": 0.0}
    radio |= {"sensitivity": -140.0, "packet_bits": 50}
    scenario = world({}, radio, messages={"beacons": {"rate": 5}})
    other = "right" if first == "left" else "left"
    scenario["vehicles"] = [entries[first], entries[other]]
    with paddock.load(scenario) as sim:
        for k, ticks in enumerate(steps):
            for name in ("left", "right"):
                sim.command(name, vx=np.array([1.0, 2.0, 3.0]) * (k + 1), at_tick=100 * k)
            sim.step(ticks)
        names = [f"{name}[{k}]" for name in entries for k in range(3)]
        known = [sim.radio.telemetry(name) for name in names]
        counts = [sim.radio.commands(name)[:5] for name in names]
        places = {name: np.array(sim.snapshot().fleet(name).position) for name in entries}
        return counts, known, places["left"].tolist(), places["right"].tolist(), sim.radio.traffic()


def test_results_do_not_depend_on_the_order_of_fleets_or_the_grouping_of_steps() -> None:
    results = several("left", [100, 100, 100])
    assert results[4]["damaged"] > 10 and sum(event[1] for event in results[0]) > 6  # losses, and commands that arrive
    assert several("right", [100, 100, 100]) == results
    with paddock.load(world({"via": {"telemetry": 20}})) as sim:
        sim.command("dot", vx=1.0)
        sim.step(300)
        together = sim.state_hash()
        sim.reset()
        sim.command("dot", vx=1.0)
        for _ in range(100):
            sim.step(3)
        assert sim.state_hash() == together


HEAD = "radio:\n  stations: [{name: base, position: [0, 0, 2]}]\nvehicles:\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vehicles:\n- {model: point, via: radio}\n", "2:23: there is no radio: add a section"),
        (HEAD + "- {model: point, via: radio}\n", "4:23: its vehicles have no radio: add `radio:"),
        (
            HEAD + "- {model: point, radio: default, via: {radio: bas}}\n",
            "4:47: unknown station 'bas'; did you mean 'base'",
        ),
        (HEAD + "- {model: point, radio: default, via: wire}\n", "4:39: unknown way 'wire'"),
        (
            HEAD + "- {model: point, radio: default, via: {retries: 3}}\n",
            "4:49: commands share the channel with messages: set retries of `messages` of `radio`",
        ),
        (
            "radio: {}\nvehicles:\n- {model: point, radio: default, via: radio}\n",
            "3:39: there is no ground station: add",
        ),
    ],
)
def test_mistakes_are_reported_at_their_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(text)
    with pytest.raises(ScenarioError) as error:
        load_scenario(path)
    assert message in str(error.value), str(error.value)


def test_a_vehicle_that_a_behaviour_drives_has_no_commands_to_carry() -> None:
    with pytest.raises(PaddockError, match="via have no effect on a vehicle that a behaviour drives"):
        paddock.load(world({"behaviour": "flock"}))


def test_telemetry_of_hidden_vehicles_does_not_collide_forever() -> None:
    """Vehicles on both sides of the station do not hear each other: states that collide are others each time."""
    radio = {"bandwidth": 2e6, "bit_rate": 4e5, "power": 0.0, "sensitivity": -91.0, "duty": 0.0}
    fleets = [
        {"name": name, "count": 4, "model": "point", "radio": "t", "via": {"telemetry": 10},
         "spawn": {"line": {"start": [x, 0, 20], "end": [x, 30, 20]}}}
        for name, x in (("west", -250.0), ("east", 250.0))
    ]  # fmt: skip
    section = {
        "types": {"t": radio},
        "stations": [{"name": "base", "position": [0, 0, 20], "radio": "t"}],
        "messages": {"retries": 0},
    }
    scenario = {"clock": {"rate": 100}, "radio": section, "vehicles": fleets}
    with paddock.load(scenario) as sim:
        sim.step(1000)
        counts = [sim.radio.telemetry(f"{name}[{k}]") for name in ("west", "east") for k in range(4)]
        assert all(count.sent == 100 or count.sent == 101 for count in counts)
        assert min(count.received for count in counts) > 20
