"""A name with options: `hold`, or `{flock: {radius: 10}}`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_serializer

from paddock.scenario.base import Section, Text, trouble
from paddock.scenario.marks import ScenarioError
from paddock.scenario.plain import plain


def _plain(options: Any) -> Any:
    try:
        return plain(options)
    except ScenarioError as error:
        raise trouble(error.problems[0]) from None


Options = Annotated[dict[Text, Any], BeforeValidator(_plain)]


class Choice(Section):
    """Something picked by name, with its options. Which names and options exist is the engine's to say."""

    name: Text = Field(min_length=1, description="Its name.")
    options: Options = Field(default_factory=dict, description="Its options.")

    @model_serializer
    def _short_form(self) -> str | dict[str, Any]:
        return {self.name: self.options} if self.options else self.name

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe the two forms that people write."""
        one = {"type": "object", "minProperties": 1, "maxProperties": 1}
        long = {**one, "additionalProperties": {"type": ["object", "null"]}}
        return {"description": cls.__doc__, "anyOf": [{"type": "string", "minLength": 1}, long]}


class BehaviourChoice(Choice):
    """What drives a vehicle: the name of a behaviour, or {name: {options}}."""


class SensorChoice(Choice):
    """What a vehicle perceives with: the kind of a sensor, or {kind: {options}}."""


class MethodChoice(Choice):
    """How tasks are given out and put in order: the name of a method, or {name: {options}}."""


def _from_written(kind: str) -> BeforeValidator:
    """Turn `name` and `{name: {options}}` into the fields of a choice."""

    def convert(data: Any) -> Any:
        if isinstance(data, Choice):
            return data
        if isinstance(data, str):
            return {"name": data}
        if not isinstance(data, dict):
            raise trouble(f"a {kind} is a name or {{name: {{options}}}}, not {data!r:.60}")
        if len(data) != 1:
            raise trouble(f"a {kind} is one name with its options, not {len(data)} keys{_listed(data)}")
        return _from_pair(kind, *next(iter(data.items())))

    return BeforeValidator(convert)


def _listed(data: dict[str, Any]) -> str:
    return f" ({', '.join(map(str, data))})" if data else ""


def _from_pair(kind: str, name: str, options: Any) -> dict[str, Any]:
    if options is not None and not isinstance(options, dict):
        raise trouble(f"the options of {kind} {name!r} must be a mapping, not {options!r:.60}", (name,))
    return {"name": name, "options": options or {}}


Behaviour = Annotated[BehaviourChoice, _from_written("behaviour")]
Sensor = Annotated[SensorChoice, _from_written("sensor")]
Method = Annotated[MethodChoice, _from_written("method")]
