"""Operations for viewers of the radio: what there is, coverage, spectra, and the layers of pages."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

import numpy as np

from paddock.errors import PaddockError
from paddock.radio.describing import radio_tree
from paddock.radio.survey import CoverageGrid
from paddock.serve.live import LiveSource
from paddock.serve.operations.radio import radio_of
from paddock.wire.operations.results import CoverageTree, RadioTree, SpectrumTree

DECIMALS = 1  # of dB


def radio_view(run: LiveSource, client: str) -> RadioTree | None:
    stage = run.sim.engine.radio
    if stage.settings is None:
        return None
    return radio_tree(stage.settings, stage.roster.radios, stage.emitters(), stage.counts(), radio_of(run).traffic())


def coverage(
    run: LiveSource,
    client: str,
    of: str | None = None,
    receiver: str | None = None,
    x: float | None = None,
    y: float | None = None,
    size: float | None = None,
    side: int = 64,
    height: float = 2.0,
) -> Future[Any]:
    radio = radio_of(run)

    def copy() -> Any:
        stage = run.sim.engine.radio
        return radio.survey(), stage.surveyed(of, receiver, x, y, size), run.sim.time

    def compute(copied: Any) -> CoverageTree:
        survey, given, time = copied
        return coverage_tree(survey.coverage(*given, side, height), time)

    return _aside(run, copy, compute)


def spectrum(run: LiveSource, client: str, receiver: str, span: float | None = None, bins: int = 96) -> Future[Any]:
    radio = radio_of(run)

    def compute(copied: Any) -> SpectrumTree:
        survey, number, time = copied
        found = survey.spectrum(number, span, bins)
        return {**found._asdict(), "power": found.power.round(DECIMALS).tolist(), "time": time}  # type: ignore[typeddict-item]

    return _aside(run, lambda: (radio.survey(), radio.number(receiver), run.sim.time), compute)


def _aside(run: LiveSource, copy: Callable[[], Any], compute: Callable[[Any], Any]) -> Future[Any]:
    """Copy between two ticks; a worker thread computes, and compiles at first."""

    def work() -> Future[Any]:
        done: Future[Any] = Future()
        copied = run.change(copy, look=True)
        while not (copied.done() or run.closing):
            wait([copied], 0.2)
        if run.closing:
            done.set_exception(PaddockError("the run has ended"))
        else:
            done.set_result(compute(copied.result()))
        return done

    return run.aside(work)


def coverage_tree(grid: CoverageGrid, time: float) -> CoverageTree:
    """Return a coverage as plain values."""
    fields = {name: value for name, value in grid._asdict().items() if not isinstance(value, np.ndarray)}
    arrays = {name: getattr(grid, name).ravel().round(DECIMALS).tolist() for name in ("power", "sinr", "jamming")}
    return {**fields, **arrays, "side": len(grid.power), "time": time}  # type: ignore[typeddict-item]


def visualization(run: LiveSource, client: str, **shown: bool | None) -> dict[str, Any]:
    return run.visualization.set(shown)
