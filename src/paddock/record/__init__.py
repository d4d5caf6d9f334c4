"""A run's memory: recording to MCAP, reading, replaying, verifying, exporting, and what it amounted to.

record.Recorder(sim, "run.mcap")     # records while the simulation runs
record.open_run("run.mcap")          # reads it: snapshots, columns, events, actions
record.verify("run.mcap")            # simulates it again and compares
record.Player("run.mcap")            # plays it as if live
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddock.record.player import Player
    from paddock.record.reader import FleetHistory, Run, open_run
    from paddock.record.recorder import Recorder, RecordingReport
    from paddock.record.run_metrics import metrics
    from paddock.record.verification import Verification, verify

__all__ = [
    "FleetHistory",
    "Player",
    "Recorder",
    "RecordingReport",
    "Run",
    "Verification",
    "metrics",
    "open_run",
    "verify",
]

_HOMES = {
    "FleetHistory": "reader",
    "Player": "player",
    "Recorder": "recorder",
    "RecordingReport": "recorder",
    "Run": "reader",
    "Verification": "verification",
    "metrics": "run_metrics",
    "open_run": "reader",
    "verify": "verification",
}


def __getattr__(name: str) -> Any:
    """Import each when it is first asked for: reading a recording does not need what writing one does."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
