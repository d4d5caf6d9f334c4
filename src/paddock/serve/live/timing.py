"""Operations on time: it has one owner, the first client that asks for it."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from paddock.engine.simulation import LAST_TIME
from paddock.errors import InvalidValueError, PaddockError
from paddock.serve.live.group import Group
from paddock.serve.operations import operation
from paddock.serve.trust import refuse_foreign_state

FEW_TICKS, FEW_VEHICLES = 10, 200
"""What may be stepped by the thread that hears the hub, which hears nothing else meanwhile."""


class Timing(Group):
    """Stepping, running and holding."""

    _driving = False  # whether a client's `run` drives the clock, because nobody else does

    @operation
    def step(self, client: str, ticks: int = 1) -> Future[Any]:
        """Exactly so many ticks; the client owns the clock from now on. Returns the tick reached."""
        if isinstance(ticks, bool) or not isinstance(ticks, int) or not 0 <= ticks < 1 << 53:
            raise InvalidValueError(f"step takes a whole number of ticks >= 0, not {ticks!r}")
        self.stage.owner.take(client, "step")
        pacer = self.sim.engine.pacer
        pacer.hold()
        if not pacer.running:
            return self.stage.errand(lambda: self._step(ticks))
        return self._step_here(ticks) or pacer.request_ticks(ticks)

    def _step_here(self, ticks: int) -> Future[Any] | None:
        """A few quick ticks in this thread, to which handing them over would take longer; None if it cannot be."""
        sim = self.sim
        few = ticks <= FEW_TICKS and sim.engine.world.vehicles <= FEW_VEHICLES
        quick = few and sim.engine.barrier.is_free(sim.tick, ticks)
        end = sim.tick + ticks
        if not quick or not sim.engine.pacer.step_in_place(ticks):
            return None
        if sim.tick < end:
            raise PaddockError(f"step was stopped at tick {sim.tick}, {end - sim.tick} ticks early")
        done: Future[Any] = Future()
        done.set_result(sim.tick)
        return done

    @operation
    def step_synchronously(
        self, client: str, ticks: int, control: dict[str, dict[str, Any]] | None = None, tick: int = 0
    ) -> Future[Any]:
        """The same for a client that answers beforehand what is asked at that tick; returns the state as a reply."""
        if control is not None:
            self.stage.claim_of(client).prepare(tick, control)
            self.stage.commands += len(control)
        told: Future[Any] = Future()
        self.step(client, ticks).add_done_callback(lambda done: self._tell_state(client, done, told))
        return told

    def _tell_state(self, client: str, done: Future[Any], told: Future[Any]) -> None:
        """Runs in the thread that has stepped, before it goes on."""
        error = done.exception()
        if error is not None:
            told.set_exception(error)
        else:
            told.set_result(self.stage.teller.state(client, self.sim.engine.publisher.snapshot()))
            if client not in self.stage.claims:  # it has left meanwhile, or never claimed anything
                self.stage.teller.forget(client)

    @operation
    def run(self, client: str, until: float | None = None, pace: float | None = None) -> Any | Future[Any]:
        """Let time pass: up to a simulation time, then hold; without one, from now on. Returns the tick reached."""
        if until is not None and not (isinstance(until, int | float) and abs(until) <= LAST_TIME):
            raise InvalidValueError(f"run(until=...) takes a finite time in s, not {until!r}")
        self.stage.owner.take(client, "run")
        if pace is not None:
            self.sim.pace = pace
        if until is None:
            self.sim.resume()
            return self.sim.tick
        return self._run_until(until)

    def _run_until(self, until: float) -> Future[Any]:
        pacer = self.sim.engine.pacer
        if not pacer.running:
            pacer.resume()
            return self.stage.errand(lambda: self._run(until))
        pacer.hold(unpause=True)
        return pacer.request_ticks(max(0, self.sim.engine.world.clock.tick_at(until) - self.sim.tick), paced=True)

    @operation
    def stop(self, client: str) -> int:
        """End the `run` or `step` of the clock's owner here, and hold time; returns the tick."""
        self.stage.owner.check(client, "stop")
        if self._driving:
            self.sim.stop()
        elif self.stage.owner.client is not None:
            self.sim.engine.pacer.hold()
            self.sim.engine.pacer.finish_ticks()
        return self.sim.tick

    @operation
    def pause(self, client: str) -> None:
        """Hold a run; anyone may, unless the server keeps the clock."""
        if self.stage.owner.locked:
            self.stage.owner.check(client, "pause")
        self.sim.pause()

    @operation
    def resume(self, client: str) -> None:
        """Go on."""
        self.stage.owner.check(client, "resume")
        self.sim.resume()

    @operation
    def pace(self, client: str, pace: float) -> None:
        """Change the pace."""
        self.stage.owner.check(client, "pace")
        self.sim.pace = pace

    @operation
    def hold(self, client: str) -> None:
        """Own the clock: time passes by `step` and `run` of this client only."""
        self.stage.owner.take(client, "hold")
        self.sim.engine.pacer.hold()

    @operation
    def let_go(self, client: str) -> None:
        """Give the clock back; time goes on."""
        if self.stage.owner.release(client):
            self.sim.resume()

    @operation
    def reset(self, client: str, seed: int | None = None) -> Future[Any]:
        """From tick 0 again."""
        self.stage.owner.check(client, "reset")
        return self.stage.errand(lambda: self.sim.reset(seed))

    @operation
    def restore(self, client: str, state: bytes) -> Future[Any]:
        """Back to a saved state."""
        self.stage.owner.check(client, "restore")
        return self.stage.errand(lambda: self._restore(state))

    def _restore(self, state: bytes) -> None:
        refuse_foreign_state(self.sim, state)
        self.sim.restore(state)

    def _step(self, ticks: int) -> int:
        self.sim.step(ticks)
        return self.sim.tick

    def _run(self, until: float) -> int:
        self._driving = True
        try:
            self.sim.run(until)
        finally:
            self._driving = False
        return self.sim.tick
