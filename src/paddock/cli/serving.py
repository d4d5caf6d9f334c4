"""Serving during a run: the hub, the port of the page and its link."""

from __future__ import annotations

import errno
import ipaddress
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from paddock.errors import PaddockError

if TYPE_CHECKING:
    from paddock.cli.progress import Notices
    from paddock.scenario import Serve
    from paddock.serve.host import Host, Source

PORT = 8000  # default port of the page
PAGE = "web"  # name of the page's endpoint


def free_port(bind: str, wanted: int = PORT) -> int:
    """Return the wanted port if it is free, else any free port; 0 if unknown."""
    for port in (wanted, 0):
        family = socket.AF_INET6 if ":" in bind else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((bind, port))
                probe.listen(1)  # fails if another process listens there
                return int(probe.getsockname()[1])
            except OSError as error:
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    break  # a wrong address: reported when the endpoint starts
    return 0


def page_link(options: Serve, port: int) -> str:
    """Return the URL of the page, with the token if there is one."""
    host = options.bind
    if host != "localhost" and ipaddress.ip_address(host).is_unspecified:
        host = "127.0.0.1" if ":" not in host else "::1"  # the loopback address; remote users know the host name
    host = f"[{host}]" if ":" in host else host
    return f"http://{host}:{port}/" + (f"?token={quote(options.token, safe='')}" if options.token else "")


@dataclass(frozen=True)
class Served:
    """The endpoints that are served, with their addresses."""

    options: Serve
    asked: bool = True  # whether any endpoint was requested besides the default page
    movable: bool = False  # whether the page may use another port, because none was requested
    open: bool = False  # whether to open a browser
    addresses: dict[str, Any] = field(default_factory=dict)
    """Endpoint -> address of the previous run, reused for reconnecting clients."""

    @property
    def link(self) -> str:
        """URL of the page; empty if unknown or not served."""
        page = self.options.endpoints.get(PAGE)
        port = self.addresses.get(PAGE, {}).get("port") or getattr(page, "port", 0)
        return page_link(self.options, port) if page is not None and port else ""


@contextmanager
def serving(source: Source, served: Served, notices: Notices) -> Iterator[Callable[[], Served]]:
    """Serve a source while the block runs.

    The hub starts in the background and prints its addresses when it is ready. The yielded function waits for it and
    returns the addresses, or raises PaddockError.
    """
    with ThreadPoolExecutor(1, "paddock-serving") as pool:
        opening = pool.submit(_opened, source, served, notices)
        try:
            yield lambda: opening.result()[1]
        finally:
            if opening.exception() is None:  # waits for the start
                opening.result()[0].close()


def _opened(source: Source, served: Served, notices: Notices) -> tuple[Host, Served]:
    """Start the hub; print its addresses unless an earlier run printed them."""
    from paddock.serve.host import Host

    printed = bool(served.addresses)
    try:
        host = Host(source, served.options, notices.add, served.addresses)
    except PaddockError as error:
        if not (served.movable and str(error).startswith(f"{PAGE} cannot listen")):
            raise
        # another process took the port meanwhile
        page = served.options.endpoints[PAGE].model_copy(update={"port": free_port(served.options.bind, 0)})
        served = replace(served, options=served.options.model_copy(update={PAGE: page}))
        host = Host(source, served.options, notices.add)
    served = replace(served, addresses=host.addresses)
    if not printed:  # to stderr: stdout is for the output of the run
        if served.link:
            print(f"open {served.link}", file=sys.stderr, flush=True)
        for name, address in host.addresses.items():
            if name != PAGE:
                values = [f"{served.options.bind}:{value}" for value in address.values() if isinstance(value, int)]
                where = f"on {' and '.join(values)}" if values else f"as {address.get('name', '')}"
                print(f"serving {name} {where}", file=sys.stderr, flush=True)
        if served.link and served.open:
            import webbrowser

            if not webbrowser.open(served.link):
                print("paddock: --open: no browser found; open the link manually", file=sys.stderr, flush=True)
    return host, replace(served, open=False)
