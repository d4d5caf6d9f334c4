"""`paddock radio`: budgets of links; fit radio maps to samples, query them, and draw coverage."""

from __future__ import annotations

import json as json_format
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import App, Parameter

from paddock.cli.options import Flag
from paddock.cli.summary import counted
from paddock.errors import PaddockError
from paddock.world.columns import Floats
from paddock.world.solids import BOX, HIGH, LOW, SHAPE

if TYPE_CHECKING:
    from paddock.radio.maps import MapValues, RadioMap
    from paddock.radio.maps.fitting import HeatMap

HEIGHT = 2.0  # m above the ground
AROUND = 600.0  # m around the stations of a scenario
LARGEST = 1e7  # of coordinates (m) and levels (dB) that are given
CELLS = 200  # of a picture, along its longer side
SHOWN = 20  # points that are printed
MAP_SUFFIX = ".npz"

Area = tuple[float, float, float, float]  # x0, y0, x1, y1 in m
Signed = Annotated[float, Parameter(allow_leading_hyphen=True)]
SignedText = Annotated[str | None, Parameter(allow_leading_hyphen=True)]
OutFile = Annotated[str | None, Parameter(name=("--out", "-o"))]

radio = App(name="radio", help="Budgets of links; fit radio maps to samples, query them, draw coverage.")


@radio.command
def link(
    scenario: str,
    source: str,
    to: str,
    /,
    *,
    after: Signed = 0.0,
    json: Flag = False,
) -> int:
    """Show the budget of a link: every gain and loss from the transmitter to the packets that arrive.

    Parameters
    ----------
    scenario
        A scenario file, or the name of a demo.
    source
        The vehicle or station that transmits: red, scouts[3], base; red/1 is its second radio.
    to
        The vehicle or station that receives.
    after
        Run for this long first, in s of simulated time.
    json
        Print only a JSON object.
    """
    from paddock import load
    from paddock.cli.summary import neglected_lines

    if not (isfinite(after) and after >= 0.0):
        raise PaddockError(f"--after must be a number >= 0 in s, not {after:g}")
    with load(scenario) as sim:
        if after > 0.0:
            sim.run(until=after, pace=0)
        budget, neglected = sim.radio.link(source, to), sim.radio.report().neglected
    print(json_format.dumps(budget._asdict()) if json else budget)
    for line in () if json else neglected_lines(neglected):
        print(line.strip())
    return 0


@radio.command
def fit(
    samples: str,
    /,
    *,
    out: OutFile = None,
    transmitter: SignedText = None,
    frequency: float | None = None,
    folds: int = 5,
    seed: int = 0,
    json: Flag = False,
) -> int:
    """Fit a map of received power to samples; print its error on held-out samples.

    Parameters
    ----------
    samples
        A CSV or Parquet file with the columns x, y, z (m), dbm and, optionally, weight.
    out
        Output file (.npz); by default the samples' name with this ending, in the current folder.
    transmitter
        Position x,y,z in m; by default it is estimated.
    frequency
        Frequency in Hz: with it, the power of the transmitter is estimated.
    folds
        Parts of the cross-validation: each is predicted from the others. 0: without.
    seed
        Seed of the fit: the order in which samples are considered.
    json
        Print only a JSON object.
    """
    from paddock.radio.maps import cross_validate, fit_map, least_places, places_of, read_samples

    _check_fit(folds, frequency, seed)
    at = None if transmitter is None else _point(transmitter, "--transmitter")
    named = f"{Path(samples).stem or 'map'}{MAP_SUFFIX}"
    target = _output(Path(named if out is None else out), MAP_SUFFIX, "a map is an")
    measured = read_samples(samples)
    fit = fit_map(measured, at, float("nan") if frequency is None else frequency, seed)
    held_out = cross_validate(measured, at, folds, seed)[0] if folds else float("nan")
    fit.map.save(target)
    x, y, z = fit.map.transmitter.tolist()
    tree: dict[str, Any] = {
        "map": str(target.resolve()),
        "samples": len(measured.dbm),
        "places": int(places_of(measured).max()) + 1,
        "places_needed": least_places(folds) if folds else 0,
        "splats": fit.map.splats,
        "seconds": round(fit.seconds, 3),
        "held_out_error": held_out if isfinite(held_out) else None,
        "folds": folds,
        "leave_one_out_error": fit.leave_one_out,
        "transmitter": [x, y, z],
        "transmitter_given": at is not None,
        "exponent": fit.map.exponent,
    }
    if frequency is not None:
        tree["eirp"] = _eirp(fit.map, frequency)
    print(json_format.dumps(tree, indent=2) if json else "\n".join(_fit_lines(tree)))
    return 0


def _check_fit(folds: int, frequency: float | None, seed: int) -> None:
    """Refuse values that no fit can use."""
    if folds not in (0, *range(2, 51)):
        raise PaddockError(f"--folds must be 0 or within 2..50, not {folds}")
    if frequency is not None and not (isfinite(frequency) and frequency > 0.0):
        raise PaddockError(f"--frequency must be a number > 0 in Hz, not {frequency:g}")
    if seed < 0:
        raise PaddockError(f"--seed must be >= 0, not {seed}")


def _output(target: Path, suffix: str, what: str) -> Path:
    """Return the file to write; PaddockError for another ending or a folder that does not exist."""
    if target.suffix.lower() != suffix:
        raise PaddockError(f"--out {target}: {what} {suffix} file")
    if not target.parent.is_dir():
        raise PaddockError(f"cannot write {target}: folder {target.parent} does not exist")
    return target


def _fit_lines(tree: dict[str, Any]) -> list[str]:
    x, y, z = tree["transmitter"]
    held = tree["held_out_error"]
    if held is not None:
        error = f"{held:.2f} dB rms ({tree['folds']}-fold cross-validation)"
    elif tree["folds"]:
        places = counted(tree["places"], "place")
        error = f"unknown: samples at {places}; a cross-validation needs {tree['places_needed']}"
    else:
        error = "not computed"
    rows = {
        "map": tree["map"],
        "samples": f"{tree['samples']:,} at {counted(tree['places'], 'place')}",
        "splats": f"{tree['splats']:,}",
        "held-out error": error,
        "fit": f"{tree['seconds']:.1f} s",
        "transmitter": f"{x:.1f}, {y:.1f}, {z:.1f} m{'' if tree['transmitter_given'] else ' (estimated)'}",
        "path loss": f"exponent {tree['exponent']:.2f}",
    }
    if "eirp" in tree:
        rows["radiated power"] = f"{tree['eirp']:.1f} dBm (EIRP, estimated)"
    return [f"{name:<15} {value}" for name, value in rows.items()]


def _eirp(radio_map: RadioMap, frequency: float) -> float:
    """Return the radiated power (dBm) whose free-space loss at 1 m gives the prior's level there."""
    from math import log10, pi

    from paddock.radio.physics.propagation import LIGHT

    return float(radio_map.file.prior[0]) + 20.0 * log10(4.0 * pi * frequency / LIGHT)


@radio.command
def query(
    map_file: str,
    /,
    *,
    at: Annotated[list[str] | None, Parameter(allow_leading_hyphen=True, negative="")] = None,
    points: str | None = None,
    json: Flag = False,
) -> int:
    """Print received power, gradient and uncertainty of a map at points.

    Parameters
    ----------
    map_file
        A map of `paddock radio fit` (.npz).
    at
        A point x,y,z in m; repeatable.
    points
        A CSV or Parquet file with the columns x, y, z.
    json
        Print a JSON object for each point.
    """
    from paddock.radio.maps import load_map
    from paddock.radio.maps.samples import read_points

    if (at is None) == (points is None):
        raise PaddockError("give the points with --at x,y,z or with --points FILE")
    if Path(map_file).suffix.lower() in (".csv", ".parquet", ".pq"):
        raise PaddockError(f"{map_file}: not a radio map (.npz): `paddock radio fit` makes a map of samples")
    radio_map = load_map(map_file)
    places = np.array([_point(text, "--at") for text in at or []]) if points is None else read_points(points)
    values = radio_map.query(places)
    if json:
        print("\n".join(_objects(places, values)))
        return 0
    print(f"{'x':>10} {'y':>10} {'z':>8} {'dBm':>8} {'+-dB':>6} {'d/dx':>8} {'d/dy':>8} {'d/dz':>8}  dB/m")
    for k in range(min(len(places), SHOWN)):
        x, y, z = places[k].tolist()
        gx, gy, gz = values.gradient[k].tolist()
        print(
            f"{x:10.2f} {y:10.2f} {z:8.2f} {values.power[k]:8.2f} {values.deviation[k]:6.2f} "
            f"{gx:8.3f} {gy:8.3f} {gz:8.3f}"
        )
    if len(places) > SHOWN:
        print(f"({len(places) - SHOWN:,} more: use --json)")
    return 0


def _objects(places: Floats, values: MapValues) -> list[str]:
    rows = zip(places.tolist(), values.power.tolist(), values.deviation.tolist(), values.gradient.tolist(), strict=True)
    return [
        json_format.dumps({"position": position, "dbm": dbm, "deviation": deviation, "gradient": gradient})
        for position, dbm, deviation, gradient in rows
    ]


@radio.command
def coverage(
    source: str,
    /,
    *,
    height: Signed | None = None,
    out: OutFile = None,
    threshold: Signed | None = None,
    area: SignedText = None,
    station: str | None = None,
    receiver: str | None = None,
    sinr: Flag = False,
    json: Flag = False,
) -> int:
    """Draw received power at a height as a heat map with contour lines; jammers are marked.

    Parameters
    ----------
    source
        A map of `paddock radio fit` (.npz), or a scenario: then the power of its best station.
    height
        Height of the picture in m: above the ground of a scenario, by default 2; above the origin of a map, by default
        the median height of its samples.
    out
        Output file (PNG); by default the name of the source with this ending, in the current folder.
    threshold
        Power in dBm (SINR in dB): a line where it is reached, and the share of the area above it.
    area
        Rectangle x0,y0,x1,y1 in m; by default that of the samples, or 600 m around the stations.
    station
        Of a scenario: only this station.
    receiver
        Of a scenario: a fleet, vehicle or station with the radio of the receiver; by default the first fleet.
    sinr
        Of a scenario: draw the SINR against noise, interference of stations and jammers.
    json
        Print a JSON object with the figures.
    """
    from paddock.radio.maps.fitting import draw_coverage

    for name, value, unit in (("--height", height, "m"), ("--threshold", threshold, "dBm")):
        if value is not None and not abs(value) <= LARGEST:
            raise PaddockError(f"{name} must be a number in {unit}, at most {LARGEST:g}, not {value}")
    box = None if area is None else _area(area)
    target = _output(Path(f"{Path(source).stem or 'coverage'}.png" if out is None else out), ".png", "a picture is a")
    if Path(source).suffix.lower() in (".csv", ".parquet", ".pq"):
        raise PaddockError(
            f"{source}: coverage takes a map (.npz) or a scenario; `paddock radio fit` makes a map of it"
        )
    if not source.lower().endswith(MAP_SUFFIX):
        grid = _scenario_grid(source, HEIGHT if height is None else height, box, station, receiver, sinr)
    elif station is not None or receiver is not None or sinr:
        raise PaddockError("--station, --receiver and --sinr are for scenarios")
    else:
        grid = _map_grid(source, height, box)
    draw_coverage(grid, target, f"{Path(source).stem} · {grid.quantity} at {grid.height:g} m", threshold)
    _print_coverage(grid, target, threshold, json)
    return 0


def _print_coverage(grid: HeatMap, target: Path, threshold: float | None, json: bool) -> None:
    """Print the least and the largest value of a picture, and the share above the threshold."""
    low, high = float(grid.values.min()), float(grid.values.max())
    share = None if threshold is None else grid.covered(threshold)
    if json:
        tree = {"picture": str(target.resolve()), "height": grid.height, "least": low, "most": high, "covered": share}
        print(json_format.dumps(tree))
        return
    reached = "" if share is None else f", {100.0 * share:.1f} % at {threshold:g} {grid.unit} or more"
    print(f"{target.resolve()}: {grid.quantity} at {grid.height:g} m, {low:.1f} to {high:.1f} {grid.unit}{reached}")


def _map_grid(source: str, height: float | None, area: Area | None) -> HeatMap:
    """Return a map over a rectangle at a height, with the samples near that height."""
    from paddock.radio.maps import load_map
    from paddock.radio.maps.fitting import HeatMap

    radio_map = load_map(source)
    samples = radio_map.file.samples.astype(np.float64)
    if height is None:
        height = round(float(np.median(samples[:, 2])), 1) if len(samples) else HEIGHT
    x, y, places = _cells(area or _box(samples if len(samples) else radio_map.file.splats))
    values = radio_map.query(np.column_stack([places, np.full(len(places), height)])).power.reshape(len(y), len(x))
    near = samples
    if len(samples):
        within = max(2.0, 0.05 * float(np.ptp(samples[:, 2])))
        near = samples[np.abs(samples[:, 2] - height) <= within]
    tx, ty, _ = radio_map.transmitter.tolist()
    known = radio_map.file.given
    mark = ("transmitter" if known else "transmitter (estimated)", tx, ty, "station" if known else "estimate")
    return HeatMap(x, y, values, height, samples=near, marks=[mark])


def _scenario_grid(
    source: str,
    height: float,
    area: Area | None,
    station: str | None,
    receiver: str | None,
    sinr: bool,
) -> HeatMap:
    """Return the power, or the SINR, of a scenario's best station over a rectangle at a height."""
    from paddock.engine.simulation import Simulation
    from paddock.radio.maps.fitting import HeatMap
    from paddock.scenario import load_scenario

    scenario = load_scenario(source)
    stations = () if scenario.radio is None else scenario.radio.stations
    if area is None:
        near = np.array([known.position for known in stations] or [(0.0, 0.0, 0.0)])
        low, high = near[:, :2].min(axis=0) - AROUND, near[:, :2].max(axis=0) + AROUND
        area = (*low.tolist(), *high.tolist())
    x, y, places = _cells(area)
    with Simulation(scenario) as sim:
        ground = sim.engine.world.heights
        levels = sim.radio.levels(np.column_stack([places, ground(*places.T) + height]), station, receiver)
        scenery = sim.engine.world.scenery
        shown = [view for view in sim.radio.stations if station in (None, view.name)]
        marks = [(view.name, *view.position[:2], "station") for view in shown]
        jammers = [(view.name, view.position) for view in sim.radio.jammers()]
        marks += [(name, *position[:2], "jammer") for name, position in jammers if position is not None]
        outlines = []
        if scenery is not None:
            solids = scenery.obstacles.table
            at = ground(*solids[:, :2].T) + height
            reaching = np.flatnonzero((solids[:, SHAPE] == BOX) & (solids[:, LOW] <= at) & (at < solids[:, HIGH]))
            outlines = [scenery.obstacles.outline(int(k)) for k in reaching]
    values = (levels.sinr if sinr else levels.power).reshape(len(y), len(x))
    what = ("SINR", "dB") if sinr else ("received power", "dBm")
    return HeatMap(x, y, values, height, *what, marks=marks, outlines=outlines)


def _box(places: Floats) -> Area:
    """Return the rectangle of places (n, 2 or more) with a margin."""
    low, high = places[:, :2].min(axis=0), places[:, :2].max(axis=0)
    margin = np.maximum(0.03 * (high - low).max(), 1.0)
    return (*(low - margin).tolist(), *(high + margin).tolist())


def _cells(area: Area) -> tuple[Floats, Floats, Floats]:
    """Return the coordinates of the columns and of the rows of square cells, and the middles (n, 2) of all cells."""
    x0, y0, x1, y1 = area
    cell = max(x1 - x0, y1 - y0) / CELLS
    x, y = (np.linspace(a, b, max(2, round((b - a) / cell) + 1)) for a, b in ((x0, x1), (y0, y1)))
    return x, y, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def _numbers(text: str, count: int, option: str, form: str) -> tuple[float, ...]:
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if len(values) != count or not all(abs(value) <= LARGEST for value in values):
        raise PaddockError(f"{option} takes {form} in m, each within +-{LARGEST:g}, not {text!r:.60}")
    return values


def _point(text: str, option: str) -> Any:
    return np.array(_numbers(text, 3, option, "x,y,z"))


def _area(text: str) -> Area:
    x0, y0, x1, y1 = _numbers(text, 4, "--area", "x0,y0,x1,y1")
    if not (x0 < x1 and y0 < y1):
        raise PaddockError(f"--area takes x0,y0,x1,y1 with x0 < x1 and y0 < y1, not {text!r}")
    return x0, y0, x1, y1
