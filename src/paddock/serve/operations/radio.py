"""Operations on the radio: messages, and the network of links."""

from base64 import b64encode
from typing import Any

from paddock.engine.radio.control import RadioControl
from paddock.errors import PaddockError
from paddock.serve.live import LiveSource
from paddock.wire.operations.results import RadioMessageTree, RadioNetworkTree


def _radio(run: LiveSource) -> RadioControl:
    if run.sim.radio is None:
        raise PaddockError("there is no radio; add a section `radio: {}` to the scenario")
    return run.sim.radio


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
