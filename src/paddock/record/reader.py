"""Reading a recording: `run = open_run("run.mcap")`, then snapshots, columns, events, actions, hashes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np

from paddock.engine.actions import Posted
from paddock.engine.events import Event
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.record import channels
from paddock.record.mcap_file import McapFile, Message
from paddock.record.writer import NANOSECONDS
from paddock.scenario import Scenario, load_scenario
from paddock.wire.messages.markers import MarkerCommand, decode_marker_command
from paddock.wire.messages.recordings import RunStart, StateHash, decode_run_start, decode_state_hash
from paddock.world.columns import Floats
from paddock.world.layout import POSE, FleetLayout, Ints, Layout
from paddock.world.pool import BufferPool
from paddock.world.snapshot import Snapshot

Thing = TypeVar("Thing")
END_OF_TIME = (1 << 63) - 1


@dataclass(frozen=True)
class Section:
    """A part of a recording in which ticks only go up; a reset or a restore begins the next."""

    number: int  # from 0
    begin: RunStart
    start: int  # log time, ns
    samples: range  # of the run's samples


def open_run(path: str | os.PathLike[str]) -> Run:
    """A recording, whole or cut off; PaddockError if it is none."""
    file = McapFile(path)
    try:
        return Run(file)
    except PaddockError:
        file.close()
        raise


class Run:
    """A recorded run. Times count in s from the beginning of the recording, and go on over resets and restores."""

    def __init__(self, file: McapFile) -> None:
        self.file = file
        self.path = file.name
        self.metadata: dict[str, str] = file.metadata.get("paddock", {})
        if not self.metadata or "scenario.yaml" not in file.attachments:
            raise PaddockError(f"{self.path} is an MCAP file, but not a recording of a Paddock run")
        if channels.STATE not in file.topics or not len(file.index(channels.RUN).times):
            raise PaddockError(f"{self.path} was cut off before anything was recorded")
        self.complete = file.complete  # False: the process that wrote it was killed, or its disk was full
        self._pool = BufferPool()
        self._log_times: Ints = file.index(channels.STATE).times
        self._roster_times: Ints = file.index(channels.ROSTER).times
        self._origin = int(file.index(channels.RUN).times[0])

    # the whole -------------------------------------------------------------------------------------------------------

    @cached_property
    def scenario(self) -> Scenario:
        """What was simulated."""
        text = self.file.attachments["scenario.yaml"].decode("utf-8", "replace")
        try:
            return load_scenario(text if "\n" in text else text + "\n")
        except PaddockError as error:
            raise PaddockError(f"the scenario in {self.path} is not one: {str(error).splitlines()[0]}") from None

    @property
    def rate(self) -> float:
        """Ticks per simulated second, Hz."""
        return self.scenario.clock.rate

    @property
    def duration(self) -> float:
        """From the first sample to the last, s."""
        return float(self.times()[-1]) if len(self) else 0.0

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """The rosters, in the order in which they came about."""
        return tuple(self._decoded(channels.decode_layout, m.data) for m in self.file.messages(channels.ROSTER))

    @property
    def fleets(self) -> tuple[str, ...]:
        """The names of all fleets that there ever were."""
        return tuple(dict.fromkeys(fleet.name for layout in self.layouts for fleet in layout.fleets))

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The run's parts: it begins anew with every reset and restore."""
        starts = self.file.index(channels.RUN).times
        firsts = [*np.searchsorted(self._log_times, starts).tolist(), len(self)]
        begins = [self._decoded(decode_run_start, m.data) for m in self.file.messages(channels.RUN)]
        return tuple(
            Section(k, begin, int(starts[k]), range(firsts[k], firsts[k + 1])) for k, begin in enumerate(begins)
        )

    def __len__(self) -> int:
        """How many samples."""
        return len(self._log_times)

    # samples ---------------------------------------------------------------------------------------------------------

    def times(self) -> Floats:
        """(samples,) when they were taken, s."""
        return (self._log_times - self._origin) / NANOSECONDS

    def sample(self, k: int) -> Snapshot:
        """The k-th sample; -1 is the last."""
        if not -len(self) <= k < len(self):
            raise InvalidValueError(f"{self.path} has {len(self)} samples: there is no sample {k}")
        message = self.file.message(channels.STATE, k % len(self))
        roster = int(np.searchsorted(self._roster_times, message.log_time, "right")) - 1
        if roster < 0:
            raise PaddockError(f"{self.path} is damaged: a sample comes before the first roster")
        return self._decoded(channels.decode_snapshot, message.data, self.layouts[roster], self._pool)

    def snapshot(self, at: float | None = None) -> Snapshot:
        """The world at a time (s): the last sample not after it; without a time, the last of all."""
        return self.sample(-1 if at is None else self.sample_at(at))

    def sample_at(self, at: float) -> int:
        """Which sample is the last one not after a time, s; the first one for times before it."""
        if not np.isfinite(at):
            raise InvalidValueError(f"a time is a finite number of s, not {at!r}")
        if not len(self):
            raise PaddockError(f"{self.path} holds no samples")
        return max(int(np.searchsorted(self.times(), at + 1e-9, "right")) - 1, 0)

    def snapshots(self, start: float = 0.0, end: float | None = None) -> Iterator[Snapshot]:
        """The samples from one time to another (s), one after the other; only a few are in memory at once."""
        times = self.times()
        first = int(np.searchsorted(times, start - 1e-9))
        last = len(self) if end is None else int(np.searchsorted(times, end + 1e-9, "right"))
        return (self.sample(k) for k in range(first, last))

    def fleet(self, name: str, columns: Sequence[str] | None = None) -> FleetHistory:
        """A fleet's columns over the whole run as arrays (samples, n); a subset of them takes less memory."""
        if name not in self.fleets:
            raise unknown_name("fleet", name, self.fleets, self.path)
        return fleet_history(self, name, columns)

    def to_arrow(self, fleet: str | None = None) -> Any:
        """All samples as one pyarrow.Table, a row for each vehicle and sample (needs the extra `analysis`)."""
        from paddock.record.export import arrow_table

        return arrow_table(self, fleet)

    # what happened ---------------------------------------------------------------------------------------------------

    def events(self, section: int | None = None) -> list[Event]:
        """What happened, in its order; of one section, or of all."""
        return [self._decoded(channels.decode_event, m.data) for m in self._messages(channels.EVENTS, section)]

    def event_times(self) -> Floats:
        """(events,) when they happened, s."""
        return (self.file.index(channels.EVENTS).times - self._origin) / NANOSECONDS

    def actions(self, section: int | None = None) -> list[Posted]:
        """What entered the run from outside, in its order; of one section, or of all."""
        return [self._decoded(channels.decode_posted, m.data) for m in self._messages(channels.ACTIONS, section)]

    def marker_commands(self) -> list[tuple[float, MarkerCommand]]:
        """What was done with markers, and when (s)."""
        return [
            ((m.log_time - self._origin) / NANOSECONDS, self._decoded(decode_marker_command, m.data))
            for m in self.file.messages(channels.MARKERS)
        ]

    def iterate_actions(self, section: int) -> Iterator[Posted]:
        """The actions of a section, each read when it is asked for."""
        return (self._decoded(channels.decode_posted, m.data) for m in self._messages(channels.ACTIONS, section))

    def actions_before_hashes(self, section: int) -> list[int]:
        """(hashes of the section) how many of its actions had been taken up when each was made."""
        actions, hashes = (self.file.index(topic) for topic in (channels.ACTIONS, channels.HASHES))
        first, end = self._span(channels.HASHES, section)
        # messages lie in the file in the order in which things happened
        places = [index.chunks * (1 << 40) + index.offsets for index in (actions, hashes)]
        before = np.searchsorted(places[0], places[1][first:end]) - self._span(channels.ACTIONS, section)[0]
        return before.tolist()  # type: ignore[no-any-return]

    def hashes(self, section: int | None = None) -> list[StateHash]:
        """Digests of the complete state; of one section, or of all."""
        return [self._decoded(decode_state_hash, m.data) for m in self._messages(channels.HASHES, section)]

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def __enter__(self) -> Self:
        """For `with open_run(...) as run`."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _messages(self, topic: str, section: int | None) -> Iterator[Message]:
        return self.file.messages(topic, *((0, None) if section is None else self._span(topic, section)))

    def _span(self, topic: str, section: int) -> tuple[int, int]:
        """The first message of a section, and the one after its last."""
        starts = [*(part.start for part in self.sections), END_OF_TIME]
        first, end = np.searchsorted(self.file.index(topic).times, starts[section : section + 2])
        return int(first), int(end)

    def _decoded(self, decoder: Callable[..., Thing], data: memoryview, *more: Any) -> Thing:
        try:
            return decoder(data, *more)
        except PaddockError as error:
            raise PaddockError(f"{self.path} is damaged: {error}") from None


@dataclass(frozen=True, eq=False)
class FleetHistory:
    """Every column of a fleet over time; NaN where a vehicle did not exist."""

    name: str
    kind: str
    model: str
    times: Floats  # (samples,) s from the beginning of the recording
    ticks: Ints  # (samples,)
    members: Ints  # (n,) the k of each vehicle's name fleet[k], ascending
    names: tuple[str, ...]  # (n,)
    columns: tuple[str, ...]
    data: Floats  # (columns, samples, n)

    def __getitem__(self, column: str) -> Floats:
        """(samples, n) any column, in its unit."""
        if column not in self.columns:
            raise unknown_name("column", column, self.columns, f"fleet {self.name!r}")
        values: Floats = self.data[self.columns.index(column)]
        return values

    @property
    def position(self) -> Floats:
        """(samples, n, 3) m."""
        return np.stack([self[column] for column in POSE[:3]], axis=-1)

    @property
    def velocity(self) -> Floats:
        """(samples, n, 3) m/s, world."""
        return np.stack([self[column] for column in POSE[7:10]], axis=-1)

    @property
    def speed(self) -> Floats:
        """(samples, n) m/s."""
        speed: Floats = np.linalg.norm(self.velocity, axis=-1)
        return speed

    def __len__(self) -> int:
        """How many vehicles."""
        return len(self.members)

    def __repr__(self) -> str:
        """Name, model and counts."""
        return f"<fleet {self.name!r} of {len(self)} {self.model} over {len(self.times)} samples>"


def fleet_history(run: Run, name: str, wanted: Sequence[str] | None) -> FleetHistory:
    """Read a fleet's columns, all or those wanted, into arrays."""
    layouts = [fleet for layout in run.layouts for fleet in layout.fleets if fleet.name == name]
    known = tuple(dict.fromkeys(column for layout in layouts for column in layout.columns))
    columns = known if wanted is None else tuple(wanted)
    for column in columns:
        if column not in known:
            raise unknown_name("column", column, known, f"fleet {name!r}")
    members = np.unique(np.concatenate([layout.members for layout in layouts]))
    data = np.full((len(columns), len(run), len(members)), np.nan)
    ticks = _fill(run, name, columns, members, data)
    last = layouts[-1]
    names = tuple(name if last.single else f"{name}[{member}]" for member in members)
    return FleetHistory(name, last.kind, last.model, run.times(), ticks, members, names, columns, data)


def _fill(run: Run, name: str, columns: tuple[str, ...], members: Ints, data: Floats) -> Ints:
    """Copy every sample's block to its place; returns the samples' ticks."""
    ticks = np.zeros(len(run), np.int64)
    places: dict[int, tuple[FleetLayout, Ints, Ints, Ints]] = {}
    for k, snapshot in enumerate(run.snapshots()):
        ticks[k] = snapshot.tick
        if name not in snapshot.fleets:
            continue
        fleet = snapshot.fleet(name)
        if id(fleet.layout) not in places:
            places[id(fleet.layout)] = (fleet.layout, *_place(fleet.layout, columns, members))
        _, targets, sources, slots = places[id(fleet.layout)]
        data[targets[:, None], k, slots[None, :]] = fleet.block[sources]
    return ticks


def _place(layout: FleetLayout, columns: tuple[str, ...], members: Ints) -> tuple[Ints, Ints, Ints]:
    """Rows of the data, the block's rows that go there, and the vehicles' places."""
    shared = [column for column in columns if column in layout.columns]
    targets = np.array([columns.index(column) for column in shared], np.int64)
    sources = np.array([layout.column(column) for column in shared], np.int64)
    return targets, sources, np.searchsorted(members, layout.members)
