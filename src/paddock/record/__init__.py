"""Recordings: record a run to MCAP, read, replay, verify and export it, and compute metrics.

record.Recorder(sim, "run.mcap")     # records while the simulation runs
record.open_run("run.mcap")          # reads it: snapshots, columns, events, actions
record.verify("run.mcap")            # simulates it again and compares
record.Player("run.mcap")            # plays it like a live run
"""

from typing import TYPE_CHECKING

from paddock.errors import renamed_names

if TYPE_CHECKING:
    from paddock.record.export import recorded_inputs
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
    "recorded_inputs",
    "verify",
]

_HOMES = {
    **dict.fromkeys(("FleetHistory", "RecordedRun", "open_run"), "reader"),
    **dict.fromkeys(("Recorder", "RecordingReport"), "recorder"),
    **dict.fromkeys(("Verification", "verify"), "verification"),
    **{"Player": "player", "metrics": "run_metrics", "recorded_inputs": "export"},
}
__getattr__ = renamed_names(__name__, _HOMES, Run="RecordedRun")  # reading a recording imports no simulation
