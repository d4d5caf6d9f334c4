"""The clock in the hands of clients: before the first tick, during a run, and after they leave."""

from time import monotonic, sleep
from typing import Any

import pytest

import paddock
from paddock.cli import session
from paddock.cli.summary import Tally
from paddock.errors import InvalidValueError
from paddock.serve.link import operate
from paddock.serve.live import LiveSource


def passes(sim: Any, count: int = 50) -> None:
    """Wait until the running thread has gone around its loop some times."""
    rounds = [0]
    sim.engine.listeners.idle.append(lambda: rounds.__setitem__(0, rounds[0] + 1))
    end = monotonic() + 60
    while rounds[0] < count:
        assert monotonic() < end
        sleep(0.001)


@pytest.mark.parametrize("before", ["step", "hold", "pause", "run"])
def test_no_tick_passes_after_a_client_that_came_before_the_first(before: str) -> None:
    with paddock.load({"clock": {"rate": 1000}, "vehicles": [{"name": "red", "model": "point"}]}) as sim:
        source = LiveSource(sim)
        source.attach(lambda kind, content: None, lambda snapshot: None, lambda tick, ticking: None)
        arguments = {"step": {"ticks": 1000}, "run": {"until": 1.0, "pace": 0.0}}
        done = operate(source, before, "client", arguments.get(before, {}))
        tick = 0 if done is None else done.result(60) and sim.tick
        assert tick == (1000 if before in arguments else 0)
        session._warm_up(sim, Tally(sim), None)
        with sim.clock.running():
            passes(sim)
            assert sim.tick == tick
            operate(source, "step", "client", {"ticks": 20}).result(60)
            passes(sim)
            assert sim.tick == tick + 20
            operate(source, "resume", "client", {})
            while sim.tick < tick + 400:
                sleep(0.001)
            for verb in ("hold", "pause"):  # time stands when the reply comes
                operate(source, verb, "client", {}).result(60)
                tick = sim.tick
                passes(sim, 10)
                assert sim.tick == tick
        source.detach()


@pytest.mark.parametrize("leave", ["release_clock", "gone"])
def test_a_paused_run_stays_paused_until_it_is_resumed(leave: str) -> None:
    with paddock.load({"clock": {"rate": 1000, "pace": 0}, "vehicles": [{"name": "red", "model": "point"}]}) as sim:
        source = LiveSource(sim)
        source.attach(lambda kind, content: None, lambda snapshot: None, lambda tick, ticking: None)

        def release() -> int:
            source.gone("client") if leave == "gone" else operate(source, "release_clock", "client", {})
            passes(sim, 2)
            tick = sim.tick
            passes(sim)
            assert sim.tick == tick and sim.clock.paused and source.owner.client is None
            return tick

        sim.clock.pause()
        with sim.clock.running():
            operate(source, "run", "client", {"until": 0.5}).result(60)
            assert release() == 500
            with pytest.raises(InvalidValueError, match=r"run\(until=0.1\) is in the past: the time is 0.5 s"):
                operate(source, "run", "client", {"until": 0.1})
            operate(source, "run", "client", {"until": None})
            while sim.tick < 600:
                sleep(0.001)
            operate(source, "stop", "client", {}).result(60)
            assert release() == sim.tick
            operate(source, "run", "client", {"until": None})
            assert release() >= 600
            operate(source, "step", "client", {"ticks": 10}).result(60)
            operate(source, "resume", "client", {})
            operate(source, "hold", "client", {}).result(60)
            operate(source, "release_clock", "client", {})
            tick = sim.tick
            while sim.tick < tick + 100:
                sleep(0.001)
        source.detach()
