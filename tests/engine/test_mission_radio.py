"""Missions over radio: contact with a vehicle is lost and regained, its reports arrive late, others take its tasks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.errors import PaddockError
from paddock.radio.packets.queues import GOAL, MISSION
from paddock.record import verify, write_run
from paddock.scenario import ScenarioError
from paddock.world.archive import pack, unpack

SPEED = 10.0  # m/s


def scenario(**changes: Any) -> dict[str, Any]:
    """Return two drones with tasks in the east and the north, and a station whose links reach 400 m."""
    via = {"radio": "base", "reports": 4.0, "heartbeat": 0.5}
    via |= {"lost_after": 1.0, "timeout": 5.0, "lost_link": "return", "replan_every": 1.0}
    tree: dict[str, Any] = {
        "clock": {"rate": 20},
        "every": {"behaviour": 2},
        "radio": {"rate": 10, "range": 400, "stations": [{"name": "base", "position": [0, 0, 5]}]},
        "vehicles": [
            {"name": name, "model": "point", "pose": [0, y, 20, 0], "radio": "default"}
            for name, y in (("east", 0.0), ("north", 290.0))
        ],
        "mission": {
            "via": via,
            "altitude": 20,
            "speed": SPEED,
            "separation": None,
            "tasks": [
                {"name": "near", "point": {"at": [300, 0]}},
                {"name": "far", "point": {"at": [430, 0]}},
                {"name": "beyond", "point": {"at": [800, 0]}},
            ],
        },
    }
    tree["mission"]["via"] = {**via, **changes}
    return tree


def kinds(sim: paddock.Simulation, *wanted: str) -> list[tuple[str, str | None]]:
    return [(entry.kind, entry.vehicle) for entry in sim.mission.log if entry.kind in wanted]


def first(sim: paddock.Simulation, kind: str) -> float:
    return next(entry.time for entry in sim.mission.log if entry.kind == kind)


def reach(sim: paddock.Simulation, time: float) -> None:
    sim.step(round((time - sim.time) * 20))


def test_contact_is_lost_at_the_range_and_the_task_beyond_is_reported_on_return() -> None:
    with paddock.load(scenario(lost_link="continue")) as sim:
        reach(sim, 60.0)
        [lost] = [entry for entry in sim.mission.log if entry.kind == "contact_lost"]
        # 400 m at 10 m/s from the station, then 1 s; the drone also accelerates, and links are updated at 10 Hz
        assert lost.vehicle == "east"
        assert lost.time == pytest.approx(400 / SPEED + 1.0, abs=1.5)
        tasks = {task.name: task for task in sim.mission.tasks}
        assert sim.snapshot().fleet("east")["x"][0] > 500.0  # it goes on
        assert tasks["far"].state == "assigned"  # flown over at 43 s, not reported
        reach(sim, 141.0)
        states = {task.name: task.state for task in sim.mission.tasks}
        assert set(states.values()) == {"completed"}
        regained = first(sim, "contact_regained")
        done = {entry.task: entry.time for entry in sim.mission.log if entry.kind == "completed"}
        assert done["far"] == done["beyond"] == regained
        # 800 m out and back to 400 m, and some seconds for braking at each of the points
        assert 120.0 < regained < 140.0
        assert kinds(sim, "lost_link", "replanned") == []


def test_after_the_timeout_it_returns_and_reports_and_the_rest_is_planned_for_those_in_contact() -> None:
    with paddock.load(scenario()) as sim:
        reach(sim, 60.0)
        [left] = [entry for entry in sim.mission.log if entry.kind == "lost_link"]
        [given_back] = [entry for entry in sim.mission.log if entry.kind == "given_back"]
        assert left.vehicle == given_back.vehicle == "east"
        # 5 s after the last report, of which 1 s is over when contact is lost; both sides count on their own
        assert given_back.time == pytest.approx(first(sim, "contact_lost") + 4.0, abs=0.15)
        assert left.time == pytest.approx(given_back.time, abs=0.8)  # heartbeats come every 0.5 s, reports every 0.25 s
        # both tasks are given back: the station does not know that one of them is done
        assert given_back.detail == "2 tasks"
        assigned = [entry for entry in sim.mission.log if entry.kind == "assigned" and entry.time >= given_back.time]
        assert {entry.vehicle for entry in assigned if entry.time < first(sim, "contact_regained")} == {"north"}
        assert {entry.task for entry in assigned} >= {"far", "beyond"}
        late = [entry for entry in sim.mission.log if entry.kind == "completed" and entry.detail == "reported late"]
        assert [(entry.task, entry.vehicle) for entry in late] == [("far", "east")]
        assert late[0].time == first(sim, "contact_regained")
        assert len(kinds(sim, "replanned")) >= 2


def test_hold_stays_where_contact_was_lost() -> None:
    tree = scenario(lost_link="hold")
    tree["vehicles"].pop()  # which would come near and relay
    with paddock.load(tree) as sim:
        reach(sim, 60.0)
        x = float(sim.snapshot().fleet("east")["x"][0])
        reach(sim, 70.0)
        assert 440.0 < x < 480.0  # 400 m, and 5 s at 10 m/s
        assert float(sim.snapshot().fleet("east")["x"][0]) == pytest.approx(x, abs=1.0)
        assert not next(vehicle for vehicle in sim.mission.vehicles if vehicle.name == "east").contact


def test_new_routes_wait_for_contact() -> None:
    with paddock.load(scenario(lost_link="continue")) as sim:
        reach(sim, 50.0)
        sim.mission.remove_task("beyond")
        reach(sim, 70.0)
        assert float(sim.snapshot().fleet("east")["x"][0]) > 600.0  # it does not know
        with_contact = {vehicle.name: vehicle.contact for vehicle in sim.mission.vehicles}
        assert with_contact == {"east": False, "north": True}


def test_always_in_contact_only_the_times_differ() -> None:
    """A mission over radio that is always in contact is that without radio, known later by a report and its way."""
    near = scenario()
    near["radio"]["range"] = 5000
    plain = {key: value for key, value in near.items() if key != "radio"}
    plain = {**plain, "mission": {key: value for key, value in near["mission"].items() if key != "via"}}
    plain["vehicles"] = [{key: entry[key] for key in entry if key != "radio"} for entry in near["vehicles"]]
    logs = []
    for tree in (near, plain):
        with paddock.load(tree) as sim:
            reach(sim, 50.0)
            logs.append([entry for entry in sim.mission.log if entry.kind in ("assigned", "completed")])
    assert {entry.task for entry in logs[0] if entry.kind == "completed"} == {"near", "far"}
    for over, without in zip(*logs, strict=True):
        assert (over.kind, over.vehicle, over.task) == (without.kind, without.vehicle, without.task)
        # the first route arrives at the second update, and the report of a task at the one after it
        assert 0.0 <= over.time - without.time <= 0.35


@pytest.mark.parametrize("action", ["return", pytest.param("hold", marks=pytest.mark.slow)])
def test_saved_and_restored(action: str) -> None:
    with paddock.load(scenario(lost_link=action)) as sim, paddock.load(scenario(lost_link=action)) as two:
        reach(sim, 52.0)
        saved = sim.save()
        reach(sim, 75.0)
        two.restore(saved)
        assert two.time == pytest.approx(52.0)
        reach(two, 75.0)
        assert sim.state_hash() == two.state_hash()
        assert sim.mission.log == two.mission.log


def test_crafted_contact_is_refused() -> None:
    with paddock.load(scenario()) as sim:
        reach(sim, 52.0)
        good = sim.save()

        def refused(match: str, *path: str, **values: Any) -> None:
            tree = part = unpack(good)
            for key in ("mission", "execution", *path):
                part = part[key]
            part.update(values)
            with pytest.raises(PaddockError, match=match):
                sim.restore(pack(tree))

        for name, value in (
            ("lost", np.ones(7, bool)),
            ("seen", np.full(2, np.nan)),
            ("waiting", [[9, False]]),
            ("number", np.full(2, -1)),
            ("issued", [[0, [[1, {"spec": {}}]]]]),
        ):
            refused("contact", "mission", "contact", **{name: value})
        refused("unknown task 'nothing'", "mission", "onboard", done=[["nothing"], []])
        waiting = [[7, [[0], False]]]
        refused(r"link\.outbox: parts of a route that vehicle 7 does not have", "link", "outbox", waiting=waiting)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"radio": "bose"}, "unknown station 'bose'"),
        ({"lost_link": "give up"}, "lost_link"),
        ({"timeout": 0.9}, "before contact is lost"),
        ({"reports": 1.0}, "between two reports"),
        ({"heartbeat": 5.0}, "longer than the heartbeat"),
        ({"mtu": 8}, "mtu"),
    ],
)
def test_mistakes(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        paddock.load(scenario(**change))


def test_vehicles_need_radios_and_dynamics() -> None:
    tree = scenario()
    del tree["vehicles"][1]["radio"]
    with pytest.raises(ScenarioError, match="'north' has no radio"):
        paddock.load(tree)
    tree = scenario()
    tree["mission"]["execute"] = "kinematic"
    with pytest.raises(ScenarioError, match="execute: dynamics"):
        paddock.load(tree)


SLOT, DIFS, SIFS, RATE = 2e-5, 2, 1, 1e6  # s, slots, slots, bit/s
HEADER, ACK, OVERHEAD = 272, 112, 1e-4  # bits, bits, s: defaults of messages
LIGHT = 299_792_458.0  # m/s


def still(places: dict[str, float], members: list[str], **messages: Any) -> dict[str, Any]:
    """Return drones on the x axis, with radios of 1 Mbit/s and 400 m, that count no random slots."""
    tree = scenario()
    tree["radio"]["types"] = {"plain": {"bandwidth": 2e6, "bit_rate": RATE, "duty": 0}}
    tree["radio"]["stations"] = [{"name": "base", "position": [0, 0, 20], "radio": "plain"}]
    tree["radio"]["messages"] = {"window": [1, 1], **messages}
    tree["vehicles"] = [
        {"name": name, "model": "point", "pose": [x, 0, 20, 0], "radio": "plain"} for name, x in places.items()
    ]
    tree["mission"]["members"], tree["mission"]["turn_radius"] = members, 0
    tree["mission"]["tasks"] = [{"name": f"to_{name}", "point": {"at": [places[name] + 50.0, 0]}} for name in members]
    return tree


def airtime(bits: float) -> float:
    return OVERHEAD + (HEADER + bits) / RATE


def slots(seconds: float) -> int:
    return int(np.ceil(seconds / SLOT - 1e-6))


ROUTE = airtime(3 * 304)  # there and back: three waypoints
ACK_SLOTS = slots(OVERHEAD + ACK / RATE)


def arrivals(tree: dict[str, Any], ticks: int) -> dict[str, float]:
    """Return when each drone of the mission has received its first packet of the station, s."""
    with paddock.load(tree) as sim:
        sim.step(ticks)
        mission = sim.engine.mission.mission  # type: ignore[union-attr]
        assert (mission.onboard.number == 1).all()
        return {vehicle.name: float(mission.onboard.heard[vehicle.row]) for vehicle in mission.vehicles}


def test_a_route_takes_access_airtime_and_the_way() -> None:
    # a radio that was idle contends in the next slot
    expected = (1 + DIFS) * SLOT + ROUTE + 250.0 / LIGHT
    arrived = arrivals(still({"near": 250.0}, ["near"]), 3)
    assert arrived["near"] == pytest.approx(expected, abs=1e-9)


def test_a_second_route_waits_in_the_queue() -> None:
    """For the first one, its acknowledgement after SIFS, and DIFS."""
    before = 1 + DIFS + slots(ROUTE) + SIFS + ACK_SLOTS + DIFS
    arrived = arrivals(still({"a": 250.0, "b": -150.0}, ["a", "b"]), 3)
    assert arrived["b"] == pytest.approx(before * SLOT + ROUTE + 150.0 / LIGHT, abs=1e-9)


def test_a_route_in_parts_arrives_with_the_last_of_them() -> None:
    """Three waypoints are 114 bytes: with an `mtu` of 40 bytes, two parts of 40 and one of 34."""
    part, rest = airtime(8 * 40), airtime(8 * 34)
    each = slots(part) + SIFS + ACK_SLOTS + DIFS
    tree = still({"near": 250.0}, ["near"])
    tree["mission"]["via"]["mtu"] = 40
    arrived = arrivals(tree, 3)
    assert arrived["near"] == pytest.approx((1 + DIFS + 2 * each) * SLOT + rest + 250.0 / LIGHT, abs=1e-9)


def test_a_route_over_a_relay_takes_both_hops() -> None:
    """The relay acknowledges the packet before it contends for the channel."""
    before = 1 + DIFS + slots(ROUTE) + SIFS + ACK_SLOTS + DIFS
    arrived = arrivals(still({"far": 600.0, "relay": 300.0}, ["far"]), 3)
    assert arrived["far"] == pytest.approx(before * SLOT + ROUTE + 300.0 / LIGHT, abs=1e-9)


def mission_of(sim: paddock.Simulation) -> Any:
    mission = sim.engine.mission
    assert mission is not None
    return mission.mission


def test_a_vehicle_behind_a_jammer_keeps_its_route_until_the_new_one_arrives() -> None:
    """A task is removed while a jammer is on; the vehicle flies to it until the jammer is off at 25 s."""
    tree = scenario(lost_after=20.0, timeout=60.0)
    tree["radio"]["jammers"] = [
        {"name": "red", "kind": "barrage", "position": [0, 0, 5], "power": 50, "on": [[10, 25]]},
    ]
    del tree["vehicles"][1]
    tree["mission"]["tasks"] = [{"name": name, "point": {"at": [x, 0]}} for name, x in (("near", 150), ("far", 350))]
    with paddock.load(tree) as sim:
        reach(sim, 12.0)
        onboard = mission_of(sim).onboard
        sim.mission.remove_task("far")
        reach(sim, 24.9)
        assert onboard.number.tolist() == [1] and onboard.fleet.vehicles[0].ahead == ["far"]
        x = float(sim.snapshot().fleet("east")["x"][0])
        assert x > 200.0  # it goes on, past the first place
        packets = sim.mission.metrics["packets"]
        assert packets["routes"] == 2 and packets["taken"] == 1  # the station has sent it once, without success
        assert packets["heard"] < packets["reports"] - 50  # of four per second in 15 s
        assert {task.name: task.state for task in sim.mission.tasks}["near"] == "assigned"
        reach(sim, 26.5)
        assert onboard.number.tolist() == [2] and onboard.fleet.vehicles[0].ahead == []
        assert float(onboard.heard[0]) > 25.0
        assert {task.name: task.state for task in sim.mission.tasks}["near"] == "completed"
        packets = sim.mission.metrics["packets"]
        assert packets["routes"] == 2 and packets["taken"] == 2
        assert packets["parts"] == 3 and packets["repeated"] == 1
        reach(sim, 60.0)
        assert float(sim.snapshot().fleet("east")["x"][0]) < 5.0  # it has turned back
        assert kinds(sim, "contact_lost", "lost_link") == []


def test_saved_while_a_route_is_on_its_way() -> None:
    """At 5 kbit/s a route of three waypoints takes 0.24 s; the state is saved after 0.15 s of it."""
    tree = still({"near": 250.0}, ["near"])
    tree["radio"]["types"]["plain"] |= {"bandwidth": 1e4, "bit_rate": 5e3}
    tree["mission"]["via"] |= {"reports": 1.0, "lost_after": 5.0, "timeout": 20.0}
    with paddock.load(tree) as first, paddock.load(tree) as two:
        first.step(3)
        assert mission_of(first).onboard.number.tolist() == [0]
        queued = first.engine.radio.messages.messages.queued(MISSION)  # type: ignore[union-attr]
        assert (queued[:, GOAL] == first.engine.radio.number_of("near")).sum() == 1
        two.restore(first.save())
        for sim in (first, two):
            sim.step(100)
            assert mission_of(sim).onboard.number.tolist() == [1]
        assert first.state_hash() == two.state_hash()
        assert mission_of(first).onboard.heard.tolist() == mission_of(two).onboard.heard.tolist()


def negotiating() -> dict[str, Any]:
    """Return two drones in the west, with the station, and two in the east that they do not hear."""
    tree = scenario(lost_link="continue", lost_after=3.0, timeout=20.0)
    tree["mission"] |= {"method": "cbba", "turn_radius": 0}
    places = {"e0": (900.0, 0.0), "e1": (900.0, 50.0), "w0": (0.0, 0.0), "w1": (0.0, 50.0)}
    tree["vehicles"] = [
        {"name": name, "model": "point", "pose": [x, y, 20, 0], "radio": "default"} for name, (x, y) in places.items()
    ]
    at = (300, 0), (300, 50), (600, 0), (600, 50)
    tree["mission"]["tasks"] = [{"name": f"t{k}", "point": {"at": position}} for k, position in enumerate(at)]
    return tree


def test_parts_of_the_network_negotiate_apart_and_the_station_resolves_the_conflicts() -> None:
    with paddock.load(negotiating()) as sim:
        sim.step(1)
        [ended] = [entry.detail for entry in sim.mission.log if entry.kind == "negotiated"]
        assert (
            "4 tasks with several winners; there are 2 groups that do not hear each other, which agree among themselves"
            in ended
        )
        assert "the higher bid decides on 4 of them" in ended
        mission = mission_of(sim)
        numbers, ahead = mission.onboard.number, lambda: [vehicle.ahead for vehicle in mission.onboard.fleet.vehicles]
        [seconds] = {at for _, at in mission.contact.agreed.values()}
        assert seconds >= 2 * 0.5  # two rounds at least: one to bid, one to see that nothing changes
        reach(sim, seconds - 0.05)
        assert ahead() == [[], [], [], []] and not numbers.any()
        reach(sim, seconds + 0.2)
        east, west = ahead()[:2], ahead()[2:]
        assert {task for tasks in east for task in tasks} == {"t0", "t1", "t2", "t3"}  # each part has won them all
        assert {task for tasks in west for task in tasks} < {"t0", "t1", "t2", "t3"}  # the station has sent its routes
        reach(sim, 100.0)
        assert numbers.tolist() == mission.contact.number.tolist()
        done = [(entry.task, entry.vehicle) for entry in sim.mission.log if entry.kind == "completed"]
        assert len(done) == 4 and len({task for task, _ in done}) == 4
        # the drones from the east hear of it on their way, and leave t0 and t1 to those from the west
        assert {vehicle for task, vehicle in done if task in ("t2", "t3")} == {"e0", "e1"}
        assert {vehicle for task, vehicle in done if task in ("t0", "t1")} <= {"w0", "w1"}
        figures = sim.mission.metrics["cbba"]
        assert figures["negotiations"] == 1 and figures["agreed"] == 0 and figures["conflicts"] == 4
        assert figures["messages"] % 4 == 0  # one of each vehicle in each round


def test_vehicles_negotiate_again_and_keep_their_tasks() -> None:
    tree = negotiating()
    tree["radio"]["range"] = 2000
    with paddock.load(tree) as sim:
        reach(sim, 5.0)
        before = {vehicle.name: vehicle.ahead for vehicle in sim.mission.vehicles}
        sim.mission.add_task("late", point={"at": [950, 0]})
        reach(sim, 5.2)
        after = {vehicle.name: vehicle.ahead for vehicle in sim.mission.vehicles}
        changed = {name for name in before if before[name] != after[name]}
        assert changed <= {"e0", "e1"} and len(changed) == 1  # others would have to fly 350 m farther out
        assert all(set(before[name]) <= set(after[name]) for name in before)
        details = [entry.detail for entry in sim.mission.log if entry.kind == "negotiated"]
        assert len(details) == 2 and all(detail.startswith("agreed after") for detail in details)
        assert sim.mission.metrics["packets"]["routes"] == 0  # no vehicle needs a route of the station


@pytest.mark.parametrize("counts", [(1,), pytest.param((1, 2), marks=pytest.mark.slow)])  # others compile more
def test_negotiated_routes_are_saved_and_do_not_depend_on_threads(threads: Any, counts: tuple[int, ...]) -> None:
    hashes = []
    for count in counts:
        threads(count)
        with paddock.load(negotiating()) as first, paddock.load(negotiating()) as two:
            first.step(10)  # before the negotiation has ended
            two.restore(first.save())
            for sim in (first, two):
                reach(sim, 12.0)
                hashes.append(sim.state_hash())
    assert len(set(hashes)) == 1


def test_a_recording_is_flown_again_with_the_same_packets(tmp_path: Path) -> None:
    with paddock.load(scenario()) as sim:
        reach(sim, 30.0)
        sim.mission.add_task("late", point={"at": [0, 350]})
        reach(sim, 46.0)  # contact is lost by then
        assert kinds(sim, "contact_lost") == [("contact_lost", "east")]
        write_run(sim, tmp_path / "run.mcap")
    assert verify(tmp_path / "run.mcap").same


def test_vehicles_that_join_and_leave() -> None:
    """A vehicle that joins stays in its place until its route arrives; the station learns of damage by silence."""
    tree = scenario()
    tree["radio"]["range"] = 3000
    with paddock.load(tree) as sim:
        reach(sim, 5.0)
        sim.mission.add_vehicle("late", model="point", pose=[50, 50, 20, 0], radio="default")
        mission = mission_of(sim)
        sim.step(1)
        assert mission.onboard.number.tolist() == [1, 1, 0]
        reach(sim, 8.0)
        assert mission.onboard.number.tolist() == [1, 1, 1]
        assert sim.snapshot().fleet("late").position[0] == pytest.approx((50.0, 50.0, 20.0), abs=0.1)
        sim.mission.damage("east")
        sim.step(2)
        assert mission.onboard.fleet.vehicles[0].status == "damaged"
        assert mission.fleet.vehicles[0].ahead == ["near", "far", "beyond"]  # as far as the station knows
        reach(sim, 10.0)
        sim.remove("north")
        reach(sim, 12.0)
        saved = sim.save()
        reach(sim, 16.0)
        assert mission.onboard.fleet.vehicles[2].ahead == ["near", "far", "beyond"]
        assert kinds(sim, "contact_lost") == [("contact_lost", "east"), ("contact_lost", "north")]
        assert kinds(sim, "damage") == [("damage", "east"), ("damage", "north")]
        ended = sim.state_hash()
        sim.restore(saved)
        reach(sim, 16.0)
        assert sim.state_hash() == ended
