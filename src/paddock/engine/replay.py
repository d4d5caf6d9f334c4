"""Running a simulation anew from its log: with the scenario, the log is all that a run depends on."""

from __future__ import annotations

from collections.abc import Sequence

from paddock.engine.actions import Posted
from paddock.engine.simulation import Simulation
from paddock.scenario import Scenario


def replayed(scenario: Scenario, log: Sequence[Posted], ticks: int, seed: int | None = None) -> Simulation:
    """A simulation of that many ticks in which the logged actions take effect when they did."""
    simulation = Simulation(scenario)
    if seed is not None:
        simulation.reset(seed)
    for posted in log:
        simulation.mailbox.post(posted.action, posted.tick, posted.source)
    simulation.step(ticks)
    if simulation.mailbox.next_tick(ticks) == ticks:  # vehicles that came or went between the last tick and the end
        simulation.latch.run(ticks)
    return simulation
