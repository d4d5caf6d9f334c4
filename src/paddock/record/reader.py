"""Read a recording: `run = open_run("run.mcap")`, then its snapshots, columns, events, actions and hashes."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from paddock.engine.actions import Posted
from paddock.engine.events import Event
from paddock.engine.fleets import GIB, available_bytes
from paddock.errors import InvalidValueError, PaddockError, printable, unknown_name
from paddock.record import channels
from paddock.record.mcap_file import McapFile, McapMessage
from paddock.record.writer import NANOSECONDS
from paddock.scenario import Scenario, scenario_from_text
from paddock.wire.messages import states
from paddock.wire.messages.markers import MarkerCommand, decode_marker_command
from paddock.world.columns import Floats
from paddock.world.layout import POSE, BufferPool, FleetLayout, Ints, Layout, array_columns, frozen
from paddock.world.snapshot import Snapshot

Decoded = TypeVar("Decoded")
END_OF_TIME = (1 << 63) - 1


@dataclass(frozen=True)
class RunSection:
    """A part of a recording with increasing ticks; a reset or a restore starts the next."""

    number: int  # from 0
    begin: states.RunStart
    start: int  # log time, ns
    samples: range  # of the run's samples


def open_run(path: str | os.PathLike[str]) -> "RecordedRun":
    """Open a recording, complete or truncated; PaddockError if it is not one."""
    file = McapFile(path)
    try:
        return RecordedRun(file)
    except PaddockError:
        file.close()
        raise


MOST_BYTES = 512 << 20  # of the messages of a topic that is read as a whole


class RecordedRun(AbstractContextManager["RecordedRun"]):
    """A recorded run. Times are in s from the start of the recording, and continue over resets and restores."""

    def __init__(self, file: McapFile) -> None:
        self.file = file
        self.path = file.name
        self.metadata = {name: printable(value) for name, value in file.metadata.get("paddock", {}).items()}
        if not self.metadata or "scenario.yaml" not in file.attachments:
            raise PaddockError(f"{self.path} is an MCAP file, but not a recording of a Paddock run")
        if channels.STATE not in file.topics or not len(file.index(channels.RUN).times):
            raise PaddockError(f"{self.path} was cut off before anything was recorded")
        self.complete = file.complete  # False: the writing process was killed, or its disk was full
        self._pool = BufferPool()
        self._log_times: Ints = file.index(channels.STATE).times
        self._roster_times: Ints = file.index(channels.ROSTER).times
        self._origin = int(file.index(channels.RUN).times[0])

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario that was simulated."""
        text = self.file.attachments["scenario.yaml"].decode("utf-8", "replace")
        try:
            return scenario_from_text(text, files=False)  # it carries the files that its scenario names
        except PaddockError as error:
            raise PaddockError(f"{self.path} holds an invalid scenario: {str(error).splitlines()[0]}") from None

    @cached_property
    def track(self) -> Any:
        """The race track of the scenario, as `Simulation.track`; None without one."""
        from paddock.track.loading import track_of  # takes long to import

        return track_of(self.scenario.track)

    @property
    def rate(self) -> float:
        """Ticks per simulated second, Hz."""
        return self.scenario.clock.rate

    @property
    def duration(self) -> float:
        """Time from the first sample to the last, s."""
        return float(self.times()[-1]) if len(self) else 0.0

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """The layouts, in order of time."""
        return tuple(self._decoded(_layout, m.data) for m in self._messages(channels.ROSTER))

    @property
    def fleets(self) -> tuple[str, ...]:
        """The names of all fleets of the run."""
        return tuple(dict.fromkeys(fleet.name for layout in self.layouts for fleet in layout.fleets))

    def fleet_layouts(self, fleet: str | None = None) -> list[FleetLayout]:
        """Return the layouts of one fleet, or of all, in order of time; an error for an unknown fleet."""
        if fleet is not None and fleet not in self.fleets:
            raise unknown_name("fleet", fleet, self.fleets, self.path)
        return [
            fleet_layout
            for layout in self.layouts
            for fleet_layout in layout.fleets
            if fleet in (None, fleet_layout.name)
        ]

    @cached_property
    def sections(self) -> tuple[RunSection, ...]:
        """The parts of the run; every reset and restore starts one."""
        starts = self.file.index(channels.RUN).times
        firsts = [*np.searchsorted(self._log_times, starts).tolist(), len(self)]
        begins = [self._decoded(states.decode_run_start, m.data) for m in self._messages(channels.RUN)]
        return tuple(
            RunSection(k, begin, int(starts[k]), range(firsts[k], firsts[k + 1])) for k, begin in enumerate(begins)
        )

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self._log_times)

    def times(self) -> Floats:
        """Return the times of the samples (samples,), s."""
        return (self._log_times - self._origin) / NANOSECONDS

    def sample(self, k: int) -> Snapshot:
        """Return the k-th sample; -1 is the last."""
        if not -len(self) <= k < len(self):
            raise InvalidValueError(f"{self.path} has {len(self)} samples; sample {k} does not exist")
        message = self.file.message(channels.STATE, k % len(self))
        roster = int(np.searchsorted(self._roster_times, message.log_time, "right")) - 1
        if roster < 0:
            raise PaddockError(f"{self.path} is damaged: a sample precedes the first roster")
        return self._decoded(_snapshot, message.data, self.layouts[roster], self._pool)

    def snapshot(self, at: float | None = None) -> Snapshot:
        """Return the last sample not after a time (s), by default the last of all."""
        return self.sample(-1 if at is None else self.sample_at(at))

    def sample_at(self, at: float) -> int:
        """Return the number of the last sample not after a time (s); 0 for times before the first."""
        if not np.isfinite(at):
            raise InvalidValueError(f"a time is a finite number of s, not {at!r}")
        if not len(self):
            raise PaddockError(f"{self.path} holds no samples")
        return max(int(np.searchsorted(self.times(), at + 1e-9, "right")) - 1, 0)

    def snapshots(self, start: float = 0.0, end: float | None = None) -> Iterator[Snapshot]:
        """Iterate over the samples between two times (s); only a few are in memory."""
        times = self.times()
        first = int(np.searchsorted(times, start - 1e-9))
        last = len(self) if end is None else int(np.searchsorted(times, end + 1e-9, "right"))
        return (self.sample(k) for k in range(first, last))

    def fleet(self, name: str, columns: Sequence[str] | None = None) -> "FleetHistory":
        """Return a fleet's columns over the whole run as arrays (samples, n); a subset takes less memory."""
        layouts = self.fleet_layouts(name)
        recorded = tuple(dict.fromkeys(column for layout in layouts for column in layout.columns))
        columns = recorded if columns is None else tuple(columns)
        for column in columns:
            if column not in recorded:
                raise unknown_name("column", column, recorded, f"fleet {name!r}")
        members, names = members_of(layouts)
        self._refuse_more_than_fit(name, len(columns), len(members))
        data = np.full((len(columns), len(self), len(members)), np.nan)
        ticks = _fill(self, name, columns, members, data)
        last = layouts[-1]
        return FleetHistory(name, last.kind, last.model, self.times(), ticks, members, names, columns, data)

    def _refuse_more_than_fit(self, name: str, columns: int, members: int) -> None:
        """Refuse columns of a fleet, over all samples, that need more memory than there is."""
        needed, available = 8 * columns * len(self) * members, available_bytes()
        if available is not None and needed > available:
            raise PaddockError(
                f"{self.path}: {columns} columns of {members:,} vehicles of {name!r} in {len(self):,} samples need "
                f"about {needed / GIB:.1f} GiB of memory, more than the {max(available, 0) / GIB:.1f} GiB available on "
                "this machine: choose fewer columns, or read sample by sample with snapshots()"
            )

    def to_arrow(self, fleet: str | None = None) -> Any:
        """Return all samples as a pyarrow.Table, a row per vehicle and sample (needs the extra `analysis`)."""
        from paddock.record.export import arrow_table

        return arrow_table(self, fleet)

    def events(self, section: int | None = None) -> list[Event]:
        """Return the events of one section, or of all, in order."""
        decoded = (self._decoded(states.decode_event, m.data) for m in self._messages(channels.EVENTS, section))
        return [Event(number, tick, *map(printable, texts)) for number, tick, *texts in decoded]

    def event_times(self) -> Floats:
        """Return the times of the events (events,), s."""
        return (self.file.index(channels.EVENTS).times - self._origin) / NANOSECONDS

    def actions(self, section: int | None = None) -> list[Posted]:
        """Return the actions applied in one section, or in all, in order."""
        return list(self.iterate_actions(section))

    def iterate_actions(self, section: int | None) -> Iterator[Posted]:
        """Iterate over the actions of a section, each read on demand."""
        span = (0, None) if section is None else self._span(channels.ACTIONS, section)
        return (self._decoded(_posted, m.data) for m in self.file.messages(channels.ACTIONS, *span))

    def marker_commands(self) -> list[tuple[float, MarkerCommand]]:
        """Return the marker commands and their times (s)."""
        return [
            ((m.log_time - self._origin) / NANOSECONDS, self._decoded(decode_marker_command, m.data))
            for m in self._messages(channels.MARKERS)
        ]

    @property
    def state_format(self) -> str:
        """The `world.archive.STATE_FORMAT` of its hashes and saved states."""
        return self.metadata.get("state_format", "1")

    def actions_before(self, topic: str, section: int) -> list[int]:
        """Return the number of actions of a section applied before each of its messages of a topic."""
        actions, others = self.file.index(channels.ACTIONS), self.file.index(topic)
        first, end = self._span(topic, section)
        # messages are in the file in the order of the run
        order = [index.chunks * (1 << 40) + index.offsets for index in (actions, others)]
        before = np.searchsorted(order[0], order[1][first:end]) - self._span(channels.ACTIONS, section)[0]
        return before.tolist()  # type: ignore[no-any-return]

    def hashes(self, section: int | None = None) -> list[states.StateHash]:
        """Return the digests of the complete state of one section, or of all."""
        return [self._decoded(states.decode_state_hash, m.data) for m in self._messages(channels.HASHES, section)]

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _messages(self, topic: str, section: int | None = None) -> Iterator[McapMessage]:
        """Iterate over the messages of a topic, up to a limit of their size: callers keep all of them."""
        left = MOST_BYTES
        for message in self.file.messages(topic, *((0, None) if section is None else self._span(topic, section))):
            left -= len(message.data)
            if left < 0:
                raise PaddockError(f"{self.path} holds more than {MOST_BYTES >> 20} MiB in {topic!r}")
            yield message

    def _span(self, topic: str, section: int) -> tuple[int, int]:
        """Return the first message of a section, and the one after its last."""
        starts = [*(part.start for part in self.sections), END_OF_TIME]
        first, end = np.searchsorted(self.file.index(topic).times, starts[section : section + 2])
        return int(first), int(end)

    def _decoded(self, decoder: Callable[..., Decoded], data: memoryview, *more: Any) -> Decoded:
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
    times: Floats  # (samples,) s from the start of the recording
    ticks: Ints  # (samples,)
    members: Ints  # (n,) the k of each vehicle's name fleet[k], ascending
    names: tuple[str, ...]  # (n,)
    columns: tuple[str, ...]
    data: Floats  # (columns, samples, n)

    def __getitem__(self, column: str) -> Floats:
        """Return a column (samples, n), in its unit."""
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
        return len(self.members)

    def __repr__(self) -> str:
        return f"<fleet {self.name!r} of {len(self)} {self.model} over {len(self.times)} samples>"


def members_of(layouts: Sequence[FleetLayout]) -> tuple[Ints, tuple[str, ...]]:
    """Return the k of all vehicles that a fleet has had, ascending, and their names."""
    members: Ints = np.unique(np.concatenate([layout.members for layout in layouts]))
    name, single = layouts[-1].name, layouts[-1].single
    return members, tuple(name if single else f"{name}[{member}]" for member in members)


def _fill(run: RecordedRun, name: str, columns: tuple[str, ...], members: Ints, data: Floats) -> Ints:
    """Copy the block of every sample into the data; return the ticks of the samples."""
    ticks = np.zeros(len(run), np.int64)
    indices: dict[FleetLayout, tuple[Ints, Ints, Ints]] = {}
    for k, snapshot in enumerate(run.snapshots()):
        ticks[k] = snapshot.tick
        if name not in snapshot.fleets:
            continue
        fleet = snapshot.fleet(name)
        layout = fleet.layout
        if layout not in indices:
            shared = [column for column in columns if column in layout.columns]
            targets = np.array([columns.index(column) for column in shared], np.int64)
            sources = np.array([layout.column(column) for column in shared], np.int64)
            indices[layout] = targets, sources, np.searchsorted(members, layout.members)
        targets, sources, slots = indices[layout]
        data[targets[:, None], k, slots[None, :]] = fleet.block[sources]
    return ticks


def _layout(data: memoryview) -> Layout:
    roster = states.decode_roster(data)
    for fleet in roster.fleets:
        for name in (fleet.name, *fleet.columns, *(array.name for array in fleet.arrays)):
            if not name.isprintable():
                raise PaddockError(f"{name!r:.40} is not the name of a fleet or column")
    fleets = [
        FleetLayout(n=len(fleet.ids), **{**fleet._asdict(), "arrays": array_columns(fleet.arrays)})
        for fleet in roster.fleets
    ]
    return Layout(tuple(fleets), roster.number)


def _snapshot(data: memoryview, layout: Layout, pool: BufferPool) -> Snapshot:
    """Decode a snapshot into a buffer of the pool."""
    state = states.decode_state(data)
    if [block.size for block in state.blocks] != [fleet.nbytes // 8 for fleet in layout.fleets]:
        raise PaddockError(f"the state of tick {state.tick} does not match its roster")
    sizes = [array.nbytes(fleet.n) for fleet in layout.fleets for array in fleet.arrays]
    if [array.nbytes for array in state.arrays] != sizes:
        raise PaddockError(f"the arrays of tick {state.tick} do not match their roster")
    buffer, arrays = pool.take(layout.nbytes), iter(state.arrays)
    for k, block in enumerate(state.blocks):
        layout.block(buffer, k).reshape(-1)[:] = block
        for into in layout.arrays(buffer, k).values():
            into.reshape(-1)[:] = next(arrays).view(into.dtype.newbyteorder("<"))
    return Snapshot(state.tick, state.sim_time, state.run, layout, frozen(buffer))


def _posted(data: memoryview) -> Posted:
    try:
        return Posted.from_tree(states.decode_action(data)._asdict())
    except TypeError as error:  # fields that this kind of action does not have
        raise PaddockError(f"unknown action: {error}") from None
