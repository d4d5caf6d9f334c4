"""Messages in a run: actions, mailboxes, states, beacons, behaviours by what was heard, network events."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from radio_rules import OBEY

import paddock
from paddock import Simulation
from paddock.engine import build
from paddock.engine.simulation import replayed
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.planning.solver.methods.cbba import bidding_on
from paddock.record import verify, write_run
from paddock.world.archive import pack, unpack

QUIET = {"default": {"duty": 0.0, "bandwidth": 2e6, "bit_rate": 1e6, "power": 10.0}}


def scenario(count: int = 4, radio: dict[str, Any] | None = None, **fleet: Any) -> dict[str, Any]:
    """Return points in a grid, with a station at the origin."""
    section = {"rate": 10, "types": QUIET, "stations": [{"name": "base", "position": [0, 0, 5]}], **(radio or {})}
    scouts = {"name": "scouts", "count": count, "model": "point", "spawn": {"grid": {"spacing": 6, "z": 20}}}
    return {"seed": 3, "clock": {"rate": 100}, "radio": section, "vehicles": [{**scouts, "radio": "default", **fleet}]}


def loaded(*vehicles: Any, **fields: Any) -> Simulation:
    return paddock.load(scenario(*vehicles, **fields))


def test_messages_arrive_at_mailboxes() -> None:
    with loaded() as sim:
        sim.radio.send("base", "scouts[2]", {"go": [1, 2]})
        sim.radio.send("scouts[1]", data=b"\x00\xff")
        sim.radio.send(sim.snapshot()["scouts[0]"].id, "base", "hello", bits=5000)
        assert sim.radio.received("base") == []
        sim.step(10)
        [order, note] = sim.radio.received("scouts[2]")
        assert (order.source, order.data, order.bits, order.hops) == ("base", {"go": [1, 2]}, 96, 1)
        assert (note.source, note.data) == ("scouts[1]", b"\x00\xff")
        messages = sim.radio.received("base")
        assert {message.data for message in messages} == {"hello", b"\x00\xff"}
        hello = next(message for message in messages if message.data == "hello")
        assert hello.arrived > 1e-4 + 5272 / 1e6
        assert sim.radio.received("base", since=hello.number) == []
        traffic = sim.radio.traffic()
        assert traffic["sent"] == 3 and traffic["delivered"] == 6


def test_a_message_takes_hops_and_the_network_shows_them() -> None:
    """Stations 3 km apart in a line: each hears its neighbours only."""
    stations = [{"name": f"s{k}", "position": [3000.0 * k, 0, 20]} for k in range(4)]
    strong = {"types": {"default": {**QUIET["default"], "power": 25.0}}, "stations": stations, "range": 4000.0}
    with loaded(1, strong, spawn={"grid": {"spacing": 1, "z": 900}}) as sim:
        network = sim.radio.network()
        way, cost = network.path("s0", "s3")
        assert way == ["s0", "s1", "s2", "s3"] and 3.0 <= cost < 3.3
        assert {"s1", "s2"} == set(network.articulation_points) and ("s1", "s2") in network.bridges
        sim.radio.send("s0", "s3", "far")
        sim.step(20)
        [message] = sim.radio.received("s3")
        assert message.hops == 3
        assert message.arrived > 3 * (1e-4 + (272 + 40) / 1e6 + 3000 / 299792458)


def test_sends_are_logged_saved_and_replayed() -> None:
    with loaded(6, {"messages": {"beacons": {"rate": 5}}}, behaviour={"flock": {"sees": "heard"}}) as sim:
        for k in range(6):
            sim.radio.send(f"scouts[{k}]", f"scouts[{(k + 3) % 6}]", bytes(2000), at_tick=10 * k)
        sim.radio.send("base", data={"k": 1}, at_tick=31)
        sim.step(33)
        saved, before = sim.save(), sim.state_hash()
        sim.step(40)
        after, log = sim.state_hash(), list(sim.control.log.entries)
        sim.restore(saved)
        assert sim.state_hash() == before
        sim.step(40)
        assert sim.state_hash() == after
        again = replayed(sim.scenario, log, 73)
        assert again.state_hash() == after
        assert again.radio.received("scouts[3]") == sim.radio.received("scouts[3]") != []
        sim.reset(seed=4)
        assert sim.radio.traffic()["sent"] == 0


def test_a_recording_with_messages_is_verified(tmp_path: Path) -> None:
    with loaded(3, {"messages": {"beacons": True}}) as sim:
        sim.radio.send("base", "scouts[1]", b"\x01\xff", at_tick=20)
        sim.radio.send("base", data={"a": [1, None, "x"]}, at_tick=30)
        sim.step(60)
        write_run(sim, tmp_path / "run.mcap")
        assert [message.data for message in sim.radio.received("scouts[1]")] == [b"\x01\xff", {"a": [1, None, "x"]}]
    assert verify(tmp_path / "run.mcap").same


def test_vehicles_that_come_and_go_keep_their_mail() -> None:
    with loaded() as sim:
        sim.radio.send("base", "scouts[3]", "kept")
        sim.step(5)
        sim.remove("scouts[1]")
        sim.spawn(fleet="scouts", count=2, spawn={"grid": {"spacing": 6, "z": 30}})
        sim.step(20)
        assert [message.data for message in sim.radio.received("scouts[3]")] == ["kept"]
        sim.radio.send("scouts[5]", "scouts[3]", "new")
        sim.step(20)
        assert [message.source for message in sim.radio.received("scouts[3]")] == ["base", "scouts[5]"]


def test_a_message_survives_its_sender_and_counts_never_decrease() -> None:
    """Three hops of 0.5 s each: the sender is removed during the second; later, a relay with a packet in its queue."""
    loss = 20.0 * np.log10(4.0 * np.pi * 1000.0 * 2.4e9 / 299_792_458.0)  # links reach 1 km
    slow = {"bandwidth": 1e5, "bit_rate": 1e4, "modulation": "bpsk", "noise_figure": 0.0, "duty": 0.0}
    types = {"default": {**slow, "power": 20.0, "sensitivity": 20.0 - loss}}
    poses = {"poses": [[800, 0, 20, 0], [1600, 0, 20, 0], [2400, 0, 20, 0]]}
    with loaded(3, {"types": types}, spawn=poses) as sim:
        assert sim.radio is not None
        sim.radio.send("scouts[2]", "base", {"x": 1}, bits=5000)
        sim.step(63)
        before = sim.radio.traffic()
        assert (before["forwarded"], before["delivered"]) == (1, 0)
        sim.remove("scouts[2]")
        assert sim.radio.traffic() == before
        blob = sim.save()
        sim.step(150)
        [message] = sim.radio.received("base")
        assert (message.source, message.data, message.hops) == ("scouts[2]", {"x": 1}, 3)
        after, known = sim.radio.traffic(), sim.state_hash()
        assert after["delivered"] == 1 and after["lost"] == 0 and all(after[name] >= before[name] for name in before)
        sim.restore(blob)
        sim.step(150)
        assert sim.state_hash() == known and sim.radio.received("base") == [message]
        sim.radio.send("scouts[1]", "base", {"x": 2}, bits=5000)
        sim.step(63)
        sim.remove("scouts[0]")  # where the packet is now
        sim.step(1)
        assert sim.radio.traffic()["lost"] == 1
        tree = unpack(sim.save())
        packets = tree["radio"]["packets"]
        for name, wrong, text in (
            ("removed", np.full_like(packets["removed"], -1), r"packets.removed\[0\]: -1 is out of its limits"),
            ("senders", [], "a removed sender has no name"),
            ("senders", [[1, ""]], "a name is not valid"),
        ):
            with pytest.raises(PaddockError, match=text):
                sim.restore(pack({**tree, "radio": {**tree["radio"], "packets": {**packets, name: wrong}}}))


def test_names_and_numbers_of_radios_that_do_not_exist() -> None:
    with loaded() as sim:
        for name, text in (
            ("base/x", "unknown radio 'base/x'; 'base' has the radios 0 to 0"),
            ("base/1", "unknown radio 'base/1'"),
            ("scouts[9]", r"scouts has 4 vehicles, 0 to 3, not 'scouts\[9\]'"),
            ("lead", "unknown vehicle or station 'lead'"),
        ):
            with pytest.raises(UnknownNameError, match=text):
                sim.radio.number(name)
        assert sim.radio.number("base/0") == 4 and sim.radio.name(4) == "base"
        for number in (5, -1, "x"):
            with pytest.raises(InvalidValueError, match=f"a radio is a number from 0 to 4, not {number!r}"):
                sim.radio.name(number)
        with pytest.raises(InvalidValueError, match=r"places are finite numbers of shape \(n, 3\), not 'x'"):
            sim.radio.levels("x")
        with pytest.raises(InvalidValueError, match=r"places are finite numbers; place 1 is \[nan, 0.0, 0.0\]"):
            sim.radio.levels([[0, 0, 0], [float("nan"), 0, 0]])
        with pytest.raises(UnknownNameError, match=r"'scouts' is a fleet of 4: name one vehicle, e.g. scouts\[0\]"):
            sim.radio.network().path("base", "scouts")
        sim.remove("scouts[1]")
        with pytest.raises(UnknownNameError, match=r"'scouts\[1\]' has been removed; scouts has 3 vehicles"):
            sim.radio.number("scouts[1]")
        with pytest.raises(PaddockError, match="the name 'base' is already used by a station, jammer or spoofer"):
            sim.spawn(name="base", model="point")
        with pytest.raises(InvalidValueError, match="lifetime is a time in s, > 0 and <= 1e\\+06, not True"):
            sim.radio.send("base", data=1, lifetime=True)
        sim.radio.send("base", data=1, lifetime=np.float32(1.0), bits=np.int64(8))


def test_states_older_than_keep_are_not_heard() -> None:
    jammer = {"name": "red", "kind": "barrage", "position": [5, 0, 20], "power": 40, "on": [[1.0, 1000.0]]}
    with loaded(3, radio={"messages": {"beacons": {"rate": 5, "keep": 2}}, "jammers": [jammer]}) as sim:
        sim.run(until=2.5, pace=0)
        ages = [neighbour["age"] for neighbour in sim.radio.heard("scouts[0]")]
        assert len(ages) == 2 and all(1.4 < age <= 2.0 for age in ages)
        sim.run(until=3.3, pace=0)
        assert sim.radio.heard("scouts[0]") == []


def test_changes_of_frequencies_stay_within_the_range_of_the_model() -> None:
    jammer = {"name": "red", "kind": "spot", "position": [0, 0, 5], "frequency": 1.9e9}
    types = {"default": QUIET["default"] | {"frequency": 1.9e9}}
    tree = scenario(radio={"types": types, "default": {"model": "cost231_hata"}, "jammers": [jammer]})
    with paddock.load(tree) as sim:
        with pytest.raises(
            InvalidValueError, match="cost231_hata is valid from 1500 to 2000 MHz, not for the 2005 MHz"
        ):
            sim.radio.allocate(["scouts"], [20, 21])
        with pytest.raises(InvalidValueError, match=r"not for the 900 MHz of 'red'; set extrapolate: true"):
            sim.radio.jammers.set("red", frequency=900e6)
        sim.radio.jammers.set("red", frequency=1.5e9)
        sim.radio.allocate(["scouts"], [19, 20])
    tree["radio"]["default"]["extrapolate"] = True
    with paddock.load(tree) as sim:
        sim.radio.jammers.set("red", frequency=900e6)
        sim.radio.allocate(["scouts"], [21])


def test_mistakes_of_send_and_allocate() -> None:
    with loaded() as sim:
        with pytest.raises(UnknownNameError, match=r"unknown vehicle or station 'bose'.*base"):
            sim.radio.send("bose", "scouts[0]", 1)
        with pytest.raises(PaddockError, match="'scouts' is a fleet of 4: name one vehicle"):
            sim.radio.send("base", "scouts", 1)
        with pytest.raises(PaddockError, match="'base' cannot send a message to itself"):
            sim.radio.send("base", "base", 1)
        with pytest.raises(InvalidValueError, match="a message is bytes or what JSON can hold"):
            sim.radio.send("base", data=object())
        with pytest.raises(InvalidValueError, match="send: hops is a whole number from 1 to 255, not 0"):
            sim.radio.send("base", data=1, hops=0)
        with pytest.raises(InvalidValueError, match="send: lifetime is a time in s"):
            sim.radio.send("base", data=1, lifetime=-1.0)
        with pytest.raises(UnknownNameError, match="unknown fleet or station with radios 'scout'"):
            sim.radio.allocate(["scout"], [1])
        for groups in ([["scouts"]], [{}]):
            with pytest.raises(UnknownNameError, match="unknown fleet or station with radios"):
                sim.radio.allocate(groups, [1])
        with pytest.raises(UnknownNameError, match="unknown method 'best' of allocation"):
            sim.radio.allocate(["scouts"], [1], "best")
        for groups, channels, message in (
            ("scouts", [1], "groups are a list of names"),
            (["scouts"], [1, 1], "channels are a list of numbers, each once"),
            (["scouts"], 1, "channels are a list of numbers, each once, not 1"),
        ):
            with pytest.raises(InvalidValueError, match=message):
                sim.radio.allocate(groups, channels)
        for since in ("a", -5, True):
            with pytest.raises(InvalidValueError, match="since is the number of a message, 0 or more"):
                sim.radio.received("scouts[0]", since=since)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"radio": {"messages": {"window": [64, 16]}}}, "the window ascends"),
        ({"radio": {"messages": {"sharing": "tdma"}}}, "sharing"),
        ({"radio": {"types": {"default": {"hopping": {"channels": [3, 3]}}}}}, "channels are different numbers"),
        ({"behaviour": {"flock": {"sees": "heard"}}}, r"sees needs beacons; add `messages: \{beacons: true\}`"),
        ({"behaviour": {"flock": {"sees": "herd"}}}, "did you mean 'heard'"),
    ],
)
def test_mistakes_in_the_scenario(change: dict[str, Any], message: str) -> None:
    with pytest.raises(PaddockError, match=message):
        paddock.load(scenario(**change))


def flocks(sees: str, seconds: float, radio: dict[str, Any], rate: int = 100) -> tuple[Any, Any]:
    """Return the positions and velocities of a flock after a time."""
    tree = scenario(8, radio, speed=6.0, behaviour={"flock": {"sees": sees, "radius": 40.0, "range": 500.0}})
    with paddock.load({**tree, "clock": {"rate": rate}}) as sim:
        sim.step(round(rate * seconds))
        fleet = sim.snapshot().fleet("scouts")
        return np.array(fleet.position), np.array(fleet.velocity)


def perfect(rate: float) -> dict[str, Any]:
    """Return a radio without loss and collisions, with beacons at a rate (Hz)."""
    return {"messages": {"sharing": "none", "beacons": {"rate": rate, "bits": 1}}}


@pytest.mark.parametrize("sees", ["heard", "predicted"])
def test_a_flock_that_hears_perfectly_flies_as_one_that_sees_up_to_the_delay(sees: str) -> None:
    """Beacons in every tick: the difference is that of a delay of one tick, and vanishes with it."""
    errors = []
    for rate in (200, 400):
        truth, heard = (flocks(mode, 1.0, perfect(rate), rate)[0] for mode in ("truth", sees))
        errors.append(np.abs(heard - truth).max())
    assert errors[1] < 0.6 * errors[0] < 0.6 * 0.15  # m, after a way of 6 m; half the delay


def test_a_flock_without_links_does_not_react() -> None:
    """Cut off, each vehicle flies as it would alone."""
    cut = {**perfect(100), "types": {"default": {**QUIET["default"], "power": -100.0}}}
    heard, velocity = flocks("heard", 3.0, cut)
    truth, _ = flocks("truth", 3.0, cut)
    assert np.allclose(velocity, velocity[:1], atol=1e-9)  # all start with one heading: nothing makes them differ
    assert np.abs(heard - truth).max() > 1.0


def test_a_formation_follows_the_leader_as_heard() -> None:
    """Wings that hear a leader at a constant velocity are late by its delay, unless they predict."""

    def gaps(sees: str, power: float) -> Any:
        tree = scenario(2, {"messages": {"sharing": "none", "beacons": {"rate": 5}}})
        tree["radio"]["types"] = {"default": {**QUIET["default"], "power": power}}
        tree["vehicles"][0] |= {"behaviour": {"formation": {"target": "lead", "shape": "column", "sees": sees}}}
        lead = {"name": "lead", "model": "point", "pose": [20, 0, 20, 0], "speed": 4.0, "radio": "default"}
        tree["vehicles"].append(
            {**lead, "behaviour": {"waypoints": {"path": [[20, 0, 20], [1e4, 0, 20]], "speed": 4.0}}}
        )
        with paddock.load(tree) as sim:
            sim.step(2000)
            snap = sim.snapshot()
            return snap["lead"].position[0] - snap.fleet("scouts").position[:, 0]

    truth, heard, predicted = (gaps(sees, 10.0) for sees in ("truth", "heard", "predicted"))
    cut = gaps("heard", -100.0)
    assert np.abs(predicted - truth).max() < 0.05
    assert (heard - truth > 0.1).all() and (heard - truth < 4.0 * 0.25).all()  # beacons are up to 0.2 s old
    assert (cut > 60.0).all()  # they never heard of it, and stay


def test_a_rule_reads_the_numbers_of_its_newest_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "find_rule", lambda name: OBEY)
    with loaded(2, behaviour="obey") as sim:
        sim.step(100)
        assert np.abs(sim.snapshot().fleet("scouts").velocity).max() == 0.0
        sim.radio.send("base", "scouts[1]", [3.0, -2.0])
        sim.radio.send("base", "scouts[1]", "no numbers")
        sim.step(300)
        velocity = sim.snapshot().fleet("scouts").velocity
        assert np.abs(velocity[0]).max() == 0.0
        assert velocity[1] == pytest.approx([3.0, -2.0, 0.0], abs=1e-6)


def test_splits_and_joins_of_the_network_are_events() -> None:
    with loaded(3) as sim:
        sim.step(20)
        sim.vehicles.place("scouts[2]", [90_000, 0, 20, 0])
        sim.step(20)
        sim.vehicles.place("scouts[2]", [0, 5, 20, 0])
        sim.step(20)
        events = [(event.kind, event.subject) for event in sim.events.since() if event.kind.startswith("network_")]
        assert events == [("network_split", "scouts[2]"), ("network_joined", "scouts[2]")]


def test_vehicles_agree_on_tasks_over_their_links() -> None:
    """CBBA over a copy of the channel: as without radio, and the run stays as it is."""
    cost = np.random.default_rng(5).random((6, 6))
    direct = bidding_on(cost)
    direct.run()
    with loaded(6) as sim:
        sim.step(10)
        before = sim.state_hash()
        assignment, ended = sim.radio.assign([f"scouts[{k}]" for k in range(6)], cost)
        assert ended.agreed and [[task] for task in assignment] == direct.orders()
        assert sim.state_hash() == before
        sim.vehicles.place("scouts[5]", [200_000, 0, 20, 0])
        sim.step(20)
        assignment, ended = sim.radio.assign([f"scouts[{k}]" for k in range(6)], cost)
        assert not ended.agreed and ended.parts == 2 and ended.conflicts >= 1
        both, two = ["scouts[0]", "scouts[1]"], [[1.0, 2.0], [2.0, 1.0]]
        assert sim.radio.assign(both, np.array(two, np.float32), np.float32(0.5), np.int64(50))[0] == [0, 1]
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"cost": cost}, "a finite number for each of 2 vehicles"),
            ({"cost": [[1.0], [1.0, 2.0]]}, "a finite number for each of 2 vehicles"),
            ({"cost": "x"}, "a finite number for each of 2 vehicles"),
            ({"vehicles": "scouts"}, "vehicles is a list of names or ids, not 'scouts'"),
            ({"vehicles": ["scouts[1]", "scouts[1]"]}, r"vehicles 0 and 1, 'scouts\[1\]', are the same vehicle"),
            *(
                ({"period": value}, "period is a time in s, > 0")
                for value in (float("nan"), float("inf"), "x", 0, -1, True)
            ),
            *(({"rounds": value}, "rounds is a whole number from 1") for value in ("x", -1, 1.5, 0, True)),
        ]
        for options, text in wrong:
            with pytest.raises(InvalidValueError, match=text):
                sim.radio.assign(**{"vehicles": both, "cost": two, **options})


def test_every_bid_of_many_vehicles_is_read() -> None:
    """40 vehicles side by side hear each other's bids, more than a mailbox of 32 holds."""
    with loaded(40) as sim:
        sim.step(10)
        _, ended = sim.radio.assign([f"scouts[{k}]" for k in range(40)], np.ones((40, 1)), rounds=1)
        assert ended.sent == 40 and ended.received > 0.9 * 40 * 39


def test_allocated_channels_separate_fleets_and_survive_a_restore() -> None:
    tree = scenario(3)
    tree["vehicles"].append({**tree["vehicles"][0], "name": "rovers", "spawn": {"grid": {"spacing": 6, "z": 40}}})
    with paddock.load(tree) as sim:
        sim.step(10)
        assert sim.radio.network().reach("scouts[0]", "rovers[0]")
        sim.radio.allocate(["scouts", "rovers"], [1, 6])
        sim.step(10)
        assert not sim.radio.network().reach("scouts[0]", "rovers[0]")
        assert sim.radio.network().reach("scouts[0]", "scouts[2]")
        saved, now = sim.save(), sim.state_hash()
        sim.step(30)
        after = sim.state_hash()
        sim.restore(saved)
        assert sim.state_hash() == now
        sim.step(30)
        assert sim.state_hash() == after and not sim.radio.network().reach("scouts[0]", "rovers[0]")
        sim.remove("rovers")  # and with it its channel
        sim.step(10)
        saved, now = sim.save(), sim.state_hash()
        sim.restore(saved)
        assert sim.state_hash() == now


def test_radios_that_hop_with_one_key_stay_in_contact() -> None:
    hopping = {**QUIET["default"], "hopping": {"channels": [1, 6, 11, 14], "dwell": 0.5, "key": "red"}}
    blue = {**hopping, "hopping": {**hopping["hopping"], "key": "blue"}}
    tree = scenario(3, {"types": {"default": hopping, "other": blue}, "stations": []})
    tree["vehicles"].append({**tree["vehicles"][0], "name": "rovers", "radio": "other"})
    with paddock.load(tree) as sim:
        own, met = [], []
        for _ in range(40):
            sim.step(50)
            network = sim.radio.network()
            own.append(network.reach("scouts[0]", "scouts[2]"))
            met.append(network.reach("scouts[0]", "rovers[0]"))
        assert all(own)
        assert 0.02 < np.mean(met) < 0.6  # a quarter on average


@pytest.mark.parametrize(("clock", "rate"), [(240, 100.0), (100, 70.0), (100, 100.0), (100, 7.0)])
def test_beacons_and_telemetry_have_their_exact_rates(clock: int, rate: float) -> None:
    """In 5 s every vehicle sends 5 x rate of both, give or take those at the ends."""
    radio = {"messages": {"sharing": "none", "beacons": {"rate": rate, "bits": 1}}}
    tree = scenario(3, radio, via={"telemetry": rate})
    tree["clock"]["rate"] = clock
    with paddock.load(tree) as sim:
        sim.step(clock)
        before = sim.radio.traffic()["beacons_heard"], sim.radio.telemetry("scouts[0]").sent
        sim.step(clock * 5)
        heard = sim.radio.traffic()["beacons_heard"] - before[0]
        assert heard == pytest.approx(3 * 3 * 5 * rate, abs=3 * 3)  # by two others and the station
        assert sim.radio.telemetry("scouts[0]").sent - before[1] == pytest.approx(5 * rate, abs=1)
        saved = sim.save()
        sim.step(clock)
        after = sim.state_hash()
        sim.restore(saved)
        sim.step(clock)
        assert sim.state_hash() == after


def test_rates_above_that_of_the_clock_are_refused() -> None:
    for radio, fleet, text in (
        ({"rate": 1000}, {}, r"radio\.rate: 1000 Hz is not possible: the clock allows at most 100 Hz"),
        ({"messages": {"beacons": {"rate": 1e4}}}, {}, r"radio\.messages\.beacons\.rate: 10000 Hz is not possible"),
        ({}, {"via": {"telemetry": 200}}, r"vehicles\[0\]\.via\.telemetry: 200 Hz is not possible"),
    ):
        with pytest.raises(PaddockError, match=text):
            loaded(2, radio, **fleet)
    with loaded(2, {"rate": 70}) as sim:
        assert sim.radio.report().rate == 100.0
    with loaded(2, {"rate": 30}) as sim:
        assert sim.radio.report().rate == pytest.approx(100 / 3)


def chain(poses: list[list[float]]) -> Simulation:
    """Return a station at the begin of a chain of vehicles, each of which hears its neighbours 40 m away alone."""
    kind = {"power": 0, "sensitivity": -75, "bandwidth": 2e6, "bit_rate": 1e6, "duty": 0.0}
    radio = {"types": {"t": kind}, "stations": [{"name": "base", "position": [0, 0, 10], "radio": "t"}]}
    fleet = {"name": "c", "model": "point", "count": len(poses), "spawn": {"poses": poses}, "radio": "t"}
    return paddock.load({"clock": {"rate": 100}, "radio": radio, "vehicles": [fleet]})


def network_events(sim: Simulation) -> list[tuple[str, str, str]]:
    events = [(event.kind, event.subject, event.detail) for event in sim.events.since()]
    return [event for event in events if event[0].startswith("network_")]


def test_a_removed_relay_splits_the_network_and_a_new_one_joins_it() -> None:
    """Of five vehicles and a station the third is removed: two are left behind the gap, three before it."""
    with chain([[40.0 * k, 0, 10, 0] for k in range(1, 6)]) as sim:
        sim.step(20)
        assert sim.radio.network().connected
        sim.remove("c[2]")
        blob = sim.save()
        sim.step(20)
        split = ("network_split", "c[3]", "and 1 more: is cut off from 3 radios")
        assert network_events(sim) == [split]
        known = sim.state_hash()
        sim.restore(blob)
        sim.step(20)
        assert network_events(sim) == [split] and sim.state_hash() == known
        sim.spawn(name="new", model="point", pose=[120, 0, 10, 0], radio="t")
        blob = sim.save()
        sim.step(20)
        assert network_events(sim)[1:] == [("network_joined", "c[3]", "and 1 more: is connected with 3 radios")]
        known = sim.state_hash()
        sim.restore(blob)
        sim.step(20)
        assert sim.state_hash() == known and len(network_events(sim)) == 2


def test_vehicles_at_the_end_of_a_chain_come_and_go_without_a_split() -> None:
    with chain([[40.0 * k, 0, 10, 0] for k in range(1, 6)]) as sim:
        sim.step(20)
        sim.remove("c[4]")
        sim.spawn(name="far", model="point", pose=[9000, 0, 10, 0], radio="t")
        sim.step(20)
        sim.remove("far")
        sim.step(20)
        assert network_events(sim) == []


@pytest.mark.parametrize("value", [-2, 6, 100])
def test_saved_components_that_cannot_be_are_refused(value: int) -> None:
    with chain([[40.0 * k, 0, 10, 0] for k in range(1, 6)]) as sim:
        sim.step(20)
        tree = unpack(sim.save())
        labels = tree["radio"]["packets"]["labels"] = tree["radio"]["packets"]["labels"].copy()
        labels[1] = value
        with pytest.raises(PaddockError, match=rf"radio.packets.labels\[1\]: {value} is out of its limits"):
            sim.restore(pack(tree))


def test_a_message_with_too_little_power_says_why_it_does_not_arrive() -> None:
    """Free space over 2 km at 2.4 GHz costs 106.07 dB (Friis): 20 dB more than these radios can lose."""
    types = {"t": {"frequency": 2.4e9, "bandwidth": 1e6, "power": 0.0, "sensitivity": -86.07}}
    vehicles = [
        {"name": name, "model": "point", "pose": [x, 0, 50, 0], "radio": "t"} for name, x in (("a", 0), ("b", 2000))
    ]
    radio = {"types": types, "default": {"model": "free_space"}}
    with paddock.load({"clock": {"rate": 100}, "radio": radio, "vehicles": vehicles}) as sim:
        for _ in range(20):
            sim.radio.send("a", "b", [1])
            sim.radio.send("b", "*", [1])
            sim.step(10)
        assert sim.radio.traffic()["delivered"] == 0
        events = [
            (event.tick, event.subject, event.detail) for event in sim.events.since() if event.kind == "unreachable"
        ]
        why = "receives -106.1 dBm, its sensitivity is -86.07 dBm"
        expected = [("a", f"no route to b: b {why}"), ("b", f"no radio receives it; the nearest: a {why}")]
        assert events == [(tick, *event) for tick in (0,) for event in expected]
        assert sim.radio.link("a", "b").problem == f"b {why}" and "down (b receives" in str(sim.radio.link("a", "b"))
