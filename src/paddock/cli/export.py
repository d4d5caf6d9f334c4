"""`paddock export`: write a recording in other formats."""

from pathlib import Path

from paddock.cli.progress import bar
from paddock.errors import PaddockError, unknown_name

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
    from paddock.record import open_run
    from paddock.record.export import FORMATS
    from paddock.record.export import export as export_run
    from paddock.record.plots import plot

    if to not in (*FORMATS, PLOTS):
        raise unknown_name("format", to, (*FORMATS, PLOTS), "--to")
    source = Path(file)
    default = source.with_name(f"{source.stem}_{PLOTS}") if to == PLOTS else source.with_suffix(f".{to}")
    path = Path(output) if output else default
    with open_run(file) as run:
        if to == PLOTS:
            print("\n".join(map(str, plot(run, path, fleet))))
            return 0
        if not path.parent.is_dir():
            raise PaddockError(f"cannot write {path}: folder {path.parent} does not exist")
        total = max(sum(layout.vehicles for layout in run.layouts[-1:]) * len(run), 1)
        with bar(f"writing {path}") as progress:
            rows = export_run(run, to, path, fleet, lambda done: progress(min(done / total, 1.0)))
    print(f"{path}: {rows:,} rows, {path.stat().st_size / 1e6:.2f} MB")
    return 0
