"""Who may watch and drive from outside: the endpoints, their ports and who may reach them."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from paddock.scenario.base import Positive, Section, Text, Whole, trouble

LAST_PORT = 65535
SHORTEST_TOKEN = 8
"""Characters."""
Port = Annotated[Whole, Field(ge=0, le=LAST_PORT)]
Flag = Annotated[bool, Field(strict=True)]
FrameName = Literal["enu", "nwu", "ned", "unreal"]
Kind = Literal["positions", "telemetry", "fpv", "lines", "spheres", "markers", "events"]
Kinds = tuple[Kind, ...]
TickKind = Literal["positions", "telemetry", "fpv", "lines", "spheres"]
ENDPOINTS = ("web", "stream", "vds1", "zmq", "shm", "metrics")


def split_address(address: str) -> tuple[str, int]:
    """`host:port` -> (host, port); ValueError for anything else."""
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isascii() and port.isdecimal() and 0 < int(port) < 65536):
        raise ValueError(f"an address is written host:port, e.g. 127.0.0.1:7002, not {address!r}")
    return host.strip("[]"), int(port)


def _address(value: Any) -> Any:
    if isinstance(value, str):
        try:
            split_address(value)
        except ValueError as error:
            raise trouble(str(error)) from None
    return value


Address = Annotated[Text, BeforeValidator(_address)]


class Served(Section):
    """An endpoint. Instead of a mapping its port alone may stand, or true for the usual one."""

    @classmethod
    def short(cls, value: Any) -> Any:
        """The mapping that a short form stands for."""
        if value is True:
            return {}
        return {"port": value} if isinstance(value, int) and not isinstance(value, bool) else value


class Dial(Section):
    """A renderer that listens, which Paddock connects to."""

    to: Address = Field(description="Where it listens, host:port.")
    frame: FrameName = Field(default="unreal", description="The axes and units it expects.")
    rate: Positive = Field(default=60.0, description="Frames per second at most, in Hz.")
    kinds: Kinds = Field(default=("positions", "telemetry"), description="What it is sent.")
    tick: Flag = Field(default=False, description="Whether tick frames (0x10) go before each group of frames.")


class Stream(Served):
    """Binary frames and JSON-RPC over TCP."""

    port: Port = Field(default=41451, description="TCP port; 0 takes a free one.")
    rate: Positive = Field(default=60.0, description="Frames per second that a subscriber may have at most, in Hz.")
    dial: tuple[Dial, ...] = Field(default=(), description="Renderers to connect to.")
    connections: Whole = Field(default=64, ge=1, description="Connections at once at most.")
    requests: Positive = Field(default=2000.0, description="Requests per second of one connection, in Hz.")


class Web(Served):
    """The page, and its WebSocket."""

    port: Port = Field(default=8000, description="TCP port; 0 takes a free one.")
    rate: Positive = Field(default=60.0, description="Frames per second that a page may have at most, in Hz.")
    connections: Whole = Field(default=64, ge=1, description="Pages at once at most.")
    requests: Positive = Field(default=2000.0, description="Requests per second of one page, in Hz.")


class Vds1(Served):
    """Cars over UDP: one STATE datagram per vehicle, commands by vehicle id."""

    port: Port = Field(default=7001, description="UDP port for commands; 0 takes a free one.")
    rate: Positive = Field(default=200.0, description="Publishes per simulated second, in Hz.")
    timeout: Positive = Field(default=0.1, description="Simulated seconds that a command holds until the failsafe.")
    state: Address | None = Field(
        default="127.0.0.1:7002", description="Who is sent every state without asking, host:port; null is nobody."
    )
    subscribers: Whole = Field(default=64, ge=1, description="Subscribers at once at most.")
    datagrams: Positive = Field(default=20000.0, description="Datagrams per second of one client, in Hz.")
    vehicles: Whole = Field(default=1024, ge=1, description="Cars whose state is sent at most.")


class Zmq(Served):
    """The notebook interface: ZeroMQ and Protobuf, what `paddock.connect` speaks."""

    port: Port = Field(default=5556, description="TCP port for requests; 0 takes a free one.")
    publish: Port | None = Field(default=None, description="TCP port for states; null is the next one after port.")
    rate: Positive = Field(default=50.0, description="States per simulated second, in Hz.")
    clients: Whole = Field(default=64, ge=1, description="Clients at once at most.")
    requests: Positive = Field(default=20000.0, description="Requests per second of one client, in Hz.")

    @model_validator(mode="after")
    def _has_next_port(self) -> Self:
        if self.publish is None and self.port == LAST_PORT:
            raise trouble(
                f"there is no port after {LAST_PORT} for states: take a lower port, or say publish", ("port",)
            )
        return self


class Shm(Served):
    """Stream frames in shared memory, for renderers on the same machine."""

    name: Text = Field(default="paddock", pattern=r"^[A-Za-z0-9_-]{1,40}$", description="Name of the ring.")
    rate: Positive = Field(default=60.0, description="Frames per simulated second at most, in Hz.")
    frame: FrameName = Field(default="enu", description="Axes and units.")
    kinds: tuple[TickKind, ...] = Field(default=("positions", "telemetry"), description="What is written.")

    @classmethod
    def short(cls, value: Any) -> Any:
        """A name alone may stand for it."""
        return {"name": value} if isinstance(value, str) else super().short(value)


class Metrics(Served):
    """Prometheus figures, health and readiness over HTTP."""

    port: Port = Field(default=9464, description="TCP port; 0 takes a free one.")


class Serve(Section):
    """Endpoints that outsiders use, all of them in a process of their own. What is not named is not served."""

    bind: Text = Field(default="127.0.0.1", description="Address that endpoints listen on.")
    token: Text | None = Field(
        default=None,
        min_length=SHORTEST_TOKEN,
        description="What a client has to know; needed to listen beyond this machine.",
    )
    insecure: Flag = Field(default=False, description="Listen beyond this machine without a token.")
    lock: Flag = Field(default=False, description="Whether clients are kept from stepping, pausing and resetting.")
    web: Annotated[Web | None, BeforeValidator(Web.short)] = Field(
        default=None, description="The page: a port, true, or a mapping."
    )
    stream: Annotated[Stream | None, BeforeValidator(Stream.short)] = Field(
        default=None, description="Binary frames and JSON-RPC over TCP: a port, true, or a mapping."
    )
    vds1: Annotated[Vds1 | None, BeforeValidator(Vds1.short)] = Field(
        default=None, description="Cars over UDP: a port, true, or a mapping."
    )
    zmq: Annotated[Zmq | None, BeforeValidator(Zmq.short)] = Field(
        default=None, description="Notebooks over ZeroMQ: a port, true, or a mapping."
    )
    shm: Annotated[Shm | None, BeforeValidator(Shm.short)] = Field(
        default=None, description="Shared memory for local renderers: a name, true, or a mapping."
    )
    metrics: Annotated[Metrics | None, BeforeValidator(Metrics.short)] = Field(
        default=None, description="Prometheus over HTTP: a port, true, or a mapping."
    )

    @field_validator("token", mode="before")
    @classmethod
    def _is_long(cls, token: Any) -> Any:
        """Says what is wrong without saying the token."""
        if isinstance(token, str) and len(token) < SHORTEST_TOKEN:
            raise trouble(f"a token has at least {SHORTEST_TOKEN} characters, not {len(token)}")
        return token

    @field_validator("bind", mode="after")
    @classmethod
    def _is_address(cls, bind: str) -> str:
        try:
            ipaddress.ip_address(bind)
        except ValueError:
            if bind != "localhost":
                raise trouble(f"bind is an IP address such as 127.0.0.1 or 0.0.0.0, not {bind!r}") from None
        return bind

    @model_validator(mode="after")
    def _safe(self) -> Self:
        if self.local or self.insecure:
            return self
        if self.token is None:
            raise trouble(f"listening on {self.bind} needs a token, or insecure: true to do without", ("bind",))
        if self.vds1 is not None:
            raise trouble("vds1 cannot check a token: listen on 127.0.0.1, or say insecure: true", ("vds1",))
        return self

    @property
    def local(self) -> bool:
        """Whether only this machine can connect."""
        return self.bind == "localhost" or ipaddress.ip_address(self.bind).is_loopback

    @property
    def endpoints(self) -> dict[str, Served]:
        """What is served: name -> its options."""
        return {name: getattr(self, name) for name in ENDPOINTS if getattr(self, name) is not None}
