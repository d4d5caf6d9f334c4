"""Metrics of a run: distance, speed, height, radio links, packets and events."""

from collections import Counter
from typing import Any

import numpy as np

from paddock.record.channels import ACTIONS
from paddock.record.radio import LinkTally, in_contact, recorded_traffic
from paddock.record.reader import RecordedRun, RunSection, members_of
from paddock.world.columns import Floats
from paddock.world.layout import FleetLayout, Ints
from paddock.world.snapshot import FleetSnapshot

MOVING = 0.1  # speed above which a vehicle counts as moving, m/s


def metrics(run: RecordedRun) -> dict[str, Any]:
    """Return metrics of the whole run, each fleet and each vehicle, ready for JSON; the run is read once.

    Distances are sums of straight lines between samples. Times are simulation time.
    """
    tallies = {name: _Tally(run, name) for name in run.fleets}
    for section in run.sections:
        _read(run, section, tallies)
    kinds = Counter(event.kind for event in run.events())
    return {
        "scenario": run.metadata.get("name", ""),
        "seed": run.sections[0].begin.seed,
        "complete": run.complete,
        "sections": len(run.sections),
        "duration_s": run.duration,
        "samples": len(run),
        "vehicles": sum(len(tally.members) for tally in tallies.values()),
        "actions": len(run.file.index(ACTIONS).times),
        "events": dict(sorted(kinds.items())),
        **{name: counts for name, counts in recorded_traffic(run)._asdict().items() if counts},
        "fleets": {name: tally.summary() for name, tally in tallies.items()},
    }


def _read(run: RecordedRun, section: RunSection, tallies: dict[str, "_Tally"]) -> None:
    """Add the samples of a section."""
    time, radio = None, run.scenario.radio
    for k in section.samples:
        snapshot = run.sample(k)
        contact = {} if radio is None else in_contact(snapshot)
        step = 0.0 if time is None else snapshot.time - time
        time = snapshot.time
        for name, tally in tallies.items():
            if name in snapshot.fleets:
                tally.add(snapshot.fleet(name), step, contact.get(name))
            else:
                tally.interrupt()
    for tally in tallies.values():
        tally.interrupt()


class _Tally:
    """Sums over time for each vehicle of a fleet."""

    def __init__(self, run: RecordedRun, name: str) -> None:
        self.layouts = run.fleet_layouts(name)
        self.members, self.names = members_of(self.layouts)
        n = len(self.members)
        self.samples, self.distance, self.moving, self.seconds, self.speeds, self.fastest = np.zeros((6, n))
        self.lowest, self.highest = np.full(n, np.inf), np.full(n, -np.inf)
        self._last: Floats = np.full((3, n), np.nan)  # positions of the previous sample
        self._slots: dict[FleetLayout, Ints] = {}
        self.links = LinkTally(n) if "radio.sinr" in self.layouts[-1].columns else None

    def add(self, fleet: FleetSnapshot, step: float, contact: Floats | None = None) -> None:
        """Add a sample, `step` s after the previous one; `contact`: 1 for vehicles with a path to a station."""
        if fleet.layout not in self._slots:
            self._slots[fleet.layout] = np.searchsorted(self.members, fleet.members)
        at = self._slots[fleet.layout]
        position, speed = fleet.block[0:3], _length(fleet.block[7:10])
        self.samples[at] += 1
        self.speeds[at] += speed
        self.fastest[at] = np.maximum(self.fastest[at], speed)
        self.lowest[at] = np.minimum(self.lowest[at], position[2])
        self.highest[at] = np.maximum(self.highest[at], position[2])
        moved = _length(position - self._last[:, at])  # NaN for a new vehicle
        self.distance[at] += np.nan_to_num(moved)
        self.seconds[at] += np.where(np.isnan(moved), 0.0, step)
        self.moving[at] += np.where(np.isnan(moved) | (speed <= MOVING), 0.0, step)
        if self.links is not None and contact is not None:
            columns = {name: fleet[name] for name in ("radio.sinr", "radio.jammed")}
            self.links.add(at, columns, contact, step)
        self._last[:] = np.nan
        self._last[:, at] = position

    def interrupt(self) -> None:
        """Start a new sequence of samples."""
        self._last[:] = np.nan
        if self.links is not None:
            self.links.interrupt()

    def summary(self) -> dict[str, Any]:
        """Return the metrics of the fleet, and of its vehicles as columns."""
        last = self.layouts[-1]
        return {
            "kind": last.kind,
            "model": last.model,
            "vehicles": len(self.members),
            "distance_m": float(self.distance.sum()),
            "mean_speed_mps": float(self.speeds.sum() / max(self.samples.sum(), 1)),
            "max_speed_mps": float(self.fastest.max(initial=0.0)),
            "moving_s": float(self.moving.sum()),
            "min_height_m": float(self.lowest.min(initial=np.inf)),
            "max_height_m": float(self.highest.max(initial=-np.inf)),
            **({} if self.links is None else {"radio": self.links.summary()}),
            "per_vehicle": self._vehicles(),
        }

    def _vehicles(self) -> dict[str, list[Any]]:
        columns = {
            "distance_m": self.distance,
            "mean_speed_mps": self.speeds / np.maximum(self.samples, 1),
            "max_speed_mps": self.fastest,
            "present_s": self.seconds,
            "moving_s": self.moving,
            "min_height_m": self.lowest,
            "max_height_m": self.highest,
        }
        radio = {} if self.links is None else self.links.vehicles()
        return {"name": list(self.names), **{name: values.tolist() for name, values in columns.items()}, **radio}


def _length(vectors: Floats) -> Floats:
    """Return the norms (n,) of vectors (3, n)."""
    lengths: Floats = np.sqrt(np.einsum("ij,ij->j", vectors, vectors))
    return lengths
