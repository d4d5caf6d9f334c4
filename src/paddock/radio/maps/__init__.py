"""Radio maps: received power as a field in 3-D, fitted to samples; `fit_map`, `load_map`, `RadioMap`."""

from paddock.radio.maps.fitting import (
    MapFit,
    MapValues,
    RadioMap,
    cross_validate,
    fit_map,
    least_places,
    load_map,
    places_of,
)
from paddock.radio.maps.samples import RadioSamples, read_samples

__all__ = [
    "MapFit",
    "MapValues",
    "RadioMap",
    "RadioSamples",
    "cross_validate",
    "fit_map",
    "least_places",
    "load_map",
    "places_of",
    "read_samples",
]
