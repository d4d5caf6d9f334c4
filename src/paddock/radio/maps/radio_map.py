"""A fitted radio map: received power, its gradient and its uncertainty at any point."""

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from paddock.compute.splats import Floats, SplatGrid, build_grid, evaluate_splats
from paddock.errors import InvalidValueError
from paddock.radio.maps.prior import prior_power
from paddock.wire.radio_map import MapFile, read_map, write_map


class MapValues(NamedTuple):
    """The map at n points."""

    power: Floats  # (n,) dBm
    gradient: Floats  # (n, 3) dB/m
    deviation: Floats  # (n,) dB: standard deviation of the error of a prediction
    samples: Floats  # (n,) effective number of samples near the point


@dataclass(frozen=True)
class RadioMap:
    """A field of received power: splats over the path loss from a transmitter."""

    file: MapFile

    @cached_property
    def grid(self) -> SplatGrid:
        """Return the splats by cell."""
        return build_grid(self.file.splats)

    def query(self, points: Any) -> MapValues:
        """Return power, gradient and uncertainty at points (n, 3) in m; one point (3,) counts as n = 1."""
        given = np.asarray(points, np.float64)
        if given.ndim == 1:
            given = given[None]
        if given.ndim != 2 or given.shape[1] != 3:
            raise InvalidValueError(f"points must have the shape (n, 3), not {np.shape(points)}")
        if not np.isfinite(given).all():
            row = int(np.flatnonzero(~np.isfinite(given).all(axis=1))[0])
            raise InvalidValueError(f"points[{row}] is not finite: {given[row].tolist()}")
        given, contents = np.ascontiguousarray(given), self.file
        table = evaluate_splats(given, contents.splats, self.grid, contents.prior, contents.spread)
        return MapValues(table[:, 0], table[:, 1:4], np.sqrt(table[:, 4]), table[:, 5])

    def prior(self, points: Floats) -> Floats:
        """Return the path-loss prior at points (n, 3), dBm."""
        return prior_power(self.file.prior, points)

    @property
    def transmitter(self) -> Floats:
        """Return the position of the transmitter, given or estimated, m."""
        return np.asarray(self.file.prior[2:5])

    @property
    def exponent(self) -> float:
        """Return the path-loss exponent of the prior."""
        return float(self.file.prior[1])

    @property
    def splats(self) -> int:
        """Return the number of splats."""
        return len(self.file.splats)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the map to a file (.npz)."""
        write_map(path, self.file)


def load_map(path: str | os.PathLike[str]) -> RadioMap:
    """Read a map that `RadioMap.save` has written; raises PaddockError for any other file."""
    return RadioMap(read_map(path))
