"""Antennas in the section `radio` of a scenario, and options that are written as a kind or {kind: {options}}."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from paddock.errors import unknown_name
from paddock.scenario.base import Number, Positive, Section, invalid

POLARISATIONS = ("vertical", "horizontal", "left", "right")
ANTENNAS = ("isotropic", "dipole", "sector", "pattern")
ANTENNA_OPTIONS = {
    "sector": ("gain", "beamwidth_deg", "beamheight_deg", "yaw_deg", "pitch_deg"),
    "pattern": ("azimuths_deg", "elevations_deg", "gains", "yaw_deg", "pitch_deg", "gain"),
}
LEAST_GAIN, MOST_GAIN = -200.0, 80.0  # dBi, of a pattern


def one_of(kind: str, names: Sequence[str]) -> BeforeValidator:
    """Check a name against the valid ones; the error suggests the nearest."""

    def check(value: Any) -> Any:
        if isinstance(value, str) and value not in names:
            raise invalid(str(unknown_name(kind, value, names)))
        return value

    return BeforeValidator(check)


def option(
    what: str, kinds: Sequence[str], number: str = "", of: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> BeforeValidator:
    """Convert `name`, `{name: {options}}` and, where `number` is an option, `{name: number}` to fields with a kind.

    `of` has the options of kinds, for errors.
    """

    def convert(value: Any) -> Any:
        if isinstance(value, str):
            value = {"kind": value}
        elif isinstance(value, dict) and len(value) == 1 and "kind" not in value:
            [(kind, options)] = value.items()
            if number and isinstance(options, int | float) and not isinstance(options, bool):
                options = {number: options}
            complete = options is None or (isinstance(options, dict) and [*options] == [number])
            if number and kind in kinds and not complete:
                raise invalid(f"{what} {kind!r} takes a number: {{{kind}: 2}}, not {options!r:.60}", (str(kind),))
            if options is not None and not isinstance(options, dict):
                raise invalid(f"the options of {what} {kind!r} must be a mapping, not {options!r:.60}", (str(kind),))
            for name in (options or {}) if kind in of else ():
                if name not in of[kind]:
                    raise invalid(str(unknown_name(f"option of {what} {kind!r}", str(name), of[kind])))
            value = {"kind": kind, **(options or {})}
        elif isinstance(value, dict) and "kind" not in value:
            given = " and ".join(map(str, value)) or "none"
            raise invalid(f"{what} has one kind: {', '.join(kinds[:-1])} or {kinds[-1]}; not {given:.60}")
        if isinstance(value, dict) and isinstance(value.get("kind"), str) and value["kind"] not in kinds:
            raise invalid(str(unknown_name(what, value["kind"], kinds)))
        return value

    return BeforeValidator(convert)


Polarisation = Annotated[Literal["vertical", "horizontal", "left", "right"], one_of("polarisation", POLARISATIONS)]


class AntennaSection(Section):
    """An antenna: a kind, or {kind: {options}}. Its axis follows the attitude of the vehicle."""

    kind: Literal["isotropic", "dipole", "sector", "pattern"] = Field(
        description="isotropic, dipole, sector or pattern."
    )
    gain: Number | None = Field(
        default=None,
        ge=-50.0,
        le=80.0,
        description="Largest gain, in dBi; null: isotropic 0, dipole 2.15, sector: that of its beam without losses.",
    )
    beamwidth_deg: Positive | None = Field(
        default=None, le=360.0, description="Of a sector: width of the beam 3 dB down, in degrees; null is 60."
    )
    beamheight_deg: Positive | None = Field(
        default=None, le=180.0, description="Of a sector: height of the beam 3 dB down, in degrees; null is 60."
    )
    yaw_deg: Number = Field(default=0.0, description="Direction of the beam, to the left of the front, in degrees.")
    pitch_deg: Number = Field(default=0.0, description="Elevation of the beam above the front, in degrees.")
    azimuths_deg: tuple[Number, ...] | None = Field(
        default=None, description="Of a pattern: ascending angles to the left, within 360 degrees."
    )
    elevations_deg: tuple[Number, ...] | None = Field(
        default=None, description="Of a pattern: ascending angles, within -90 to 90 degrees."
    )
    gains: tuple[tuple[Number, ...], ...] | None = Field(
        default=None, description="Of a pattern: a row of gains for each elevation, in dBi, a value for each azimuth."
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        table = ("azimuths_deg", "elevations_deg", "gains")
        for names, kind in ((("beamwidth_deg", "beamheight_deg"), "sector"), (table, "pattern")):
            for name in names:
                if getattr(self, name) is not None and self.kind != kind:
                    raise invalid(f"{name} is an option of antenna {kind!r}, not of {self.kind!r}")
        if self.kind == "pattern":
            if any(getattr(self, name) is None for name in table):
                raise invalid(f"antenna 'pattern' needs {', '.join(table)}")
            if self.gain is not None:
                raise invalid("the gains of antenna 'pattern' are its table; leave out gain")
            self._check_table(self.azimuths_deg or (), self.elevations_deg or (), self.gains or ())
        return self

    def _check_table(self, azimuths: Sequence[float], elevations: Sequence[float], gains: Sequence[Any]) -> None:
        """Refuse angles that do not ascend, and rows of gains that do not fit them."""
        for name, angles, low, high in (
            ("azimuths_deg", azimuths, -360.0, 360.0),
            ("elevations_deg", elevations, -90.0, 90.0),
        ):
            if not angles:
                raise invalid(f"{name} of a pattern are one or more angles", (name,))
            for k, angle in enumerate(angles):
                if not low <= angle <= high:
                    raise invalid(f"{name} are from {low:g} to {high:g}, not {angle:g}", (name, k))
                if k and angle <= angles[k - 1]:
                    raise invalid(f"{name} must ascend: {angle:g} follows {angles[k - 1]:g}", (name, k))
        if azimuths[-1] - azimuths[0] > 360.0:
            span = f"{azimuths[0]:g} to {azimuths[-1]:g}"
            raise invalid(f"azimuths_deg must lie within 360 degrees, not {span}", ("azimuths_deg", len(azimuths) - 1))
        if len(gains) != len(elevations):
            rows = f"{len(elevations)} elevations, not {len(gains)}"
            raise invalid(f"gains of a pattern have a row for each of its {rows}", ("gains",))
        for k, row in enumerate(gains):
            if len(row) != len(azimuths):
                values = f"{len(azimuths)} azimuths, not {len(row)}"
                raise invalid(f"a row of gains has a value for each of its {values}", ("gains", k))
            for m, gain in enumerate(row):
                if not LEAST_GAIN <= gain <= MOST_GAIN:
                    raise invalid(f"gains are from {LEAST_GAIN:g} to {MOST_GAIN:g} dBi, not {gain:g}", ("gains", k, m))
            if azimuths[-1] - azimuths[0] == 360.0 and row[0] != row[-1]:
                same = f"{azimuths[0]:g} and {azimuths[-1]:g} degrees are one direction"
                raise invalid(f"{same}: their gains must be equal, not {row[0]:g} and {row[-1]:g}", ("gains", k))


Antenna = Annotated[AntennaSection, option("antenna", ANTENNAS, of=ANTENNA_OPTIONS)]
