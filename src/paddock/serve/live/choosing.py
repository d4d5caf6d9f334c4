"""Operations on what is simulated: which scenario runs, and another one in its place."""

from __future__ import annotations

from typing import Any

from paddock.errors import PaddockError
from paddock.scenario import Scenario, ScenarioError
from paddock.serve.checker import MOST_TEXT, read
from paddock.serve.live.group import Group
from paddock.serve.operations import operation
from paddock.serve.trust import foreign_names, known_names


class Choosing(Group):
    """The run belongs to whoever started it: only where that one says so may clients begin another."""

    @operation
    def running_scenario(self, client: str) -> dict[str, Any]:
        """What runs, as its user wrote it."""
        return {"name": self.sim.scenario.name, "text": shown_text(self.sim.scenario)}

    @operation
    def known_names(self, client: str) -> dict[str, Any]:
        """The models, behaviours and sensors that clients may name."""
        return known_names(self.sim)

    @operation
    def load_scenario(self, client: str, text: str) -> None:
        """End this run and begin that of another scenario, which was checked before."""
        if self.stage.director is None:
            raise PaddockError("load refused: this run belongs to a program; those of paddock run and demo can change")
        self.stage.owner.check(client, "load")
        scenario = read(text)
        if foreign := foreign_names(scenario, known_names(self.sim)):
            raise ScenarioError(foreign)
        self.stage.director(scenario)


def shown_text(scenario: Scenario) -> str:
    """The text of a scenario as others may see it: without the token that it may hold."""
    if scenario.serve is not None and scenario.serve.token is not None:
        scenario = scenario.model_copy(update={"serve": None})
        text = scenario.to_yaml()
    else:
        text = scenario.to_text()
    if len(text) > MOST_TEXT:
        raise PaddockError(f"the scenario's text is too long to be shown: {len(text):,} characters")
    return text
