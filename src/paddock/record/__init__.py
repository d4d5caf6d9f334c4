"""Recordings: record a run to MCAP, read, replay, verify and export it, and compute metrics.

record.Recorder(sim, "run.mcap")     # records while the simulation runs
record.open_run("run.mcap")          # reads it: snapshots, columns, events, actions
record.verify("run.mcap")            # simulates it again and compares
record.Player("run.mcap")            # plays it like a live run
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddock.record.player import Player
    from paddock.record.reader import FleetHistory, RecordedRun, open_run
    from paddock.record.recorder import Recorder, RecordingReport
    from paddock.record.run_metrics import metrics
    from paddock.record.verification import Verification, verify

__all__ = [
    "FleetHistory",
    "Player",
    "RecordedRun",
    "Recorder",
    "RecordingReport",
    "Verification",
    "metrics",
    "open_run",
    "verify",
]

_HOMES = {
    "FleetHistory": "reader",
    "Player": "player",
    "RecordedRun": "reader",
    "Recorder": "recorder",
    "RecordingReport": "recorder",
    "Verification": "verification",
    "metrics": "run_metrics",
    "open_run": "reader",
    "verify": "verification",
}


def __getattr__(name: str) -> Any:
    """Import each name on first use: reading a recording does not import the simulation."""
    if name == "Run":
        warnings.warn("paddock.record.Run is now RecordedRun", DeprecationWarning, stacklevel=2)
        name = "RecordedRun"
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
