"""Curves of a tyre property file: forces over slip at several loads, combined slip, peaks; saved as PNG."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from paddock.compute.twin import vectorised
from paddock.errors import InvalidValueError, PaddockError
from paddock.record.mission_report.map_figure import colour, dress, styled
from paddock.vehicles.parts.tyre_property import Coefficients, coefficients_of, property_forces, relaxation_lengths
from paddock.wire.tir import TirFile, read_tir

SLIPS = np.linspace(-0.35, 0.35, 281)
ANGLES_DEG = np.linspace(-20.0, 20.0, 281)
COMBINED_DEG = (0.0, 1.0, 2.0, 4.0, 7.0, 12.0)


def tyre_curves(
    path: str | os.PathLike[str], loads: tuple[float, ...] = (), camber_deg: float = 0.0, mu: float = 1.0
) -> dict[str, Any]:
    """Return the curves of a file: loads (N), slips, angles (rad), forces (N) by load, and the peaks at each load."""
    file = read_tir(Path(path))
    k = coefficients_of(file)
    chosen = loads or tuple(round(share * k.fnomin, 0) for share in (0.4, 0.7, 1.0, 1.3, 1.6))
    for load in chosen:
        if not 0.0 < load <= 1e6:
            raise InvalidValueError(f"--loads: a load must lie in 0 to 1e+06 N, not {load:g}")
    if not -90.0 < camber_deg < 90.0:
        raise InvalidValueError(f"--camber-deg must lie in -90 to 90 degrees, not {camber_deg:g}")
    angles, camber = np.radians(ANGLES_DEG), float(np.radians(camber_deg))
    along = {load: _forces(SLIPS, 0.0 * SLIPS, load, camber, mu, k)[0] for load in chosen}
    across = {load: _forces(0.0 * angles, angles, load, camber, mu, k)[1] for load in chosen}
    combined = {
        degrees: _forces(SLIPS, np.full_like(SLIPS, np.radians(degrees)), k.fnomin, camber, mu, k)
        for degrees in COMBINED_DEG
    }
    peaks = [
        {
            "load": load,
            "mu_x": float(np.abs(along[load]).max() / load),
            "mu_y": float(np.abs(across[load]).max() / load),
            "kappa_peak": float(abs(SLIPS[np.abs(along[load]).argmax()])),
            "alpha_peak_deg": float(abs(ANGLES_DEG[np.abs(across[load]).argmax()])),
            "cornering_stiffness": float(abs(np.gradient(across[load], angles)[len(angles) // 2])),
        }
        for load in chosen
    ]
    x, y = relaxation_lengths(file, k)
    return {
        "file": file, "loads": chosen, "along": along, "across": across, "combined": combined, "peaks": peaks,
        "relaxation_longitudinal": x, "relaxation_lateral": y,
    }  # fmt: skip


def _forces(slips: Any, angles: Any, load: float, camber: float, mu: float, k: Coefficients) -> tuple[Any, Any]:
    shape = np.zeros_like(slips)
    found = vectorised(property_forces)(slips, angles, load + shape, camber + shape, mu + shape, k)
    return found.along, found.across


COLUMNS = {  # of the table: heading, key and format
    "load N": ("load", "8.0f"),
    "mu_x": ("mu_x", "6.3f"),
    "mu_y": ("mu_y", "6.3f"),
    "kappa_peak": ("kappa_peak", "10.3f"),
    "alpha_peak deg": ("alpha_peak_deg", "14.2f"),
    "stiffness N/rad": ("cornering_stiffness", "15.0f"),
}


def peaks_table(curves: dict[str, Any]) -> str:
    """Return the peaks at each load as a table, and the relaxation lengths below it."""
    widths = [int(form.partition(".")[0]) for _, form in COLUMNS.values()]
    lines = ["  ".join(f"{heading:>{width}}" for heading, width in zip(COLUMNS, widths, strict=True))]
    lines += ["  ".join(f"{row[key]:{form}}" for key, form in COLUMNS.values()) for row in curves["peaks"]]
    lengths = (("longitudinal", curves["relaxation_longitudinal"]), ("lateral", curves["relaxation_lateral"]))
    known = ", ".join(f"{name} {length:.3f} m" if length else f"{name} not given" for name, length in lengths)
    return "\n".join([*lines, f"relaxation lengths at the nominal load: {known}"])


def plot_tyre(curves: dict[str, Any], output: str | os.PathLike[str]) -> Path:
    """Draw the curves into one PNG file; needs the extra `plots`."""
    file: TirFile = curves["file"]
    target = Path(output)
    with styled() as figure_class:
        figure = figure_class(figsize=(12.0, 4.6), dpi=140, layout="constrained")
        left, middle, right = figure.subplots(1, 3)
        for at, load in enumerate(curves["loads"]):
            left.plot(SLIPS, curves["along"][load] / 1e3, color=colour(at), label=f"{load / 1e3:g} kN")
            middle.plot(ANGLES_DEG, curves["across"][load] / 1e3, color=colour(at), label=f"{load / 1e3:g} kN")
        for at, (degrees, (along, across)) in enumerate(curves["combined"].items()):
            right.plot(along / 1e3, across / 1e3, color=colour(at), label=f"{degrees:g}°")
        version = f"MF {file.version / 10:.1f}"
        dress(left, "Longitudinal force, kN", version)
        dress(middle, "Lateral force, kN", Path(file.name).name)
        dress(right, "Combined slip, kN", "at the nominal load")
        left.set_xlabel("slip ratio")
        middle.set_xlabel("slip angle, degrees (sign of the file)")
        right.set_xlabel("longitudinal force, kN")
        right.set_aspect("equal", adjustable="datalim")
        left.legend(title="load", frameon=False)
        right.legend(title="slip angle", loc="upper center", ncols=3, frameon=False)
        try:
            figure.savefig(target)
        except OSError as error:
            raise PaddockError(f"cannot write {target}: {error.strerror or error}") from None
    return target
