"""Playing a recording: order of samples, pause, seek and pace."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import pytest

from paddock.engine.simulation import Simulation
from paddock.errors import InvalidValueError, PaddockError
from paddock.record import Player


def drive(sim: Simulation) -> None:
    sim.step(60)
    sim.spawn(name="late", model="point")
    sim.step(40)
    sim.reset()
    sim.step(50)


@pytest.fixture
def player(record: Callable[..., Path]) -> Iterator[Player]:
    with Player(record(drive, rate=10), pace=0) as player:
        yield player


def test_all_samples_in_their_order(player: Player) -> None:
    seen: list[tuple[int, int]] = []
    kinds: list[str] = []
    player.watch(lambda snap: seen.append((snap.run, snap.tick)))
    player.event_listeners.append(lambda event: kinds.append(event.kind))
    player.run()
    assert seen == [(0, tick) for tick in range(0, 101, 10)] + [(1, tick) for tick in range(0, 51, 10)]
    assert kinds == ["spawned"]
    assert (player.tick, player.time) == (50, 0.5)
    assert player.position == player.duration == pytest.approx(1.51)
    assert player.scenario.name == "small" and [event.kind for event in player.events()] == ["spawned"]


def test_watching_less_often_and_no_more(player: Player) -> None:
    seldom: list[int] = []
    unwatch = player.watch(lambda snap: seldom.append(snap.tick), every=25)
    player.run(until=1.0)
    assert seldom == [0, 30, 60, 90]
    unwatch()
    player.run()
    assert seldom == [0, 30, 60, 90]
    with pytest.raises(InvalidValueError, match="whole number of ticks"):
        player.watch(lambda snap: None, every=0)


def test_seek_while_idle(player: Player) -> None:
    seen: list[int] = []
    player.watch(lambda snap: seen.append(snap.tick))
    player.seek(0.42)
    assert (player.tick, player.position) == (40, pytest.approx(0.4))
    player.seek(99.0)
    assert player.tick == 50 and player.position == player.duration
    player.seek(-1.0)
    assert player.tick == 0 and seen == [40, 50, 0]
    player.seek(0.9)
    player.run(until=1.1)
    assert seen[3:] == [90, 90, 100, 0]


def test_pause_seek_resume_and_stop_from_another_thread(player: Player) -> None:
    seen: list[int] = []
    player.watch(lambda snap: seen.append(snap.tick))
    player.pause()
    thread = threading.Thread(target=lambda: player.run(stay=True))
    thread.start()
    wait_for(lambda: seen == [0])
    with pytest.raises(PaddockError, match="already playing"):
        player.run()
    player.seek(0.7)
    wait_for(lambda: seen == [0, 70])
    assert player.paused
    player.resume()
    wait_for(lambda: player.position == player.duration)
    assert thread.is_alive()  # it stays at the end
    player.seek(1.3)
    wait_for(lambda: seen[-3:] == [30, 40, 50] or seen.count(50) >= 3)
    player.stop()
    thread.join(10)
    assert not thread.is_alive()


def test_a_seek_takes_effect_before_it_returns(player: Player) -> None:
    """Also while another thread plays: what is read next belongs to the new position."""
    player.pace = 0.0
    thread = threading.Thread(target=lambda: player.run(stay=True))
    thread.start()
    for k in range(200):
        player.pause()
        player.seek(0.01 * (7 * k % 100))
        assert player.snapshot().tick == 7 * k % 100 // 10 * 10 == pytest.approx(100.0 * player.position)
        player.resume()
    player.stop()
    thread.join(10)
    assert not thread.is_alive()


def test_pace(player: Player) -> None:
    """At 5 recorded seconds a second it takes at least a fifth of the time; only a lower bound holds everywhere."""
    beats: list[int] = []
    player.pace = 5.0
    started = monotonic()
    player.run(heartbeat=lambda: beats.append(1))
    assert monotonic() - started >= player.duration / 5.0 - 0.01
    assert len(beats) >= 2
    for wrong in (-1.0, 1000.0, "fast"):
        with pytest.raises(InvalidValueError, match="pace must be"):
            player.pace = wrong  # type: ignore[assignment]


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = monotonic() + 20
    while not condition():
        assert monotonic() < deadline, "it did not happen"
        threading.Event().wait(0.005)


def test_events_of_the_present_section(player: Player) -> None:
    """Before the reset the spawned vehicle is among them, after it the events begin again."""
    player.seek(0.9)
    before = player.section_events()
    assert before == player.events() and [event.subject for event in before] == ["late"]
    player.seek(player.duration)
    assert player.section_events() == player.events()[len(before) :]
    assert "late" not in [event.subject for event in player.section_events()]
