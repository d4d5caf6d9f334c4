"""`paddock export`: write a recording in other formats, or the curves of a tyre."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from paddock.cli.options import Flag
from paddock.cli.progress import bar
from paddock.errors import PaddockError, unknown_name

PLOTS = "plots"

export = App(name="export", help="Export a recording as Parquet, CSV, JSON or plots, or the curves of a tyre.")


@export.default
def export_recording(file: str, /, *, to: str, output: str | None = None, fleet: str | None = None) -> int:
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


@export.command
def tyre(
    file: str,
    /,
    *,
    output: str | None = None,
    loads: Annotated[tuple[float, ...], Parameter(consume_multiple=True)] = (),
    camber_deg: float = 0.0,
    json: Flag = False,
) -> int:
    """Print the peaks of a tyre property file, and draw its curves.

    Parameters
    ----------
    file
        A tyre property file (.tir) of the magic formula 5.2 or 6.1.
    output
        PNG file; default: next to the file, with its name.
    loads
        Loads in N, e.g. --loads 2000 4000; default: 0.4 to 1.6 of the nominal load.
    camber_deg
        Camber in degrees, with the sign of the file.
    json
        Print JSON; a picture is drawn only with --output.
    """
    from paddock.record.tyre_curves import peaks_table, plot_tyre, tyre_curves

    curves = tyre_curves(file, loads, camber_deg)
    if json:
        from json import dumps

        lengths = {name: curves[name] for name in ("relaxation_longitudinal", "relaxation_lateral")}
        print(
            dumps({"file": file, "version": curves["file"].version / 10, "peaks": curves["peaks"], **lengths}, indent=2)
        )
    else:
        print(peaks_table(curves))
    if output or not json:
        path = plot_tyre(curves, output or Path(file).with_suffix(".png"))
        if not json:
            print(path)
    return 0
