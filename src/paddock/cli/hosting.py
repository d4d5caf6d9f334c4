"""Serving while something runs: the hub starts beside it, and may come back to the same addresses."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from paddock.cli.page import free_port, open_browser, page_link, print_link
from paddock.errors import PaddockError

if TYPE_CHECKING:
    from paddock.cli.notices import Notices
    from paddock.scenario import Serve
    from paddock.serve.host import Host
    from paddock.serve.source import Source

PAGE = "web"
"""The endpoint that is the page."""


@dataclass(frozen=True)
class Served:
    """What is served, and where."""

    options: Serve
    asked: bool = True  # whether anything is served that somebody asked for, and not just the page
    movable: bool = False  # whether the page may be on another port: nobody said which
    open: bool = False  # whether a browser is to be opened
    addresses: dict[str, Any] = field(default_factory=dict)  # endpoint -> where it was before: clients come back there

    @property
    def link(self) -> str:
        """Where the page is; empty while that is not known, and where there is none."""
        page = self.options.endpoints.get(PAGE)
        port = self.addresses.get(PAGE, {}).get("port") or getattr(page, "port", 0)
        return page_link(self.options, port) if page is not None and port else ""

    def elsewhere(self) -> Served:
        """The same with the page on a port that is free now."""
        page = self.options.endpoints[PAGE].model_copy(update={"port": free_port(self.options.bind, 0)})
        return replace(self, options=self.options.model_copy(update={PAGE: page}))


@contextmanager
def serving(source: Source, served: Served, notices: Notices) -> Iterator[Callable[[], Served]]:
    """Serve a source while the block runs.

    The hub starts while the block goes on, and where it serves is told as soon as it does. What is yielded waits for
    that, and returns where; PaddockError if it cannot be.
    """
    with ThreadPoolExecutor(1, "paddock-serving") as pool:
        opening = pool.submit(_opened, source, served, notices)
        try:
            yield lambda: opening.result()[1]
        finally:
            if opening.exception() is None:  # waits for it
                opening.result()[0].close()


def _opened(source: Source, before: Served, notices: Notices) -> tuple[Host, Served]:
    """Start it and say where. What was told in an earlier run is not told again."""
    host, served = _host(source, before, notices)
    if not before.addresses:
        _tell(host, served)
    return host, replace(served, open=False)


def _tell(host: Host, served: Served) -> None:
    if served.link:
        print_link(served.link)
    for name, address in host.addresses.items():
        if name != PAGE:
            print(f"serving {name} {_told(served.options.bind, address)}", file=sys.stderr, flush=True)
    if served.link and served.open:
        open_browser(served.link)


def _host(source: Source, served: Served, notices: Notices) -> tuple[Host, Served]:
    from paddock.serve.host import Host

    try:
        host = Host(source, served.options, notices.tell, served.addresses)
    except PaddockError as error:
        if not (served.movable and str(error).startswith(f"{PAGE} cannot listen")):
            raise
        served = served.elsewhere()  # somebody was quicker
        host = Host(source, served.options, notices.tell)
    return host, replace(served, addresses=host.addresses)


def _told(bind: str, address: dict[str, Any]) -> str:
    ports = " and ".join(f"{bind}:{value}" for key, value in address.items() if isinstance(value, int))
    return f"on {ports}" if ports else f"as {address.get('name', '')}"
