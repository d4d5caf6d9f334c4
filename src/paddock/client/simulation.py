"""A remote simulation, with the verbs of a local one; and the same verbs as coroutines, for asyncio."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from inspect import isawaitable
from typing import Any, Self, TypeVar, overload

from paddock.client.control import (
    Call,
    Callbacks,
    Commands,
    Controls,
    Handler,
    RemoteClaim,
    claim_request,
)
from paddock.client.session import ClientRequest, operation_request
from paddock.client.verbs import (
    SNAPSHOT,
    SNAPSHOT_WITH_ROSTER,
    ClockVerbs,
    MissionVerbs,
    RemoteLog,
    RemotePart,
    RemoteRace,
    RemoteVerbs,
)
from paddock.errors import PaddockError
from paddock.wire.messages.requests import Direct
from paddock.wire.mission_results import MissionView
from paddock.world.snapshot import CommandRequest, Snapshot

T = TypeVar("T")
AsyncHandler = Callable[[CommandRequest], Commands | None] | Callable[[CommandRequest], Awaitable[Commands | None]]


class RemoteClock(ClockVerbs):
    """`sim.clock`; its `pace` can be set at any time."""

    _sim: "RemoteSimulation"

    @property
    def pace(self) -> Any:
        """Simulated seconds per wall second of `run`; 0 is as fast as possible."""
        return super().pace

    @pace.setter
    def pace(self, pace: float) -> None:
        self.set_pace(pace)

    @contextmanager
    def running(self, until: float | None = None, pace: float | None = None) -> Iterator[None]:
        """Let time run while a `with` block lasts: `with sim.clock.running(): ...`; takes the clock."""
        done = self._sim.session.ask(operation_request("run", until=until, pace=pace))
        if until is None:  # it has begun, or it is refused
            self._sim._finish(done)
        try:
            yield
        finally:
            self.stop()
            self._sim._finish(done)

    def stop(self) -> None:
        """Make this client's `run` return."""
        running = self._sim._running
        if running is not None and not running.done():
            running.set_result(None)
        self._ask(operation_request("stop"))


class RemoteControl(RemotePart):
    """`sim.control`."""

    def __init__(self, sim: "RemoteSimulation") -> None:
        super().__init__(sim)
        self.log = RemoteLog(sim)

    def claim(self, *vehicles: str) -> RemoteClaim:
        """Claim vehicles: this program answers their control requests with `wait` and `reply`, until `release`."""
        return self._sim.controls.claim(vehicles)

    @overload
    def on_request(self, *vehicles: str, handler: None = None) -> Callable[[Handler], Handler]: ...
    @overload
    def on_request(self, *vehicles: str, handler: Handler) -> Callable[[], None]: ...
    def on_request(self, *vehicles: str, handler: Handler | None = None) -> Callable[..., Any]:
        """Have the simulation wait for these vehicles' commands, which `handler(request)` returns.

        It returns {vehicle: {input: value}}; inputs that are not named keep their values. Also a decorator. Returns a
        function that ends it.
        """
        if handler is not None:
            return self._sim.controls.add(vehicles, handler)

        def decorate(function: Handler) -> Handler:
            self._sim.controls.add(vehicles, function)
            return function

        return decorate


class RemoteMission(MissionVerbs):
    """`sim.mission`: the fields of a MissionView, each read on access, and verbs that change the mission."""

    def __getattr__(self, name: str) -> Any:
        if name not in MissionView._fields:
            raise AttributeError(f"a mission has no attribute {name!r}; fields: {', '.join(MissionView._fields)}")
        return getattr(self.view(), name)


class RemoteSimulation(RemoteVerbs):
    """A remote simulation; thread-safe. The first client that steps, runs or holds owns the clock until its release."""

    def __init__(self, url: str, token: str | None, name: str | None, timeout: float) -> None:
        """Connect; raise PaddockError if that fails. Call `paddock.connect` instead."""
        super().__init__(url, token, name, timeout, Callbacks(), partial(Controls, finish=self._ask))
        self.clock, self.control = RemoteClock(self), RemoteControl(self)
        self._running: Future[None] | None = None
        try:
            self._finish(self.session.hello())
        except BaseException:
            self.close()
            raise

    @property
    def mission(self) -> RemoteMission | None:
        """The mission: its fields, and verbs that change it; None without one."""
        mission = RemoteMission(self)
        return None if mission.view() is None else mission

    @property
    def race(self) -> RemoteRace | None:
        """The race of the section `rules`: `standings()`; None without one."""
        race = RemoteRace(self)
        return None if race.standings() is None else race

    def step(self, ticks: int = 1) -> None:
        """Advance by exactly this many ticks, then return. This client then owns the clock."""
        asked = operation_request("step", ticks=ticks)
        if not self.controls.handlers:
            self._ask(asked)
        elif ticks:
            control = self.controls.beforehand()
            body = Direct("step_synchronously", {"ticks": int(ticks), "control": control})
            self.controls.arrived(self._ask(SNAPSHOT._replace(body=body, patient=True), keep=True))

    def run(self, until: float | None = None, pace: float | None = None) -> None:
        """Run until a simulation time (s; None: until `clock.stop` or an interrupt), at a pace; takes the clock."""
        asked = operation_request("run", until=until, pace=pace)
        if until is not None:
            self._ask(asked)
            return
        self._running = Future()
        self._ask(asked)
        try:
            self._finish(self._running, attend=True)
        finally:
            self._running = None
            self.hold()

    def snapshot(self) -> Snapshot:
        """Return the present state: immutable, and bit-identical to that of a local simulation."""
        snapshot: Snapshot | None = self._ask(SNAPSHOT) or self._ask(SNAPSHOT_WITH_ROSTER)
        if snapshot is None:
            raise PaddockError("the server's reply holds no state")
        return snapshot

    def close(self) -> None:
        """Disconnect, and release the clock and all claims. The simulation continues."""
        if not self._closed:
            self._closed = True
            self.session.close()
            self.session.channel.calls.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _value(self, ask: Callable[[], Any]) -> Any:
        return ask()

    def _watch(self, topic: bytes, callback: Callable[[Any], object], every: int | None = None) -> Callable[[], None]:
        end, subscribed = self.watching.add(topic, callback, every)
        try:
            self.session.channel.finish(subscribed)
            subscribed.result()
        except BaseException:
            end()
            raise
        return end

    def _ask(self, request: ClientRequest[T], keep: bool = False) -> T:
        """Send a request and wait for the reply; `keep`: the cached state stays valid."""
        if self._closed:
            raise PaddockError("the connection is closed")
        if not (keep or request.keeps_state):
            self.controls.forget()
        future = self.session.ask(request, wake=False)
        self._finish(future, attend=request.patient)
        return request.read(future.result())

    def _finish(self, future: Future[Any], attend: bool = False) -> None:
        try:
            self.session.channel.finish(future, attend)
        except BaseException:
            if not future.done():
                self.controls.give_up(future)
            raise
        future.result()


class AsyncRemoteClock(ClockVerbs):
    """`sim.clock`."""

    @asynccontextmanager
    async def running(self, until: float | None = None, pace: float | None = None) -> AsyncIterator[None]:
        """Let time run while an `async with` block lasts; takes the clock."""
        done = asyncio.ensure_future(self._ask(operation_request("run", until=until, pace=pace)))
        try:
            yield
        finally:
            await self.stop()
            await done


class AsyncRemoteControl(RemotePart):
    """`sim.control`."""

    def __init__(self, sim: "AsyncRemoteSimulation") -> None:
        super().__init__(sim)
        self.log = RemoteLog(sim)

    async def on_request(self, *vehicles: str, handler: AsyncHandler) -> None:
        """Have the simulation wait for these vehicles' commands, which `handler(request)` returns."""
        if not vehicles:
            raise PaddockError("claim at least one vehicle")
        await self._ask(claim_request([*self._sim.controls.vehicles, *vehicles]))
        self._sim.controls.handlers.append((vehicles, handler))


class AsyncRemoteMission(MissionVerbs):
    """`sim.mission`; `await sim.mission.view()` is None without a mission."""


class AsyncRemoteSimulation(RemoteVerbs):
    """Handlers and callbacks run in the event loop and may be coroutines. `step` raises a handler's error."""

    def __init__(self, url: str, token: str | None, name: str | None, timeout: float) -> None:
        """Start connecting; call `paddock.connect_async` instead."""
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._subscribing: set[Future[None]] = set()  # subscriptions that the server may not have seen yet
        self._waiting: list[asyncio.Future[Any]] = []  # requests that advance time; a handler's error ends the first
        controls = partial(Controls, finish=self._refuse_blocking, answer=self._answer)
        super().__init__(url, token, name, timeout, Callbacks(self._deliver), controls)
        self.clock, self.control = AsyncRemoteClock(self), AsyncRemoteControl(self)
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

    async def snapshot(self) -> Snapshot:
        """Return the world now."""
        snapshot: Snapshot | None = await self._ask(SNAPSHOT) or await self._ask(SNAPSHOT_WITH_ROSTER)
        if snapshot is None:
            raise PaddockError("the server's reply holds no state")
        return snapshot

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

    async def _answer(self, request: CommandRequest) -> None:
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
