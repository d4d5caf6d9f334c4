"""Options shared by several verbs: how to run, and what to serve."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, Token

from paddock.cli.serving import PAGE, PORT, Served, free_port
from paddock.errors import InvalidValueError, PaddockError, unknown_name

if TYPE_CHECKING:
    from paddock.scenario import Serve


SEED_END = 2**64


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

    def over(self, own: "Serve | None", page: bool = False) -> Served | None:
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
