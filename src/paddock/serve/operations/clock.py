"""Operations on the clock. It has one owner: the first client that steps, runs or holds."""

from concurrent.futures import Future
from typing import Any

from paddock.errors import PaddockError
from paddock.serve.live import LiveSource
from paddock.serve.protection.trust import refuse_foreign_state

FEW_TICKS, FEW_VEHICLES = 10, 200
"""The largest step that the link's thread runs itself; it reads no other request meanwhile."""


def clock(run: LiveSource, client: str) -> dict[str, Any]:
    """Return the state of the clock; every reply also contains tick and time."""
    sim = run.sim
    return {"pace": sim.clock.pace, "paused": sim.clock.paused, "run": sim.engine.world.run, "owner": run.owner.client}


def step(run: LiveSource, client: str, ticks: int = 1) -> Future[Any]:
    run.owner.take(client, "step")
    pacer = run.sim.clock
    pacer.hold()
    if not pacer.active:
        return run.change(lambda: _step(run, ticks))
    return _step_here(run, ticks) or pacer.request_ticks(ticks)


def _step(run: LiveSource, ticks: int) -> int:
    run.sim.step(ticks)
    return run.sim.tick


def _step_here(run: LiveSource, ticks: int) -> Future[Any] | None:
    """Step in this thread if the ticks are few and fast, which saves a thread switch. None: not possible."""
    sim = run.sim
    quick = (
        ticks <= FEW_TICKS
        and sim.engine.world.vehicles <= FEW_VEHICLES
        and sim.engine.stages.barrier.is_free(sim.tick, ticks)
    )
    end = sim.tick + ticks
    if not quick or not sim.clock.step_in_place(ticks):
        return None
    if sim.tick < end:
        raise PaddockError(f"step was stopped at tick {sim.tick}, {end - sim.tick} ticks early")
    done: Future[Any] = Future()
    done.set_result(sim.tick)
    return done


def step_synchronously(run: LiveSource, client: str, ticks: int, control: dict[str, Any] | None = None) -> Future[Any]:
    """Step with the answer to the next control request, which saves a round trip."""
    if control is not None:
        run.claim_of(client).prepare(**control)
        run.count_commands(len(control["commands"]))
    answer: Future[Any] = Future()

    def stepped(done: Future[Any]) -> None:
        """Complete the reply with the state after the step, in the thread that has stepped, before it continues."""
        if (error := done.exception()) is not None:
            answer.set_exception(error)
        else:
            answer.set_result(run.states.state(client, run.sim.engine.publisher.snapshot()))
            if client not in run.claims:  # it has disconnected meanwhile, or has no claim
                run.states.forget(client)

    step(run, client, ticks).add_done_callback(stepped)
    return answer


def run(run: LiveSource, client: str, until: float | None = None, pace: float | None = None) -> Any | Future[Any]:
    """Run; without `until`, let time pass and return immediately."""
    sim = run.sim
    end = None if until is None else sim.clock.tick_until(until)
    run.owner.take(client, "run")
    if pace is not None:
        sim.clock.set_pace_until_release(pace)
    if until is None or end is None:
        sim.clock.proceed()
        return sim.tick
    sim.clock.hold(unpause=True)
    if not sim.clock.active:
        return run.change(lambda: run.run_until(until))
    return sim.clock.request_ticks(max(0, end - sim.tick), paced=True)


def stop(run: LiveSource, client: str) -> int | Future[Any]:
    """End the `run` or `step` of the clock's owner; return when no tick is under way."""
    run.owner.check(client, "stop")
    if run.driving:
        run.sim.clock.stop()
    elif run.owner.client is not None:
        run.sim.clock.hold()
        run.sim.clock.finish_ticks()
        if run.sim.clock.active:
            return run.read(lambda: run.sim.tick)
    return run.sim.tick


def pause(run: LiveSource, client: str) -> Future[Any] | None:
    """Pause, for any client unless the clock is locked; return when no tick is under way."""
    if run.owner.locked:
        run.owner.check(client, "pause")
    run.sim.clock.pause()
    return run.at_rest()


def resume(run: LiveSource, client: str) -> None:
    run.owner.check(client, "resume")
    run.sim.clock.resume()


def set_pace(run: LiveSource, client: str, pace: float) -> None:
    run.owner.check(client, "pace")
    run.sim.clock.pace = pace


def hold(run: LiveSource, client: str) -> Future[Any] | None:
    run.owner.take(client, "hold")
    run.sim.clock.hold()
    return run.at_rest()


def release_clock(run: LiveSource, client: str) -> None:
    """Release the clock; no effect for a client that does not own it."""
    if run.owner.release(client):
        run.sim.clock.release()


def reset(run: LiveSource, client: str, seed: int | None = None) -> Future[Any]:
    """Restart; a worker thread builds the vehicles and plans the mission."""
    run.owner.check(client, "reset")

    def build() -> Future[Any]:
        prepared = run.sim.engine.prepare_reset(seed)
        return run.answer(lambda: run.sim.engine.take_over(prepared))

    return run.aside(build)


def restore(run: LiveSource, client: str, state: bytes) -> Future[Any]:
    """Restore; only for the owner of the clock, if there is one. A state that names foreign code is refused.

    A worker thread decodes, checks and builds it.
    """
    run.owner.check(client, "restore")

    def check() -> Future[Any]:
        tree = refuse_foreign_state(run.sim, state, run.limits)
        prepared = run.sim.engine.prepare_restore(tree, apart=True)
        return run.answer(lambda: run.sim.engine.take_over(prepared))

    return run.aside(check)


def seek(run: LiveSource, client: str, position: float) -> float:
    raise PaddockError("seek refused: this is a live simulation; only a recording can seek")
