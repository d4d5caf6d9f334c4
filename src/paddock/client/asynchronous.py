"""A simulation that runs elsewhere, for asyncio: the verbs of `RemoteSimulation` as coroutines."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import replace
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from paddock.client import requests
from paddock.client.channel import Call, Callbacks
from paddock.client.control import Commands, Controls, RemoteControlRequest
from paddock.client.requests import ClientRequest, as_method
from paddock.client.session import Session
from paddock.client.simulation import RemotePart, default_name, renamed
from paddock.client.states import EVENT, MARKERS, STATE, Watching
from paddock.errors import PaddockError
from paddock.planning.mission.views import MissionView
from paddock.wire.messages.markers import MarkerCommand
from paddock.wire.messages.recordings import EventMessage
from paddock.world.snapshot import Snapshot

T = TypeVar("T")
P = ParamSpec("P")
AsyncHandler = (
    Callable[[RemoteControlRequest], Commands | None] | Callable[[RemoteControlRequest], Awaitable[Commands | None]]
)


def coroutine(request: Callable[P, ClientRequest[T]]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """A method that sends a request; awaiting it returns the reply."""

    async def method(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        reply: T = await self._ask(request(*args, **kwargs))
        return reply

    as_method(request, method)
    return method


class AsyncRemoteMarkers(RemotePart):
    """`sim.markers`."""

    put = coroutine(requests.put_markers)
    remove = coroutine(requests.remove_markers)
    show = coroutine(requests.show_markers)


class AsyncRemoteFrames(RemotePart):
    """`sim.frames`."""

    set = coroutine(requests.set_frame)
    transform = coroutine(requests.transform)


class AsyncRemoteEvents(RemotePart):
    """`await sim.events.since(number)`, or shorter `await sim.events(number)`."""

    since = coroutine(requests.events)
    __call__ = since


class AsyncRemoteMission(RemotePart):
    """`sim.mission`; `await sim.mission.view()` is None without a mission."""

    view = coroutine(requests.mission_view)
    add_task = coroutine(requests.add_task)
    add_zone = coroutine(requests.add_zone)
    add_vehicle = coroutine(requests.add_vehicle)
    damage = coroutine(requests.damage)
    move_task = coroutine(requests.move_task)
    remove_task = coroutine(requests.remove_task)

    def __call__(self) -> Coroutine[Any, Any, MissionView | None]:
        """Old spelling of `view`."""
        warnings.warn("sim.mission() is deprecated: use sim.mission.view()", DeprecationWarning, stacklevel=2)
        return self.view()


class AsyncRemoteSimulation:
    """Handlers and callbacks run in the event loop and may be coroutines. `step` raises a handler's error."""

    tick = coroutine(requests.tick)
    time = coroutine(requests.time)
    pace = coroutine(requests.pace)
    set_pace = coroutine(requests.set_pace)
    paused = coroutine(requests.paused)
    step = coroutine(requests.step)
    run = coroutine(requests.run)
    seek = coroutine(requests.seek)
    stop = coroutine(requests.stop)
    pause = coroutine(requests.pause)
    resume = coroutine(requests.resume)
    hold = coroutine(requests.hold)
    release_clock = coroutine(requests.release_clock)
    command = coroutine(requests.command)
    spawn = coroutine(requests.spawn)
    remove = coroutine(requests.remove)
    override = coroutine(requests.override)
    overrides = coroutine(requests.overrides)
    routes = coroutine(requests.routes)
    sensors = coroutine(requests.sensors)
    inspect = coroutine(requests.inspect)
    metadata = coroutine(requests.metadata)
    state_hash = coroutine(requests.state_hash)
    save = coroutine(requests.save)
    restore = coroutine(requests.restore)
    reset = coroutine(requests.reset)

    def __init__(self, url: str, token: str | None, name: str | None, timeout: float) -> None:
        """Start to connect: use `paddock.connect_async`."""
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._waiting: list[asyncio.Future[Any]] = []  # steps and the like; a handler's error ends the first
        self.session = Session(url, token, name or default_name(), timeout, Callbacks(self._deliver))
        self.controls = Controls(self.session, self._refuse_blocking, self._answer)
        self.watching = Watching(self.session)
        self.markers = AsyncRemoteMarkers(self._ask)
        self.frames = AsyncRemoteFrames(self._ask)
        self.events = AsyncRemoteEvents(self._ask)
        self.mission = AsyncRemoteMission(self._ask)
        self._closed = False

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return renamed(self, name, {})

    @classmethod
    async def connected(cls, url: str, token: str | None, name: str | None, timeout: float) -> Self:
        """Connect, or PaddockError."""
        sim = cls(url, token, name, timeout)
        try:
            await asyncio.wrap_future(sim.session.hello())
        except BaseException:
            await sim.close()
            raise
        return sim

    async def on_control_request(self, *vehicles: str, handler: AsyncHandler) -> None:
        """Have the simulation wait for these vehicles' commands, which `handler(request)` returns."""
        if not vehicles:
            raise PaddockError("claim at least one vehicle")
        await self._ask(requests.claim([*self.controls.vehicles, *vehicles]))
        self.controls.handlers.append((vehicles, handler))

    async def snapshot(self) -> Snapshot:
        """Return the world now."""
        found = await self._ask(requests.snapshot()) or await self._ask(requests.snapshot(roster=True))
        if found is None:
            raise PaddockError("the server's reply holds no state")
        return found

    def on_state(self, callback: Callable[[Snapshot], object], every: int | None = None) -> Callable[[], None]:
        """Call `callback(snapshot)` for every published state; returns a function to end it."""
        return self.watching.add(STATE, self._started(callback), every)

    def on_event(self, callback: Callable[[EventMessage], object]) -> Callable[[], None]:
        """Call `callback(event)` for every event; returns a function to end it."""
        return self.watching.add(EVENT, self._started(callback))

    def on_markers(self, callback: Callable[[MarkerCommand], object]) -> Callable[[], None]:
        """Call `callback(command)` with all markers, then with every change; returns a function to end it."""
        return self.watching.add(MARKERS, self._started(callback))

    async def close(self) -> None:
        """Disconnect."""
        if not self._closed:
            self._closed = True
            await self._loop.run_in_executor(None, self.session.close)

    async def __aenter__(self) -> Self:
        """For `async with await paddock.connect_async(...) as sim`."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        await self.close()

    async def _ask(self, request: ClientRequest[T]) -> T:
        if self._closed:
            raise PaddockError("the connection is closed")
        asked = self.session.ask(request)
        reply = asyncio.wrap_future(asked)
        if not request.patient:
            return request.read(await reply)
        failed = self._loop.create_future()
        self._waiting.append(failed)
        try:
            await asyncio.wait((reply, failed), return_when=asyncio.FIRST_COMPLETED)
            if not reply.done():
                self.controls.give_up(asked)
                await failed
            return request.read(await reply)
        finally:
            self._waiting.remove(failed)
            failed.cancel()

    def _refuse_blocking(self, request: ClientRequest[Any]) -> Any:
        raise PaddockError("this would block the event loop: await the methods of this simulation instead")

    def _deliver(self, call: Call) -> None:
        """From the listening thread into the event loop."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._make, call)

    def _make(self, call: Call) -> None:
        try:
            call()
        except Exception as error:
            self._trouble(error)

    def _answer(self, request: RemoteControlRequest) -> None:
        if self.controls.given_up:
            self.controls.send(request.tick, {})
        else:
            self._task(self._ask_handlers(request))

    async def _ask_handlers(self, request: RemoteControlRequest) -> None:
        commands: dict[Any, Mapping[str, Any]] = {}
        try:
            for vehicles, handler in list(self.controls.handlers):
                result: Any = handler(replace(request, vehicles=vehicles))
                commands.update((await result if isawaitable(result) else result) or {})
            self.controls.send(request.tick, commands)
        except BaseException:
            self.controls.send(request.tick, {})
            raise

    def _started(self, callback: Callable[[Any], object]) -> Callable[[Any], None]:
        """The callback; if it is a coroutine, as a task."""

        def start(news: Any) -> None:
            result = callback(news)
            if isawaitable(result):
                self._task(result)

        return start

    def _task(self, work: Awaitable[Any]) -> None:
        async def run() -> None:
            try:
                await work
            except Exception as error:
                self._trouble(error)

        task = self._loop.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _trouble(self, error: Exception) -> None:
        waiting = [failed for failed in self._waiting if not failed.done()]
        if waiting:
            waiting[0].set_exception(error)
        else:
            context = {"message": "a callback of a remote simulation failed", "exception": error}
            self._loop.call_exception_handler(context)
