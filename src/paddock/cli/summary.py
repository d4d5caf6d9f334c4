"""The summary of a run: as JSON, or as a few lines of text."""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from paddock.engine.events import Event
    from paddock.engine.simulation import Simulation
    from paddock.sitl.host import SitlHost

_IMPORTED = time.perf_counter()
SHOWN_NEGLECT = 1.0  # dB


def process_age() -> float:
    """Return the seconds since this process started; where unknown, since the command line was imported."""
    try:
        with open("/proc/self/stat", encoding="ascii") as file:
            started = int(file.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, ValueError, IndexError, AttributeError):
        return time.perf_counter() - _IMPORTED
    return age if 0.0 < age < 1e6 else time.perf_counter() - _IMPORTED


def peak_memory_mb() -> float:
    """Return the peak memory of this process, MB; 0 where unknown."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) / (1e6 if sys.platform == "darwin" else 1e6 / 1024)


class Tally:
    """Counts events and measures wall time.

    Kernels are loaded or compiled during the warm-up: wall time, real-time factor and stage times exclude it.
    """

    def __init__(self, sim: "Simulation") -> None:
        self.sim = sim
        self.first_tick_seconds: float | None = None
        self.events: Counter[str] = Counter()
        self.started, self.first = time.perf_counter(), sim.tick
        sim.events.listeners.append(self._count)

    def _count(self, event: "Event") -> None:
        self.events[event.kind] += 1

    def note_first_tick(self) -> None:
        """Note the age of the process when the first tick is done, s."""
        if self.first_tick_seconds is None and self.sim.tick:
            self.first_tick_seconds = process_age()

    def again(self) -> None:
        """Start over after a reset."""
        self.events.clear()
        self.begin()

    def begin(self) -> None:
        """Measure from here on."""
        self.sim.engine.stages.pipeline.reset_times()
        self.started, self.first = time.perf_counter(), self.sim.tick

    @property
    def wall(self) -> float:
        """Wall-clock s since `begin`."""
        return time.perf_counter() - self.started

    def summary(self) -> dict[str, Any]:
        """Return all figures of the run, ready for JSON."""
        sim, wall = self.sim, self.wall
        return {
            "scenario": sim.scenario.name,
            "seed": sim.engine.world.seed,
            "ticks": sim.tick,
            "sim_seconds": sim.time,
            "wall_seconds": round(wall, 6),
            "real_time_factor": round((sim.tick - self.first) * sim.engine.world.clock.dt / wall, 4),
            "vehicles": sum(fleet.n for fleet in sim.engine.world.fleets.values()),
            "stages": {
                name: {
                    "calls": time.calls,
                    "ms_total": round(time.nanoseconds / 1e6, 3),
                    "ms_per_call": round(time.nanoseconds / 1e6 / max(time.calls, 1), 6),
                }
                for name, time in sim.engine.stages.pipeline.times.items()
            },
            "events": dict(sorted(self.events.items())),
            "discarded": sim.engine.world.state.discarded,  # vehicles removed because of `on_nan: remove`
            **self._radio(),
            **self._mission(),
            **({} if sim.race is None else {"race": sim.race.standings().to_dict()}),
            "state_hash": sim.state_hash(),
            "first_tick_seconds": None if self.first_tick_seconds is None else round(self.first_tick_seconds, 3),
            "peak_memory_mb": round(peak_memory_mb(), 1),
        }

    def _radio(self) -> dict[str, Any]:
        """Return what the radio leaves out or extrapolates, if there is radio; of the last update of its links."""
        if not self.sim.engine.radio.active:
            return {}
        report = self.sim.radio.report()
        return {"radio": {"neglected_db": round(report.neglected, 2), "outside": report.outside}}

    def _mission(self) -> dict[str, Any]:
        """Return the state of the mission, if any; m and s."""
        mission = self.sim.mission
        if mission is None:
            return {}
        view = mission.view()
        undone = [{"task": task.name, "reason": task.reason} for task in view.tasks if task.state == "undone"]
        keys = ("tasks", "completed", "travelled", "makespan", "replans")
        figures = {key: view.metrics[key] for key in (*keys, *({"packets", "cbba"} & view.metrics.keys()))}
        return {"mission": figures | {"undone": undone, "finished": view.finished}}


class ShownRun(NamedTuple):
    """A run, and what is shown while it lasts."""

    sim: "Simulation"
    tally: Tally
    until: float | None  # s of simulation time; None: until it is stopped
    interrupted: Callable[[], bool]
    link: str  # URL of the page
    autopilots: "SitlHost | None"


def summary_lines(numbers: dict[str, Any]) -> list[str]:
    """Return the summary as lines of text."""
    events = ", ".join(f"{count} {kind}" for kind, count in numbers["events"].items()) or "none"
    first, autopilots = numbers["first_tick_seconds"], numbers.get("autopilots")
    rejected, armed = (sum(row[key] for row in autopilots or ()) for key in ("rejected", "armed"))
    refused = f", {counted(rejected, 'packet')} rejected" if rejected else ""
    stages = [
        f"  {name:<8} {stage['ms_per_call']:9.3f} ms per call, {stage['calls']:,} calls, "
        f"{stage['ms_total'] / 10 / max(numbers['wall_seconds'], 1e-9):.0f} % of wall time"
        for name, stage in numbers["stages"].items()
        if stage["calls"]
    ]
    start = "no tick, " if numbers["ticks"] == 0 else ""
    if first is not None:
        start = f"first tick {first:.2f} s after the start, "
    return [
        f"{numbers['scenario']}: {counted(numbers['vehicles'], 'vehicle')}, {numbers['sim_seconds']:.3f} s simulated "
        f"({numbers['ticks']:,} ticks) in {numbers['wall_seconds']:.2f} s, "
        f"{numbers['real_time_factor']:.2f} x real time",
        *stages,
        f"  events: {events}",
        *neglected_lines(numbers.get("radio", {}).get("neglected_db", 0.0)),
        *outside_lines(numbers.get("radio", {}).get("outside", 0)),
        *(_mission_lines(numbers["mission"]) if "mission" in numbers else []),
        *(_race_lines(numbers["race"]) if "race" in numbers else []),
        *([f"  autopilots: {len(autopilots)}, {armed} armed{refused}"] if autopilots is not None else []),
        f"  {start}peak memory {numbers['peak_memory_mb']:.0f} MB",
        f"  seed {numbers['seed']}, state hash {numbers['state_hash']}",
    ]


def neglected_lines(neglected: float) -> list[str]:
    """Return a warning if radios beyond the reach may add more than SHOWN_NEGLECT dB to a receiver's interference."""
    if neglected <= SHOWN_NEGLECT:
        return []
    return [
        f"  radio: interference from beyond the reach, up to {neglected:.1f} dB at a receiver, is left out (margin)"
    ]


def outside_lines(outside: int) -> list[str]:
    """Return a warning if paths are outside the range of their propagation model, at the last update."""
    if not outside:
        return []
    paths = f"{counted(outside, 'path')} {'is' if outside == 1 else 'are'}"
    return [f"  radio: {paths} outside the range of distances, heights or frequencies of the propagation model"]


def _mission_lines(figures: dict[str, Any]) -> list[str]:
    """Format `mission: 15 of 15 tasks done, ...`, with the reasons for undone tasks."""
    tasks = f"{figures['completed']} of {counted(figures['tasks'], 'task')} done"
    back = "" if figures["finished"] else "in progress"
    if figures["finished"] and figures["makespan"] is not None:
        back = f"all back after {figures['makespan']:.0f} s"
    way = f"{figures['travelled'] / 1000.0:.1f} km travelled"
    line = f"  mission: {', '.join(part for part in (tasks, back, way) if part)}"
    return [
        line,
        *_mission_radio_lines(figures),
        *(f"    {task['task']} not done: {task['reason']}" for task in figures["undone"]),
    ]


def _mission_radio_lines(figures: dict[str, Any]) -> list[str]:
    """Format the packets of a mission over radio, and its negotiations."""
    packets, cbba, lines = figures.get("packets"), figures.get("cbba"), []
    if packets is not None:
        again = f", {packets['repeated']} of them again" if packets["repeated"] else ""
        reports = f"{packets['heard']:,} of {packets['reports']:,} reports arrived"
        routes = f"{packets['taken']} of {packets['routes']} routes in {counted(packets['parts'], 'packet')}{again}"
        lines.append(f"    radio: {reports}, {routes}")
    if cbba is not None:
        agreed = f"agreed in {cbba['agreed']} of {counted(cbba['negotiations'], 'negotiation')}"
        effort = f"{counted(cbba['rounds'], 'round')}, {counted(cbba['messages'], 'message')}"
        lines.append(f"    CBBA: {agreed}, {effort}, {cbba['conflicts']} conflicts")
    return lines


CARS_SHOWN = 20  # in the summary


def _race_lines(race: dict[str, Any]) -> list[str]:
    """Format the standings: a line per car."""
    from paddock.track.standings import leaderboard, standings_from

    rows = leaderboard(standings_from(race))
    more = len(rows) - 1 - CARS_SHOWN
    shown = [f"    {line}" for line in rows[: CARS_SHOWN + 1]] + ([f"    and {more} more"] if more > 0 else [])
    return [f"  {race['discipline']} on {race['track']}, {counted(race['laps'], 'lap')}:", *shown]


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: `1 vehicle`, `1,000 vehicles`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
