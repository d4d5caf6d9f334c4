"""Markers of a running simulation: lifetime, frames, listeners; never part of the state."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import numpy as np
import pytest

from paddock.engine import markers as board_module
from paddock.engine.markers import MarkerBoard, MarkerChange
from paddock.engine.simulation import Simulation
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.world.markers import Marker
from paddock.world.transforms import StaleFrameError

RED = {"name": "red", "model": "car.kinematic", "pose": [10, 0, np.pi / 2], "speed": 5.0}
SCOUTS = {"name": "scouts", "count": 3, "model": "point", "spawn": {"grid": {"spacing": 3}}}


@pytest.fixture
def sim(load: Callable[..., Simulation]) -> Simulation:
    return load(RED, SCOUTS, rate=100)


@pytest.fixture
def board() -> MarkerBoard:
    return MarkerBoard(lambda frame: None, lambda: 0.0)


def put_at(board: MarkerBoard, time: float, *markers: Marker) -> None:
    board.now = lambda: time
    board.put(*markers)


def shown(sim: Simulation) -> list[tuple[str, int]]:
    return [(placed.marker.namespace, placed.marker.id) for placed in sim.world.markers.alive(sim.time)]


def circle(namespace: str = "goal", id: int = 1, **fields: object) -> Marker:
    return Marker.circle(namespace, id, **fields)  # type: ignore[arg-type]


def test_markers_are_shown_by_namespace_and_id(sim: Simulation) -> None:
    sim.world.markers.put(circle("b", 10), circle("b", 9), circle("a", 2))
    assert shown(sim) == [("a", 2), ("b", 9), ("b", 10)]
    sim.world.markers.put(circle("b", 9, radius=7.0))
    assert len(shown(sim)) == 3
    assert sim.world.markers.alive(0.0)[1].marker.scale[0] == 7.0


@pytest.mark.parametrize("start", [0, 10, 110, 12345])
@pytest.mark.parametrize("ttl_ticks", [1, 3, 7, 10])
def test_a_marker_expires_at_exactly_its_tick(sim: Simulation, start: int, ttl_ticks: int) -> None:
    sim.step(start)
    sim.world.markers.put(circle(ttl=ttl_ticks / 100))
    for _ in range(ttl_ticks):
        assert shown(sim) == [("goal", 1)]
        sim.step()
    assert shown(sim) == []


def test_a_marker_that_is_put_again_gets_a_new_ttl(sim: Simulation) -> None:
    sim.world.markers.put(circle(ttl=0.1), circle("stays"))
    sim.step(5)
    sim.world.markers.put(circle(ttl=0.1))
    sim.step(9)
    assert shown(sim) == [("goal", 1), ("stays", 1)]
    sim.step()
    assert shown(sim) == [("stays", 1)]
    sim.world.markers.put(circle(ttl=0.1))
    sim.world.markers.put(circle())
    sim.step(1000)
    assert shown(sim) == [("goal", 1), ("stays", 1)]


def test_markers_never_change_the_run(load: Callable[..., Simulation]) -> None:
    plain, marked = load(RED), load(RED)
    marked.world.markers.put(circle(), circle("car", frame="red"))
    with pytest.raises(UnknownNameError):
        marked.world.markers.put(circle(frame="nowhere"))
    assert plain.state_hash() == marked.state_hash()
    plain.step(50)
    marked.step(50)
    marked.world.markers.remove("goal")
    assert plain.state_hash() == marked.state_hash()
    assert plain.save() == marked.save()


def test_reset_clears_and_restore_keeps_markers_without_ttl(sim: Simulation) -> None:
    blob = sim.save()
    sim.step(100)
    sim.world.markers.put(circle("track"), circle("spark", ttl=5.0))
    sim.restore(blob)
    assert shown(sim) == [("track", 1)]
    sim.reset()
    assert shown(sim) == []
    sim.world.markers.put(circle("track", ttl=0.1))
    assert sim.world.markers.alive(0.0)[0].until == pytest.approx(0.1)


@pytest.mark.parametrize("frame", ["world", "red", "scouts[2]", "lidar", "map", "head"])
def test_frames_that_exist(sim: Simulation, frame: str) -> None:
    sim.world.frames.set("lidar", "red", [1.0, 0.0, 0.5])
    sim.world.frames.set("map", "world", [5.0, 0.0, 0.0])
    sim.world.frames.set("head", "lidar", moving=True)
    sim.world.markers.put(circle(frame=frame))
    assert shown(sim) == [("goal", 1)]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ("lidr", "marker 'goal' 1: unknown frame 'lidr'; did you mean 'lidar'?"),
        ("scouts", "marker 'goal' 1: 'scouts' is a fleet of 3: name one vehicle as the frame"),
        ("scouts[3]", "marker 'goal' 1: unknown frame 'scouts[3]'; did you mean 'scouts'?"),
    ],
)
def test_a_marker_in_an_unknown_frame_is_refused_and_logged(
    sim: Simulation, frame: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    sim.world.frames.set("lidar", "red")
    with caplog.at_level(logging.WARNING, "paddock.markers"), pytest.raises(PaddockError) as caught:
        sim.world.markers.put(circle("fine", 1), circle(frame=frame), source="planner")
    assert str(caught.value) == message
    assert caplog.messages == [f"markers of planner refused: {message}"]
    assert shown(sim) == [] and sim.world.markers.refused == 1 and sim.world.markers.version == 0


def test_a_frame_is_stale_a_tenth_of_a_second_after_its_last_pose(sim: Simulation) -> None:
    sim.world.frames.set("head", "red", moving=True)
    sim.world.frames.set("eye", "head", [0.1, 0.0, 0.0])
    sim.step(10)
    sim.world.markers.put(circle("eye", 1, frame="eye"), circle("head", 1, frame="head"))
    sim.step()
    for frame in ("head", "eye"):
        with pytest.raises(
            StaleFrameError, match=r"marker 'goal' 1: frame 'head' at 0.110 s: its latest pose is 0.110"
        ):
            sim.world.markers.put(circle(frame=frame))
    assert shown(sim) == [("eye", 1), ("head", 1)]
    sim.world.frames.set("head", "red", moving=True)
    sim.world.markers.put(circle(frame="eye"))


def test_a_frame_is_unknown_when_its_vehicle_has_left(sim: Simulation) -> None:
    sim.world.frames.set("lidar", "red")
    sim.remove("red")
    for frame in ("red", "lidar"):
        with pytest.raises(UnknownNameError, match="unknown frame 'red'"):
            sim.world.markers.put(circle(frame=frame))


def test_remove_takes_one_a_namespace_or_all(sim: Simulation) -> None:
    sim.world.markers.put(*(circle(name, id) for name in ("a", "b", "c") for id in (1, 2)))
    sim.world.markers.remove("a", 1)
    sim.world.markers.remove("b")
    assert shown(sim) == [("a", 2), ("c", 1), ("c", 2)]
    sim.world.markers.remove("b")  # known, and empty
    sim.world.markers.remove()
    assert shown(sim) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gaol",), "unknown marker namespace 'gaol'; did you mean 'goal'?"),
        (("goal", 7), "namespace 'goal' has no marker 7; the nearest is 5"),
        (("gone", 7), "namespace 'gone' has no marker 7; it is empty"),
        (("goal", 1.5), "the id of a marker is a whole number in 0 to 2**32 - 1, not 1.5"),
        ((None, 3), "marker 3 needs its namespace: remove(namespace, 3)"),
    ],
)
def test_removing_an_unknown_marker_is_refused(sim: Simulation, arguments: tuple[object, ...], message: str) -> None:
    sim.world.markers.put(circle("goal", 1), circle("goal", 5), circle("gone", 7))
    sim.world.markers.remove("gone", 7)
    with pytest.raises(PaddockError) as caught:
        sim.world.markers.remove(*arguments)  # type: ignore[arg-type]
    assert str(caught.value) == message
    assert shown(sim) == [("goal", 1), ("goal", 5)]


def test_a_hidden_namespace_stays_hidden(sim: Simulation) -> None:
    sim.world.markers.put(circle("a"), circle("b"))
    sim.world.markers.show("a", False)
    assert shown(sim) == [("b", 1)]
    assert len(sim.world.markers.alive(sim.time, hidden=True)) == 2
    sim.world.markers.remove()
    sim.world.markers.put(circle("a", 2), circle("b", 2))
    assert shown(sim) == [("b", 2)] and sim.world.markers.namespaces() == {"a": False, "b": True}
    sim.world.markers.show("a")
    assert shown(sim) == [("a", 2), ("b", 2)]
    with pytest.raises(UnknownNameError, match="unknown marker namespace 'c'"):
        sim.world.markers.show("c")
    with pytest.raises(InvalidValueError, match="visible is True or False, not 'no'"):
        sim.world.markers.show("a", "no")  # type: ignore[arg-type]


def test_listeners_are_notified_of_every_change_in_order(board: MarkerBoard) -> None:
    changes: list[MarkerChange] = []
    board.listeners.append(changes.append)
    put_at(board, 3.0, circle("a", 1), circle("a", 2, ttl=1.0), circle("b", 1))
    board.show("a", False)
    board.show("a", False)  # it is already
    board.remove("a", 1)
    assert board.alive(4.0) and board.version == 4  # a/2 is over: not sent, but counted
    board.remove("a")
    put_at(board, 4.0)
    board.clear()
    assert [change.kind for change in changes] == ["put", "visibility", "removed", "cleared"]
    assert [change.version for change in changes] == [1, 2, 3, 5]
    assert [placed.until for placed in changes[0].placed] == [np.inf, 4.0, np.inf]
    assert (changes[1].namespace, changes[1].visible) == ("a", False)
    assert [placed.marker.id for placed in changes[2].placed] == [1]


def test_a_failing_listener_is_logged_and_the_others_are_called(
    board: MarkerBoard, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(change: MarkerChange) -> None:
        raise OSError("disk full")

    received: list[MarkerChange] = []
    board.listeners.extend([fail, received.append])
    put_at(board, 0.0, circle())
    assert len(received) == 1 and len(board.alive(0.0)) == 1
    assert "a listener failed on markers put" in caplog.text and "disk full" in caplog.text


def test_markers_points_and_namespaces_are_limited(board: MarkerBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, limit in (("MAX_MARKERS", 4), ("MAX_POINTS", 200), ("MAX_NAMESPACES", 3)):
        monkeypatch.setattr(board_module, name, limit)
    put_at(board, 0.0, *[circle("a", id, ttl=1.0) for id in range(4)])
    put_at(board, 0.0, circle("a", 3, ttl=2.0))  # replaces
    with pytest.raises(InvalidValueError, match="5 markers exceed the limit of 4"):
        put_at(board, 0.0, circle("a", 3), circle("b", 1))
    assert board.alive(0.0)[3].until == 2.0
    # the fourth circle is left, drawn as 48 lines
    put_at(board, 1.0, Marker.points("p", 1, np.zeros((152, 3))))
    put_at(board, 1.0, Marker.points("p", 1, np.zeros((99, 3))))
    with pytest.raises(InvalidValueError, match="201 points exceed the limit of 200"):
        put_at(board, 1.0, Marker.points("p", 2, np.zeros((54, 3))))
    board.show("a", False)
    put_at(board, 5.0, circle("b", 1), circle("b", 2))
    board.remove("b")
    put_at(board, 5.0, circle("c", 1))  # b is empty and visible: forgotten
    assert board.namespaces() == {"a": False, "c": True, "p": True}
    with pytest.raises(InvalidValueError, match="4 namespaces exceed the limit of 3"):
        put_at(board, 5.0, circle("d", 1))


def test_values_that_are_no_markers_are_refused(sim: Simulation) -> None:
    with pytest.raises(InvalidValueError, match=r"a marker is made by paddock.Marker, not 'goal'"):
        sim.world.markers.put(circle(), "goal")  # type: ignore[arg-type]
    assert shown(sim) == []


def test_a_restart_while_markers_are_checked_refuses_them(board: MarkerBoard) -> None:
    board.check_frame = lambda frame: board.restart("reset")
    with pytest.raises(PaddockError, match="the run was restarted before the markers could be shown"):
        put_at(board, 5.0, circle())
    assert board.alive(0.0) == []


def test_any_thread_can_put_markers_while_another_ticks(sim: Simulation) -> None:
    sim.world.frames.set("lidar", "red")
    failures: list[Exception] = []

    def draw(name: str) -> None:
        try:
            for id in range(200):
                sim.world.markers.put(circle(name, id), circle(name, id + 1000, frame="lidar", ttl=1e6))
                sim.world.markers.remove(name, id + 1000)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=draw, args=(name,)) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for k in range(200):
        sim.world.frames.set(f"frame{k}", "world")
        sim.step(5)
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(shown(sim)) == 600


def test_transforms_at_another_time(sim: Simulation) -> None:
    for x in range(3):
        sim.world.frames.set("crane", "world", [float(x), 0.0, 0.0], moving=True)
        sim.world.frames.set("head", "red", [0.0, float(x), 0.0], moving=True)
        sim.step(10)
    assert sim.time == 0.3
    assert sim.world.frames.transform("world", "crane", time=0.05).position == pytest.approx([0.5, 0.0, 0.0])
    assert sim.world.frames.transform("crane", "world", time=0.15).position == pytest.approx([-1.5, 0.0, 0.0])
    assert sim.world.frames.transform("red", "head", time=0.1).position == pytest.approx([0.0, 1.0, 0.0])
    assert sim.world.frames.transform("red", "red", time=0.1).position == pytest.approx([0.0, 0.0, 0.0])
    assert sim.world.frames.transform("world", "red", time=0.3) == sim.world.frames.transform("world", "red")
    with pytest.raises(
        PaddockError, match=r"the pose of vehicle 'red' is known only now, at 0\.300 s, not at 0\.100 s"
    ):
        sim.world.frames.transform("world", "head", time=0.1)
    with pytest.raises(StaleFrameError, match="crane"):
        sim.world.frames.transform("world", "crane", time=0.31)
    with pytest.raises(UnknownNameError, match="did you mean 'crane'"):
        sim.world.frames.transform("world", "crance", time=0.1)
    for time in (np.nan, "now"):
        with pytest.raises(InvalidValueError, match=r"transform\(time=...\) takes a finite time in s"):
            sim.world.frames.transform("world", "crane", time=time)  # type: ignore[arg-type]
