"""Operations on the radio: messages, the network of links, budgets of links, jammers."""

from base64 import b64encode
from concurrent.futures import Future
from typing import Any

from paddock.engine.actions import RadioAction
from paddock.engine.radio.control import RadioControl
from paddock.errors import PaddockError
from paddock.serve.live import LiveSource
from paddock.wire.operations.results import RadioMessageTree, RadioNetworkTree


def radio_of(run: LiveSource) -> RadioControl:
    """Return the radio of a run; PaddockError without one."""
    if run.sim.radio is None:
        raise PaddockError("there is no radio: add a section `radio: {}` to the scenario")
    return run.sim.radio


def jammers(run: LiveSource, client: str) -> list[dict[str, Any]]:
    found = run.sim.radio
    return [] if found is None else [one._asdict() for one in found.jammers()]


def set_jammer(run: LiveSource, client: str, name: str, **changes: Any) -> Future[Any]:
    return _set("jammer", run, client, name, changes)


def spoofers(run: LiveSource, client: str) -> list[dict[str, Any]]:
    found = run.sim.radio
    return [] if found is None else [one._asdict() for one in found.spoofers()]


def set_spoofer(run: LiveSource, client: str, name: str, **changes: Any) -> Future[Any]:
    return _set("spoofer", run, client, name, changes)


def _set(kind: str, run: LiveSource, client: str, name: str, changes: dict[str, Any]) -> Future[Any]:
    """Validate a change now; it is applied between two ticks."""
    engine = run.sim.engine
    given = {key: value for key, value in changes.items() if value is not None}
    action = engine.applier.checked(RadioAction(kind, {"name": name, **given}))
    return run.answer(lambda: engine.apply_or_post(action, f"set_{kind}()", source=client))


def radio_commands(run: LiveSource, client: str, vehicle: str | int) -> dict[str, Any]:
    found = radio_of(run).commands(vehicle)
    return {**found._asdict(), "delay": found.delay if found.delivered else None}


def link_budget(run: LiveSource, client: str, source: str, to: str) -> dict[str, Any]:
    return radio_of(run).link(source, to)._asdict()


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
    radio_of(run).send(source, to, data, bits=bits, hops=hops, lifetime=lifetime, client=client)


def radio_received(run: LiveSource, client: str, name: str | int, since: int = 0) -> list[RadioMessageTree]:
    return [
        RadioMessageTree(**{**one._asdict(), "data": _plain(one.data)})  # type: ignore[typeddict-item]
        for one in radio_of(run).received(name, since)
    ]


def _plain(data: Any) -> Any:
    return {"base64": b64encode(data).decode()} if isinstance(data, bytes) else data


def radio_network(run: LiveSource, client: str) -> RadioNetworkTree:
    found = radio_of(run).network()
    return {
        "tick": found.tick,
        "components": found.components,
        "articulation_points": found.articulation_points,
        "bridges": found.bridges,
    }


def radio_traffic(run: LiveSource, client: str) -> dict[str, int]:
    return radio_of(run).traffic()
