from __future__ import annotations

import asyncio
from collections.abc import Callable
from inspect import signature
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.client.simulation import (
    AsyncRemoteMission,
    AsyncRemoteSimulation,
    RemoteClock,
    RemoteMission,
    RemoteSimulation,
)
from paddock.client.verbs import (
    ClockVerbs,
    RemoteBehaviours,
    RemoteEvents,
    RemoteFrames,
    RemoteJammers,
    RemoteLog,
    RemoteMarkers,
    RemoteRace,
    RemoteRadio,
    RemoteSpoofers,
    RemoteVehicles,
    RemoteWorld,
)
from paddock.errors import InvalidValueError, UnknownNameError
from paddock.record import Player, Recorder
from paddock.serve.host import Host
from paddock.serve.live import serve_options
from paddock.serve.replay import ReplaySource
from paddock.wire.operations import OPERATIONS

PARTS = {
    "": (RemoteSimulation, AsyncRemoteSimulation),
    "clock": (RemoteClock, ClockVerbs),
    "mission": (RemoteMission, AsyncRemoteMission),
    "behaviours": (RemoteBehaviours,),
    "vehicles": (RemoteVehicles,),
    "world": (RemoteWorld,),
    "world.markers": (RemoteMarkers,),
    "world.frames": (RemoteFrames,),
    "events": (RemoteEvents,),
    "control.log": (RemoteLog,),
    "race": (RemoteRace,),
    "radio": (RemoteRadio,),
    "radio.jammers": (RemoteJammers,),
    "radio.spoofers": (RemoteSpoofers,),
}


def test_every_operation_is_a_method_of_both_clients() -> None:
    offered = [operation for operation in OPERATIONS.values() if operation.offered]
    assert len(offered) > 30
    for operation in offered:
        part, name = operation.client
        for owner in PARTS[part]:
            assert getattr(owner, name).__doc__, operation.name
    assert str(signature(RemoteVehicles.sensors)) == "(self, target: str | int)"
    assert RemoteVehicles.sensors.__doc__ == OPERATIONS["sensors"].summary


def story(sim: Any) -> dict[str, Any]:
    """What a notebook does; the same with a local and a remote simulation."""
    results: dict[str, Any] = {"start": (sim.tick, sim.time)}
    sim.command("red", steer=0.1, throttle=0.4)
    sim.command("scouts", vx=np.array([1.0, 2.0, 3.0, 4.0]), vy=0.5)
    sim.step(100)
    results["hash"] = sim.state_hash()
    blob = sim.save()
    sim.command("red", brake=0.2, at_tick=120)
    sim.command("scouts[2]", vz=1.0)
    sim.run(until=0.75)
    results["ran"] = (sim.tick, sim.time, sim.state_hash())
    name = sim.spawn(name="blue", model="car.kinematic", pose=[5, 5, 1.0], speed=3)
    sim.world.frames.set("lidar", "red", (1.2, 0.0, 0.4))
    sim.behaviours.override([3, "scouts[0]"], {"waypoints": {"path": np.array([[30.0, 0.0, 20.0], [30.0, 9.0, 25.0]])}})
    sim.behaviours.override("scouts[3]", "hold")
    sim.behaviours.override("scouts[3]", None)
    sim.step(7)
    results["snapshot"] = sim.snapshot()
    results["transform"] = sim.world.frames.transform("world", "lidar")
    results["sensors"] = sim.vehicles.sensors("red")
    results["fleet_sensors"] = sim.vehicles.sensors("scouts")
    results["inspect"] = sim.vehicles.inspect("blue")
    results["overrides"] = [(o.ids.tolist(), o.behaviour, o.options) for o in sim.behaviours.overrides()]
    results["routes"] = [
        (*route[:1], route.ids.tolist(), *route[2:4], route.points.tolist()) for route in sim.behaviours.routes()
    ]
    results["spawned"] = (name, sim.state_hash())
    results["events"] = [(event.number, event.tick, event.kind, event.subject) for event in sim.events.since(0)]
    sim.remove("blue")
    results["removed"] = sim.state_hash()
    sim.restore(blob)
    results["restored"] = (sim.tick, sim.state_hash())
    sim.reset(seed=9)
    sim.step(3)
    results["reset"] = (sim.tick, sim.state_hash())
    return results


def bits(snapshot: paddock.Snapshot) -> list[bytes]:
    return [fleet.block.tobytes() for fleet in snapshot]


@pytest.mark.parametrize("drive", [False, True])
def test_the_same_program_runs_locally_and_remotely(serve: Any, drive: bool) -> None:
    served = serve(drive=drive)
    with paddock.load(served.sim.scenario) as local:
        expected = story(local)
    with paddock.connect(served.url) as remote:
        remote_story = story(remote)
    local_snapshot, remote_snapshot = expected.pop("snapshot"), remote_story.pop("snapshot")
    assert remote_snapshot.layout == local_snapshot.layout
    assert (remote_snapshot.tick, remote_snapshot.time) == (local_snapshot.tick, local_snapshot.time)
    assert bits(remote_snapshot) == bits(local_snapshot)
    assert remote_snapshot["red"].position[0] > 1.0
    assert expected.pop("transform") == remote_story.pop("transform")
    readings = remote_story.pop("fleet_sensors")
    assert readings == expected.pop("fleet_sensors") == {}
    assert remote_story == expected


def test_sensors_of_a_fleet_are_arrays(serve: Any) -> None:
    served = serve(
        {
            "vehicles": [
                {"name": "f", "count": 3, "model": "rover", "spawn": {"grid": {"spacing": 3}}, "sensors": ["gnss"]}
            ]
        }
    )
    with paddock.connect(served.url) as sim:
        sim.step(20)
        gnss = sim.vehicles.sensors("f")["gnss"]
        assert gnss["x"].shape == (3,)
        np.testing.assert_array_equal(gnss["x"], sim.snapshot().fleet("f")["gnss.x"])
        assert isinstance(gnss["sample_tick"], int)


def test_the_pace_and_pausing(serve: Any) -> None:
    served = serve(drive=True)
    with paddock.connect(served.url, name="alice") as sim:
        sim.clock.pace = 2.0
        assert sim.clock.pace == 2.0 == served.sim.clock.pace
        assert sim.clock.paused
        sim.clock.resume()
        assert not sim.clock.paused
        sim.clock.pause()
        sim.step(5)
        assert sim.clock.paused
        metadata = sim.metadata
        assert metadata["owner"] == "alice (zmq 1)"
        assert metadata["seed"] == 5 and metadata["rate"] == 400
        assert [fleet["name"] for fleet in metadata["fleets"]] == ["red", "scouts"]
        assert "serve" not in metadata["scenario"]


def test_errors_are_those_of_a_local_simulation(shared: Any) -> None:
    served = shared

    def mistakes(sim: Any) -> list[tuple[type, str]]:
        tried = [
            lambda: sim.command("rad", steer=0.1),
            lambda: sim.command("red", stear=0.1),
            lambda: sim.command("scouts", vx=np.zeros(3)),
            lambda: sim.step(-1),
            lambda: sim.run(until=float("nan")),
            lambda: sim.spawn(name="x", model="quod"),
            lambda: sim.vehicles.inspect("scouts"),
            lambda: sim.world.frames.transform("world", "nowhere"),
            lambda: sim.world.markers.put(paddock.Marker.circle("goal", 1, frame="nowhere")),
            lambda: sim.remove("unknown"),
            lambda: sim.behaviours.override("red", "flok"),
            lambda: sim.behaviours.override([], "hold"),
            lambda: sim.behaviours.override("red", {"goto": {"x": 1}}),
            lambda: sim.world.markers.remove(id=3),
        ]
        errors = []
        for mistake in tried:
            with pytest.raises(paddock.PaddockError) as caught:
                mistake()
            errors.append((type(caught.value), str(caught.value)))
        return errors

    with paddock.load(served.sim.scenario) as local, paddock.connect(served.url) as remote:
        before = remote.state_hash()
        expected = mistakes(local)
        assert mistakes(remote) == expected
        assert remote.state_hash() == before
        assert [kind for kind, _ in expected[:3]] == [UnknownNameError, UnknownNameError, InvalidValueError]
        with pytest.raises(InvalidValueError, match="must be a finite number"):
            remote.command("red", steer=float("nan"))


UNSENDABLE: list[Callable[[Any], object]] = [
    lambda sim: sim.command("red", steer=None),
    lambda sim: sim.command("red", steer={}),
    lambda sim: sim.command("red", steer=float("inf")),
    lambda sim: sim.command("red", steer=10**400),
    lambda sim: sim.command("red", steer=0.1, at_tick=1.5),
    lambda sim: sim.command("red", steer=0.1, at_tick=-1),
    lambda sim: sim.command("red", steer=0.1, at_tick=True),
    lambda sim: sim.command("scouts", vx=[1.0, None, "x", 2.0]),
    lambda sim: sim.command("scouts", vx=[[1.0], [1.0, 2.0]]),
    lambda sim: sim.command("scouts", vx=[1.0, float("nan"), 2.0, 3.0]),
    lambda sim: sim.reset(seed=-1),
    lambda sim: sim.reset(seed=2**64),
    lambda sim: sim.reset(seed="x"),
    lambda sim: sim.run(until=0.1, pace="x"),
    lambda sim: sim.run(until="x"),
    lambda sim: sim.step(1.5),
]


def test_invalid_values_are_refused_with_the_errors_of_a_local_simulation(shared: Any) -> None:
    served = shared
    with paddock.load(served.sim.scenario) as local, paddock.connect(served.url) as remote:
        before = remote.state_hash()
        for mistake in UNSENDABLE:
            with pytest.raises(InvalidValueError) as expected:
                mistake(local)
            with pytest.raises(InvalidValueError) as caught:
                mistake(remote)
            assert str(caught.value) == str(expected.value)
        assert remote.state_hash() == before


@pytest.mark.parametrize("target", [[], (), np.array([], np.int64)])
def test_a_command_without_vehicles_is_refused(shared: Any, target: Any) -> None:
    with paddock.connect(shared.url) as sim, pytest.raises(InvalidValueError, match="the list of ids is empty"):
        sim.command(target, steer=0.0)


@pytest.mark.parametrize("target", [None, 1.5, [0.5], [[1], [2, 3]], [["red"]], {}])
def test_an_invalid_target_is_refused(shared: Any, target: Any) -> None:
    with paddock.connect(shared.url) as sim, pytest.raises(InvalidValueError, match="a name, an id, or a list of ids"):
        sim.command(target, steer=0.0)


def test_a_frame_without_numbers_is_refused(shared: Any) -> None:
    with paddock.connect(shared.url) as sim, pytest.raises(InvalidValueError) as caught:
        sim.world.frames.set("f", position=None)
    assert str(caught.value) == "position must be a list of numbers, not None"


def test_commands_of_handlers_have_the_same_errors(serve: Any) -> None:
    with paddock.connect(serve().url) as sim:
        sim.control.on_request("red", handler=lambda request: {"red": {"steer": None}})
        with pytest.raises(InvalidValueError, match=r"^red: input 'steer' must be a finite number, not None$"):
            sim.step(1)


def test_a_live_simulation_cannot_seek(shared: Any) -> None:
    with paddock.connect(shared.url) as sim:
        with pytest.raises(paddock.PaddockError, match="seek refused: this is a live simulation"):
            sim.seek(1.0)
        with pytest.raises(InvalidValueError, match="seek: 'position' must be a number, got \"x\""):
            sim.seek("x")


def test_a_served_recording_can_seek(tmp_path: Path) -> None:
    file = tmp_path / "run.mcap"
    car = {"name": "red", "model": "car.kinematic", "speed": 10.0}
    with paddock.load({"clock": {"rate": 100}, "vehicles": [car]}) as sim, Recorder(sim, file, rate=50):
        sim.step(200)
    with Player(file) as player:
        player.pause()
        with Host(ReplaySource(player), serve_options({"zmq": {"port": 0}}), print) as host:
            url = f"tcp://127.0.0.1:{host.addresses['zmq']['port']}"
            with paddock.connect(url) as remote:
                assert remote.seek(1.5) == 1.5
                assert remote.snapshot().tick == 150
                assert remote.seek(0) == 0.0
                assert remote.snapshot().tick == 0
            assert asyncio.run(_wound(url)) == 0.5


async def _wound(url: str) -> float:
    async with await paddock.connect_async(url) as sim:
        return await sim.seek(0.5)


def test_markers_reach_subscribers(serve: Any) -> None:
    served = serve()
    received: list[Any] = []
    with paddock.connect(served.url) as sender, paddock.connect(served.url) as watcher:
        sender.world.markers.put(paddock.Marker.circle("goal", 1, (40.0, 0.0), radius=2.0, ttl=5.0))
        watcher.world.markers.on(received.append)
        _until(lambda: any(command.markers for command in received if hasattr(command, "markers")))
        early = received[0].markers[0]
        assert (early.namespace, early.id, early.kind) == ("goal", 1, "circle")
        assert early.position == (40.0, 0.0, 0.0) and early.scale[0] == 2.0
        assert early.ttl == pytest.approx(5.0)
        line = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]], np.float32)
        sender.world.markers.put(paddock.Marker.line("plan", 7, line, frame="red"))
        _until(lambda: any(m.id == 7 for c in received if hasattr(c, "markers") for m in c.markers))
        np.testing.assert_array_equal(received[-1].markers[0].vertices, line)
        sender.world.markers.show("plan", False)
        sender.world.markers.remove("goal", 1)
        sender.world.markers.remove()
        _until(lambda: type(received[-1]).__name__ == "ClearMarkers")
        assert [type(command).__name__ for command in received[-3:]] == ["ShowMarkers", "DeleteMarkers", "ClearMarkers"]


def test_states_come_at_the_period_of_each_callback(serve: Any) -> None:
    served = serve(zmq={"port": 0, "rate": 40})  # every 10 ticks
    with paddock.connect(served.url) as sim:
        seen: dict[int, list[int]] = {7: [], 25: []}
        ends = [sim.clock.watch(lambda state, k=k: seen[k].append(state.tick), every=k) for k in seen]  # type: ignore[misc]
        start = sim.tick
        sim.step(350)
        for every, ticks in seen.items():
            due = list(range(start + every, start + 351, every))
            _until(lambda due=due, ticks=ticks: ticks[-1:] == due[-1:])
            assert ticks == due
        for end in ends:
            end()
        _until(lambda: len(served.sim.engine.publisher.watchers) == 1)


def test_a_subscription_has_no_state_of_the_past(serve: Any) -> None:
    served = serve()
    with paddock.connect(served.url) as sim, paddock.connect(served.url) as other:
        sim.step(100)
        seen: list[int] = []
        sim.clock.watch(lambda state: seen.append(state.tick), every=50)
        assert other.snapshot().tick == 100  # publishes the present state
        sim.step(100)
        _until(lambda: seen[-1:] == [200])
        assert seen == [150, 200]


def test_states_and_events_are_published(serve: Any) -> None:
    served = serve(zmq={"port": 0, "rate": 40})  # every 10 ticks
    with paddock.connect(served.url) as sim:
        seen: list[Any] = []
        events: list[Any] = []
        end = sim.clock.watch(seen.append, every=20)
        sim.events.on(events.append)
        start = sim.tick
        expected = {}
        for _ in range(6):
            sim.step(10)
            expected[sim.tick] = sim.snapshot()
        _until(lambda: seen and seen[-1].tick > start + 40)
        assert [snapshot.tick % 20 for snapshot in seen] == [0] * len(seen)
        assert len(seen) == 3
        for snapshot in seen:
            assert bits(snapshot) == bits(expected[snapshot.tick])
        sim.spawn(name="blue", model="rover")
        _until(lambda: events)
        assert (events[-1].kind, events[-1].subject) == ("spawned", "blue")
        _until(lambda: sim.step(20) or "blue" in seen[-1])
        end()
        sim.step(40)
        count = len(seen)
        sim.step(100)
        assert len(seen) == count


def _until(reached: Any, seconds: float = 10.0) -> None:
    from time import monotonic, sleep

    deadline = monotonic() + seconds
    while not reached():
        assert monotonic() < deadline, "it never happened"
        sleep(0.01)


def test_vehicles_and_fleets_are_placed_and_the_log_is_read(serve: Any) -> None:
    served = serve()
    poses = np.array([[3.0 * k, -5.0, 25.0, 0.25 * k] for k in range(4)])
    with paddock.connect(served.url, name="notebook") as sim, paddock.load(served.sim.scenario) as local:
        for run in (sim, local):
            run.vehicles.place("red", [7.0, 8.0, 0.0, 1.0], 2.0)
            run.vehicles.place("scouts", poses, [0.0, 1.0, 2.0, 3.0], at_tick=3)
            run.step(10)
        assert sim.state_hash() == local.state_hash()
        assert sim.snapshot()["scouts[3]"].position[:2] == pytest.approx([9.0, -5.0], abs=0.2)
        with pytest.raises(InvalidValueError, match=r"'scouts' is a fleet of 4: give poses \(4, 4\)"):
            sim.vehicles.place("scouts", [0.0, 0.0, 0.0, 0.0])
        log = sim.control.log.complete()
        assert [(e.tick, e.source, e.kind) for e in log] == [(k, "notebook (zmq 1)", "place") for k in (0, 3)]
        assert len(sim.control.log.entries) == 2 and sim.control.log.entries[0] == log[0]
        assert log[1].action["pose"].tolist() == poses.tolist()
        again = paddock.replayed(served.sim.scenario, log, 10)
        assert again.snapshot()["scouts[3]"].position.tolist() == sim.snapshot()["scouts[3]"].position.tolist()


def test_watch_running_and_show_have_their_local_names(serve: Any) -> None:
    served = serve(drive=True, web={"port": 0}, token="open sesame")
    seen: list[int] = []
    with paddock.connect(served.url, token="open sesame") as sim:
        end = sim.clock.watch(lambda snapshot: seen.append(snapshot.tick), every=20)
        with sim.clock.running(pace=0.0):
            _until(lambda: len(seen) > 2)
        end()
        stopped = sim.tick
        assert stopped >= 60 and all(tick % 20 == 0 for tick in seen) and sim.clock.paused
        with sim.clock.running(until=sim.time + 0.5):
            _until(lambda: sim.tick >= stopped + 200)
        assert sim.tick == stopped + 200
        with sim.clock.running(until=1e6):
            pass
        local = paddock.load({"vehicles": []})
        assert set(dir(local.clock)) <= set(dir(sim.clock))
        shared = {"command", "control", "events", "run", "show", "step", "vehicles", "world"}
        assert shared <= set(dir(local)) & set(dir(sim))
        assert sim.clock.paused
        page = sim.show(height=300)
        assert page.url == f"http://127.0.0.1:{served.host.addresses['web']['port']}/?token=open%20sesame"
        assert "height: 300px" in page._repr_html_() and "paddock" not in repr(page)
        with pytest.raises(InvalidValueError, match="height is a whole number"):
            sim.show(height=1)


ONLY_LOCAL = {"engine"}
"""Objects of the simulation's own process."""
NOT_REMOTE: dict[str, set[str]] = {
    "behaviours": {"routes_later"},
    "vehicles": {"autopilots"},
    "world.frames": {"check", "world"},
    "world.markers": {"check_frame", "clear", "listeners", "now", "refused", "restart", "version"},
    "control.log": {"append", "kept_bytes", "listeners", "lost", "most_bytes", "restart", "restored_at"},
}
"""Members of parts that the engine uses."""


def test_a_remote_simulation_has_every_member_of_a_local_one(serve: Any) -> None:
    """Also its parts; the clock's inner verbs belong to the thread that ticks."""
    served = serve()
    with paddock.connect(served.url) as sim:
        assert public(served.sim) - public(sim) == ONLY_LOCAL
        for part, inner in NOT_REMOTE.items():
            assert public(attrgetter(part)(served.sim)) - public(attrgetter(part)(sim)) == inner, part
        assert sim.scenario.vehicles == served.sim.scenario.vehicles
        assert sim.scenario.seed == 5
        assert served.url in repr(sim)
    assert repr(served.sim) == "<Simulation 'scenario': 5 vehicles, t = 0 s, tick 0>"


def public(part: Any) -> set[str]:
    return {name for name in dir(part) if not name.startswith("_")}


def test_the_markers_shown_are_listed(serve: Any) -> None:
    with paddock.connect(serve().url, name="n") as sim:
        sim.world.markers.put(
            paddock.Marker.text("goal", 2, "x", (1.0, 2.0, 3.0), ttl=5.0), paddock.Marker.points("seen", 1, [[8, 2, 0]])
        )
        sim.world.markers.show("seen", False)
        (goal,) = sim.world.markers.alive()
        assert (goal.marker.label, goal.marker.position, goal.until) == ("x", (1.0, 2.0, 3.0), 5.0)
        assert goal.source.startswith("n ")
        assert [placed.marker.kind for placed in sim.world.markers.alive(hidden=True)] == ["text", "points"]
        assert sim.world.markers.namespaces() == {"goal": True, "seen": False}


def test_the_pace_of_a_run_ends_with_the_clients_clock(serve: Any) -> None:
    served = serve({"clock": {"rate": 400, "pace": 2.0}, "vehicles": [{"model": "point"}]})
    with paddock.connect(served.url) as watcher:
        with paddock.connect(served.url) as sim:
            sim.run(until=0.05, pace=0)
            assert watcher.clock.pace == 0.0
            sim.run(until=0.06, pace=50)
            assert watcher.clock.pace == 50.0
            sim.release_clock()
            assert watcher.clock.pace == 2.0
            sim.run(until=0.07, pace=0)
            sim.clock.pace = 4.0  # a change that stays
            sim.release_clock()
        assert watcher.clock.pace == 4.0


def test_a_server_without_a_page_refuses_to_show_one(shared: Any) -> None:
    with (
        paddock.connect(shared.url) as sim,
        pytest.raises(paddock.PaddockError, match="the server has no page; add the"),
    ):
        sim.show()


def test_a_closed_connection_raises(shared: Any) -> None:
    served = shared
    sim = paddock.connect(served.url)
    assert isinstance(sim, RemoteSimulation)
    sim.close()
    sim.close()
    with pytest.raises(paddock.PaddockError, match="closed"):
        sim.step(1)


def test_unknown_attributes_suggest_the_nearest(shared: Any) -> None:
    with (
        paddock.connect(shared.url) as sim,
        pytest.raises(AttributeError, match=r"'metdata'; did you mean 'metadata'\?$"),
    ):
        _ = sim.metdata
