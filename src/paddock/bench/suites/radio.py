"""Radio: maps fitted to samples of a simulated town."""

from collections.abc import Iterator

from paddock.bench.radio_maps import map_results
from paddock.bench.result import Bench, Result


def run(quick: bool) -> Iterator[Result]:
    """Measure radio maps."""
    yield from map_results(quick)


BENCH = Bench("radio: fit, query and error of radio maps", run)
