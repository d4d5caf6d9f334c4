"""The complete state of a built-in autopilot, for `Simulation.save`: its objects, and its rows of arrays.

Objects become a tree of plain values. Every attribute of an object is state, except those that its class lists in
`unsaved` and listeners (`on_...`). Values are numbers, texts, None, enums, tuples, lists, dicts, deques, arrays,
and objects of classes in `paddock.autopilot`; an object that occurs twice stays one object. A class declares the
types of its attributes as annotations of its body (a dataclass does so anyway), and a saved state with a value of
another type or with another attribute is refused. A new mode is therefore saved without further code. A class whose
values have a range or belong together has a method `check_saved`, which returns whether they are valid.

In the tree, a tuple is a list, an object a dict with its class as `is` (never the name of an attribute, because it is a
keyword), and the others are dicts with their kind as the only or first key.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, cached_property
from math import inf, isfinite
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from paddock.autopilot.estimator import FilterArrays, filter_arrays
from paddock.autopilot.group import ARMED, CONTROLLED, DECIDED, NOW, REBOOT, ControlArrays, control_arrays
from paddock.autopilot.mission import FIRST, MissionExecutor
from paddock.autopilot.mission_items import ITEM_KINDS, MissionItem, PlanKind, Role
from paddock.autopilot.parameters import single
from paddock.autopilot.vehicle_data import Floats
from paddock.errors import PaddockError
from paddock.world.archive import Tree, check_equal
from paddock.world.parts import child, fresh, part, plain, text

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot


@part
class AutopilotState:
    """The state of one built-in autopilot."""

    autopilot: "BuiltInAutopilot"
    objects: Tree = plain(dict, to_tree=lambda tree: tree, from_tree=lambda tree: tree)  # `load_objects` checks it
    outbox: Any = plain(dict, to_tree=lambda tree: tree, from_tree=lambda tree: tree, hashed=False)  # of its objects
    filters: FilterArrays = child()  # of one vehicle
    controls: ControlArrays = child()
    note: str = text(longest=1000)

    def write(self) -> None:
        """Copy everything that shapes the further flight."""
        roots = _roots(self.autopilot)
        writer = _Writer({id(root): name for name, root in roots.items()})
        self.objects = {name: writer.attributes(roots[name], name) for name in sorted(roots)}
        self.note = self.autopilot.status.note
        self.outbox = self.objects["autopilot"].pop("outbox")
        for own, row, shared in self._rows():
            own[0] = shared[row]

    def check(self, state: Any) -> None:
        """Check that the note can be shown, and that the objects are valid."""
        if not self.note.isprintable():
            raise UnsavableError("the note is not printable")
        objects = {**self.objects, "autopilot": {**self.objects["autopilot"], "outbox": self.outbox}}
        self.roots = load_objects(objects, _roots(self.autopilot))
        _check_parameters(self.autopilot, self.roots["parameters"])
        _check(self.autopilot, self.roots["autopilot"], self.controls.status)

    def read(self) -> None:
        """Continue the flight from this state, which is checked."""
        for name, root in _roots(self.autopilot).items():
            for attribute in {*saved_names(root)} - self.roots[name].keys():
                object.__delattr__(root, attribute)
            for attribute, value in self.roots[name].items():
                object.__setattr__(root, attribute, value)
        for own, row, shared in self._rows():
            shared[row] = own[0]
        self.autopilot.continue_loaded(self.note)

    def _rows(self) -> Iterator[tuple[Any, int, Any]]:
        """Yield the arrays of this part, and the row of those that the autopilot shares with its group."""
        for own, shared in ((self.filters, self.autopilot.estimator.arrays), (self.controls, self.autopilot.controls)):
            for values, rows in zip(own, shared, strict=True):
                yield values, self.autopilot.index, rows


def blank_state(autopilot: "BuiltInAutopilot") -> AutopilotState:
    """Return the part of an autopilot in the state of a run."""
    state = fresh(AutopilotState, autopilot=autopilot)
    state.filters, state.controls = filter_arrays(1), control_arrays(1, autopilot.vehicle.widths)
    return state


def _roots(autopilot: "BuiltInAutopilot") -> dict[str, object]:
    """Return the objects that exist as long as the autopilot; the others are replaced when it boots."""
    return {"autopilot": autopilot, "estimator": autopilot.estimator, "parameters": autopilot.parameters}


def _check_parameters(autopilot: "BuiltInAutopilot", attributes: Mapping[str, Any]) -> None:
    parameters = autopilot.parameters
    if [*attributes["_values"]] != parameters.names() or not attributes["_saved"].keys() <= attributes[
        "_values"
    ].keys():
        raise UnsavableError("the parameters are not those of this vehicle type")
    for name, value in [*attributes["_values"].items(), *attributes["_saved"].items()]:
        known = parameters.known(name)
        if value not in (known.fit(value), single(known.default)):
            raise UnsavableError(f"parameter {name} cannot be {value}")


def _check(autopilot: "BuiltInAutopilot", attributes: Mapping[str, Any], rows: Floats) -> None:
    """Check what belongs together: vehicle type, mode, plans, mission, times."""
    status, vehicle, mode = rows[0].tolist(), attributes["vehicle"], attributes["mode"]
    kind = vehicle.modes.get(type(mode).number)
    if type(vehicle) is not type(autopilot.vehicle) or kind is not type(mode):
        raise UnsavableError(f"{type(mode).__name__} is no mode of a {autopilot.vehicle.kind}")
    times = status[NOW], status[CONTROLLED], status[DECIDED]
    if not all(map(isfinite, status)) or not 0.0 <= max(times) <= status[NOW] or min(times) < -1.0:
        raise UnsavableError("the times of the status are not valid")
    if attributes["_armed"] != bool(status[ARMED]) or {status[ARMED], status[REBOOT]} - {0.0, 1.0}:
        raise UnsavableError("the status is not valid")
    if attributes["plans"].keys() != set(PlanKind):
        raise UnsavableError("there is one plan of each kind")
    for each, items in attributes["plans"].items():
        if (result := autopilot.check_plan(each, items))[0]:
            raise UnsavableError(f"{each.name.lower()} plan: item {result[1]} is not valid")
    _check_progress(autopilot, attributes["executor"])


def _check_progress(autopilot: "BuiltInAutopilot", executor: MissionExecutor) -> None:
    """Check a mission in progress: items, and indices of items."""
    items: tuple[MissionItem, ...] = tuple(executor.items)
    if autopilot.check_plan(PlanKind.MISSION, items)[0] or not 0 <= executor.current <= max(len(items) - 1, 0):
        raise UnsavableError("the current item of the mission is not valid")
    leg, actions = executor._leg, executor.actions.waiting
    begun = [] if leg is None else [leg.sequence]
    if not all(FIRST <= k < len(items) for k in (*begun, *executor._jumps, *(k for k, _ in actions))):
        raise UnsavableError("the mission in progress has an item that does not exist")
    roles = [ITEM_KINDS[items[k].command].role for k in begun]
    if any(role is not Role.NAV for role in roles) or any(item is not items[k] for k, item in actions):
        raise UnsavableError("the mission in progress does not match its items")


PACKAGE = "paddock.autopilot."
UNSAVED = ("on_", "__")  # listeners, and what Python notes
MOST_WHOLE, MOST = 1 << 53, 1e15  # whole numbers are smaller; finite floats are not larger
LONGEST, LONGEST_TEXT = 10_000, 1000  # deques; characters
MOST_VALUES = 200_000  # of one autopilot
T = TypeVar("T")


class UnsavableError(PaddockError):
    """A value that cannot be part of a state, or is not valid there; the message names its path."""


def load_objects(tree: Any, roots: Mapping[str, object]) -> dict[str, dict[str, Any]]:
    """Return the attributes of each root from a tree, without changing the roots; PaddockError if it is not valid.

    Saving them again gives the same tree.
    """
    if not isinstance(tree, dict) or tree.keys() != roots.keys():
        raise UnsavableError(f"an autopilot's state has {', '.join(sorted(roots))}")
    reader, writer = _Reader(dict(roots)), _Writer({id(root): name for name, root in roots.items()})
    attributes = {name: reader.attributes(type(roots[name]), tree[name], name) for name in sorted(roots)}
    check_equal(tree, {name: writer.values(attributes[name], name) for name in sorted(roots)}, "saved autopilot")
    return attributes


@cache
def unsaved_names(kind: type) -> frozenset[str]:
    """Return the attributes of a class that are not saved: those that it lists as `unsaved`, and cached properties."""
    members = [(name, value) for base in kind.__mro__ for name, value in vars(base).items()]
    listed = (value for name, value in members if name == "unsaved")
    return frozenset(name for name, value in members if isinstance(value, cached_property)).union(*listed)


def saved_names(owner: object) -> list[str]:
    """Return the attributes of an object that are its state."""
    kind: Any = type(owner)
    return sorted(name for name in vars(owner).keys() - unsaved_names(kind) if not name.startswith(UNSAVED))


@cache
def declared_types(kind: type) -> dict[str, Any]:
    """Return the types of the attributes that a class and its bases declare; a ClassVar has none that is valid."""
    return get_type_hints(kind, localns=_classes())  # names that are imported for typing only are found


def _classes() -> dict[str, Any]:
    return {
        name: value
        for path, module in list(sys.modules.items())
        if path.startswith(PACKAGE)
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__.startswith(PACKAGE)
    }


@cache
def _class_named(name: str) -> type:
    """Return the class of a name in a tree: one that a loaded module of the autopilot defines."""
    module, _, simple = name.rpartition(".")
    kind = vars(sys.modules.get(PACKAGE + module, object)).get(simple) if module else None
    if not isinstance(kind, type) or _name(kind) != name:
        raise UnsavableError(f"no class {name!s:.60}")
    return kind


@cache
def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix(PACKAGE)


class _Writer:
    """Turns values into trees; notes where each object occurs first."""

    def __init__(self, known: dict[int, str]) -> None:
        self._known = known  # id of an object -> its path
        self._kept: list[object] = []  # so that no id is used twice

    def attributes(self, owner: object, path: str) -> Tree:
        return self.values({name: vars(owner)[name] for name in saved_names(owner)}, path)

    def values(self, attributes: Mapping[str, Any], path: str) -> Tree:
        return {name: self.value(value, f"{path}.{name}") for name, value in attributes.items()}

    def value(self, value: Any, path: str) -> Any:
        kind: Any = type(value)
        if value is None or kind in (bool, int, float, str):
            return value
        if isinstance(value, Enum):
            return {"is": _name(kind), "value": value.value}
        if kind is tuple:
            return self._all(value, path)
        if isinstance(value, np.generic):
            return value.item()
        if kind is np.ndarray:
            return value.copy()
        if kind is list:
            return {"list": self._all(value, path)}
        if kind is deque:
            return {"deque": self._all(value, path), "most": value.maxlen}
        if kind is dict:
            return {"dict": self._all([*value], path), "values": self._all([*value.values()], path)}
        if not kind.__module__.startswith(PACKAGE) or callable(value):
            raise UnsavableError(f"{path} cannot be saved: it is a {kind.__qualname__}")
        if isinstance(value, tuple):  # named
            return {"is": _name(kind), "fields": self._all(value, path)}
        if id(value) in self._known:
            return {"ref": self._known[id(value)]}
        self._known[id(value)] = path
        self._kept.append(value)
        return {"is": _name(kind), **self.attributes(value, path)}

    def _all(self, values: Any, path: str) -> list[Any]:
        return [self.value(value, f"{path}.{k}") for k, value in enumerate(values)]


class _Reader:
    """Turns trees into new values, in the order in which they were written."""

    def __init__(self, known: dict[str, object]) -> None:
        self._known, self._roots = known, [*known.values()]  # path -> object
        self._left = MOST_VALUES

    def attributes(self, kind: type, tree: Any, path: str) -> dict[str, Any]:
        """Return the attributes of an object of a class: all that it declares, each of its type."""
        if not isinstance(tree, dict):
            raise UnsavableError(f"{path}: expected the attributes of a {kind.__name__}")
        types, skipped = declared_types(kind), unsaved_names(kind)
        needed = {name for name in types if not (name in skipped or name.startswith(UNSAVED) or hasattr(kind, name))}
        if missing := needed - tree.keys():
            raise UnsavableError(f"{path}: {min(missing)} is missing")
        attributes = {}
        for name in sorted(tree.keys() - {"is"}):
            if (
                name not in types
                or name in skipped
                or name.startswith(UNSAVED)
                or hasattr(getattr(kind, name, None), "__get__")
            ):
                raise UnsavableError(f"{path}: unknown attribute {name!s:.40}")
            attributes[name] = value = self.value(tree[name], f"{path}.{name}")
            if not fits(value, types[name]):
                raise UnsavableError(f"{path}.{name} is not valid: {_shown(value)}")
        return attributes

    def value(self, tree: Any, path: str) -> Any:
        self._left -= 1
        if self._left < 0:
            raise UnsavableError(f"an autopilot has at most {MOST_VALUES:,} values")
        if isinstance(tree, list):
            return tuple(self._all(tree, path))
        if not in_range(tree):
            raise UnsavableError(f"{path} is not valid: beyond the range of its type, or not printable")
        if not isinstance(tree, dict):
            return tree
        if "is" in tree:
            return self._object(tree, path)
        if tree.keys() == {"ref"} and isinstance(tree["ref"], str) and tree["ref"] in self._known:
            return self._known[tree["ref"]]
        if tree.keys() == {"list"}:
            return self._all(tree["list"], path)
        if tree.keys() == {"deque", "most"} and type(tree["most"]) is int and 0 <= tree["most"] <= LONGEST:
            return deque(self._all(tree["deque"], path), tree["most"])
        if tree.keys() == {"dict", "values"}:
            keys, values = self._all(tree["dict"], path), self._all(tree["values"], path)
            if not all(isinstance(each, str | int | float | Enum) for each in keys):
                raise UnsavableError(f"{path}: keys are numbers, texts or members of enums")
            return self._made(lambda: dict(zip(keys, values, strict=True)), path)
        raise UnsavableError(f"{path} is not valid: {', '.join(tree)!s:.60}")

    def _all(self, trees: Any, path: str) -> list[Any]:
        if not isinstance(trees, list):
            raise UnsavableError(f"{path}: expected a list")
        return [self.value(tree, f"{path}.{k}") for k, tree in enumerate(trees)]

    def _object(self, tree: Tree, path: str) -> Any:
        kind = _class_named(str(tree["is"]))
        if issubclass(kind, Enum):
            return self._made(lambda: kind(tree.get("value")), path)
        if issubclass(kind, tuple):
            fields = self._all(tree.get("fields"), path)
            types = {name: declared_types(kind)[name] for name in kind._fields}  # type: ignore[attr-defined]
            if len(fields) != len(types) or not all(map(fits, fields, types.values())):
                raise UnsavableError(f"{path} is not a valid {kind.__name__}")
            return kind(*fields)
        if any(type(root) is kind for root in self._roots):
            raise UnsavableError(f"{path}: there is one {kind.__name__}")
        made = self._made(lambda: object.__new__(kind), path)
        self._known[path] = made
        for name, value in self.attributes(kind, tree, path).items():
            object.__setattr__(made, name, value)
        if not self._made(getattr(made, "check_saved", lambda: True), path):
            raise UnsavableError(f"{path} is not a valid {kind.__name__}")
        return made

    def _made(self, make: Callable[[], T], path: str) -> T:
        try:
            return make()
        except (TypeError, ValueError, OverflowError):
            raise UnsavableError(f"{path} is not valid") from None


def in_range(value: Any) -> bool:
    """Return whether a number, text or array is within the range of all that a state has; NaN and infinity are."""
    if isinstance(value, int):
        return abs(value) < MOST_WHOLE
    if isinstance(value, float):
        return not MOST < abs(value) < inf
    if isinstance(value, np.ndarray):
        kind = value.dtype.kind
        least, most = (-MOST, MOST) if kind == "f" else (1 - MOST_WHOLE, MOST_WHOLE - 1)
        finite = value[np.isfinite(value)]
        return kind in "bfiu" and (kind == "b" or bool(((finite >= least) & (finite <= most)).all()))
    return not isinstance(value, str) or (value.isprintable() and len(value) <= LONGEST_TEXT)


def _shown(value: Any) -> str:
    """Return a plain value, or the name of a type: objects may refer to each other."""
    return f"{value!s:.40}" if value is None or isinstance(value, str | int | float) else type(value).__name__


def fits(value: Any, hint: Any) -> bool:
    """Return whether a value has a declared type; whole numbers are valid where floats are."""
    origin, inner = get_origin(hint), get_args(hint)
    if isinstance(hint, TypeVar):
        return fits(value, hint.__bound__)
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in inner)
    if hint is None or hint is type(None):
        return value is None
    if hint in (int, float):
        return isinstance(value, int if hint is int else int | float) and not isinstance(value, bool)
    if origin is tuple and inner[-1:] != (...,):
        return isinstance(value, tuple) and len(value) == len(inner) and all(map(fits, value, inner))
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype == get_args(inner[1])[0]
    if origin in (tuple, list, deque, Sequence):
        return isinstance(value, origin) and all(fits(each, inner[0]) for each in value)
    if origin in (dict, Mapping):
        return isinstance(value, origin) and all(fits(k, inner[0]) and fits(v, inner[1]) for k, v in value.items())
    plain = origin or hint
    if not isinstance(plain, type):
        return False
    return isinstance(value, plain) and (plain is not bool or type(value) is bool)
