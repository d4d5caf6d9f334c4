"""Operations on the scenario: the one that runs, and another one in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.errors import PaddockError
from paddock.scenario import Scenario, ScenarioError
from paddock.serve.checker import MOST_TEXT, read
from paddock.serve.trust import foreign_names
from paddock.serve.trust import known_names as names_in_use
from paddock.wire.operations.results import ScenarioText

if TYPE_CHECKING:
    from paddock.serve.live import LiveSource


def running_scenario(run: LiveSource, client: str) -> ScenarioText:
    """Return its name and text."""
    return {"name": run.sim.scenario.name, "text": shown_text(run.sim.scenario)}


def known_names(run: LiveSource, client: str) -> dict[str, list[str]]:
    """Return installed plug-ins and what the run uses."""
    return names_in_use(run.sim)


def switch_scenario(run: LiveSource, client: str, text: str) -> None:
    """Only a run that was started by `paddock run` or `demo` can switch."""
    if run.director is None:
        raise PaddockError("load refused: scenario switching is disabled for this run; use paddock run or paddock demo")
    run.owner.check(client, "load")
    scenario = read(text)
    if foreign := foreign_names(scenario, names_in_use(run.sim)):
        raise ScenarioError(foreign)
    run.director(scenario)


def shown_text(scenario: Scenario) -> str:
    """The text of a scenario as clients may see it: without its token."""
    if scenario.serve is not None and scenario.serve.token is not None:
        scenario = scenario.model_copy(update={"serve": None})
        text = scenario.to_yaml()
    else:
        text = scenario.to_text()
    if len(text) > MOST_TEXT:
        raise PaddockError(f"the scenario's text is too long to send: {len(text):,} characters")
    return text
