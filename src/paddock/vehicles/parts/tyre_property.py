"""Tyres of property files: the magic formula 5.2 and 6.1 with combined slip, camber, load and inflation pressure.

`property_tyre` is a tyre like those of tyre.py. Its coefficients are a module global that `tyre_of_text` binds to those
of a file, so that they are constants of the compiled kernel. Cars use the tyre without its asymmetries (conicity, ply
steer), because one function serves both sides; `property_forces` has them.
"""

from collections.abc import Mapping
from functools import lru_cache
from math import copysign
from typing import NamedTuple

from paddock.compute.math import absolute, atan, clamp, cos, exp, maximum, minimum, select, sign, sin
from paddock.compute.twin import bound, shared_code
from paddock.vehicles.model import Fitting
from paddock.vehicles.parts.car import Parameters
from paddock.vehicles.parts.tyre import Peaks, TyreForce, magic_formula, magic_peak, magic_peaks, magic_tyre
from paddock.wire.tir import TirError, TirFile, parse_tir
from paddock.world.columns import columns_of

LEAST_LOAD = 1.0  # N: the stiffness per load of a wheel in the air


class Coefficients(NamedTuple):
    """Coefficients by their names in property files; the defaults switch a term off, scaling factors are applied."""

    # fmt: off
    fnomin: float = 4000.0
    fzmin: float = 0.0
    fzmax: float = 1e6
    kpumax: float = 1.5
    alpmax: float = 1.5
    side: float = -1.0  # 1: a positive slip angle (wheel points left of its course) gives a force to the left
    pcx1: float = 1.65
    pdx1: float = 1.0
    pdx2: float = 0.0
    pdx3: float = 0.0
    pex1: float = 0.0
    pex2: float = 0.0
    pex3: float = 0.0
    pex4: float = 0.0
    pkx1: float = 20.0
    pkx2: float = 0.0
    pkx3: float = 0.0
    phx1: float = 0.0
    phx2: float = 0.0
    pvx1: float = 0.0
    pvx2: float = 0.0
    rbx1: float = 0.0
    rbx2: float = 0.0
    rbx3: float = 0.0
    rcx1: float = 0.0
    rex1: float = 0.0
    rex2: float = 0.0
    rhx1: float = 0.0
    pcy1: float = 1.3
    pdy1: float = 1.0
    pdy2: float = 0.0
    pdy3: float = 0.0
    pey1: float = 0.0
    pey2: float = 0.0
    pey3: float = 0.0
    pey4: float = 0.0
    pey5: float = 0.0
    pky1: float = -15.0
    pky2: float = 1.5
    pky3: float = 0.0
    pky4: float = 2.0
    pky5: float = 0.0
    pky6: float = 0.0
    pky7: float = 0.0
    phy1: float = 0.0
    phy2: float = 0.0
    phy3: float = 0.0
    pvy1: float = 0.0
    pvy2: float = 0.0
    pvy3: float = 0.0
    pvy4: float = 0.0
    rby1: float = 0.0
    rby2: float = 0.0
    rby3: float = 0.0
    rby4: float = 0.0
    rcy1: float = 0.0
    rey1: float = 0.0
    rey2: float = 0.0
    rhy1: float = 0.0
    rhy2: float = 0.0
    rvy1: float = 0.0
    rvy2: float = 0.0
    rvy3: float = 0.0
    rvy4: float = 0.0
    rvy5: float = 0.0
    rvy6: float = 0.0
    # fmt: on


COEFFICIENTS = Coefficients()


class Curve(NamedTuple):
    """One direction of the magic formula at a load: stiffness, shape, peak (N) and curvature, and its shifts."""

    b: float
    c: float
    d: float
    e: float
    shift: float  # of the slip
    lift: float  # of the force, N


def curve_along(load: float, camber: float, mu: float, slip_ratio: float, k: Coefficients) -> Curve:
    """Return the longitudinal curve; `mu` is a factor on the file's friction."""
    weight, df = maximum(load, LEAST_LOAD), _load_change(load, k)
    peak = mu * (k.pdx1 + k.pdx2 * df) * (1.0 - k.pdx3 * camber * camber) * weight
    stiffness = weight * (k.pkx1 + k.pkx2 * df) * exp(k.pkx3 * df)
    shift = k.phx1 + k.phx2 * df
    e = (k.pex1 + k.pex2 * df + k.pex3 * df * df) * (1.0 - k.pex4 * sign(slip_ratio + shift))
    b = stiffness / maximum(k.pcx1 * peak, 1e-9)
    return Curve(b, k.pcx1, peak, minimum(e, 1.0), shift, mu * weight * (k.pvx1 + k.pvx2 * df))


def curve_across(load: float, camber: float, mu: float, angle: float, k: Coefficients) -> Curve:
    """Return the lateral curve for a slip angle (rad) with the sign of the file."""
    weight, df = maximum(load, LEAST_LOAD), _load_change(load, k)
    peak = mu * (k.pdy1 + k.pdy2 * df) * (1.0 - k.pdy3 * camber * camber) * weight
    bend = k.pky4 * atan(weight / k.fnomin / (k.pky2 + k.pky5 * camber * camber))
    stiffness = k.pky1 * k.fnomin * (1.0 - k.pky3 * absolute(camber)) * sin(bend)
    from_camber = mu * weight * (k.pvy3 + k.pvy4 * df) * camber
    safe = select(absolute(stiffness) < 1e-9, 1e-9, stiffness)
    leaned = select(
        k.pky6 + k.pky7 == 0.0, k.phy3 * camber, (weight * (k.pky6 + k.pky7 * df) * camber - from_camber) / safe
    )
    shift = k.phy1 + k.phy2 * df + leaned
    turns = sign(angle + shift)
    e = (k.pey1 + k.pey2 * df) * (1.0 + k.pey5 * camber * camber - (k.pey3 + k.pey4 * camber) * turns)
    product = k.pcy1 * peak
    b = stiffness / select(absolute(product) < 1e-9, 1e-9, product)
    lift = mu * weight * (k.pvy1 + k.pvy2 * df) + from_camber
    return Curve(b, k.pcy1, peak, minimum(e, 1.0), shift, lift)


def property_forces(
    slip_ratio: float, angle: float, load: float, camber: float, mu: float, k: Coefficients
) -> TyreForce:
    """Return the forces (N) in the axes of the file, for a slip angle and a camber (rad) with its signs."""
    df = _load_change(load, k)
    kappa, alpha = clamp(slip_ratio, -k.kpumax, k.kpumax), clamp(angle, -k.alpmax, k.alpmax)
    x, y = curve_along(load, camber, mu, kappa, k), curve_across(load, camber, mu, alpha, k)
    pure_x = magic_formula(kappa + x.shift, x.b, x.c, x.d, x.e) + x.lift
    pure_y = magic_formula(alpha + y.shift, y.b, y.c, y.d, y.e) + y.lift
    square = camber * camber
    bx = (k.rbx1 + k.rbx3 * square) * cos(atan(k.rbx2 * kappa))
    weaker_x = _weighting(alpha, k.rhx1, bx, k.rcx1, minimum(k.rex1 + k.rex2 * df, 1.0))
    by = (k.rby1 + k.rby4 * square) * cos(atan(k.rby2 * (alpha - k.rby3)))
    weaker_y = _weighting(kappa, k.rhy1 + k.rhy2 * df, by, k.rcy1, minimum(k.rey1 + k.rey2 * df, 1.0))
    induced = (
        y.d * (k.rvy1 + k.rvy2 * df + k.rvy3 * camber) * cos(atan(k.rvy4 * alpha)) * sin(k.rvy5 * atan(k.rvy6 * kappa))
    )
    up = select(load > 0.0, 1.0, 0.0)
    return TyreForce(up * weaker_x * pure_x, up * (weaker_y * pure_y + induced))


def _load_change(load: float, k: Coefficients) -> float:
    return (clamp(load, k.fzmin, k.fzmax) - k.fnomin) * (1.0 / k.fnomin)


def _weighting(slip: float, shift: float, b: float, c: float, e: float) -> float:
    """Return the share of the pure force that slip in the other direction leaves."""
    return _cosine(b * (slip + shift), c, e) / maximum(_cosine(b * shift, c, e), 1e-3)


def _cosine(bs: float, c: float, e: float) -> float:
    return cos(c * atan(bs - e * (bs - atan(bs))))


def property_tyre(slip_ratio: float, slip: float, load: float, mu: float, p: Parameters) -> TyreForce:
    """Return the force of the bound file's tyre on the car."""
    k = COEFFICIENTS
    force = property_forces(slip_ratio, k.side * atan(slip), load, 0.0 * slip, mu / maximum(p.tyre_mu, 1e-9), k)
    return TyreForce(force.along, force.across)


@shared_code
def property_peaks(load: float, mu: float, p: Parameters) -> Peaks:
    """Return the peaks of the bound file's tyre."""
    k, factor = COEFFICIENTS, mu / maximum(p.tyre_mu, 1e-9)
    x = curve_along(load, 0.0 * load, factor, 0.0 * load, k)
    y = curve_across(load, 0.0 * load, factor, 0.0 * load, k)
    top, alpha = magic_peak(absolute(y.b), y.c, y.e)
    along, kappa = magic_peak(x.b, x.c, x.e)
    per_load = 1.0 / maximum(load, LEAST_LOAD)
    return Peaks(absolute(y.d) * top * per_load, alpha, kappa, absolute(x.d) * along * per_load)


# from a file ---------------------------------------------------------------------------------------------------------

LONG, LAT, SCALES = "LONGITUDINAL_COEFFICIENTS", "LATERAL_COEFFICIENTS", "SCALING_COEFFICIENTS"
SCALED = {  # scaling factor -> coefficients that it multiplies
    "LCX": ("pcx1",), "LMUX": ("pdx1", "pdx2", "pvx1", "pvx2"), "LEX": ("pex1", "pex2", "pex3"),
    "LKX": ("pkx1", "pkx2"), "LHX": ("phx1", "phx2"), "LVX": ("pvx1", "pvx2"), "LXAL": ("rbx1", "rbx3"),
    "LCY": ("pcy1",), "LMUY": ("pdy1", "pdy2", "pvy1", "pvy2", "pvy3", "pvy4"), "LEY": ("pey1", "pey2"),
    "LKY": ("pky1",), "LHY": ("phy1", "phy2"), "LVY": ("pvy1", "pvy2"), "LYKA": ("rby1", "rby4"),
    "LVYKA": ("rvy1", "rvy2", "rvy3"), "LKYC": ("pky6", "pky7", "pvy3", "pvy4"), "LFZO": ("fnomin",),
}  # fmt: skip
ASYMMETRIC = (
    "phx1", "phx2", "pvx1", "pvx2", "pex4", "phy1", "phy2", "pvy1", "pvy2", "pey3", "rhx1", "rby3", "rhy1", "rhy2",
)  # fmt: skip
"""Coefficients that make left and right, or driving and braking, different; 0 for cars."""
INDUCED = ("rvy1", "rvy2", "rvy3")  # ply-steer of driving and braking


def coefficients_of(file: TirFile, symmetric: bool = False) -> Coefficients:
    """Return the coefficients of a file, with its scaling factors and pressure; `symmetric`: without asymmetries."""
    values: dict[str, float] = {}
    for section in (LONG, LAT):
        values |= {key.lower(): value for key, value in file.numbers[section].items()}
    values = {name: value for name, value in values.items() if name in Coefficients._fields}
    values["fnomin"] = file.number("VERTICAL", "FNOMIN", 4000.0)
    if file.version == 52:
        values["pky4"], values["pky5"] = 2.0, 0.0
    else:
        values.setdefault("pky4", 2.0)
        _inflate(file, values)
    for factor, names in SCALED.items():
        scale = file.number(SCALES, factor, 1.0)
        values |= {name: values[name] * scale for name in names if name in values}
    values["fzmin"] = file.number("VERTICAL_FORCE_RANGE", "FZMIN", 0.0)
    values["fzmax"] = max(file.number("VERTICAL_FORCE_RANGE", "FZMAX", 1e6), values["fnomin"])
    values["kpumax"] = abs(file.number("LONG_SLIP_RANGE", "KPUMAX", 1.5))
    values["alpmax"] = abs(file.number("SLIP_ANGLE_RANGE", "ALPMAX", 1.5))
    values["side"] = copysign(1.0, values["pky1"] * values["pky2"])
    if symmetric:
        values |= dict.fromkeys((*ASYMMETRIC, *INDUCED), 0.0)
    return Coefficients(**values)


def _inflate(file: TirFile, values: dict[str, float]) -> None:
    """Apply the effect of the inflation pressure of a 6.1 file, which is constant during a run."""
    nominal = file.number("OPERATING_CONDITIONS", "NOMPRES", 0.0) or file.number("INFLATION_PRESSURE", "NOMPRES", 0.0)
    actual = file.number("OPERATING_CONDITIONS", "INFLPRES", nominal)
    change = (actual - nominal) / nominal if nominal > 0.0 else 0.0
    pressures = {name: file.number(LONG, name, 0.0) for name in ("PPX1", "PPX2", "PPX3", "PPX4")}
    pressures |= {name: file.number(LAT, name, 0.0) for name in ("PPY1", "PPY2", "PPY3", "PPY4", "PPY5")}
    square = change * change
    factors = {
        ("pkx1", "pkx2"): 1.0 + pressures["PPX1"] * change + pressures["PPX2"] * square,
        ("pdx1", "pdx2"): 1.0 + pressures["PPX3"] * change + pressures["PPX4"] * square,
        ("pky1",): 1.0 + pressures["PPY1"] * change,
        ("pky2", "pky5"): 1.0 + pressures["PPY2"] * change,
        ("pdy1", "pdy2"): 1.0 + pressures["PPY3"] * change + pressures["PPY4"] * square,
        ("pky6", "pky7"): 1.0 + pressures["PPY5"] * change,
    }
    for names, factor in factors.items():
        values.update({name: values[name] * factor for name in names if name in values})


def relaxation_lengths(file: TirFile, k: Coefficients) -> tuple[float, float]:
    """Return the longitudinal and the lateral relaxation length at the nominal load, m; 0 where the file has none."""
    radius = file.number("DIMENSION", "UNLOADED_RADIUS", 0.3)
    if file.version == 52:
        x = file.number(LONG, "PTX1", 0.0) * radius * file.number(SCALES, "LSGKP", 1.0)
        reached = file.number(LAT, "PTY2", 1.0)
        y = file.number(LAT, "PTY1", 0.0) * sin(2.0 * atan(1.0 / reached)) * radius if reached else 0.0
        return abs(x), abs(y) * file.number(SCALES, "LSGAL", 1.0)
    carcass_x = file.number("STRUCTURAL", "LONGITUDINAL_STIFFNESS", 0.0)
    carcass_y = file.number("STRUCTURAL", "LATERAL_STIFFNESS", 0.0)
    stiff_x, stiff_y = k.fnomin * k.pkx1, abs(k.pky1) * k.fnomin * sin(k.pky4 * atan(1.0 / abs(k.pky2)))
    return stiff_x / carcass_x if carcass_x else 0.0, stiff_y / carcass_y if carcass_y else 0.0


@lru_cache(maxsize=64)
def tyre_of_text(text: str, name: str) -> Fitting:
    """Return the tyre of a property file for a car, and the parameters that follow from it; equal ones are shared."""
    file = parse_tir(text, name)
    k = coefficients_of(file, symmetric=True)
    bindings = {"COEFFICIENTS": k}
    tyre = bound(property_tyre, bindings)
    peaks = bound(property_peaks, bindings)
    x, y = (curve(k.fnomin, 0.0, 1.0, 0.0, k) for curve in (curve_along, curve_across))
    mu = abs(y.d) / k.fnomin
    along, across = relaxation_lengths(file, k)
    parameters = {
        "tyre_b_long": x.b, "tyre_c_long": min(x.c, 2.0), "tyre_d_long": x.d / k.fnomin / mu, "tyre_e_long": x.e,
        "tyre_b_lat": abs(y.b), "tyre_c_lat": min(y.c, 2.0), "tyre_d_lat": 1.0, "tyre_e_lat": y.e,
        "tyre_mu": mu, "tyre_load": k.fnomin,
        "tyre_load_sensitivity": min(max(0.0, -k.pdy2 / k.pdy1), 1.0),
    }  # fmt: skip
    parameters |= {"relaxation_longitudinal": along} if along else {}
    parameters |= {"relaxation_lateral": across} if across else {}
    _check_curves(name, parameters)
    return Fitting({magic_tyre: tyre, magic_peaks: peaks}, parameters)


ORIGINS = {  # parameter -> section, keys and meaning
    "tyre_b_long": (LONG, "PKX1, PKX2, PCX1, PDX1", "a stiffness factor B"),
    "tyre_d_long": (LONG, "PDX1", "a ratio of longitudinal to lateral friction"),
    "tyre_e_long": (LONG, "PEX1", "a curvature factor E"),
    "tyre_b_lat": (LAT, "PKY1, PKY2, PCY1, PDY1", "a stiffness factor B"),
    "tyre_e_lat": (LAT, "PEY1", "a curvature factor E"),
    "tyre_mu": (LAT, "PDY1", "a friction coefficient"),
    "relaxation_longitudinal": (LONG, "PTX1 or LONGITUDINAL_STIFFNESS", "a relaxation length (m)"),
    "relaxation_lateral": (LAT, "PTY1 or LATERAL_STIFFNESS", "a relaxation length (m)"),
}


def _check_curves(name: str, parameters: Mapping[str, float]) -> None:
    """Raise TirError if a curve at the nominal load is outside what a car's tyre may have."""
    ranges = {column.name: (column.low, column.high) for column in columns_of(Parameters)}
    for parameter, (section, keys, meaning) in ORIGINS.items():
        low, high = ranges[parameter]
        value = parameters.get(parameter, low)
        if not low <= value <= high:
            give = f"[{section}] {keys} and their scaling factors give {meaning} of {value:.3g} at the nominal load"
            raise TirError(f"{name}: {give}; it must lie in {low:g} to {high:g}")
