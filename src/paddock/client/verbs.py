"""The verbs of a remote simulation, defined once for the synchronous and the asynchronous client.

A verb that needs nothing special follows from its entry in the table of operations; the others are written out here.
`_ask` sends a request: it returns the result, or an awaitable in the asynchronous client. `_value` makes what `ask`
returns an attribute, or a coroutine in the asynchronous client: `sim.tick`, `await sim.tick()`.
"""

import os
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from functools import cache, partial
from math import inf, nan
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints
from urllib.parse import quote, urlsplit

import numpy as np
from numpy.typing import NDArray

from paddock.client import NotebookPage
from paddock.client.control import Callbacks, Controls, checked_inputs
from paddock.client.session import ClientRequest, Session, operation_request, result_value
from paddock.client.states import EVENT, MARKERS, STATE
from paddock.errors import InvalidValueError, PaddockError, suggestion
from paddock.track.standings import standings_from
from paddock.wire.messages.markers import MarkerCommand
from paddock.wire.messages.requests import MARKER_FIELDS, Call, ResultMessage
from paddock.wire.operations import OPERATIONS, Operation
from paddock.wire.operations.arguments import plain
from paddock.wire.radio_results import RadioMessageTree, Received
from paddock.wire.results import EventRecord, PlacedMarkerTree, StandingsTree, TrackTree, TransformTree
from paddock.world.markers import Marker, PlacedMarker
from paddock.world.snapshot import Snapshot
from paddock.world.transforms import Transform


class Verbs:
    """Methods that send requests; `part` adds those of the table's entries for that part of a simulation."""

    def __init_subclass__(cls, part: str | None = None) -> None:
        for operation in OPERATIONS.values() if part is not None else ():
            owner, name = operation.client
            if operation.offered and owner == part and not hasattr(cls, name):
                setattr(cls, name, _method(operation, name))

    def _ask(self, request: ClientRequest[Any]) -> Any:
        raise NotImplementedError

    def _value(self, ask: Callable[[], Any]) -> Any:
        raise NotImplementedError

    if TYPE_CHECKING:  # the verbs that follow from the table

        def __getattr__(self, name: str) -> Any: ...


def _method(operation: Operation, name: str) -> Callable[..., Any]:
    """Return the method of an operation, with the signature and the docstring of its entry."""
    types = {
        argument.name: plain(argument.annotation)
        for argument in operation.arguments
        if argument.in_rpc is None or argument.in_rpc.name
    }
    signature = operation.signature
    self, *rest = signature.parameters.values()
    own = [self, *(argument.replace(annotation=types[argument.name]) for argument in rest if argument.name in types)]
    signature = signature.replace(parameters=own, return_annotation=signature.empty)

    def method(self: Verbs, /, *args: Any, **kwargs: Any) -> Any:
        arguments = signature.bind(self, *args, **kwargs).arguments
        del arguments["self"]
        asked, read = operation_request(operation.name, **arguments), reader_of(operation.result)
        return self._ask(asked if read is None else asked._replace(read=lambda reply: read(result_value(reply))))

    method.__name__, method.__doc__ = name, operation.summary
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


class RemotePart(Verbs):
    """A part of a remote simulation, with the verbs of one subject."""

    def __init__(self, sim: "RemoteVerbs") -> None:
        self._sim = sim

    def _ask(self, request: ClientRequest[Any]) -> Any:
        return self._sim._ask(request)

    def _value(self, ask: Callable[[], Any]) -> Any:
        return self._sim._value(ask)


class ClockVerbs(RemotePart, part="clock"):
    """`sim.clock`."""

    @property
    def pace(self) -> Any:
        """Simulated seconds per wall second of `run`; 0 is as fast as possible."""
        return self._value(lambda: self._ask(ClientRequest(CLOCK, lambda reply: float(result_value(reply)["pace"]))))

    @property
    def paused(self) -> Any:
        """Whether the run is paused or held."""
        return self._value(lambda: self._ask(ClientRequest(CLOCK, lambda reply: bool(result_value(reply)["paused"]))))

    def watch(self, watcher: Callable[[Snapshot], object], every: int | None = None) -> Callable[[], None]:
        """Call `watcher(snapshot)` every so many ticks (None: for every published state), from the next tick on.

        Returns a function that ends it. The watcher runs in the thread that is in `step` or `run`, if any; in the
        event loop of an asynchronous client.
        """
        return self._sim._watch(STATE, watcher, every)


CLOCK = Call("clock", {})
SNAPSHOT: ClientRequest[Any] = ClientRequest(Call("snapshot", {}), lambda snapshot: snapshot)
SNAPSHOT_WITH_ROSTER = SNAPSHOT._replace(body=Call("snapshot", {"roster": True}))  # even if it should be known here


class RemoteBehaviours(RemotePart, part="behaviours"):
    """`sim.behaviours`."""

    def override(self, target: Any, behaviour: Any) -> Any:
        """Override the behaviour of vehicles (a name, an id, or a list of them).

        A behaviour as in a scenario; "external": take commands; None: back to the vehicles' entry.
        """
        whom = target if isinstance(target, str | int | np.integer) else list(target)
        return self._ask(operation_request("override", target=whom, behaviour=behaviour))


class RemoteVehicles(RemotePart, part="vehicles"):
    """`sim.vehicles`: `place`, `sensors`, `inspect`."""


class RemoteMarkers(RemotePart, part="world.markers"):
    """`sim.world.markers`."""

    def on(self, callback: Callable[[MarkerCommand], object]) -> Callable[[], None]:
        """Call `callback(command)` with all markers, then with every change; returns a function to end it."""
        return self._sim._watch(MARKERS, callback)

    def put(self, *markers: Marker) -> Any:
        """Show markers in place of those with the same namespace and id."""
        for marker in markers:
            if not isinstance(marker, Marker):
                raise InvalidValueError(f"a marker is made by paddock.Marker, not {marker!r}")
        trees = [{name: getattr(marker, name) for name in MARKER_FIELDS} for marker in markers]
        return self._ask(operation_request("put_markers", markers=trees))

    def remove(self, namespace: str | None = None, id: int | None = None) -> Any:
        """Remove a marker, a whole namespace, or all markers."""
        if namespace is None and id is not None:
            raise InvalidValueError(f"marker {id!r} needs its namespace: remove(namespace, {id!r})")
        return self._ask(
            operation_request("delete_markers", namespace=namespace, **({} if id is None else {"number": [id]}))
        )


class RemoteFrames(RemotePart, part="world.frames"):
    """`sim.world.frames`."""


class RemoteWorld(RemotePart, part="world"):
    """`sim.world`: `track`, `scenery`, `frames`, `markers`."""

    def __init__(self, sim: "RemoteVerbs") -> None:
        super().__init__(sim)
        self.markers, self.frames = RemoteMarkers(sim), RemoteFrames(sim)

    @property
    def track(self) -> Any:
        """The race track of the scenario; None without one."""
        return self._value(self.get_track)


class RemoteEvents(RemotePart, part="events"):
    """`sim.events.since(number)`, or shorter `sim.events(number)`."""

    def __call__(self, since: int = 0) -> Any:
        """Return `since(number)`."""
        return self.since(since)

    def on(self, callback: Callable[[EventRecord], object]) -> Callable[[], None]:
        """Call `callback(event)` for every event; returns a function to end it."""
        return self._sim._watch(EVENT, callback)


class RemoteLog(RemotePart, part="control.log"):
    """`sim.control.log`: the actions that were applied, for `paddock.replayed`."""

    @property
    def entries(self) -> Any:
        """The actions that the server still has, in order."""
        return self._value(lambda: self.complete(False))


class RemoteRace(RemotePart, part="race"):
    """`sim.race`: `standings()`."""


class RemoteEmitters(RemotePart):
    """Jammers or spoofers."""

    def _set(self, kind: str, name: str, changes: dict[str, Any]) -> Any:
        from paddock.radio.settings import checked_settings  # takes long to import

        settings = checked_settings(kind, name, changes) if changes else {}  # without any, the server answers
        return self._ask(operation_request(f"set_{kind}", name=name, **settings))


class RemoteJammers(RemoteEmitters, part="radio.jammers"):
    """`sim.radio.jammers()` returns all jammers, `sim.radio.jammers.set(name, ...)` changes one."""

    __call__ = _method(OPERATIONS["jammers"], "__call__")

    def set(self, name: str, **changes: Any) -> Any:
        """Change one: `on`, `scheduled`, `position`, `vehicle`, `power` (dBm), `frequency` and `bandwidth` (Hz)."""
        return self._set("jammer", name, changes)


class RemoteSpoofers(RemoteEmitters, part="radio.spoofers"):
    """`sim.radio.spoofers()` returns all spoofers, `sim.radio.spoofers.set(name, ...)` changes one."""

    __call__ = _method(OPERATIONS["spoofers"], "__call__")

    def set(self, name: str, **changes: Any) -> Any:
        """Change one: `on`, `scheduled`, `position`, `vehicle`, `power` (dBm)."""
        return self._set("spoofer", name, changes)


class RemoteRadio(RemotePart, part="radio"):
    """`sim.radio`: messages, links, stations, jammers and spoofers."""

    def send(
        self,
        source: str | int,
        to: str | int = "*",
        data: Any = None,
        *,
        bits: int | None = None,
        hops: int | None = None,
        lifetime: float | None = None,
    ) -> Any:
        """Send a message over the simulated radio: bytes or what JSON can hold; `bits`, `hops`, `lifetime` (s)."""
        from paddock.radio.settings import checked_options  # takes long to import

        options = checked_options({"bits": bits, "hops": hops, "lifetime": lifetime})
        if isinstance(data, bytes | bytearray | memoryview):
            data, options["base64"] = b64encode(data).decode(), True
        return self._ask(operation_request("radio_send", source=source, to=to, data=data, **options))

    @property
    def jammers(self) -> RemoteJammers:
        """The jammers: call it for a list; `set` changes one."""
        return RemoteJammers(self._sim)

    @property
    def spoofers(self) -> RemoteSpoofers:
        """The spoofers of satellite navigation: call it for a list; `set` changes one."""
        return RemoteSpoofers(self._sim)

    @property
    def stations(self) -> Any:
        """The ground stations, in the order of their names."""
        return self._value(_method(OPERATIONS["radio_stations"], "stations").__get__(self))


class MissionVerbs(RemotePart, part="mission"):
    """`sim.mission`."""

    def add_task(self, name: str, **fields: Any) -> Any:
        """Add a task: a scenario task's fields, such as `point={"at": [100, 50]}`."""
        return self._ask(operation_request("add_task", task={"name": name, **fields}))

    def add_zone(self, name: str, **fields: Any) -> Any:
        """Add a no-fly zone: the fields of a scenario's zone."""
        return self._ask(operation_request("add_zone", zone={"name": name, **fields}))

    def remove_zone(self, zone: str) -> Any:
        """Open a no-fly zone again."""
        return self._ask(operation_request("remove_zone", name=zone))

    def add_vehicle(self, name: str, **fields: Any) -> Any:
        """Add vehicles to the mission: fields of a scenario's `vehicles` entry."""
        return self._ask(operation_request("add_vehicle", entry={"name": name, **fields}))

    def move_task(self, task: str, x: float, y: float) -> Any:
        """Move a task (m)."""
        return self._ask(operation_request("move_task", name=task, x=x, y=y))

    def remove_task(self, task: str) -> Any:
        """Remove a task."""
        return self._ask(operation_request("remove_task", name=task))


class RemoteVerbs(Verbs, part=""):
    """Parts, verbs and callbacks common to both clients."""

    def __init__(
        self,
        url: str,
        token: str | None,
        name: str | None,
        timeout: float,
        calls: Callbacks,
        controls: Callable[[Session], Controls],
    ) -> None:
        program = f"{os.path.basename(sys.argv[0] or 'python')}-{os.getpid()}"
        self.session = Session(url, token, name or program, timeout, calls, controls)
        self.controls, self.watching = self.session.controls, self.session.watching
        self.behaviours = RemoteBehaviours(self)
        self.vehicles = RemoteVehicles(self)
        self.world = RemoteWorld(self)
        self.events = RemoteEvents(self)
        self.radio = RemoteRadio(self)
        self._closed = False

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            public = [known for known in (*dir(type(self)), *vars(self)) if known[0] != "_"]
            raise AttributeError(f"a simulation has no attribute {name!r}; {suggestion(name, public)}")

    @property
    def tick(self) -> Any:
        """Ticks since the start of the run."""
        return self._value(lambda: self._ask(ClientRequest(CLOCK, lambda reply: reply.tick)))

    @property
    def time(self) -> Any:
        """Simulation time, s."""
        return self._value(lambda: self._ask(ClientRequest(CLOCK, lambda reply: reply.sim_time)))

    @property
    def metadata(self) -> Any:
        """The scenario, the clock, and the fleets with their inputs and sensors."""
        return self._value(lambda: self._ask(operation_request("metadata")))

    @property
    def scenario(self) -> Any:
        """The scenario, with the seed of the present run."""
        from paddock.scenario import load_scenario  # takes long to import

        asked = operation_request("metadata")
        request = asked._replace(read=lambda reply: load_scenario(result_value(reply)["scenario"]))
        return self._value(lambda: self._ask(request))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.session.url}{' (closed)' if self._closed else ''}>"

    def command(self, target: Any, *, at_tick: int | None = None, **inputs: Any) -> Any:
        """Set inputs of a vehicle, or of a fleet with arrays of its length, from the next tick (or `at_tick`) on.

        Inputs that are not named keep their values. An array of ids is a valid target too.
        """
        return self._ask(command_request(target, inputs, at_tick))

    def spawn(self, /, **fields: Any) -> Any:
        """Add vehicles: the fields of a scenario's `vehicles` entry, or `fleet="scouts"` with `count` and `spawn`."""
        return self._ask(operation_request("spawn", entry=fields))

    def save(self) -> Any:
        """Return the complete state."""
        asked = operation_request("save")
        return self._ask(
            asked._replace(read=lambda reply: reply.body.blob if isinstance(reply.body, ResultMessage) else b"")
        )

    def restore(self, blob: bytes) -> Any:
        """Return to a saved state of this scenario."""
        if not isinstance(blob, bytes | bytearray | memoryview) or not blob:
            raise PaddockError("restore takes what save() returned")
        return self._ask(ClientRequest(Call("restore", {}, bytes(blob)), result_value, patient=True))

    def show(self, height: int = 600) -> Any:
        """Return the server's page for a notebook cell, `height` pixels high; `.url` opens it elsewhere."""
        asked = operation_request("metadata")
        return self._ask(asked._replace(read=lambda reply: self._page(result_value(reply).get("web"), height)))

    def _page(self, web: Any, height: int) -> NotebookPage:
        if not web:
            raise PaddockError("show() refused: the server has no page; add the endpoint `web`, e.g. --serve web")
        host, token = urlsplit(self.session.url).hostname or "127.0.0.1", self.session.token
        address = f"http://{f'[{host}]' if ':' in host else host}:{web['port']}/"
        return NotebookPage(address + (f"?token={quote(token, safe='')}" if token else ""), height)

    def _watch(self, topic: bytes, callback: Callable[[Any], object], every: int | None = None) -> Callable[[], None]:
        """Subscribe; later requests of this client follow when the server has seen the subscription."""
        raise NotImplementedError


def command_request(target: Any, inputs: Mapping[str, Any], at_tick: int | None) -> ClientRequest[None]:
    """Return the request that sets inputs of a vehicle, a fleet, or vehicles given by id."""
    if isinstance(target, str | int | np.integer):
        return operation_request("command", target=target, inputs=checked_inputs(inputs, target), at_tick=at_tick)
    ids = _ids(target)
    if at_tick is not None:
        raise InvalidValueError("at_tick goes with a command for one vehicle or a fleet, not for a list of vehicles")
    return operation_request("command_many", ids=ids, inputs=checked_inputs(inputs, f"{len(ids)} vehicles"))


def _ids(target: Any) -> NDArray[Any]:
    try:
        ids = np.asarray(target)
    except ValueError:  # nested lists of different lengths
        ids = np.empty(())
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise InvalidValueError(f"a command is for a name, an id, or a list of ids, not {target!r}")
    return ids


# results -------------------------------------------------------------------------------------------------------------


@cache
def reader_of(kind: Any) -> Callable[[Any], Any] | None:
    """Return the function that reads a result of a type; None if that is returned as it is."""
    return partial(typed, kind) if kind in READERS or _has_class(kind) else None


def _has_class(kind: Any) -> bool:
    return hasattr(kind, "_fields") or kind in READERS or any(map(_has_class, get_args(plain(kind))))


_hints = cache(get_type_hints)


def typed(kind: Any, value: Any) -> Any:
    """Return a value of the wire as one of a type: classes, named tuples, arrays, lists; null as None or NaN."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in READERS:
        return READERS[kind](value)
    if origin in (UnionType, Union):
        return None if value is None else typed(next(item for item in inner if item is not NoneType), value)
    if hasattr(kind, "_fields"):
        hints = _hints(kind)
        return kind(**{name: typed(hints[name], item) for name, item in value.items()})
    if origin is list:
        return [typed(inner[0], item) for item in value]
    if origin is dict:
        return {name: typed(inner[1], item) for name, item in value.items()}
    if origin is tuple:
        return tuple(typed(inner[0], item) for item in value) if inner[-1] is Ellipsis else tuple(value)
    if origin is np.ndarray:
        return np.asarray(value, get_args(inner[1])[0])
    return nan if kind is float and value is None else value


def _placed_marker(tree: dict[str, Any]) -> PlacedMarker:
    marker = Marker(**{name: tree[name] for name in MARKER_FIELDS})
    return PlacedMarker(marker, tree["since"], inf if tree["expires"] is None else tree["expires"], tree["source"])


def _track(tree: dict[str, Any]) -> Any:
    from paddock.track.loading import track_from

    return track_from(tree)


def _received(tree: dict[str, Any]) -> Received:
    data = b64decode(tree["data"]) if tree["base64"] else tree["data"]
    return Received(**{name: field for name, field in tree.items() if name != "base64"} | {"data": data})


READERS: dict[Any, Callable[[Any], Any]] = {
    PlacedMarkerTree: _placed_marker,
    TransformTree: lambda tree: Transform(tree["position"], tree["quaternion"]),
    TrackTree: _track,
    StandingsTree: standings_from,
    RadioMessageTree: _received,
}
"""Type on the wire -> function that returns what a local simulation returns."""
