"""Operations on the radio: messages, network, budgets of links, jammers, coverage and spectra, layers of pages."""

from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

import numpy as np

from paddock.engine.actions import RadioAction
from paddock.engine.radio.control import RadioControl
from paddock.errors import PaddockError
from paddock.radio.describing import radio_tree
from paddock.radio.survey import CoverageGrid
from paddock.serve.live import LiveSource
from paddock.wire.operations.results import CoverageTree, RadioMessageTree, RadioNetworkTree, RadioTree, SpectrumTree

DECIMALS = 1  # of dB


def _radio(run: LiveSource) -> RadioControl:
    if run.sim.radio is None:
        raise PaddockError("there is no radio: add a section `radio: {}` to the scenario")
    return run.sim.radio


def radio_view(run: LiveSource, client: str) -> RadioTree | None:
    stage = run.sim.engine.radio
    if stage.settings is None:
        return None
    found: list[Any] = [one._asdict() for one in stage.jammer_views()]
    return radio_tree(stage.settings, stage.roster.radios, found, stage.counts())


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
    radio = _radio(run)

    def copy() -> Any:
        stage = run.sim.engine.radio
        return radio.survey(), stage.surveyed(of, receiver, x, y, size), run.sim.time

    def compute(copied: Any) -> CoverageTree:
        survey, given, time = copied
        return coverage_tree(survey.coverage(*given, side, height), time)

    return _aside(run, copy, compute)


def spectrum(run: LiveSource, client: str, receiver: str, span: float | None = None, bins: int = 96) -> Future[Any]:
    radio = _radio(run)

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


def jammers(run: LiveSource, client: str) -> list[dict[str, Any]]:
    found = run.sim.radio
    return [] if found is None else [one._asdict() for one in found.jammers()]


def set_jammer(run: LiveSource, client: str, name: str, **changes: Any) -> Future[Any]:
    """Validate a change now; it is applied between two ticks."""
    engine = run.sim.engine
    given = {key: value for key, value in changes.items() if value is not None}
    action = engine.applier.checked(RadioAction("jammer", {"name": name, **given}))
    return run.answer(lambda: engine.apply_or_post(action, "set_jammer()", source=client))


def link_budget(run: LiveSource, client: str, source: str, to: str) -> dict[str, Any]:
    return _radio(run).link(source, to)._asdict()


def radio_send(
    run: LiveSource,
    client: str,
    source: str | int,
    to: str | int = "*",
    data: Any = None,
    bits: int | None = None,
    hops: int | None = None,
    lifetime: float | None = None,
) -> None:
    _radio(run).send(source, to, data, bits=bits, hops=hops, lifetime=lifetime, client=client)


def radio_received(run: LiveSource, client: str, name: str | int, since: int = 0) -> list[RadioMessageTree]:
    return [
        RadioMessageTree(**{**one._asdict(), "data": _plain(one.data)})  # type: ignore[typeddict-item]
        for one in _radio(run).received(name, since)
    ]


def _plain(data: Any) -> Any:
    return {"base64": b64encode(data).decode()} if isinstance(data, bytes) else data


def radio_network(run: LiveSource, client: str) -> RadioNetworkTree:
    found = _radio(run).network()
    return {
        "tick": found.tick,
        "components": found.components,
        "articulation_points": found.articulation_points,
        "bridges": found.bridges,
    }


def radio_traffic(run: LiveSource, client: str) -> dict[str, int]:
    return _radio(run).traffic()
