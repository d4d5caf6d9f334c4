"""Tyre property files (.tir) of the magic formula 5.2 and 6.1: sections, keys, units and ranges.

A file is text: `[SECTION]` lines, `KEY = value` lines, comments after `$` or `!`. Text values stand in quotes. Sections
of other programs are kept, not checked.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import isfinite
from pathlib import Path

from paddock.errors import PaddockError
from paddock.files import read_file

MOST_BYTES = 1 << 20
SECTION = re.compile(r"\[\s*([A-Za-z0-9_ ]+?)\s*\]$")
VERSIONS = {5: 52, 6: 52, 21: 52, 52: 52, 60: 61, 61: 61, 62: 61}
"""FITTYP -> the version whose equations apply."""
UNITS = {"LENGTH": "meter", "FORCE": "newton", "ANGLE": "radians", "MASS": "kg", "TIME": "second"}
SAME_UNITS = {"metre": "meter", "m": "meter", "n": "newton", "rad": "radians", "radian": "radians"}
SAME_UNITS |= {"kilogram": "kg", "sec": "second", "s": "second"}

# keys that must be present, by section: 5.2 and 6.1
REQUIRED = {
    "VERTICAL": ("FNOMIN",),
    "LONGITUDINAL_COEFFICIENTS": ("PCX1", "PDX1", "PDX2", "PEX1", "PKX1", "PKX2"),
    "LATERAL_COEFFICIENTS": ("PCY1", "PDY1", "PDY2", "PEY1", "PKY1", "PKY2"),
}
RANGES = {  # of values that would make the curves meaningless
    "FNOMIN": (1.0, 1e6),
    "UNLOADED_RADIUS": (0.01, 5.0),
    "PCX1": (0.1, 5.0),
    "PDX1": (0.01, 10.0),
    "PCY1": (0.1, 5.0),
    "PDY1": (-10.0, 10.0),
    "PKX1": (0.1, 1e4),
    "PKX3": (-10.0, 10.0),
    "PKY1": (-1e3, 1e3),
    "PKY2": (-100.0, 100.0),
    **dict.fromkeys(("PEX1", "PEY1"), (-100.0, 10.0)),
    **dict.fromkeys(("LFZO", "LCX", "LMUX", "LKX", "LCY", "LMUY", "LKY"), (0.01, 100.0)),
    **dict.fromkeys(("NOMPRES", "INFLPRES"), (1e4, 1e7)),  # Pa
}
SPANS = {  # section -> lowest and highest value of a range; what the highest one is at least
    "LONG_SLIP_RANGE": ("KPUMIN", "KPUMAX", 0.01),
    "SLIP_ANGLE_RANGE": ("ALPMIN", "ALPMAX", 0.01),
    "INCLINATION_ANGLE_RANGE": ("CAMMIN", "CAMMAX", 0.0),
    "VERTICAL_FORCE_RANGE": ("FZMIN", "FZMAX", 1.0),
}


STANDARD = (
    *("MODEL", "UNITS", "DIMENSION", "VERTICAL", "LONGITUDINAL", "LATERAL"),
    *("ALIGNING", "OVERTURNING", "ROLLING", "SCALING", "TURNSLIP"),
)
COEFFICIENT = re.compile(r"[PQRS][A-Z]{1,3}\d$")
"""Names of sections begin with one of these words, names of coefficients look like this: others may be misspelled."""


class TirError(PaddockError):
    """A file that cannot be used; the text names file, line, section and key."""


@dataclass(frozen=True)
class TirFile:
    """The numbers of a property file, by section and key in capitals, and its texts."""

    name: str
    version: int  # 52 or 61
    numbers: Mapping[str, Mapping[str, float]] = field(hash=False)
    texts: Mapping[str, Mapping[str, str]] = field(hash=False)

    def number(self, section: str, key: str, default: float) -> float:
        """Return a value, or the default if the file has none."""
        return self.numbers.get(section, {}).get(key, default)


def read_tir(path: str | Path) -> TirFile:
    """Read and check a property file."""
    source = Path(path)
    try:
        text = read_file(source, MOST_BYTES).decode("latin-1")
    except OSError as error:
        raise TirError(f"cannot read {source}: {error.strerror}") from None
    return parse_tir(text, str(source))


def parse_tir(text: str, name: str) -> TirFile:
    """Return the file of this text; `name` is for error messages."""
    numbers: dict[str, dict[str, float]] = {}
    texts: dict[str, dict[str, str]] = {}
    lines: dict[tuple[str, str], int] = {}
    section = ""
    for at, line in enumerate(text.splitlines(), 1):
        where, bare = f"{name}:{at}", re.split(r"[$!]", line, maxsplit=1)[0].strip()
        if match := SECTION.match(bare):
            section = match[1].upper().replace(" ", "_")
        elif "=" in bare and section:
            key, _, value = (part.strip() for part in bare.partition("="))
            key = key.upper()
            if (section, key) in lines:
                raise TirError(f"{where}: [{section}] {key} is given twice, first in line {lines[section, key]}")
            lines[section, key] = at
            if value[:1] in "'\"":
                texts.setdefault(section, {})[key] = value.strip("'\" ")
            else:
                numbers.setdefault(section, {})[key] = _number(value, f"{where}: [{section}] {key}")
        elif "=" in bare:
            raise TirError(f"{where}: {bare.partition('=')[0].strip()!r} stands before the first [SECTION]")
    file = TirFile(name, _version(name, numbers, texts), numbers, texts)
    _check(file, lines)
    return file


def _number(text: str, where: str) -> float:
    try:
        value = float(re.sub("[dD]", "e", text.split()[0]))  # Fortran writes 1.0D+3
    except (ValueError, IndexError):
        raise TirError(f"{where} must be a number, not {text!r:.60}") from None
    if not isfinite(value):
        raise TirError(f"{where} must be a finite number, not {text!r:.60}")
    return value


def _version(name: str, numbers: Mapping[str, Mapping[str, float]], texts: Mapping[str, Mapping[str, str]]) -> int:
    if "MODEL" not in numbers and "MODEL" not in texts:
        raise TirError(f"{name}: the section [MODEL] is missing; is this a tyre property file?")
    number = numbers.get("MODEL", {}).get("FITTYP")
    if number is None:
        kind = texts.get("MODEL", {}).get("PROPERTY_FILE_FORMAT", "").upper()
        number = {"MF_05": 5.0, "PAC2002": 6.0, "MF_61": 61.0, "MF_52": 52.0}.get(kind)
    if number is None or number not in VERSIONS:
        shown = "missing" if number is None else f"{number:g}"
        raise TirError(f"{name}: [MODEL] FITTYP is {shown}; valid: 5, 6, 21, 52 (MF 5.2) and 60, 61, 62 (MF 6.1)")
    return VERSIONS[int(number)]


def _near(name: str, others: list[str]) -> str:
    """Return a question for the name that is most like a missing one, among names that the format does not have."""
    near = get_close_matches(name, others, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _check(file: TirFile, lines: Mapping[tuple[str, str], int]) -> None:
    for key, unit in UNITS.items():
        unit_of_file = file.texts.get("UNITS", {}).get(key, unit).lower()
        if SAME_UNITS.get(unit_of_file, unit_of_file) != unit:
            line_name = f"{file.name}:{lines['UNITS', key]}"
            raise TirError(
                f"{line_name}: [UNITS] {key} must be {unit!r}, not {unit_of_file!r}: convert the file to SI units"
            )
    for section, keys in REQUIRED.items():
        known = file.numbers.get(section)
        if known is None:
            others = [other for other in file.numbers if other.split("_")[0] not in STANDARD]
            raise TirError(f"{file.name}: the section [{section}] is missing{_near(section, others)}")
        for key in keys:
            if key not in known:
                others = [other for other in known if not COEFFICIENT.match(other)]
                raise TirError(f"{file.name}: [{section}] {key} is missing{_near(key, others)}")
    for section, values in file.numbers.items():
        for key, value in values.items():
            low, high = RANGES.get(key, (-1e12, 1e12))
            if not low <= value <= high:
                line_name = f"{file.name}:{lines[section, key]}"
                raise TirError(f"{line_name}: [{section}] {key} must lie in {low:g} to {high:g}, not {value:g}")
    for section, (low_key, high_key, least) in SPANS.items():
        known = file.numbers.get(section, {})
        least = max(least, known.get(low_key, least))
        if known.get(high_key, 1e12) < least or known.get(low_key) == known.get(high_key, 1e12):
            line_name = f"{file.name}:{lines[section, high_key]}"
            raise TirError(f"{line_name}: [{section}] {high_key} must be above {least:g}, not {known[high_key]:g}")
    for key in ("PKY1", "PKY2", "PDY1"):
        if file.numbers["LATERAL_COEFFICIENTS"][key] == 0.0:
            line_name = f"{file.name}:{lines['LATERAL_COEFFICIENTS', key]}"
            raise TirError(
                f"{line_name}: [LATERAL_COEFFICIENTS] {key} must not be 0: the tyre would have no side force"
            )
