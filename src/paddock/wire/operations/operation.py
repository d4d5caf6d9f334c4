"""An entry of the table of operations: its result, who may call it, and its arguments, which are validated here."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, cached_property
from types import NoneType
from typing import Any, Literal, NoReturn, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from pydantic import BaseModel, ValidationError, create_model

from paddock.errors import SHOWN, InvalidValueError, PaddockError, UnknownNameError, suggestion
from paddock.wire.operations import arguments as a
from paddock.wire.results import ArrayInJson, Range

Handling = Literal["hub", "fact", "read", "change", "command", "clock", "step"]
"""How an operation is handled; a `change` and a `command` wait for their own budget of the ticking thread's time.

- `hub`: in the hub process, from snapshots, or through other operations
- `fact`: in the hub process, from results that the simulation pushes to it when they change
- `read`: copied between two ticks for each question: saves, hashes, private columns, surveys
- `change`: changes the state between two ticks; a slow one is prepared by other threads
- `command`: posts to the mailbox or changes markers, immediately
- `clock`: acts on the clock, immediately, unless other threads of the simulation's process have used up their budget
- `step`: time waits for it, so it waits for nothing
"""
F = TypeVar("F", bound=Callable[..., Any])
REFUSALS = {"value": InvalidValueError, "unknown": UnknownNameError}
"""Exception raised by clients for an invalid argument, by reason; otherwise PaddockError."""
ZmqReply = Literal["Result", "Done", "ControlAck", "StateUpdate"]
_CALL = "Call"
_ENTRY = "_entry"


@dataclass(frozen=True)
class OperationEntry:
    """The properties that `@entry` adds to a signature."""

    handling: Handling
    rpc: str = ""  # name of the JSON-RPC method; empty: none
    zmq: str = ""  # its ZeroMQ messages, `Message.field` if that field distinguishes it; `Call`: called by name
    answer: str = ""  # the field of the JSON-RPC answer with the result; empty: the answer is the result
    reply: ZmqReply = "Done"  # the ZeroMQ message of its reply; `Result` of a Call
    shows: bool = False  # whether JSON-RPC answers only after its effect is published
    public: bool = False  # whether it needs no token
    client: str | None = ""  # the Python clients' `method` or `part.method`; empty: its name; None: written there
    slow: bool = False  # whether it may take arbitrarily long: it waits, plans or compiles
    personal: bool = False  # whether its result names the client
    example: Mapping[str, Any] | None = None  # arguments for measurements, in the scenario of `paddock bench clients`

    @property
    def keeps_state(self) -> bool:
        """Whether the state of the present tick stays as it is: a read, or a command for the next tick."""
        return self.handling in ("hub", "fact", "read", "command")


def entry(handling: Handling, rpc: str | bool = "", zmq: str = "", **more: Any) -> Callable[[F], F]:
    """Make a signature an entry of the table, with the fields of an OperationEntry; `rpc`: True is its name."""
    if zmq and handling == "hub":
        raise ValueError("operations of the hub are JSON-RPC only: what ZeroMQ clients call is a `fact` or a `read`")
    if zmq == _CALL:
        more.setdefault("reply", "Result")

    def mark(signature: F) -> F:
        method = signature.__name__ if rpc is True else rpc or ""
        setattr(signature, _ENTRY, OperationEntry(handling, method, zmq, **more))
        return signature

    return mark


class Validator:
    """Validates the arguments of one operation, by name, and fills in defaults."""

    def __init__(self, name: str, arguments: tuple[a.Argument, ...], texts: bool = False) -> None:
        """`texts`: report an invalid argument with its ErrorText, if it has one."""
        self._name = name
        self._texts = texts
        self._fields = {argument.name: argument for argument in arguments}
        fields: dict[str, Any] = {argument.name: (argument.annotation, argument.default) for argument in arguments}
        self._validate: Callable[[Any], Any] = create_model(
            name, __config__=a.STRICT, **fields
        ).__pydantic_validator__.validate_python

    def __call__(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return all arguments; raise an ArgumentError of one line that names the first invalid one."""
        if len(arguments) > a.MOST_FIELDS:
            _refuse_unknown(self._name, sorted(arguments.keys() - self._fields)[:SHOWN], self._fields)
        try:
            values: dict[str, Any] = self._validate(arguments).__dict__
        except ValidationError as error:
            self._refuse(arguments, error)
        return values

    def _refuse(self, arguments: Mapping[str, Any], error: ValidationError) -> NoReturn:
        """Raise the ArgumentError that describes an error of pydantic."""
        where, fields = self._name, self._fields
        errors = error.errors(include_url=False, include_context=False)
        wrong = next((item for item in errors if item["type"] != "extra_forbidden"), errors[0])
        location = wrong["loc"]
        if wrong["type"] not in ("missing", "extra_forbidden"):
            name = str(location[0])
            text = next((note for note in a.notes_of(fields[name].annotation) if isinstance(note, a.ErrorText)), None)
            if self._texts and text is not None and not isinstance(location[-1], int):  # the argument, not an item
                raise a.ArgumentError("value", f"{text.text}, not {' '.join(repr(arguments[name]).split())}")
            _refuse_value(where, fields, arguments, location)
        inside = location[:-1]  # the object in a list of objects, if any
        if inside:
            where, fields = (
                f"{where}: {inside[0]}[{inside[1]}]",
                {member.name: member for member in fields[str(inside[0])].members},
            )
        extra = [item["loc"] for item in errors if item["type"] == "extra_forbidden"]
        unknown = sorted(str(path[-1])[:40] for path in extra if path[:-1] == inside)[:SHOWN]
        if wrong["type"] == "missing":
            field = fields[str(location[-1])]
            near = get_close_matches(field.name, unknown, n=1)
            hint = f"; {near[0]!r} is not a field, did you mean {field.name!r}?" if near else ""
            valid = a.described(field.annotation)
            raise a.ArgumentError("missing", f"{where}: {field.name!r} is missing: {valid}{hint}")
        _refuse_unknown(where, unknown, fields)


def _refuse_unknown(where: str, unknown: list[str], known: Iterable[str]) -> NoReturn:
    plural = "s" if len(unknown) > 1 else ""
    names = ", ".join(repr(name[:40]) for name in unknown)
    raise a.ArgumentError("unknown", f"{where}: unknown field{plural} {names}; {suggestion(unknown[0][:40], known)}")


def _refuse_value(where: str, fields: Mapping[str, a.Argument], arguments: Any, location: tuple[Any, ...]) -> NoReturn:
    """Describe the innermost field or item at a location, and its valid values."""
    name, field = str(location[0]), fields[str(location[0])]
    annotation, value = field.annotation, arguments[name]
    if field.marked(a.MEMBERS) and len(location) > 1:
        name, value = str(location[1])[:40], value[location[1]]
    for step in location[1:]:
        kind = a.plain(annotation)
        if any(isinstance(note, a.Expected) for note in a.notes_of(annotation)):
            break
        if isinstance(step, int) and get_origin(kind) is list:
            annotation, value, name = get_args(kind)[0], value[step], f"{name}[{step}]"
        elif isinstance(kind, type) and issubclass(kind, BaseModel) and step in kind.model_fields:
            where, name = f"{where}: {name}", str(step)
            annotation, value = {member.name: member for member in a.fields_of(kind)}[name].annotation, value[step]
        else:
            break
    if get_origin(a.plain(annotation)) is Literal and isinstance(value, str):
        hint = suggestion(value[:40], get_args(a.plain(annotation)))
        raise a.ArgumentError("value", f"{where}: {name!r} cannot be {value[:40]!r}; {hint}")
    raise a.ArgumentError("value", f"{where}: {name!r} must be {a.described(annotation)}, got {a.shown(value)}")


class Operation:
    """One operation: its signature in the table, and everything derived from it."""

    def __init__(self, signature: Callable[..., Any]) -> None:
        self.name = signature.__name__
        self.summary = (signature.__doc__ or "").partition("\n")[0]
        self.entry: OperationEntry = getattr(signature, _ENTRY)
        self._function = signature

    @cached_property
    def signature(self) -> inspect.Signature:
        """Its signature in the table, with `self`."""
        return inspect.signature(self._function)

    @cached_property
    def arguments(self) -> tuple[a.Argument, ...]:
        """Its arguments, in order."""
        parameters = list(self.signature.parameters.values())[1:]  # without self
        return tuple(
            a.Argument(
                parameter.name,
                self._hints[parameter.name],
                ... if parameter.default is parameter.empty else parameter.default,
            )
            for parameter in parameters
        )

    def takes(self, name: str) -> bool:
        """Return whether it has an argument of this name."""
        return any(argument.name == name for argument in self.arguments)

    @property
    def result(self) -> Any:
        """The type of its result; NoneType: nothing, and JSON-RPC answers with a Moment."""
        return self._hints["return"]

    @property
    def callable_by_name(self) -> bool:
        """Whether ZeroMQ clients call it by its name."""
        return self.entry.zmq == _CALL

    @property
    def offered(self) -> bool:
        """Whether the Python clients have a method that follows from the entry."""
        return bool(self.entry.zmq) and self.entry.client is not None

    @property
    def client(self) -> tuple[str, str]:
        """The part of a simulation that has it as a method (empty: the simulation itself), and the method."""
        part, _, method = (self.entry.client or self.name).rpartition(".")
        return part, method

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self._function, include_extras=True)

    @cached_property
    def validate(self) -> Validator:
        """Validates arguments by the operation's own names."""
        later = [
            replace(argument, annotation=Any) if argument.marked(a.LATER) else argument for argument in self.arguments
        ]
        return Validator(self.name, tuple(later), texts=True)

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Validate the arguments of a Python program or a ZeroMQ client; PaddockError if one is invalid."""
        try:
            return self.validate(
                {name: value.item() if isinstance(value, np.generic) else value for name, value in arguments.items()}
            )
        except a.ArgumentError as error:
            raise REFUSALS.get(error.reason, PaddockError)(str(error)) from None

    def read(self, params: Any) -> dict[str, Any]:
        """Validate the parameters of a JSON-RPC call and return the operation's arguments."""
        if params is None:
            params = {}
        elif not isinstance(params, dict):
            form = "as a list, by position" if isinstance(params, list) else f"as {a.shown(params)}"
            raise a.ArgumentError("value", f"{self.entry.rpc}: give parameters by name, in an object, not {form}")
        if known := self._members:
            rest = {name: value for name, value in params.items() if name not in known}
            if len(rest) > a.MOST_FIELDS:
                raise a.ArgumentError("value", f"{self.entry.rpc}: at most {a.MOST_FIELDS} inputs, got {len(rest)}")
            params = {**{name: value for name, value in params.items() if name in known}, "inputs": rest}
        values = self._validate_params(params)
        arguments: dict[str, Any] = {}
        for name, field, value in self._fields_of_arguments:
            if field is a.BY_ID:
                arguments[name] = self._vehicle(values["vehicle_id"], values["vehicle"])
            else:
                arguments[name] = values[field] if field else value
        return arguments

    @cached_property
    def _fields_of_arguments(self) -> tuple[tuple[str, Any, Any], ...]:
        """Each argument, its JSON-RPC field (BY_ID: two fields; empty: none), and its value if it has no field."""
        forms = [(argument, argument.in_rpc or a.InRpc(argument.name)) for argument in self.arguments]
        return tuple(
            (argument.name, a.BY_ID if argument.marked(a.BY_ID) else form.name, form.value) for argument, form in forms
        )

    def _vehicle(self, by_id: int | None, by_name: str | int | None) -> str | int:
        if by_id is None and by_name is not None:
            return by_name
        if by_id is None or by_name is not None:
            valid = "'vehicle_id', a whole number, or 'vehicle', a name or an id"
            raise a.ArgumentError("value", f"{self.entry.rpc}: name the vehicle by either {valid}")
        return by_id

    @cached_property
    def parameters(self) -> tuple[a.Argument, ...]:
        """Its arguments in the form of JSON-RPC; a vehicle is still one argument."""
        forms = [(argument, argument.in_rpc) for argument in self.arguments]
        return tuple(
            argument if form is None else a.Argument(form.name, form.annotation, argument.default)
            for argument, form in forms
            if form is None or form.name
        )

    @cached_property
    def fields(self) -> tuple[a.Argument, ...]:
        """The fields of its JSON-RPC parameters."""
        named = (a.Argument("vehicle_id", a.Id | None, None), a.Argument("vehicle", a.Text | a.Id | None, None))
        return tuple(
            field for argument in self.parameters for field in (named if argument.marked(a.BY_ID) else (argument,))
        )

    @cached_property
    def _members(self) -> frozenset[str]:
        """The fields that are not inputs, for an operation that takes inputs as members."""
        if not any(argument.marked(a.MEMBERS) for argument in self.parameters):
            return frozenset()
        return frozenset(argument.name for argument in self.fields if not argument.marked(a.MEMBERS))

    @cached_property
    def _validate_params(self) -> Validator:
        return Validator(self.entry.rpc, self.fields)


@cache
def _hints_of(kind: Any) -> Mapping[str, Any]:
    """Return the fields of a class of results with their types; nothing for other types."""
    return get_type_hints(kind, include_extras=True) if hasattr(kind, "__annotations__") else {}


def in_json(kind: Any, value: Any) -> Any:
    """Return a result as JSON has it: arrays in the form that their type declares, otherwise ids as ranges."""
    form = next((note for note in get_args(kind) if isinstance(note, ArrayInJson)), None)
    if isinstance(value, np.ndarray):
        return (form or ArrayInJson(list[Range] if value.dtype.kind in "iu" else None)).of(value)
    kind = a.plain(kind)
    kinds = get_args(kind)
    if NoneType in kinds:
        return value if value is None else in_json(kinds[0], value)
    if isinstance(value, dict):
        fields, other = _hints_of(kind), kinds[1] if get_origin(kind) is dict else Any
        return {name: in_json(fields.get(name, other), item) for name, item in value.items()}
    if isinstance(value, list) and kinds not in ((float,), (int,), (str,)):
        return [in_json(kinds[0] if get_origin(kind) is list else Any, item) for item in value]
    return value


def collected(*tables: type) -> Mapping[str, Operation]:
    """Return all entries of table classes, by name, which must be unique."""
    operations = [Operation(value) for table in tables for value in vars(table).values() if hasattr(value, _ENTRY)]
    names = [operation.name for operation in operations]
    assert len(set(names)) == len(names), "two operations have the same name"
    return dict(zip(names, operations, strict=True))
