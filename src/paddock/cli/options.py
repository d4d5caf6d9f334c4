"""Options shared by several verbs: how to run, and what to serve; and serving: the hub, the port of the page and its
link."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import cos, isfinite, radians, sin
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from cyclopts import Parameter, Token

from paddock.errors import InvalidValueError, PaddockError, unknown_name

if TYPE_CHECKING:
    from paddock.cli.progress import Notices
    from paddock.scenario import Scenario, Serve
    from paddock.serve.host import Host, Source

PORT = 8000  # default port of the page
PAGE = "web"  # name of the page's endpoint
SEED_END = 2**64
MOST_WIND = 100.0  # m/s
GRASS = 0.03  # m, roughness length of the profile of `--wind`


def free_port(bind: str, preferred: int = PORT) -> int:
    """Return the preferred port if it is free, else any free port; 0 if unknown."""
    for port in (preferred, 0):
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


def whole(type_: Any, tokens: Sequence[Token]) -> int:
    """Parse an integer; cyclopts would round 1.5."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"must be an integer, not {tokens[0].value!r}") from None


Whole = Annotated[int | None, Parameter(converter=whole)]
Flag = Annotated[bool, Parameter(negative="", show_default=False)]


@Parameter(name="*")
@dataclass(frozen=True)
class RunOptions:
    """How to run."""

    headless: Flag = False
    "Run without a view: as fast as possible unless --pace is given, in real time with autopilots."

    seconds: float | None = None
    "Simulated seconds to run; default: until interrupted."

    paused: Flag = False
    "Start paused at tick 0, until a client or the terminal view resumes or steps."

    json: Flag = False
    "Print only a JSON summary at the end; implies --headless."

    pace: float | None = None
    "Simulated seconds per wall-clock second, 0.05 to 100; 0: as fast as possible."

    seed: Whole = None
    "Random seed; overrides the scenario's."

    threads: Whole = None
    "Threads for the kernels; default: all cores. Results do not depend on it."

    device: str = "cpu"
    "Device for vehicle dynamics: cpu or cuda (NVIDIA GPU)."

    record: str | None = None
    "Record the run to this MCAP file; an existing file is overwritten."

    record_rate: float | None = None
    "Samples per simulated second in the recording; default: 30."

    wind: str | None = None
    "Wind SPEED,DIRECTION: m/s at 10 m, and degrees from north from where it blows, e.g. 12,270; less near the ground."

    report: str | None = None
    "Write a report of the race (section rules) or radio to this folder; records to run.mcap there without --record."

    @property
    def quiet(self) -> bool:
        """Whether nothing is shown during the run."""
        return self.headless or self.json

    def check(self) -> None:
        """Reject invalid values before anything is built."""
        from paddock.engine.pacing import checked_pace

        if self.seconds is not None and not (isfinite(self.seconds) and self.seconds > 0):
            raise InvalidValueError(f"--seconds must be a positive number, not {self.seconds:g}")
        if self.seed is not None and not 0 <= self.seed < SEED_END:
            raise InvalidValueError(f"--seed must be in 0..2^64-1, not {self.seed}")
        if self.record == "":
            raise InvalidValueError("--record takes a file name, not ''")
        if self.report == "":
            raise InvalidValueError("--report takes a folder, not ''")
        if self.record_rate is not None and not (isfinite(self.record_rate) and self.record_rate > 0):
            raise InvalidValueError(f"--record-rate must be a positive number of Hz, not {self.record_rate:g}")
        if self.pace is not None:
            try:
                checked_pace(self.pace)
            except InvalidValueError as error:
                raise InvalidValueError(f"--{error}") from None


def windy(scenario: Scenario, text: str) -> Scenario:
    """Return a scenario with the wind of `--wind SPEED,DIRECTION`; its profile is the scenario's, or that of grass."""
    from paddock.scenario.scenario import WindProfileSection

    try:
        speed, direction = map(float, text.split(","))
    except ValueError:
        raise InvalidValueError(f"--wind takes SPEED,DIRECTION, e.g. 12,270 (m/s, degrees), not {text!r}") from None
    if not (0.0 <= speed <= MOST_WIND and isfinite(direction)):
        raise InvalidValueError(f"--wind takes 0 to {MOST_WIND:g} m/s and a finite direction, not {text!r}")
    towards = radians(direction + 180.0)
    wind = (speed * sin(towards), speed * cos(towards), scenario.world.wind[2])
    profile = scenario.world.wind_profile or WindProfileSection(roughness=GRASS)
    return scenario.with_world(scenario.world.model_copy(update={"wind": wind, "wind_profile": profile}))


TOKEN = "PADDOCK_TOKEN"  # environment variable for --token: not visible to other users in the process list
PORT_DIGITS = 5


@Parameter(name="*")
@dataclass(frozen=True)
class ServeOptions:
    """Endpoints to serve, and access to them."""

    serve: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = ()
    "Serve web, stream, vds1, zmq, shm or metrics, optionally on a port (zmq=5556: also on 5557); may be repeated."

    no_web: Flag = False
    "Do not serve the page; it is served by default unless --headless or --json is given."

    open: Flag = False
    "Open the page in a browser."

    bind: str | None = None
    "Address to listen on; a non-loopback address requires --token or --insecure."

    token: str | None = None
    "Token that clients must send, at least 8 characters; prefer the environment variable PADDOCK_TOKEN."

    insecure: Flag = False
    "Allow a non-loopback address without a token."

    hosts: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = ()
    "Host name under which browsers reach the page without a token, besides the machine's own; may be repeated."

    lock: Flag = False
    "Prevent clients from stepping, pausing and resetting."

    def over(self, own: Serve | None, page: bool = False) -> Served | None:
        """Return the endpoints to serve: the scenario's, overridden by the command line, and the `page`."""
        fields: dict[str, Any] = {} if own is None else own.model_dump(mode="json", exclude_defaults=True)
        if own is not None:
            fields |= {name: True for name in own.endpoints if fields.get(name) is None}
        named = _endpoints(self.serve)
        fields |= named
        if token := os.environ.get(TOKEN):
            fields["token"] = token
        fields |= self._given()
        asked = _any(fields)
        if PAGE in named and self.no_web:
            raise PaddockError(f"--serve {PAGE} and --no-web are mutually exclusive")
        if self.no_web:
            fields.pop(PAGE, None)
        elif page and fields.get(PAGE) is None:
            fields[PAGE] = True
        movable = fields.get(PAGE) is True and not (own is not None and PAGE in own.endpoints)
        if not _any(fields):
            for name in [*self._given(), *(["open"] if self.open else [])]:
                raise PaddockError(f"--{name} requires --serve: nothing is served")
            return None
        if self.open and fields.get(PAGE) is None:
            raise PaddockError("--open requires the web endpoint, which is not served")
        from paddock.serve.live import serve_options

        try:
            if movable:
                others = serve_options({**fields, PAGE: None}).tcp_ports.values()
                fields[PAGE] = free_port(fields.get("bind", "127.0.0.1"), 0 if PORT in others else PORT) or True
            return Served(serve_options(fields), asked, movable, self.open)
        except PaddockError as error:
            flag = TOKEN if token and self.token is None else "--token"
            flags = {"serve.bind": "--bind", "serve.token": flag, "serve.hosts": "--hosts"}
            flags |= {"insecure: true": "--insecure", "serve.": "--serve "}
            raise PaddockError(as_flags(str(error), flags)) from None

    def _given(self) -> dict[str, Any]:
        """Return the options other than endpoints."""
        values: dict[str, Any] = {"bind": self.bind, "token": self.token, "hosts": self.hosts or None}
        values |= {"insecure": self.insecure or None, "lock": self.lock or None}
        return {name: value for name, value in values.items() if value is not None}


def _any(fields: dict[str, Any]) -> bool:
    """Whether any endpoint is served; port 0 counts."""
    from paddock.scenario.serve import ENDPOINTS

    return any(fields.get(name) is not None for name in ENDPOINTS)


def as_flags(message: str, flags: Mapping[str, str]) -> str:
    """Replace the paths of scenario values in an error message by the flags that set them."""
    for written, flag in flags.items():
        message = message.replace(written, flag)
    return message


def _endpoints(texts: tuple[str, ...]) -> dict[str, Any]:
    """Split each `zmq=5556` into name and port."""
    from paddock.scenario.serve import ENDPOINTS

    endpoints: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if name not in ENDPOINTS:
            raise unknown_name("endpoint", name, ENDPOINTS, "--serve")
        if equals and not value:
            raise PaddockError(f"--serve takes NAME or NAME=PORT, e.g. --serve {name}=5556, not {text!r}")
        port = bool(equals) and name != "shm"
        if port and not (value.isascii() and value.isdecimal() and len(value) <= PORT_DIGITS):
            raise PaddockError(f"--serve {name}: a port is an integer from 0 to 65535, not {value!r}")
        if name in endpoints:
            raise PaddockError(f"--serve {name} is given twice")
        endpoints[name] = int(value) if port else value or True
    return endpoints
