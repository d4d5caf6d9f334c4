"""ZeroMQ: requests on a ROUTER socket, states on a PUB socket, for `paddock.connect`."""

from paddock.errors import MissingFeatureError

try:
    from paddock.serve.endpoints.zmq.endpoint import ZmqServer
except ImportError as error:
    if error.name != "zmq":
        raise
    raise MissingFeatureError("serving zmq needs pyzmq: pip install paddock[zmq]") from None

ENDPOINT = ZmqServer
