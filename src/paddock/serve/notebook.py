"""The page inside a notebook: `sim.show()` embeds it for a simulation of this process."""

from __future__ import annotations

import atexit
from html import escape
from weakref import WeakKeyDictionary

from paddock.engine.simulation import Simulation
from paddock.errors import InvalidValueError, PaddockError
from paddock.serve.host import Host
from paddock.serve.share import share

LOWEST, HIGHEST = 100, 10_000
"""Heights of the page, in pixels."""

_SHOWN: WeakKeyDictionary[Simulation, Shown] = WeakKeyDictionary()


class Shown:
    """The page of one simulation; a notebook shows it where this is the value of a cell."""

    def __init__(self, host: Host, height: int) -> None:
        self.host = host
        self.height = height
        self.url = f"http://127.0.0.1:{host.addresses['web']['port']}/"
        self.closed = False

    def _repr_html_(self) -> str:
        """What a notebook embeds."""
        if self.closed:
            return "<p>The page of this simulation is closed.</p>"
        style = f"width: 100%; height: {self.height}px; border: 0"
        return f'<iframe src="{escape(self.url)}" title="Paddock" style="{style}" allow="fullscreen; gamepad"></iframe>'

    def __repr__(self) -> str:
        """Where it is, for who has no notebook."""
        return f"<the page at {self.url}{', closed' if self.closed else ''}>"

    def close(self) -> None:
        """Stop serving the page; the simulation goes on."""
        self.closed = True
        self.host.close()


def show(sim: Simulation, height: int = 600) -> Shown:
    """The page of a simulation, on a free port that only this machine can reach; the same one when asked again."""
    if isinstance(height, bool) or not isinstance(height, int) or not LOWEST <= height <= HIGHEST:
        raise InvalidValueError(f"height is a whole number of pixels from {LOWEST} to {HIGHEST}, not {height!r}")
    if sim.engine.thread.closed:
        raise PaddockError("show() refused: the simulation is closed")
    shown = _SHOWN.get(sim)
    if shown is None or shown.closed:
        shown = _SHOWN[sim] = Shown(share(sim, web={"port": 0}), height)
        sim.engine.on_close.append(shown.close)
    shown.height = height
    return shown


@atexit.register
def _close_all() -> None:
    """A notebook's kernel ends without closing anything."""
    for shown in list(_SHOWN.values()):
        shown.close()
