"""A recording as a source: clients can watch, pause, pace and seek it, but not change it."""

from bisect import bisect_right
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict, astuple
from math import inf, isfinite
from pathlib import Path
from time import time
from typing import Any

import numpy as np

from paddock.engine.behaviours import entry_routes, entry_setups, road_trees
from paddock.engine.events import Event
from paddock.errors import InvalidValueError, PaddockError
from paddock.record.player import Player
from paddock.record.race import recorded_standings
from paddock.record.radio import recorded_radio, recorded_traffic
from paddock.record.surroundings import recorded_looks, recorded_roads
from paddock.serve.describe import Described, recorded_fleets, recorded_tree
from paddock.serve.facts import Cost
from paddock.serve.host import ClockOwner, Push, Visualization
from paddock.serve.live import OnChange
from paddock.serve.mirror import FIELDS
from paddock.serve.operations.world import metadata_tree
from paddock.serve.subscribers.subscription import ColumnChoice, ColumnReader
from paddock.track.loading import scenery_with_track, track_of, track_tree
from paddock.wire.messages.markers import ClearMarkers, DeleteMarkers, MarkerCommand, PutMarkers, ShowMarkers
from paddock.wire.operations import OPERATIONS
from paddock.wire.radio_results import JammerView, RadioTree
from paddock.wire.results import EventRecord, InspectedTree, MetadataTree, SeriesTree
from paddock.world.snapshot import Snapshot

MOST_POINTS = 10_000  # samples of a series: 5.5 minutes at 30 Hz; longer recordings are thinned out


class ReplaySource:
    """Serves a player; each operation is handled by the method of its name."""

    live = False

    def __init__(self, player: Player, locked: bool = False) -> None:
        """`locked`: clients cannot own the clock."""
        self.player = self.watched = player
        self.watch = player.watch
        self.rate = player.recording.rate
        self.addresses: Mapping[str, Any] = {}
        self.owner = ClockOwner(locked)
        self._visualization = Visualization()
        self.refused = 0
        self._described = Described()
        self._markers = ReplayedMarkers(player.recording.marker_commands())
        self._push: Push = lambda kind, content: None
        self._publish: Callable[[Snapshot], None] = lambda snapshot: None

    def count_refused(self) -> None:
        """Count an operation that was refused."""
        self.refused += 1

    @property
    def ticking(self) -> bool:
        """False: a recording has no ticks that operations could delay."""
        return False

    def take_spent(self, link_seconds: float) -> Cost:
        """Return no cost."""
        return Cost(0.0, 0.0, 0.0)

    def read(self, work: Callable[[], Any]) -> Future[Any]:
        """Read the present sample."""
        done: Future[Any] = Future()
        done.set_result(work())
        return done

    def version(self, operation: str) -> None:
        """Return no version: each read is answered again."""

    def publish_present(self) -> Snapshot:
        """Publish the present sample."""
        snapshot = self.player.snapshot()
        self._publish(snapshot)
        return snapshot

    def period(self, rate: float) -> int:
        """Return 1: every recorded sample is published."""
        return 1

    def attach(self, push: Push, publish: Callable[[Snapshot], None], on_change: OnChange) -> None:
        """Start pushing events and markers."""
        self._push, self._publish = push, publish
        self.player.event_listeners.append(self._on_event)
        self._unwatch = self.player.watch(self._on_sample)

    def detach(self) -> None:
        """Stop pushing."""
        self.player.event_listeners.remove(self._on_event)
        self._unwatch()

    def handler(self, operation: str) -> Callable[..., Any]:
        """Return the handler of an operation, called with the client and the arguments."""
        if operation not in REPLAYED:
            raise PaddockError(f"{operation} refused: this is a recording; it offers {', '.join(sorted(REPLAYED))}")
        handler: Callable[..., Any] = getattr(self, operation)
        return handler

    def answer(self, work: Callable[[], Any]) -> Any:
        """Carry out a change now: no tick is under way."""
        return work()

    def mark_changed(self) -> None:
        """Do nothing: facts of a recording are not kept."""

    def gone(self, client: str) -> None:
        """Release the clock of a client that has disconnected."""
        if self.owner.release(client):
            self.player.resume()

    def announce(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the present markers, for a new hub."""
        self._markers = ReplayedMarkers(self.player.recording.marker_commands())
        return [("markers", change) for change in self._markers.up_to(self.player.position, self.player.time)]

    def figures(self) -> dict[str, Any]:
        """Return figures of the playback."""
        player, snapshot = self.player, self.player.snapshot()
        return {
            "tick": snapshot.tick,
            "time": snapshot.time,
            "wall": time(),
            "rate": self.rate,
            "pace": player.pace,
            "paused": player.paused,
            "running": not player.paused,
            "run": snapshot.run,
            "vehicles": len(snapshot),
            "slips": player.slips,
            "refused": self.refused,
            "owner": self.owner.client or "",
            "visualization": self._visualization.mode,
        }

    def clock(self, client: str) -> dict[str, Any]:
        player = self.player
        run = player.snapshot().run
        return {"pace": player.pace, "paused": player.paused, "run": run, "owner": self.owner.client}

    def metadata(self, client: str) -> MetadataTree:
        player, snapshot, recording = self.player, self.player.snapshot(), self.player.recording
        scenario = player.scenario
        tree = self._described.scenario(scenario)
        events = [EventRecord(k, *astuple(event)[1:]) for k, event in enumerate(recording.events(), 1)]
        return {
            **metadata_tree(self, client, scenario, player, scenario.seed, snapshot.run, tree),
            "fleets": recorded_fleets(snapshot, recorded_looks(recording.metadata), recording.scenario),
            "recording": {
                "path": Path(recording.path).name,
                "start": recording.sample(0).time,
                "position": player.position,
                "duration": player.duration,
                "events": events,
            },
        }

    def inspect(self, client: str, target: str | int, page: bool = False) -> InspectedTree | dict[str, dict[str, Any]]:
        snapshot = self.player.snapshot()
        tree = recorded_tree(snapshot, snapshot[target])
        return tree if page else {"state": {column["name"]: column["value"] for column in tree["state"]}}

    def snapshot(self, client: str, roster: bool = False) -> dict[str, Any]:
        snapshot = self.publish_present()
        return {"tick": snapshot.tick, "run": snapshot.run, "roster": snapshot.roster}

    def events(self, client: str, since: int = 0) -> list[dict[str, Any]]:
        return [asdict(event) for event in self.player.events() if event.number > since]

    def series(
        self,
        client: str,
        target: str | int,
        columns: list[str],
        start: float | None = None,
        end: float | None = None,
    ) -> Callable[[], SeriesTree]:
        """Return a function that reads them: a long recording takes seconds."""
        run, choice = self.player.recording, ColumnChoice(target, tuple(columns))

        def read() -> SeriesTree:
            times = run.sample(0).time + run.times()
            step = 1 + len(run) // MOST_POINTS
            first, last = -inf if start is None else start, inf if end is None else end
            samples = [k for k in range(0, len(run), step) if first <= times[k] < last]
            columns_of_samples = [
                ColumnReader(sample.layout).read(sample, choice) for sample in map(run.sample, samples)
            ]
            values = np.array(
                [
                    sample[:, 0] if sample.shape[1] == 1 else np.full(len(columns), np.nan)
                    for sample in columns_of_samples
                ]
            ).T.reshape(len(columns), len(samples))
            finite_values = [[value if isfinite(value) else None for value in row] for row in values.tolist()]
            return {"times": times[samples].tolist(), "values": finite_values}

        return read

    def overrides(self, client: str) -> list[dict[str, Any]]:
        """Return no overrides: recordings have none."""
        return []

    def autopilots(self, client: str) -> list[dict[str, Any]]:
        """Return no autopilots: recordings have none."""
        return []

    def routes(self, client: str) -> list[dict[str, Any]]:
        return [route._asdict() for route in entry_routes(self.player.scenario, self.player.snapshot())]

    def scenery(self, client: str, side: int = 128) -> dict[str, Any]:
        scenario, roads = self.player.scenario, recorded_roads(self.player.recording.metadata)
        if roads is None:
            roads = road_trees(setup for _, setup in entry_setups(scenario))
        return {**scenery_with_track(scenario, side), "roads": roads}

    def track(self, client: str) -> dict[str, Any] | None:
        scenario = self.player.scenario
        race_track = track_of(scenario.track)
        return None if race_track is None else track_tree(race_track, scenario.contact is not None)

    def standings(self, client: str) -> dict[str, Any] | None:
        standings = recorded_standings(self.player.scenario, self.player.snapshot(), self.player.section_events())
        return None if standings is None else standings.to_dict()

    def radio_view(self, client: str) -> RadioTree | None:
        traffic = recorded_traffic(self.player.recording, self.player.position)
        return recorded_radio(self.player.scenario, self.player.snapshot(), self.player.events(), traffic)

    def jammers(self, client: str) -> list[JammerView]:
        view = self.radio_view(client)
        return [] if view is None else view["jammers"]

    def set_visualization_mode(self, client: str, **shown: bool | None) -> dict[str, Any]:
        return self._visualization.set(shown)

    def mission(self, client: str) -> None:
        """Return None: recordings have no mission."""

    def mission_view(self, client: str) -> None:
        """Return None: recordings have no mission."""

    def pause(self, client: str) -> None:
        self.owner.check(client, "pause")
        self.player.pause()

    def resume(self, client: str) -> None:
        self.owner.check(client, "resume")
        self.player.resume()

    def release_clock(self, client: str) -> None:
        self.gone(client)

    def set_pace(self, client: str, pace: float) -> None:
        self.owner.check(client, "pace")
        self.player.pace = pace

    def seek(self, client: str, position: float) -> float:
        """Jump to a time, in s from the start of the recording."""
        self.owner.check(client, "seek")
        if not isfinite(position):
            raise InvalidValueError(f"seek takes a time in s, not {position!r}")
        self.player.seek(position)
        return self.player.position

    def _on_sample(self, snapshot: Snapshot) -> None:
        for change in self._markers.up_to(self.player.position, self.player.time):
            self._push("markers", change)

    def _on_event(self, event: Event) -> None:
        self._push("event", asdict(event))


REPLAYED = frozenset(name for name in vars(ReplaySource) if name in OPERATIONS)
"""The operations that a recording offers: methods of the same names."""


ROUNDING = 1e-6  # s by which the times of commands and samples may differ


class ReplayedMarkers:
    """The markers of a recording as pushes; a jump backwards clears them and starts from the beginning."""

    def __init__(self, recorded: list[tuple[float, MarkerCommand]]) -> None:
        """Commands with their times, in s from the start of the recording."""
        self._times = [at for at, _ in recorded]
        self._commands = [command for _, command in recorded]
        self._sent = 0
        self._position = 0.0

    def up_to(self, position: float, time: float) -> list[dict[str, Any]]:
        """Return the changes up to a position (s of the recording) with the simulation time `time` (s)."""
        goal = bisect_right(self._times, position + ROUNDING)
        changes: list[dict[str, Any]] = []
        if position < self._position:  # restores markers that have expired since
            changes, self._sent = [{"cleared": True}], 0
        for k in range(self._sent, goal):
            changes += _changes(self._commands[k], time - (position - self._times[k]))
        self._sent, self._position = goal, position
        return changes


def _changes(command: MarkerCommand, at: float) -> list[dict[str, Any]]:
    """Return a command of a simulation time (s) in the form of `mirror.change_tree`."""
    match command:
        case PutMarkers(markers):
            trees = [{name: getattr(marker, name) for name in FIELDS} for marker in markers]
            return [{"put": [{**tree, "expires": None if tree["ttl"] is None else at + tree["ttl"]} for tree in trees]}]
        case DeleteMarkers(namespace, ids):
            return [{"removed": [(namespace, number) for number in ids]}]
        case ShowMarkers(namespace, visible):
            return [{"namespace": namespace, "visible": visible}]
        case ClearMarkers():
            return [{"cleared": True}]
    raise PaddockError(f"unknown marker command {command!r}")
