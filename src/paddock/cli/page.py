"""The page of a run: which port it gets, and the link that leads to it."""

from __future__ import annotations

import errno
import ipaddress
import socket
import sys
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from paddock.scenario import Serve

PORT = 8000
"""Where people expect it."""


def free_port(bind: str, wanted: int = PORT) -> int:
    """The port that is wanted if nobody has it, else any that is free; 0 where that cannot be told."""
    for port in (wanted, 0):
        family = socket.AF_INET6 if ":" in bind else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((bind, port))
                probe.listen(1)  # where another listens already, this is what fails
                return int(probe.getsockname()[1])
            except OSError as error:
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    break  # the address itself is wrong: whoever listens there will say so
    return 0


def page_link(options: Serve, port: int) -> str:
    """The address to open, with the token if there is one."""
    host = options.bind
    if host != "localhost" and ipaddress.ip_address(host).is_unspecified:
        host = "127.0.0.1" if ":" not in host else "::1"  # on this machine; others know its name
    host = f"[{host}]" if ":" in host else host
    return f"http://{host}:{port}/" + (f"?token={quote(options.token, safe='')}" if options.token else "")


def print_link(link: str) -> None:
    """Tell where the page is; not on stdout, which belongs to what the run says."""
    print(f"open {link}", file=sys.stderr, flush=True)


def open_browser(link: str) -> None:
    """Have the page opened, where there is a browser."""
    import webbrowser

    if not webbrowser.open(link):
        print("paddock: --open: no browser was found; open the link yourself", file=sys.stderr, flush=True)
