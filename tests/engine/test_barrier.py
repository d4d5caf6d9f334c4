"""Synchronous control: requests, replies, deadlines and policies."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest

from paddock.engine.barrier import Claim
from paddock.engine.commands import check_command
from paddock.engine.simulation import Simulation, replayed
from paddock.errors import PaddockError
from paddock.world.snapshot import CommandRequest

Load = Callable[..., Simulation]
CAR = {"name": "red", "model": "car.kinematic", "speed": 5, "commands": {"throttle": 0.5, "steer": 0.1}}
TWIN = {**CAR, "name": "blue", "pose": [0, 9, 0]}
PATIENT = 30.0  # s of wall time: never reached in a test that passes


def with_sync(**sync: Any) -> dict[str, Any]:
    return {"clock": {"sync": {"timeout": PATIENT, **sync}}}


@contextmanager
def stepping(sim: Simulation, ticks: int) -> Iterator[threading.Thread]:
    """Steps in another thread; joined at the end."""
    failed: list[BaseException] = []

    def work() -> None:
        try:
            sim.step(ticks)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, name="stepper", daemon=True)
    thread.start()
    yield thread
    thread.join(PATIENT)
    assert not thread.is_alive() and not failed, failed


def eventually(condition: Callable[[], bool]) -> None:
    end = monotonic() + PATIENT
    while not condition():
        assert monotonic() < end
        sleep(0.001)


def test_requests_come_every_k_ticks_and_replies_apply_at_that_tick(load: Load) -> None:
    sim = load(CAR, TWIN, **with_sync(every=5))
    source = sim.control.claim("red", source="pilot")
    asked = []
    with stepping(sim, 18):
        for k in range(4):
            request = source.wait(PATIENT)
            assert request is not None and request.vehicles == ("red",)
            assert request.snapshot.tick == request.tick == sim.tick
            asked.append(request.tick)
            source.reply(request.tick, {"red": {"throttle": 0.1 * k}})
    assert asked == [0, 5, 10, 15] and sim.tick == 18
    assert source.wait(0.0) is None
    assert [(posted.tick, posted.source, posted.action.inputs) for posted in sim.control.log.complete()] == [
        (0, "pilot", {"throttle": 0.0}),
        (5, "pilot", {"throttle": 0.1}),
        (10, "pilot", {"throttle": 0.2}),
        (15, "pilot", {"throttle": 0.1 * 3}),
    ]
    assert sim.vehicles.inspect("red")["command"]["steer"] == 0.1
    assert replayed(sim.scenario, sim.control.log.complete(), sim.tick).state_hash() == sim.state_hash()


def test_two_clients_reply_in_any_order(load: Load) -> None:
    sim = load(CAR, TWIN, **with_sync(every=1))
    sources = {name: sim.control.claim(name, source=name) for name in ("red", "blue")}
    with stepping(sim, 6):
        for tick in range(6):
            for name in ("blue", "red") if tick % 2 else ("red", "blue"):
                request = sources[name].wait(PATIENT)
                assert request is not None and request.tick == tick
                sources[name].reply(tick, {name: {"steer": 0.01 * tick}})
    # in any order of replies: the log has the order of the claims
    assert [posted.source for posted in sim.control.log.complete()] == ["red", "blue"] * 6
    assert replayed(sim.scenario, sim.control.log.complete(), 6).state_hash() == sim.state_hash()


@pytest.mark.parametrize(
    ("policy", "throttle", "brake", "steer"),
    [("hold", 0.5, 0.0, 0.1), ("brake", 0.0, 1.0, 0.1), ("default", 0.0, 0.0, 0.0)],
)
def test_the_policy_replaces_a_missing_reply(
    load: Load, policy: str, throttle: float, brake: float, steer: float
) -> None:
    sim = load(CAR, TWIN, **with_sync(every=4, timeout=0.01, on_timeout=policy))
    source = sim.control.claim("red")
    sim.step(5)
    command = sim.vehicles.inspect("red")["command"]
    assert (command["throttle"], command["brake"], command["steer"]) == (throttle, brake, steer)
    assert sim.vehicles.inspect("blue")["command"]["throttle"] == 0.5  # not claimed
    events = [(event.tick, event.kind, event.subject, event.detail) for event in sim.events.since()]
    detail = f"no reply within 0.01 s: {policy} (red)"
    assert events == [(0, "barrier_timeout", "client", detail), (4, "barrier_timeout", "client", detail)]
    with pytest.raises(PaddockError, match="the reply for tick 4 comes too late; open request: none"):
        source.reply(4, {"red": {"steer": 0.0}})
    again = replayed(sim.scenario, sim.control.log.complete(), sim.tick)  # needs neither the client nor its delays
    assert again.events.since() == sim.events.since() and again.state_hash() == sim.state_hash()


def test_the_pause_policy_stops_time_until_the_reply(load: Load) -> None:
    sim = load(CAR, **with_sync(every=3, timeout=0.01, on_timeout="pause"))
    source = sim.control.claim("red")
    with stepping(sim, 4):
        for tick in (0, 3):
            eventually(lambda tick=tick: any(event.tick == tick for event in sim.events.since()))
            assert sim.tick == tick
            request = source.wait(PATIENT)
            assert request is not None and request.tick == tick
            with pytest.raises(PaddockError, match=f"the reply for tick 77 comes too late; open request: tick {tick}"):
                source.reply(77, {"red": {"steer": 0.0}})
            source.reply(tick, {"red": {"steer": 0.2}})
    assert sim.tick == 4


def test_a_released_claim_is_not_waited_for(load: Load) -> None:
    sim = load(CAR, TWIN, **with_sync(on_timeout="pause"))
    source = sim.control.claim("red", "blue", source="first")
    with pytest.raises(PaddockError) as caught:
        sim.control.claim("blue", source="second")
    assert str(caught.value) == "'first' has already claimed red, blue: a vehicle has one source"
    with stepping(sim, 5):
        assert source.wait(PATIENT) is not None
        source.release()
    assert sim.tick == 5 and sim.events.since() == []
    assert sim.control.claim("blue", source="second").vehicles == ("blue",)


def test_replies_are_checked_before_anything_is_applied(load: Load) -> None:
    sim = load(CAR, TWIN, **with_sync())
    source = sim.control.claim("red", source="pilot")
    with stepping(sim, 1):
        assert source.wait(PATIENT) is not None
        for bad in ({"red": {"throttle": 0.9, "steer": np.nan}}, {"red": {"stear": 0.0}}, {"blue": {"steer": 0.0}}):
            with pytest.raises(PaddockError):
                source.reply(0, bad)
        source.reply(0, {"red": {"steer": 0.0}})
    assert sim.vehicles.inspect("red")["command"]["throttle"] == 0.5


@pytest.mark.parametrize(
    ("vehicles", "message"),
    [((), "claim at least one vehicle"), (("rad",), "unknown vehicle 'rad'; did you mean 'red'?")],
)
def test_claims_are_checked(load: Load, vehicles: tuple[str, ...], message: str) -> None:
    with pytest.raises(PaddockError) as caught:
        load(CAR).control.claim(*vehicles)
    assert str(caught.value) == message


def test_a_removed_claimed_vehicle_does_not_stop_the_engine(load: Load) -> None:
    sim = load(CAR, TWIN, **with_sync(timeout=0.01, on_timeout="brake"))
    sim.control.claim("red", "blue")
    sim.remove("red")
    sim.step(1)
    assert sim.vehicles.inspect("blue")["command"]["brake"] == 1.0


def test_stop_ends_a_wait_and_later_steps_wait_again(load: Load) -> None:
    sim = load(CAR, **with_sync(on_timeout="pause"))
    source = sim.control.claim("red")
    thread = threading.Thread(target=sim.run, daemon=True)
    thread.start()
    assert source.wait(PATIENT) is not None
    sim.clock.stop()
    thread.join(PATIENT)
    assert not thread.is_alive()
    tick, events = sim.tick, len(sim.events.since())
    with stepping(sim, 1):
        request = source.wait(PATIENT)
        assert request is not None and request.tick == tick == sim.tick
        source.reply(tick, {"red": {"steer": 0.3}})
    assert len(sim.events.since()) == events
    assert sim.vehicles.inspect("red")["command"]["steer"] == 0.3


def test_clients_claim_and_release_during_a_run(load: Load) -> None:
    vehicles = [{**CAR, "name": f"car_{k}", "pose": [0, 9 * k, 0]} for k in range(4)]
    sim = load(*vehicles, **with_sync())
    runner = threading.Thread(target=sim.run, kwargs={"pace": 0}, daemon=True)
    runner.start()

    def client(name: str) -> None:
        for _ in range(5):
            source = sim.control.claim(name, source=name)
            for _ in range(3):
                request = source.wait(PATIENT)
                assert request is not None
                source.reply(request.tick, {name: {"steer": 0.01}})
            source.release()

    clients = [threading.Thread(target=client, args=(f"car_{k}",), daemon=True) for k in range(4)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join(PATIENT)
        assert not thread.is_alive()
    sim.clock.stop()
    runner.join(PATIENT)
    assert not runner.is_alive() and sim.events.since() == []  # no client counted as late
    assert len(sim.control.log.complete()) == 4 * 5 * 3


def test_a_fleet_and_its_member_cannot_both_be_claimed(load: Load) -> None:
    pair = {"name": "pair", "count": 2, "model": "point", "spawn": {"line": {"start": [0, 0, 1], "end": [5, 0, 1]}}}
    bird = {"name": "bird", "model": "point", "behaviour": "hold"}
    sim = load(pair, bird)
    sim.control.claim("pair", source="first")
    with pytest.raises(PaddockError, match="'first' has already claimed pair"):
        sim.control.claim("pair[1]", source="second")
    with pytest.raises(PaddockError, match="'bird' is driven by its behaviour 'hold'"):
        sim.control.claim("bird")


def test_close_releases_waiting_clients(load: Load) -> None:
    sim = load(CAR)
    source = sim.control.claim("red")
    waiter = threading.Thread(target=source.wait)
    waiter.start()
    sim.close()
    waiter.join(PATIENT)
    assert not waiter.is_alive()
    with pytest.raises(PaddockError, match=r"step\(\) refused: the simulation is closed"):
        sim.step()


def test_a_halted_barrier_posts_no_reply(load: Load) -> None:
    sim = load(CAR, TWIN, **with_sync())
    first, second = sim.control.claim("red", source="first"), sim.control.claim("blue", source="second")
    with sim.clock.running():
        request = first.wait(PATIENT)
        assert request is not None and second.wait(PATIENT) is not None
        first.reply(0, {"red": {"throttle": 0.1}})
        eventually(lambda: first._request is None)  # collected; the engine waits for the second
    assert sim.tick == 0 and sim.engine.mailbox.waiting == 0
    with stepping(sim, 1):
        for source, name in ((first, "red"), (second, "blue")):
            assert source.wait(PATIENT) is not None
            source.reply(0, {name: {"throttle": 0.2}})
    assert [(posted.source, posted.action.inputs) for posted in sim.control.log.complete()] == [
        ("first", {"throttle": 0.2}),
        ("second", {"throttle": 0.2}),
    ]


def test_the_first_request_of_a_claim_is_sent(load: Load) -> None:
    """A barrier right after the claim became active calls `on_request`."""
    sim = load(CAR, **with_sync())
    ticks = []

    def answer(claim: Claim, request: CommandRequest) -> None:
        ticks.append(request.tick)
        claim.reply(request.tick, {"red": {"throttle": 0.3}})

    sim.control.claim("red", on_request=answer)
    sim.step(2)
    assert ticks == [0, 1]


def test_a_prepared_reply_is_read_under_the_lock(load: Load) -> None:
    claim = load(CAR, **with_sync()).control.claim("red")
    for use in (lambda: claim.prepare(5, {"red": {"steer": 0.1}}), lambda: claim.prepared_for(5)):
        thread = threading.Thread(target=use, daemon=True)
        with claim._change:
            thread.start()
            thread.join(0.1)
            assert thread.is_alive()
        thread.join(PATIENT)
    assert claim.prepared_for(5)


def test_a_reply_is_checked_once(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    sim = load(CAR, **with_sync())
    checks = []

    def counted(*arguments: Any) -> Any:
        checks.append(arguments)
        return check_command(*arguments)

    monkeypatch.setattr("paddock.engine.applier.check_command", counted)
    sim.control.claim("red", on_request=lambda claim, request: claim.reply(request.tick, {"red": {"throttle": 0.3}}))
    sim.step(3)
    assert len(checks) == 3 and sim.vehicles.inspect("red")["command"]["throttle"] == 0.3
