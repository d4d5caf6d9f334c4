"""Operations on the radio that compute: what there is, coverage, levels, spectra, assignments; layers of pages."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

import numpy as np

from paddock.errors import PaddockError
from paddock.radio.describing import radio_tree, service_trees
from paddock.radio.survey import CoverageGrid
from paddock.serve.live import LiveSource
from paddock.serve.operations.radio import radio_of
from paddock.wire.operations.radio_results import AssignmentTree, CoverageTree, LevelsTree, RadioTree, SpectrumTree

DECIMALS, PER_DECIMALS = 1, 3  # of dB, and of packet error rates


def radio_view(run: LiveSource, client: str) -> RadioTree | None:
    stage = run.sim.engine.radio
    if stage.settings is None:
        return None
    counts = stage.counts(), radio_of(run).traffic(), service_trees(radio_of(run).services())
    return radio_tree(stage.settings, stage.roster.radios, stage.emitters(), *counts)


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


def radio_levels(
    run: LiveSource,
    client: str,
    places: list[list[float]],
    of: str | int | None = None,
    receiver: str | int | None = None,
) -> Future[Any]:
    radio = radio_of(run)

    def compute(copied: Any) -> LevelsTree:
        survey, (sources, number, *_) = copied
        found = survey.at(sources, number, np.array(places).T)
        return {name: one.tolist() for name, one in found._asdict().items()}  # type: ignore[return-value]

    return _aside(run, lambda: (radio.survey(), run.sim.engine.radio.surveyed(of, receiver, 0.0, 0.0, 1.0)), compute)


def radio_assign(
    run: LiveSource,
    client: str,
    vehicles: list[str | int],
    cost: list[list[float]],
    period: float = 0.5,
    rounds: int = 1000,
) -> Future[Any]:
    radio = radio_of(run)

    def compute(bidders: Any) -> AssignmentTree:
        tasks, agreement = bidders.assigned(rounds)
        return {"tasks": tasks, "agreement": agreement._asdict()}

    return _aside(run, lambda: radio.bidders(vehicles, cost, period), compute)


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
    arrays["per"] = grid.per.ravel().round(PER_DECIMALS).tolist()
    return {**fields, **arrays, "side": len(grid.power), "time": time}  # type: ignore[typeddict-item]


def visualization(run: LiveSource, client: str, **shown: bool | None) -> dict[str, Any]:
    return run.visualization.set(shown)
