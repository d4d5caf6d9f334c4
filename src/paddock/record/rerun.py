"""Record a run afterwards: simulate it again from its scenario and its log, which determine it."""

import os
from contextlib import suppress
from typing import Any

from paddock.engine.actions import Posted
from paddock.engine.simulation import Simulation
from paddock.errors import NotFiniteError, PaddockError
from paddock.record.recorder import RATE, Recorder, RecordingReport
from paddock.world.archive import digest


def write_run(
    sim: Any, path: str | os.PathLike[str], *, rate: float = RATE, precision: str = "auto"
) -> RecordingReport:
    """Write the run so far of a simulation, local or remote, to a file, as a `Recorder` from tick 0 would have done.

    The run is simulated again in this process, and the states at the end are compared. PaddockError if the log does not
    begin at tick 0, or if the states differ: time has passed meanwhile, or autopilots in other processes fly vehicles.
    """
    log, state = sim.log.complete(), sim.save()
    with Simulation(sim.scenario) as again:
        again.restore(state)
        tick, expected = again.tick, digest(again.engine.settled_state())
        again.reset()
        recorder = Recorder(again, path, rate=rate, precision=precision)
        try:
            mailbox = again.engine.mailbox
            for one in log:  # a remote simulation has other objects
                posted = one if isinstance(one, Posted) else Posted.from_tree(one._asdict())
                mailbox.post(posted.action, posted.tick, posted.source)
            with suppress(NotFiniteError):  # the run ended here, too
                again.step(tick)
            if mailbox.next_tick(tick) == tick:  # vehicles that were added or removed after the last tick
                again.engine.stages.latch.run(tick)
            found = digest(again.engine.settled_state())
        finally:
            report = recorder.close()
    if found != expected:
        raise PaddockError(
            f"{report.path}: the log does not lead to the state of tick {tick}: pause the clock, or use a Recorder"
        )
    return report
