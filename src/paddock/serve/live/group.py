"""What all groups of operations share: the simulation, and work for the thread that ticks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from paddock.engine.barrier import Claim, LateReplyError
from paddock.engine.simulation import Simulation
from paddock.scenario import Scenario
from paddock.serve.source import ClockOwner, Push
from paddock.serve.states import StateTeller
from paddock.world.snapshot import Snapshot

Director = Callable[[Scenario], None]
"""Ends the run soon, and begins that of another scenario."""


@dataclass
class Stage:
    """The simulation and who has what of it."""

    sim: Simulation
    owner: ClockOwner
    director: Director | None = None  # of whoever lets clients load another scenario
    claims: dict[str, Claim] = field(default_factory=dict)  # client -> its claim
    commands: int = 0  # taken
    teller: StateTeller = field(default_factory=StateTeller)
    push: Push = lambda kind, content: None
    publish: Callable[[Snapshot], None] = lambda snapshot: None
    attend: Callable[[], None] = lambda: None  # see to errands, should nobody drive
    workshop: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "paddock-workshop"))

    def claim_of(self, client: str) -> Claim:
        """What a client has claimed."""
        claim = self.claims.get(client)
        if claim is None:
            raise LateReplyError("a control answers a request: claim vehicles first")
        return claim

    def glance(self, work: Callable[[], Any]) -> Future[Any]:
        """Look at the state between two ticks, or while a client is waited for."""
        done = self.sim.engine.thread.request(work, look=True)
        self.attend()
        return done

    def errand(self, work: Callable[[], Any]) -> Future[Any]:
        """Change the state between two ticks."""
        done = self.sim.engine.thread.request(work)
        self.attend()
        return done

    def aside(self, work: Callable[[], Future[Any]]) -> Future[Any]:
        """Do what takes long, such as compiling, one after the other in a thread for that; then what it leaves to do.

        The thread that hears the hub must not: a hub that is not heard counts as hung.
        """
        told: Future[Any] = Future()

        def begin() -> None:
            try:
                work().add_done_callback(lambda done: _tell(done, told))
            except BaseException as error:
                told.set_exception(error)

        self.workshop.submit(begin)
        return told

    def close(self) -> None:
        """Nothing more is begun aside."""
        self.workshop.shutdown(wait=False, cancel_futures=True)


def _tell(done: Future[Any], told: Future[Any]) -> None:
    error = done.exception()
    if error is not None:
        told.set_exception(error)
    else:
        told.set_result(done.result())


class Group:
    """Operations: `method(self, client, **arguments)` marked with @operation."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.sim = stage.sim
