"""Methods about scenarios: those that come with Paddock, the one that runs, and one that a client wrote."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from paddock.errors import PaddockError
from paddock.scenario import demo_names, demo_path
from paddock.scenario import load_scenario as loaded
from paddock.scenario.marked_yaml import read_text
from paddock.serve.checker import MOST_TEXT
from paddock.serve.hub import OperationError
from paddock.serve.naming import named_schema
from paddock.serve.page import FOLDER
from paddock.serve.subscribers.method import method
from paddock.serve.subscribers.parameters import text
from paddock.serve.subscribers.shapes import (
    Nothing,
    ProblemsTree,
    ProblemTree,
    ScenarioCardTree,
    ScenariosTree,
    ScenarioText,
)

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client

SHOWN_PROBLEMS = 3
"""How many problems a refusal repeats; `check_scenario` tells them all."""


@method()
async def list_scenarios(client: Client) -> ScenariosTree:
    """The scenarios that come with Paddock: what they show, how many vehicles, and a picture if there is one."""
    return {"scenarios": [_card(name) for name in demo_names()]}


@method(text("name", "name of a demo"))
async def get_scenario(client: Client, name: str) -> ScenarioText:
    """The YAML text of a demo."""
    return {"name": name, "text": read_text(demo_path(name))}


@method()
async def get_running_scenario(client: Client) -> ScenarioText:
    """The YAML text of what runs: as it was written if it came from a file."""
    answer: ScenarioText = (await client.request("running_scenario")).result
    return answer


@method()
async def get_schema(client: Client) -> dict[str, Any]:
    """The JSON schema of scenarios, for editors."""
    return _schema()


@method(text("text", "a scenario in YAML", longest=MOST_TEXT))
async def check_scenario(client: Client, text: str) -> ProblemsTree:
    """What is wrong with a scenario, with line and column; nothing of it is run."""
    return {"problems": await _problems(client, text)}


@method(
    text("text", "a scenario in YAML; its sections `serve` and `record` are left out", None, longest=MOST_TEXT),
    text("name", "or the name of a demo", None),
)
async def load_scenario(client: Client, text: str | None, name: str | None) -> Nothing:
    """End the run and begin another on the same addresses: clients connect again. Refused if it has mistakes."""
    if (text is None) == (name is None):
        raise PaddockError("load_scenario: give 'text', a scenario in YAML, or 'name', that of a demo")
    wanted = read_text(demo_path(str(name))) if text is None else text
    if problems := await _problems(client, wanted):
        told = [f"line {one['line']}, column {one['column']}: {one['message']}" for one in problems[:SHOWN_PROBLEMS]]
        more = [f"and {len(problems) - len(told)} more"] if len(problems) > len(told) else []
        raise PaddockError("; ".join([*told, *more]))
    await client.request("load_scenario", text=wanted)
    return {}


async def _problems(client: Client, text: str) -> list[ProblemTree]:
    try:
        known = (await client.request("known_names")).result
    except OperationError:  # a recording has no models of its own
        known = None
    found = await client.hub.checker.check(text, known)
    return [ProblemTree(line=one["line"], column=one["column"], message=one["message"]) for one in found]


@lru_cache(maxsize=64)
def _card(name: str) -> ScenarioCardTree:
    scenario = loaded(demo_path(name))
    picture = f"/pictures/{name}.webp"
    return {
        "name": name,
        "description": scenario.description,
        "vehicles": sum(entry.count for entry in scenario.vehicles),
        "picture": picture if (FOLDER / picture[1:]).is_file() else None,
    }


@lru_cache(maxsize=1)
def _schema() -> dict[str, Any]:
    return named_schema()
