"""`paddock export`: write a recording in other formats, a vehicle model as an FMU, or the curves of a tyre."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from paddock.cli.options import Flag
from paddock.cli.progress import bar
from paddock.errors import PaddockError, UnknownNameError, unknown_name

PLOTS = "plots"
CAR = "car.bicycle"  # the model of a car that is given by its preset alone

export = App(name="export", help="Export a recording (Parquet, CSV, JSON, plots), a model (FMU), or a tyre's curves.")


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
def fmu(
    vehicle: str, /, *, model: str | None = None, preset: str | None = None, output: str | None = None, fmi: int = 2
) -> int:
    """Write a vehicle model as an FMU for co-simulation in other tools, compiled and with its C source.

    Parameters
    ----------
    vehicle
        A model, e.g. car.bicycle or quad; or a car's preset, e.g. sports.
    model
        The model of a preset; default: car.bicycle.
    preset
        The parameters of a model, e.g. sedan; default: the model's first preset.
    output
        Output file; default: the names of model and preset, in the current folder.
    fmi
        Version of FMI: 2 or 3.
    """
    from paddock.engine.build import parameter_values
    from paddock.engine.fleets import read_entry
    from paddock.scenario import preset_names
    from paddock.vehicles.fmu.export import VERSIONS, export_fmu
    from paddock.vehicles.model import find_model, model_names

    if fmi not in VERSIONS:
        raise PaddockError(f"--fmi is 2 or 3, not {fmi}")
    if model is None and preset is None and vehicle in preset_names(CAR):
        model = CAR
    if model is not None:
        if preset is not None:
            raise PaddockError(f"{vehicle!r} is the preset of --model {model}: leave out --preset")
        preset = vehicle
    name = model or vehicle
    entry = read_entry({"name": "exported", "model": name, **({} if preset is None else {"preset": preset})})
    try:
        vehicle_model = find_model(name)
    except UnknownNameError:
        names = (*model_names(), *(() if model else preset_names(CAR)))
        raise unknown_name("model" if model else "model or preset of a car", name, names) from None
    values = parameter_values(vehicle_model, entry, lambda *path: f"--{path[0]}")
    path = Path(output or "_".join(filter(None, (name, preset))) + ".fmu")
    export_fmu(vehicle_model, values, path, fmi)
    print(f"{path}: FMI {fmi}.0, {path.stat().st_size / 1e3:.0f} kB")
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
    from paddock.record.plots import peaks_table, plot_tyre, tyre_curves

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
