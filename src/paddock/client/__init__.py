"""The Python client: the verbs of a local simulation over the network, `paddock.connect("tcp://127.0.0.1:5556")`."""

from typing import TYPE_CHECKING

from paddock.errors import MissingFeatureError

if TYPE_CHECKING:
    from paddock.client.simulation import AsyncRemoteSimulation, RemoteSimulation


def connect(url: str, *, token: str | None = None, name: str | None = None, timeout: float = 5.0) -> "RemoteSimulation":
    """Connect to a simulation that `paddock run SCENARIO --serve zmq` serves, at a URL such as tcp://127.0.0.1:5556.

    `name` appears in the server's errors; `timeout` (s) limits the wait for a silent server.
    """
    _need_zmq()
    from paddock.client.simulation import RemoteSimulation

    return RemoteSimulation(url, token, name, timeout)


async def connect_async(
    url: str, *, token: str | None = None, name: str | None = None, timeout: float = 5.0
) -> "AsyncRemoteSimulation":
    """Connect for asyncio: like `connect`, but every verb is a coroutine."""
    _need_zmq()
    from paddock.client.simulation import AsyncRemoteSimulation

    return await AsyncRemoteSimulation.connected(url, token, name, timeout)


def _need_zmq() -> None:
    try:
        import zmq  # noqa: F401
    except ImportError:
        raise MissingFeatureError("connecting needs pyzmq: pip install paddock[zmq]") from None
