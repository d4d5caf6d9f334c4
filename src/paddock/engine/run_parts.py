"""The parts that hold a run, and how its state is built: from the scenario, or from a saved tree.

Each part reads the state of the run when it works. What it has computed belongs to `world.version`, so that nothing has
to be cleared when the state is replaced.
"""

from typing import Any

from paddock.compute.prepare import Progress, prepare_kernels
from paddock.engine.build import new_world
from paddock.engine.contact import ContactStage
from paddock.engine.events import EventLog
from paddock.engine.fleets import Fleets
from paddock.engine.pipeline import PublishStage
from paddock.engine.race import RulesStage
from paddock.engine.radio.stage import RadioStage
from paddock.engine.run_state import RunState
from paddock.engine.surroundings import Surroundings
from paddock.engine.tick import MissionStage, MoveStage, SenseStage
from paddock.scenario import Scenario
from paddock.world.state import check_fields, load, outline


class RunParts:
    """The parts of one run; another one builds a state that may replace that of the first."""

    def __init__(self, scenario: Scenario, device: str) -> None:
        """Build a run without vehicles; `populate` or `load` adds them. Parts are built in the order of dependency."""
        self.scenario = scenario
        self.world = world = new_world(scenario)
        self.events = EventLog(world)
        self.fleets = Fleets(scenario, world, self.events, device)
        self.contact = ContactStage(scenario, world, self.events)
        self.rules = RulesStage(scenario, world, self.events, self.contact)
        self.publisher = PublishStage(world, scenario.every.snapshot, self.rules.show)
        self.radio = RadioStage(scenario, world, self.events, self.publisher.poses)
        kinematic = scenario.mission is not None and scenario.mission.execute == "kinematic"
        self.mission = MissionStage(world, kinematic, scenario.every.behaviour)
        self.move = MoveStage(world, rewinds=scenario.on_nan == "stop" and device == "cpu")
        self.sense = SenseStage(world, self.publisher.poses, Surroundings(scenario, world))
        world.state.contact, world.state.race = self.contact.fresh(), self.rules.fresh()
        world.state.radio = self.radio.fresh()

    def populate(self) -> None:
        """Add all vehicles of the scenario at tick 0."""
        self._add_mission(self.scenario)
        self.fleets.populate()

    def load(self, tree: dict[str, Any]) -> None:
        """Build the fleets of a saved state, load it into them, and check what declarations cannot say."""
        state, values = self.world.state, outline(RunState, tree)
        same = values["seed"] == self.scenario.seed
        self._add_mission(self.scenario if same else self.scenario.model_copy(update={"seed": values["seed"]}))
        check_fields(state, tree)
        if self.world.mission is not None:
            self.world.mission.take_part(tree["mission"])
        self.fleets.rebuild(tree["fleets"])
        load(state, tree, limited=not values["failure"])
        state.mailbox.continue_numbers()
        self.rules.check()
        self.fleets.renew()
        if self.radio.active:
            self.radio.check()
        if self.world.mission is not None:
            self.world.mission.rebuild()

    def _add_mission(self, scenario: Scenario) -> None:
        """Add the mission of the scenario, before the fleets that take part."""
        if scenario.mission is not None:
            from paddock.engine.mission.run import MissionRun  # planning is imported for a mission only

            self.world.mission = MissionRun(scenario, self.mission_host())
            self.world.state.mission = self.world.mission.state

    def mission_host(self) -> Any:
        """Return what a mission reaches of the run."""
        from paddock.engine.mission.following import MissionHost

        return MissionHost(self.world, self.fleets, self.events, self.publisher.poses, self.radio)

    def begin(self, progress: Progress | None = None, apart: bool = False) -> None:
        """Plan the mission, take the first sensor readings and compute the first links; `apart` as in `compile`."""
        if self.world.mission is not None:
            self.world.mission.begin()
        if apart or any(program.sensors for program in self.world.programs.values()):
            self.compile(progress, apart)
        self.contact.check_start()
        self.rules.begin()
        self.sense.run(self.world.clock.tick)
        self.radio.begin()

    def compile(self, progress: Progress | None = None, apart: bool = False) -> None:
        """Compile all kernels; `apart`: another thread of this process ticks."""
        kernels = (pair for program in self.world.programs.values() for pair in program.kernels())
        prepare_kernels(kernels, progress, apart)
