"""The Python client: the verbs of a local simulation over the network, `paddock.connect("tcp://127.0.0.1:5556")`.

Also the page of a simulation inside a notebook, whose kernel may run on another machine.
"""

from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from paddock.errors import InvalidValueError, MissingFeatureError

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


# the page in a notebook ---------------------------------------------------------------------------------------------

LOWEST, HIGHEST = 100, 10_000  # heights of the page, in pixels
EMBEDDED = "embed=1"  # the page starts without its panels


class NotebookPage:
    """The page at a URL; a notebook displays it as the value of a cell."""

    def __init__(self, url: str, height: int) -> None:
        self.url = url
        self.height = checked_height(height)
        self.closed = False

    def _repr_html_(self) -> str:
        """The HTML that a notebook embeds."""
        if self.closed:
            return "<p>The page of this simulation is closed.</p>"
        template = Template((Path(__file__).parent / "notebook_page.html").read_text(encoding="utf-8"))
        host, _, port = urlsplit(self.url).netloc.rpartition(":")
        embedded = f"{self.url}{'&' if urlsplit(self.url).query else '?'}{EMBEDDED}"
        values = {"url": escape(embedded), "host": escape(host), "port": port, "height": self.height}
        return template.substitute(values, id=f"paddock-{id(self):x}")

    def __repr__(self) -> str:
        """The address, outside a notebook."""
        return f"<the page at {self.url}{', closed' if self.closed else ''}>"


def checked_height(height: int) -> int:
    """Return the height; InvalidValueError unless it is a whole number of pixels in range."""
    if isinstance(height, bool) or not isinstance(height, int) or not LOWEST <= height <= HIGHEST:
        raise InvalidValueError(f"height is a whole number of pixels from {LOWEST} to {HIGHEST}, not {height!r}")
    return height
