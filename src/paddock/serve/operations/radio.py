"""Operations on the radio: messages, links and their budgets, jammers; coverage, levels, spectra and assignments."""

from base64 import b64decode, b64encode
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

import numpy as np

from paddock.engine.actions import RadioAction
from paddock.engine.radio.control import RadioControl, radio_tree
from paddock.engine.radio.tuning import LEAST_INTERFERED
from paddock.errors import InvalidValueError
from paddock.serve.live import LiveSource
from paddock.wire.radio_results import (
    CoverageGrid,
    HeardLevels,
    JammerView,
    Links,
    NegotiatedAssignment,
    NetworkSummary,
    RadioTree,
    Spectrum,
    SpooferView,
    Station,
)


def radio_of(run: LiveSource) -> RadioControl:
    """Return the radio of a run; PaddockError without one."""
    return run.sim.radio


def jammers(run: LiveSource, client: str) -> list[JammerView]:
    return radio_of(run).jammers() if run.sim.engine.radio.active else []


def set_jammer(run: LiveSource, client: str, name: str, **changes: Any) -> Future[Any]:
    return _set("jammer", run, client, name, changes)


def spoofers(run: LiveSource, client: str) -> list[SpooferView]:
    return radio_of(run).spoofers() if run.sim.engine.radio.active else []


def set_spoofer(run: LiveSource, client: str, name: str, **changes: Any) -> Future[Any]:
    return _set("spoofer", run, client, name, changes)


def _set(kind: str, run: LiveSource, client: str, name: str, changes: dict[str, Any]) -> Future[Any]:
    """Validate a change now; it is applied between two ticks."""
    engine = run.sim.engine
    changed = {key: value for key, value in changes.items() if value is not None}
    action = engine.applier.checked(RadioAction(kind, {"name": name, **changed}))
    return run.answer(lambda: engine.applier.apply_or_post(action, f"set_{kind}()", source=client))


def radio_commands(run: LiveSource, client: str, vehicle: str | int) -> dict[str, Any]:
    traffic = radio_of(run).commands(vehicle)
    return {**traffic._asdict(), "delay": traffic.delay if traffic.delivered else None}


def radio_received(run: LiveSource, client: str, name: str | int, since: int = 0) -> list[dict[str, Any]]:
    """Return messages; contents that are bytes become a text in base64."""
    return [
        {**message._asdict(), "data": b64encode(message.data).decode(), "base64": True}
        if isinstance(message.data, bytes)
        else {**message._asdict(), "base64": False}
        for message in radio_of(run).received(name, since)
    ]


def radio_links(run: LiveSource, client: str) -> Links:
    tick, *arrays = radio_of(run).links()
    return Links(tick, *map(np.array, arrays))  # copied: the next update may use the arrays again


def radio_stations(run: LiveSource, client: str) -> list[Station]:
    return radio_of(run).stations if run.sim.engine.radio.active else []


def radio_allocate(
    run: LiveSource, client: str, groups: list[str], channels: list[int], method: str = LEAST_INTERFERED
) -> None:
    radio_of(run).allocate(groups, channels, method, client=client)


def radio_send(
    run: LiveSource,
    client: str,
    source: str | int,
    to: str | int = "*",
    data: Any = None,
    bits: int | None = None,
    hops: int | None = None,
    lifetime: float | None = None,
    base64: bool = False,
) -> None:
    contents = _bytes(data) if base64 else data
    radio_of(run).send(source, to, contents, bits=bits, hops=hops, lifetime=lifetime, client=client)


def _bytes(data: Any) -> bytes:
    """Return the bytes of a text in base64."""
    try:
        return b64decode(data, validate=True)
    except (TypeError, ValueError):
        raise InvalidValueError(f"data: with base64 it is a text in base64, not {data!r:.40}") from None


def radio_network(run: LiveSource, client: str) -> NetworkSummary:
    network = radio_of(run).network()
    return NetworkSummary(network.tick, network.components, network.articulation_points, network.bridges)


def radio_view(run: LiveSource, client: str) -> RadioTree | None:
    stage = run.sim.engine.radio
    if stage.settings is None:
        return None
    counts = stage.counts(), radio_of(run).traffic(), radio_of(run).services()
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
) -> Callable[[], CoverageGrid]:
    survey, square = radio_of(run).survey(), run.sim.engine.radio.surveyed(of, receiver, x, y, size)
    return lambda: survey.coverage(*square, side, height)


def radio_levels(
    run: LiveSource,
    client: str,
    places: list[list[float]],
    of: str | int | None = None,
    receiver: str | int | None = None,
) -> Callable[[], HeardLevels]:
    survey, (sources, number, *_) = radio_of(run).survey(), run.sim.engine.radio.surveyed(of, receiver, 0.0, 0.0, 1.0)
    return lambda: survey.at(sources, number, np.array(places).T)


def radio_assign(
    run: LiveSource,
    client: str,
    vehicles: list[str | int],
    cost: list[list[float]],
    period: float = 0.5,
    rounds: int = 1000,
) -> Callable[[], NegotiatedAssignment]:
    return partial(radio_of(run).bidders(vehicles, cost, period).assigned, rounds)


def spectrum(
    run: LiveSource, client: str, receiver: str, span: float | None = None, bins: int = 96
) -> Callable[[], Spectrum]:
    return partial(radio_of(run).survey().spectrum, radio_of(run).number(receiver), span, bins)


def set_visualization_mode(run: LiveSource, client: str, **shown: bool | None) -> dict[str, Any]:
    return run.visualization.set(shown)
