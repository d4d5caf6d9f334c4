"""A simulation that runs elsewhere, for asyncio: the same verbs as coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from inspect import isawaitable
from typing import Any, Self, TypeVar

from paddock.client import verbs
from paddock.client.channel import Call, Calls
from paddock.client.control import Commands, ControlRequest, Controls
from paddock.client.missions import AsyncRemoteMission
from paddock.client.session import Session
from paddock.client.simulation import default_name
from paddock.client.states import Watching
from paddock.client.verbs import Verb
from paddock.errors import PaddockError
from paddock.wire.messages.markers import MarkerCommand
from paddock.wire.messages.recordings import Event
from paddock.world.markers import Marker
from paddock.world.snapshot import Snapshot
from paddock.world.transforms import Transform

T = TypeVar("T")
AsyncHandler = Callable[[ControlRequest], Commands | None] | Callable[[ControlRequest], Awaitable[Commands | None]]


class AsyncRemoteSimulation(AsyncRemoteMission):
    """Handlers and callbacks run in the event loop; they may be coroutines. A handler's error comes out of `step`."""

    def __init__(self, url: str, token: str | None, name: str | None, timeout: float) -> None:
        """Begin to connect: use `paddock.connect_async`."""
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._waiting: list[asyncio.Future[Any]] = []  # steps and their like; a handler's error ends the first
        self.session = Session(url, token, name or default_name(), timeout, Calls(self._deliver))
        self.controls = Controls(self.session, self._refuse_blocking, self._answer)
        self.watching = Watching(self.session)
        self._closed = False

    @classmethod
    async def connected(cls, url: str, token: str | None, name: str | None, timeout: float) -> Self:
        """A simulation whose server has answered."""
        sim = cls(url, token, name, timeout)
        try:
            await asyncio.wrap_future(sim.session.hello())
        except BaseException:
            await sim.close()
            raise
        return sim

    # time ------------------------------------------------------------------------------------------------------------

    async def tick(self) -> int:
        """Ticks since the run began."""
        return await self._ask(verbs.tick())

    async def time(self) -> float:
        """Simulation time, s."""
        return await self._ask(verbs.time())

    async def pace(self) -> float:
        """Simulated seconds per wall second of `run`; 0 is as fast as possible."""
        return float(await self._ask(verbs.clock("pace")))

    async def set_pace(self, pace: float) -> None:
        """Change the pace."""
        await self._ask(verbs.set_pace(pace))

    async def paused(self) -> bool:
        """Whether time is held."""
        return bool(await self._ask(verbs.clock("paused")))

    async def step(self, ticks: int = 1) -> None:
        """Exactly that many ticks. This client owns the clock from then on."""
        await self._ask(verbs.step(ticks))

    async def run(self, until: float | None = None, pace: float | None = None) -> None:
        """Run to a simulation time (s); without one, let time pass from now on."""
        await self._ask(verbs.run(until, pace))

    async def seek(self, position: float) -> float:
        """Jump to a time of a served recording (s from its beginning); returns where it stands."""
        return await self._ask(verbs.seek(position))

    async def stop(self) -> None:
        """Make this client's `run` return."""
        await self._ask(verbs.STOP)

    async def pause(self) -> None:
        """Hold a run; `step` still works."""
        await self._ask(verbs.PAUSE)

    async def resume(self) -> None:
        """Go on."""
        await self._ask(verbs.RESUME)

    async def hold(self) -> None:
        """Own the clock: time passes by this client's `step` and `run` only."""
        await self._ask(verbs.do("hold"))

    async def let_go(self) -> None:
        """Give the clock back; time goes on."""
        await self._ask(verbs.do("let_go"))

    # actions ---------------------------------------------------------------------------------------------------------

    async def command(self, target: Any, *, at_tick: int | None = None, **inputs: Any) -> None:
        """Set inputs of a vehicle, a fleet (with arrays), or of vehicles by id; what is not named stays."""
        await self._ask(verbs.command(target, at_tick, inputs))

    async def spawn(self, **fields: Any) -> str:
        """Add vehicles; returns their name."""
        return await self._ask(verbs.spawn(fields))

    async def remove(self, target: str | int) -> None:
        """Take a vehicle or a fleet out of the world."""
        await self._ask(verbs.do("remove", target=target))

    async def order(self, target: Any, behaviour: Any) -> None:
        """Tell vehicles (a name, an id, or a list of them) to do something else than their entry says.

        A behaviour as in a scenario; "external": take commands from now on; None: back to what the entry says.
        """
        await self._ask(verbs.order(target, behaviour))

    async def set_frame(
        self,
        name: str,
        parent: str = "world",
        position: Sequence[float] = (0.0, 0.0, 0.0),
        quaternion: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
        moving: bool = False,
    ) -> None:
        """Place a named frame."""
        await self._ask(verbs.set_frame(name, parent, position, quaternion, moving))

    async def on_control_request(self, *vehicles: str, handler: AsyncHandler) -> None:
        """Have the simulation wait for these vehicles' commands, and `handler(request)` give them."""
        if not vehicles:
            raise PaddockError("claim at least one vehicle")
        await self._ask(verbs.claim([*self.controls.vehicles, *vehicles]))
        self.controls.handlers.append((vehicles, handler))

    # looking ---------------------------------------------------------------------------------------------------------

    async def orders(self) -> list[verbs.Order]:
        """The orders that are being followed: ids of the vehicles, the behaviour's name, its options."""
        return await self._ask(verbs.orders())

    async def routes(self) -> list[verbs.Route]:
        """Where vehicles are to go: the paths and points of what they follow."""
        return await self._ask(verbs.routes())

    async def snapshot(self) -> Snapshot:
        """The world now."""
        found = await self._ask(verbs.snapshot()) or await self._ask(verbs.snapshot(roster=True))
        if found is None:
            raise PaddockError("the server's answer holds no state")
        return found

    def on_state(self, callback: Callable[[Snapshot], object], every: int | None = None) -> Callable[[], None]:
        """Call `callback(snapshot)` for every state published; returns what ends it."""
        return self.watching.on_state(self._started(callback), every)

    def on_event(self, callback: Callable[[Event], object]) -> Callable[[], None]:
        """Call `callback(event)` for every event; returns what ends it."""
        return self.watching.on_event(self._started(callback))

    def on_markers(self, callback: Callable[[MarkerCommand], object]) -> Callable[[], None]:
        """Call `callback(command)` with all markers, and whenever anyone changes them; returns what ends it."""
        return self.watching.on_markers(self._started(callback))

    async def sensors(self, target: str | int) -> dict[str, dict[str, Any]]:
        """Sensor -> reading -> value or (n,) array."""
        return dict(await self._ask(verbs.call("sensors", target=target)))

    async def inspect(self, target: str | int) -> dict[str, dict[str, Any]]:
        """Every state, command and parameter column of a vehicle: group -> name -> value."""
        return dict(await self._ask(verbs.call("inspect", target=target)))

    async def transform(self, target: str, source: str, time: float | None = None) -> Transform:
        """What takes points of one frame to another."""
        return await self._ask(verbs.transform(target, source, time))

    async def events(self, since: int = 0) -> list[Event]:
        """The kept events after the given number."""
        return await self._ask(verbs.events(since))

    async def metadata(self) -> dict[str, Any]:
        """What is simulated."""
        return await self._ask(verbs.METADATA)

    # markers ---------------------------------------------------------------------------------------------------------

    async def mark(self, *markers: Marker) -> None:
        """Show markers."""
        await self._ask(verbs.mark(markers))

    async def unmark(self, namespace: str | None = None, id: int | None = None) -> None:
        """Take a marker away, a whole namespace, or everything."""
        await self._ask(verbs.unmark(namespace, id))

    async def show_markers(self, namespace: str, visible: bool = True) -> None:
        """Show or hide a namespace of markers."""
        await self._ask(verbs.show_markers(namespace, visible))

    # state -----------------------------------------------------------------------------------------------------------

    async def state_hash(self) -> str:
        """Hex digest of the complete state at this tick."""
        return str(await self._ask(verbs.call("state_hash")))

    async def save(self) -> bytes:
        """The complete state."""
        return await self._ask(verbs.save())

    async def restore(self, blob: bytes) -> None:
        """Go back (or forth) to a saved state of this scenario."""
        await self._ask(verbs.restore(blob))

    async def reset(self, seed: int | None = None) -> None:
        """Start the scenario again from tick 0."""
        await self._ask(verbs.reset(seed))

    async def close(self) -> None:
        """Leave."""
        if not self._closed:
            self._closed = True
            await self._loop.run_in_executor(None, self.session.close)

    async def __aenter__(self) -> Self:
        """For `async with await paddock.connect_async(...) as sim`."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        await self.close()

    # inside ----------------------------------------------------------------------------------------------------------

    async def _ask(self, verb: Verb[T]) -> T:
        if self._closed:
            raise PaddockError("the connection is closed")
        asked = self.session.ask(verb)
        reply = asyncio.wrap_future(asked)
        if not verb.patient:
            return verb.read(await reply)
        failed = self._loop.create_future()
        self._waiting.append(failed)
        try:
            await asyncio.wait((reply, failed), return_when=asyncio.FIRST_COMPLETED)
            if not reply.done():
                self.controls.give_up(asked)
                await failed
            return verb.read(await reply)
        finally:
            self._waiting.remove(failed)
            failed.cancel()

    def _refuse_blocking(self, verb: Verb[Any]) -> Any:
        raise PaddockError("this verb would make the event loop wait: await the verbs of this simulation instead")

    def _deliver(self, call: Call) -> None:
        """From the listening thread into the event loop."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._make, call)

    def _make(self, call: Call) -> None:
        try:
            call()
        except Exception as error:
            self._trouble(error)

    def _answer(self, request: ControlRequest) -> None:
        if self.controls.given_up:
            self.controls.send(request.tick, {})
        else:
            self._task(self._ask_handlers(request))

    async def _ask_handlers(self, request: ControlRequest) -> None:
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
            told = {"message": "a callback of a remote simulation failed", "exception": error}
            self._loop.call_exception_handler(told)
