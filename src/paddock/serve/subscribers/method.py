"""RPC methods: functions that are called by name with declared parameters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from paddock.errors import suggestion
from paddock.serve.subscribers.parameters import Parameter, read_all
from paddock.wire.params import Params
from paddock.wire.rpc import METHOD_NOT_FOUND, RpcError

Answer = Callable[..., Awaitable[Any]]
"""`async answer(client, **values)` -> the result."""

METHODS: dict[str, Method] = {}
"""Every method by its name; the modules of `methods/` put them here."""


@dataclass(frozen=True)
class Method:
    """One method."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    answer: Answer
    inputs: bool  # whether all other members are inputs of a vehicle
    public: bool  # whether it may be called without the token

    def read(self, members: Any) -> dict[str, Any]:
        """The values of a call's parameters; RpcError naming the field that is wrong."""
        if not isinstance(members, dict):
            return read_all(self.parameters, Params(members, self.name), {})
        if not self.inputs:
            return read_all(self.parameters, Params(members, self.name), members)
        known = {name for parameter in self.parameters for name in parameter.names}
        own = {name: value for name, value in members.items() if name in known}
        rest = {name: value for name, value in members.items() if name not in known}
        return {**read_all(self.parameters, Params(own, self.name), own), "inputs": _inputs(rest, self.name)}


def method(*parameters: Parameter, inputs: bool = False, public: bool = False) -> Callable[[Answer], Answer]:
    """Make a function a method of the same name; the first line of its docstring tells users what it does."""

    def register(answer: Answer) -> Answer:
        name = answer.__name__
        summary = (answer.__doc__ or "").partition("\n")[0]
        METHODS[name] = Method(name, summary, parameters, answer, inputs, public)
        return answer

    return register


def find_method(name: str) -> Method:
    """A method by its name; RpcError -32601 with the closest one otherwise."""
    if name not in METHODS:
        near = get_close_matches(name[:60], METHODS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else suggestion(name[:60], METHODS)
        raise RpcError("method", f"unknown method {name[:60]!r}; {hint}", METHOD_NOT_FOUND)
    return METHODS[name]


def _inputs(members: dict[str, Any], where: str) -> dict[str, Any]:
    """Inputs of a vehicle (numbers, or words where it has choices) or of a fleet (lists of numbers)."""
    for name, value in members.items():
        if isinstance(value, list) and all(type(item) in (int, float) for item in value):
            continue
        if type(value) not in (int, float, str):
            Params({}, where).refuse(f"{name[:40]!r} must be a number, a word or a list of numbers")
    return members
