"""Serve a simulation of this process: `with paddock.share(sim, zmq=True): sim.run()`, or `sim.show()` in a notebook."""

import atexit
import secrets
import sys
import warnings
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from paddock.client.page import NotebookPage, checked_height
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.scenario import Serve, load_scenario
from paddock.scenario.serve import ENDPOINTS
from paddock.serve.host import Host
from paddock.serve.live import LiveSource


def to_stderr(line: str) -> None:
    """The default destination of log lines."""
    print(f"paddock: {line}", file=sys.stderr, flush=True)


def serve_options(fields: dict[str, Any]) -> Serve:
    """Validate the fields of a scenario's `serve` section."""
    options = load_scenario({"vehicles": [], "serve": fields}).serve
    assert options is not None
    return options


def share(
    sim: Simulation,
    on_log: Callable[[str], None] = to_stderr,
    *,
    tell: Callable[[str], None] | None = None,
    **serve: Any,
) -> Host:
    """Serve a simulation with the fields of a scenario's `serve` section; without any, as its scenario says.

    Returns when every endpoint is open. Close the host, or leave its `with` block, to end it. `host.addresses` has the
    address of each endpoint. `on_log` receives the log lines of the hub.
    """
    if tell is not None:
        warnings.warn("share(tell=...) is deprecated: use share(on_log=...)", DeprecationWarning, stacklevel=2)
        on_log = tell
    options = serve_options(serve) if serve else sim.scenario.serve
    if options is None or not options.endpoints:
        raise PaddockError(f"name at least one endpoint, e.g. share(sim, web=True); valid: {', '.join(ENDPOINTS)}")
    return Host(LiveSource(sim, options.lock), options, on_log)


_SHOWN: "WeakKeyDictionary[Simulation, Shown]" = WeakKeyDictionary()


class Shown(NotebookPage):
    """The page of one simulation of this process. Its token is in the URL, since a proxy may pass on anything."""

    def __init__(self, sim: Simulation, height: int) -> None:
        token = secrets.token_urlsafe(16)
        self.host = share(sim, web={"port": 0}, token=token)
        super().__init__(f"http://127.0.0.1:{self.host.addresses['web']['port']}/?token={token}", height)

    def close(self) -> None:
        """Stop serving the page; the simulation continues."""
        self.closed = True
        self.host.close()


def show(sim: Simulation, height: int = 600) -> Shown:
    """Serve the page of a simulation on a free local port; a second call returns the same one."""
    checked_height(height)
    if sim.engine.thread.closed:
        raise PaddockError("show() refused: the simulation is closed")
    shown = _SHOWN.get(sim)
    if shown is None or shown.closed:
        shown = _SHOWN[sim] = Shown(sim, height)
        sim.engine.on_close.append(shown.close)
    shown.height = height
    return shown


@atexit.register
def _close_all() -> None:
    """Close all pages at exit: a notebook's kernel does not close them."""
    for shown in list(_SHOWN.values()):
        shown.close()
