"""A remote simulation for asyncio: the verbs of `RemoteSimulation` as coroutines."""

import asyncio
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from inspect import isawaitable
from types import MappingProxyType
from typing import Any, Self, TypeVar

from paddock.client.channel import Call, Callbacks
from paddock.client.control import Commands, Controls, RemoteControlRequest
from paddock.client.requests import ClientRequest, claim, request
from paddock.client.verbs import SNAPSHOT, SNAPSHOT_WITH_ROSTER, ClockVerbs, MissionVerbs, RemoteRace, RemoteVerbs
from paddock.errors import PaddockError
from paddock.world.snapshot import Snapshot

T = TypeVar("T")
AsyncHandler = (
    Callable[[RemoteControlRequest], Commands | None] | Callable[[RemoteControlRequest], Awaitable[Commands | None]]
)


class AsyncRemoteClock(ClockVerbs):
    """`sim.clock`."""

    @asynccontextmanager
    async def running(self, until: float | None = None, pace: float | None = None) -> AsyncIterator[None]:
        """Let time run while an `async with` block lasts; takes the clock."""
        done = asyncio.ensure_future(self._ask(request("run", until=until, pace=pace)))
        try:
            yield
        finally:
            await self.stop()
            await done


class AsyncRemoteMission(MissionVerbs):
    """`sim.mission`; `await sim.mission.view()` is None without a mission."""

    def __call__(self) -> Any:
        """Old spelling of `view`."""
        warnings.warn("sim.mission() is deprecated: use sim.mission.view()", DeprecationWarning, stacklevel=2)
        return self.view()


class AsyncRemoteSimulation(RemoteVerbs):
    """Handlers and callbacks run in the event loop and may be coroutines. `step` raises a handler's error."""

    _RENAMED = MappingProxyType({**RemoteVerbs._RENAMED, "set_pace": "clock.set_pace"})

    def __init__(self, url: str, token: str | None, name: str | None, timeout: float) -> None:
        """Start connecting; call `paddock.connect_async` instead."""
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._subscribing: set[Future[None]] = set()  # subscriptions that the server may not have seen yet
        self._waiting: list[asyncio.Future[Any]] = []  # requests that advance time; a handler's error ends the first
        controls = partial(Controls, finish=self._refuse_blocking, answer=self._answer)
        super().__init__(url, token, name, timeout, Callbacks(self._deliver), controls)
        self.clock = AsyncRemoteClock(self)
        self.mission = AsyncRemoteMission(self)
        self.race = RemoteRace(self)

    @classmethod
    async def connected(cls, url: str, token: str | None, name: str | None, timeout: float) -> Self:
        """Connect; raise PaddockError if that fails."""
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
        await self._ask(claim([*self.controls.vehicles, *vehicles]))
        self.controls.handlers.append((vehicles, handler))

    async def snapshot(self) -> Snapshot:
        """Return the world now."""
        found: Snapshot | None = await self._ask(SNAPSHOT) or await self._ask(SNAPSHOT_WITH_ROSTER)
        if found is None:
            raise PaddockError("the server's reply holds no state")
        return found

    async def close(self) -> None:
        """Disconnect."""
        if not self._closed:
            self._closed = True
            await self._loop.run_in_executor(None, self.session.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _value(self, ask: Callable[[], Any]) -> Any:
        return ask

    async def _ask(self, request: ClientRequest[T]) -> T:
        if self._closed:
            raise PaddockError("the connection is closed")
        for subscribed in list(self._subscribing):
            subscribed.add_done_callback(self._subscribing.discard)
            await asyncio.wrap_future(subscribed)
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
        """Run a callback of the listening thread in the event loop."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._start, call)

    def _start(self, call: Call) -> None:
        """Run a callback as a task; it may be a coroutine."""

        async def run() -> None:
            try:
                result = call()
                if isawaitable(result):
                    await result
            except Exception as error:
                self._trouble(error)

        task = self._loop.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, request: RemoteControlRequest) -> None:
        commands: dict[Any, Mapping[str, Any]] = {}
        try:
            for vehicles, handler in list(self.controls.handlers) if not self.controls.given_up else ():
                result: Any = handler(replace(request, vehicles=vehicles))
                commands.update((await result if isawaitable(result) else result) or {})
            self.controls.send(request.tick, commands)
        except BaseException:
            self.controls.send(request.tick, {})
            raise

    def _watch(self, topic: bytes, callback: Callable[[Any], object], every: int | None = None) -> Callable[[], None]:
        """Subscribe; the next request waits for the server."""
        end, subscribed = self.watching.add(topic, callback, every)
        self._subscribing.add(subscribed)
        return end

    def _trouble(self, error: Exception) -> None:
        waiting = [failed for failed in self._waiting if not failed.done()]
        if waiting:
            waiting[0].set_exception(error)
        else:
            context = {"message": "a callback of a remote simulation failed", "exception": error}
            self._loop.call_exception_handler(context)
