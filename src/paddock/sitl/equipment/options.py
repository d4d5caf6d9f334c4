"""Options of adapters, as users write them: of the right type and in range, or one line that says what would be."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import Any

from paddock.errors import InvalidValueError, unknown_name
from paddock.sensing.site import site_at
from paddock.sitl.equipment.instruments import Instrument
from paddock.world.geodesy import Origin

LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Options:
    """Checks values of options; `where` opens the error messages."""

    where: str

    def positive(self, name: str, value: Any, endless: bool = False) -> float:
        """A number above 0; infinite only if it may be endless."""
        if not (_is_number(value) and value > 0 and (value <= LARGEST or (endless and value == inf))):
            raise self.refused(name, "a positive number", value)
        return float(value)

    def factor(self, name: str, value: Any) -> float:
        """A finite number from 0 on, or off (0) or on (1)."""
        if not (isinstance(value, bool) or (_is_number(value) and 0 <= value <= LARGEST)):
            raise self.refused(name, "a factor from 0 on, true or false", value)
        return float(value)

    def whole(self, name: str, value: Any) -> int:
        """A whole number of any size."""
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise self.refused(name, "a whole number", value)
        return int(value)

    def switch(self, name: str, value: Any) -> bool:
        """On or off."""
        if not isinstance(value, bool):
            raise self.refused(name, "true or false", value)
        return value

    def text(self, name: str, value: Any) -> str:
        """At least one character."""
        if not isinstance(value, str) or not value:
            raise self.refused(name, "a text", value)
        return value

    def triple(self, name: str, value: Any, what: str) -> tuple[float, float, float]:
        """Three finite numbers; `what` they are is said if they are not."""
        listed = isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 3
        if not listed or not all(_is_number(number) and abs(number) <= LARGEST for number in value):
            raise self.refused(name, f"3 numbers [{what}]", value)
        first, second, third = map(float, value)
        return first, second, third

    def origin(self, value: Any) -> Origin:
        """A place on the Earth."""
        place = self.triple("origin", value, "latitude deg, longitude deg, height m")
        try:
            return Origin(*place)
        except InvalidValueError as error:
            raise InvalidValueError(f"{self.where}: {error}") from None

    def instruments(
        self, given: Any, rates: Mapping[str, float], noise: float, origin: Origin, capacity: int
    ) -> tuple[Instrument, ...]:
        """Sensors at these rates (Hz); `given` overrides their options: sensor -> option -> value."""
        if not isinstance(given, Mapping) or not all(isinstance(options, Mapping) for options in given.values()):
            raise self.refused("sensors", "options of sensors, as in {gnss: {rate: 10}}", given)
        for name in given:
            if name not in rates:
                raise unknown_name("sensor", str(name), rates, self.where)
        site = site_at(origin)
        options = {name: {"rate": rate, **given.get(name, {})} for name, rate in rates.items()}
        return tuple(Instrument(name, options[name], noise, origin, site, capacity) for name in rates)

    def refused(self, name: str, wanted: str, value: Any) -> InvalidValueError:
        """The error for a value that an option cannot have."""
        return InvalidValueError(f"{self.where}: {name} must be {wanted}, not {value!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
