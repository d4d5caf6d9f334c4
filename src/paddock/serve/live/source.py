"""The simulation as a source: its operations, and what it tells."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict
from typing import Any

from paddock.engine.actions import FrameAction, Posted
from paddock.engine.events import Event
from paddock.engine.markers import MarkerChange
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.serve.describe import simulation_figures
from paddock.serve.live.changing import Changing
from paddock.serve.live.choosing import Choosing
from paddock.serve.live.claiming import Claiming
from paddock.serve.live.group import Director, Stage
from paddock.serve.live.looking import Looking
from paddock.serve.live.missions import Missions
from paddock.serve.live.ordering import Ordering
from paddock.serve.live.showing import Showing
from paddock.serve.live.timing import Timing
from paddock.serve.mirror import change_tree, placed_tree
from paddock.serve.operations import Operations
from paddock.serve.source import ClockOwner, Push
from paddock.world.snapshot import Snapshot

GROUPS = (Looking, Timing, Changing, Showing, Claiming, Choosing, Ordering, Missions)


class LiveSource:
    """A simulation that some thread drives, or that nobody drives at the moment."""

    def __init__(
        self, sim: Simulation, locked: bool = False, director: Director | None = None, preparing: str = ""
    ) -> None:
        """`locked` keeps the clock from clients; a `director` lets them load another scenario.

        `preparing` is what clients are told to wait for, until `prepared` is called.
        """
        self.sim = sim
        self.preparing = preparing
        self.rate = sim.engine.world.clock.rate
        self.stage = Stage(sim, ClockOwner(locked), director)
        self.operations = Operations([group(self.stage) for group in GROUPS])
        self.refused = 0  # operations that could not be done
        self._asked = threading.Event()
        self._closing = False
        self._worker = threading.Thread(target=self._attend, name="paddock-requests", daemon=True)

    @property
    def tick(self) -> int:
        """Where the simulation stands."""
        return self.sim.tick

    @property
    def time(self) -> float:
        """Simulated s."""
        return self.sim.time

    def period(self, rate: float) -> int:
        """Ticks between the snapshots of whoever wants so many of them per simulated second (Hz)."""
        return max(1, round(self.rate / rate))

    def watch(self, watcher: Callable[[Snapshot], object], every: int) -> Callable[[], None]:
        """Have snapshots shown, every so many ticks."""
        return self.sim.watch(watcher, every)

    def attach(self, push: Push, publish: Callable[[Snapshot], None]) -> None:
        """Begin to tell what happens."""
        self.stage.push, self.stage.publish, self.stage.attend = push, publish, self._asked.set
        for listeners, listener in self._listening():
            listeners.append(listener)
        self._worker.start()

    def detach(self) -> None:
        """End that; nobody owns or claims anything any more."""
        for listeners, listener in self._listening():
            listeners.remove(listener)
        for client in [*self.stage.claims, self.stage.owner.client or ""]:
            self.gone(client)
        self._closing = True
        self._asked.set()
        if self._worker.is_alive():
            self._worker.join()
        self.stage.close()

    def operate(self, operation: str, client: str, arguments: Mapping[str, Any]) -> Any | Future[Any]:
        """Do something for a client."""
        try:
            return self.operations.call(operation, client, arguments)
        except PaddockError:
            self.refused += 1
            raise

    def gone(self, client: str) -> None:
        """A client has left: whatever it held goes on without it."""
        self.stage.teller.forget(client)
        claim = self.stage.claims.pop(client, None)
        if claim is not None:
            claim.release()
        if self.stage.owner.release(client):
            self.sim.engine.pacer.cancel_ticks(f"{client} has left")
            self.sim.resume()

    def prepared(self) -> None:
        """Nobody has to wait any more."""
        self.preparing = ""
        self.stage.push("preparing", {"text": ""})

    def announce(self) -> list[tuple[str, dict[str, Any]]]:
        """The markers and frames that are there, and what is waited for."""
        board = self.sim.markers
        hidden = [name for name, visible in board.namespaces().items() if not visible]
        return [
            *([("preparing", {"text": self.preparing})] if self.preparing else ()),
            ("markers", {"put": list(map(placed_tree, board.alive(self.sim.time, hidden=True)))}),
            ("hidden", {"namespaces": hidden}),
            ("frames", {"tree": self.sim.engine.world.transforms.save()}),
        ]

    def figures(self) -> dict[str, Any]:
        """Numbers about the run."""
        stage = self.stage
        own = {"commands": stage.commands, "refused": self.refused, "claims": len(stage.claims)}
        return {**simulation_figures(self.sim), **own, "owner": stage.owner.client or ""}

    def _listening(self) -> list[tuple[list[Any], Any]]:
        sim = self.sim
        return [
            (sim.events.listeners, self._on_event),
            (sim.log.listeners, self._on_action),
            (sim.engine.on_restart, self._on_restart),
            (sim.markers.listeners, self._on_markers),
        ]

    def _attend(self) -> None:
        """Do what is asked while nobody drives the simulation."""
        while not self._closing:
            self._asked.wait()
            self._asked.clear()
            self.sim.engine.thread.serve_idle()

    def _on_event(self, event: Event) -> None:
        self.stage.push("event", asdict(event))

    def _on_action(self, posted: Posted) -> None:
        frame = posted.action
        if isinstance(frame, FrameAction):
            pose = {"position": list(frame.position), "quaternion": list(frame.quaternion), "time": self.sim.time}
            self.stage.push("frames", {"name": frame.name, "parent": frame.parent, "moving": frame.moving, **pose})

    def _on_restart(self, how: str) -> None:
        self.stage.push("restart", {"how": how, "run": self.sim.engine.world.run, "tick": self.sim.tick})
        self.stage.push("frames", {"tree": self.sim.engine.world.transforms.save()})
        self.stage.publish(self.sim.engine.publisher.snapshot())

    def _on_markers(self, change: MarkerChange) -> None:
        self.stage.push("markers", change_tree(change))
