"""ZeroMQ: requests on a ROUTER socket, states on a PUB socket, for `paddock.connect`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.errors import MissingFeatureError

if TYPE_CHECKING:
    from paddock.serve.hub import Endpoint, Hub


def _endpoint(hub: Hub, options: dict[str, Any], every: int) -> Endpoint:
    """Return the endpoint; MissingFeatureError without pyzmq."""
    try:
        from paddock.serve.endpoints.zmq.endpoint import ZmqServer
    except ImportError as error:
        if error.name != "zmq":
            raise
        raise MissingFeatureError("serving zmq needs pyzmq: pip install paddock[zmq]") from None
    return ZmqServer(hub, options, every)


ENDPOINT = _endpoint
