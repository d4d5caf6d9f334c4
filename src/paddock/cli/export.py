"""`paddock export`: write a recording in other formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from paddock.cli.progress import bar
from paddock.errors import PaddockError, unknown_name

if TYPE_CHECKING:
    from paddock.record.reader import RecordedRun

PLOTS = "plots"


def export(file: str, /, *, to: str, output: str | None = None, fleet: str | None = None) -> int:
    """Write a recording as a table (one row per vehicle and sample), or as plots.

    Parameters
    ----------
    file
        A recording (MCAP).
    to
        parquet, csv, json (an object per line), or plots (PNG files in a folder).
    output
        Output file, or folder for plots; default: next to the recording, with its name.
    fleet
        Only this fleet.
    """
    from paddock.record.export import FORMATS
    from paddock.record.reader import open_run

    if to not in (*FORMATS, PLOTS):
        raise unknown_name("format", to, (*FORMATS, PLOTS), "--to")
    with open_run(file) as run:
        path = Path(output) if output else _beside(file, to)
        if to == PLOTS:
            return _plots(run, path, fleet)
        return _table(run, to, path, fleet)


def _beside(file: str, to: str) -> Path:
    """Return run.csv for run.mcap, or the folder run_plots."""
    path = Path(file)
    return path.with_name(f"{path.stem}_{PLOTS}") if to == PLOTS else path.with_suffix(f".{to}")


def _table(run: RecordedRun, to: str, path: Path, fleet: str | None) -> int:
    from paddock.record.export import export as export_run

    if not path.parent.is_dir():
        raise PaddockError(f"cannot write {path}: folder {path.parent} does not exist")
    total = max(sum(layout.vehicles for layout in run.layouts[-1:]) * len(run), 1)
    with bar(f"writing {path}") as progress:
        rows = export_run(run, to, path, fleet, lambda done: progress(min(done / total, 1.0)))
    print(f"{path}: {rows:,} rows, {path.stat().st_size / 1e6:.2f} MB")
    return 0


def _plots(run: RecordedRun, folder: Path, fleet: str | None) -> int:
    from paddock.record.plots import plot

    for path in plot(run, folder, fleet):
        print(path)
    return 0
