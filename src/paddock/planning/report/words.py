"""Numbers as people who plan flights write them."""

from __future__ import annotations

from math import degrees


def distance(metres: float) -> str:
    """`850 m`, `41.3 km`."""
    return f"{metres:,.0f} m" if metres < 999.5 else f"{metres / 1000.0:,.1f} km"


def duration(seconds: float) -> str:
    """`45 s`, `14 min 20 s`, `2 h 05 min`."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if whole < 60:
        return f"{whole} s"
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def computing(seconds: float) -> str:
    """`27 ms`, `3.6 s`."""
    return f"{1000.0 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.1f} s"


def clock(seconds: float) -> str:
    """`14:20`, `2:05:09`: minutes and seconds, with hours where there are any."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def bearing(heading: float) -> int:
    """Degrees clockwise from north (0 to 359) of a heading in rad counter-clockwise from east."""
    return round(90.0 - degrees(heading)) % 360


def course(heading: float) -> str:
    """`047°`: a heading as navigators say it."""
    return f"{bearing(heading):03d}°"


def latitude(degrees_north: float) -> str:
    """`35.68120° N`."""
    return f"{abs(degrees_north):.5f}° {'S' if degrees_north < 0.0 else 'N'}"


def longitude(degrees_east: float) -> str:
    """`139.76710° E`."""
    return f"{abs(degrees_east):.5f}° {'W' if degrees_east < 0.0 else 'E'}"


def percent(share: float) -> str:
    """`62 %`."""
    return f"{100.0 * share:.0f} %"
