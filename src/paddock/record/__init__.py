"""Recordings: record a run to MCAP, read, replay, verify and export it, and compute metrics.

record.Recorder(sim, "run.mcap")     # records while the simulation runs
record.write_run(sim, "run.mcap")    # records a run afterwards, also that of a remote simulation
record.open_run("run.mcap")          # reads it: snapshots, columns, events, actions
record.verify("run.mcap")            # simulates it again and compares
record.Player("run.mcap")            # plays it like a live run
"""

from typing import TYPE_CHECKING

from paddock.errors import lazy_names

if TYPE_CHECKING:
    from paddock.record.export import recorded_inputs
    from paddock.record.player import Player
    from paddock.record.plots import plot_track
    from paddock.record.race import CarTrace, LapTrace, laps
    from paddock.record.reader import FleetHistory, RecordedRun, open_run
    from paddock.record.recorder import Recorder, RecordingReport
    from paddock.record.rerun import Verification, verify, write_run
    from paddock.record.run_metrics import metrics
    from paddock.record.run_report import write_race_report

__all__ = [
    "CarTrace",
    "FleetHistory",
    "LapTrace",
    "Player",
    "RecordedRun",
    "Recorder",
    "RecordingReport",
    "Verification",
    "laps",
    "metrics",
    "open_run",
    "plot_track",
    "recorded_inputs",
    "verify",
    "write_race_report",
    "write_run",
]

_HOMES = {
    **dict.fromkeys(("FleetHistory", "RecordedRun", "open_run"), "reader"),
    **dict.fromkeys(("Recorder", "RecordingReport"), "recorder"),
    **dict.fromkeys(("Verification", "verify"), "rerun"),
    **dict.fromkeys(("CarTrace", "LapTrace", "laps"), "race"),
    **{"plot_track": "plots", "write_race_report": "run_report", "write_run": "rerun"},
    **{"Player": "player", "metrics": "run_metrics", "recorded_inputs": "export"},
}
__getattr__ = lazy_names(__name__, _HOMES)  # reading a recording imports no simulation
