"""`paddock export`: a recording in formats that other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from paddock.cli.progress import bar
from paddock.errors import PaddockError, unknown_name

if TYPE_CHECKING:
    from paddock.record.reader import Run

PLOTS = "plots"


def export(file: str, /, *, to: str, output: str | None = None, fleet: str | None = None) -> int:
    """Write a recorded run as a table (a row for each vehicle and sample), or as plots.

    Parameters
    ----------
    file
        A recording (MCAP).
    to
        parquet, csv, json (an object per line), or plots (PNG files in a folder).
    output
        The file to write, or the folder for plots; by default beside the recording, named like it.
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
    """run.mcap -> run.csv, or the folder run_plots."""
    path = Path(file)
    return path.with_name(f"{path.stem}_{PLOTS}") if to == PLOTS else path.with_suffix(f".{to}")


def _table(run: Run, to: str, path: Path, fleet: str | None) -> int:
    from paddock.record.export import export as export_run

    if not path.parent.is_dir():
        raise PaddockError(f"cannot write {path}: there is no folder {path.parent}")
    total = max(sum(layout.vehicles for layout in run.layouts[-1:]) * len(run), 1)
    with bar(f"writing {path}") as told:
        rows = export_run(run, to, path, fleet, lambda done: told(min(done / total, 1.0)))
    print(f"{path}: {rows:,} rows, {path.stat().st_size / 1e6:.2f} MB")
    return 0


def _plots(run: Run, folder: Path, fleet: str | None) -> int:
    from paddock.record.plots import plot

    for path in plot(run, folder, fleet):
        print(path)
    return 0
