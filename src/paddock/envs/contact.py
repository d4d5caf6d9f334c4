"""Vehicles of one world that touch each other: a simulation with contact moves them."""

from typing import TYPE_CHECKING

import numpy as np

from paddock.engine.program import CONTACT, VARYING, LastContact
from paddock.engine.simulation import Simulation
from paddock.envs.task import Task
from paddock.errors import InvalidValueError
from paddock.scenario.contact import ContactSection
from paddock.world.columns import defaults_of

if TYPE_CHECKING:
    from paddock.envs.batch import Batch, Bools, Ints


class TouchingMotion:
    """A simulation of the vehicles of a batch; its state is the batch's before and after each step."""

    def __init__(self, task: Task, batch: "Batch") -> None:
        if not task.touches:
            raise InvalidValueError(f"vehicles of {task.name} do not touch each other: leave `contact` out")
        if batch.worlds > 1:
            raise InvalidValueError("contact needs one world: vehicles of others would touch each other")
        scenario = batch.scenario.model_copy(update={"contact": ContactSection()})
        self.simulation = Simulation(scenario)
        self.program = self.simulation.engine.programs[batch.program.fleet.name]

    def place(self, batch: "Batch", rows: "Ints") -> None:
        """Put vehicles where those of the batch are, untouched."""
        fleet, n = self.program.fleet, batch.n
        fleet.state[:, rows] = batch.state[:, rows]
        fleet.tables[CONTACT][:, rows] = defaults_of(LastContact)[:, None]
        if self.program.varying:
            fleet.tables[VARYING][:, :n] = batch.varying
        self.program.forget_poses()

    def move(self, batch: "Batch") -> None:
        """Advance by the ticks of a step."""
        fleet, n = self.program.fleet, batch.n
        fleet.command[:, :n] = batch.command
        self.simulation.step(batch.ticks)
        batch.state[:] = np.asarray(fleet.state[:, :n])

    def touched(self, batch: "Batch") -> "Bools":
        """Return which vehicles have touched another one in this episode."""
        return np.asarray(self.program.fleet.tables[CONTACT][0, : batch.n] >= 0.0)
