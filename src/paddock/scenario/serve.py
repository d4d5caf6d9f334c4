"""The section `serve`: endpoints, their ports, and access from other machines."""

import ipaddress
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from paddock.scenario.base import Flag, Positive, Section, Text, Whole, invalid

LAST_PORT = 65535
SHORTEST_TOKEN = 8  # characters
LONGEST_TOKEN = 255  # bytes: the limit of a ZeroMQ password
Port = Annotated[Whole, Field(ge=0, le=LAST_PORT)]
FrameName = Literal["enu", "nwu", "ned", "unreal"]
Kinds = tuple[Literal["positions", "telemetry", "fpv", "lines", "spheres", "markers", "events"], ...]
TickKinds = tuple[Literal["positions", "telemetry", "fpv", "lines", "spheres"], ...]
ZMQ_STATES = "the states of zmq"
ENDPOINTS = ("web", "stream", "vds1", "zmq", "shm", "metrics")


def is_loopback(host: str) -> bool:
    """Return whether an address, or the name localhost, is of this machine only."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def split_address(address: str) -> tuple[str, int]:
    """Split `host:port`; ValueError for anything else."""
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isascii() and port.isdecimal() and 0 < int(port) < 65536):
        raise ValueError(f"an address is written host:port, e.g. 127.0.0.1:7002, not {address!r}")
    return host.strip("[]"), int(port)


def _checked_address(value: Any) -> Any:
    if isinstance(value, str):
        try:
            split_address(value)
        except ValueError as error:
            raise invalid(str(error)) from None
    return value


Address = Annotated[Text, BeforeValidator(_checked_address)]


class EndpointSection(Section):
    """An endpoint. The port alone, or true for the default port, is a short form."""

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, value: Any) -> Any:
        if value is True:
            return {}
        if isinstance(value, str) and cls is ShmEndpoint:
            return {"name": value}
        return {"port": value} if isinstance(value, int) and not isinstance(value, bool) else value


class Dial(Section):
    """A renderer that listens and that Paddock connects to."""

    to: Address = Field(description="Its address, host:port.")
    frame: FrameName = Field(default="unreal", description="The axes and units it expects.")
    rate: Positive = Field(default=60.0, description="Maximum frame rate, in Hz.")
    kinds: Kinds = Field(default=("positions", "telemetry"), description="The frames it receives.")
    tick: Flag = Field(default=False, description="Whether a tick frame (0x10) precedes each group of frames.")


class StreamEndpoint(EndpointSection):
    """Binary frames and JSON-RPC over TCP."""

    port: Port = Field(default=41451, description="TCP port; 0 takes a free one.")
    rate: Positive = Field(default=60.0, description="Maximum frame rate of a subscriber, in Hz.")
    dial: tuple[Dial, ...] = Field(default=(), description="Renderers to connect to.")
    connections: Whole = Field(default=64, ge=1, description="Maximum number of connections.")
    requests: Positive = Field(default=2000.0, description="Maximum request rate of one connection, in Hz.")


class WebEndpoint(EndpointSection):
    """The page, and its WebSocket."""

    port: Port = Field(default=8000, description="TCP port; 0 takes a free one.")
    rate: Positive = Field(default=60.0, description="Maximum frame rate of a page, in Hz.")
    connections: Whole = Field(default=64, ge=1, description="Maximum number of pages.")
    requests: Positive = Field(default=2000.0, description="Maximum request rate of one page, in Hz.")


class Vds1Endpoint(EndpointSection):
    """Cars over UDP: one STATE datagram per vehicle, commands by vehicle id."""

    port: Port = Field(default=7001, description="UDP port for commands; 0 takes a free one.")
    rate: Positive = Field(default=200.0, description="Publications per simulated second, in Hz.")
    timeout: Positive = Field(default=0.1, description="Timeout of a command, in simulated s; then the failsafe acts.")
    state: Address | None = Field(
        default="127.0.0.1:7002", description="Permanent receiver of states, host:port; null is none."
    )
    subscribers: Whole = Field(default=64, ge=1, description="Maximum number of subscribers.")
    cookie: Literal["all", "remote"] | None = Field(
        default=None,
        description="Senders that must echo a cookie before they receive states: all, or those on other machines; null "
        "is all if others can connect.",
    )
    datagrams: Positive = Field(default=20000.0, description="Maximum datagram rate of one client, in Hz.")
    vehicles: Whole = Field(default=1024, ge=1, description="Maximum number of cars whose state is sent.")


class ZmqEndpoint(EndpointSection):
    """The notebook interface: ZeroMQ and Protobuf, used by `paddock.connect`."""

    port: Port = Field(default=5556, description="TCP port for requests, 0 takes a free one; states use another.")
    publish: Port | None = Field(default=None, description="TCP port for states; null is port + 1.")
    rate: Positive = Field(default=50.0, description="States per simulated second, in Hz.")
    clients: Whole = Field(default=64, ge=1, description="Maximum number of clients.")
    requests: Positive = Field(default=20000.0, description="Maximum request rate of one client, in Hz.")

    @model_validator(mode="after")
    def _has_next_port(self) -> Self:
        if self.publish is None and self.port == LAST_PORT:
            raise invalid(f"there is no port after {LAST_PORT} for states: use a lower port, or set publish", ("port",))
        return self


class ShmEndpoint(EndpointSection):
    """Stream frames in shared memory, for renderers on the same machine."""

    name: Text = Field(default="paddock", pattern=r"^[A-Za-z0-9_-]{1,40}$", description="Name of the ring.")
    rate: Positive = Field(default=60.0, description="Maximum number of frames per simulated second, in Hz.")
    frame: FrameName = Field(default="enu", description="Axes and units.")
    kinds: TickKinds = Field(default=("positions", "telemetry"), description="The frames that are written.")


class MetricsEndpoint(EndpointSection):
    """Prometheus metrics, health and readiness over HTTP."""

    port: Port = Field(default=9464, description="TCP port; 0 takes a free one.")


class ClientLimits(Section):
    """What clients may add to a run, or load as another scenario. Own scenarios are limited by the machine only."""

    vehicles: Whole = Field(default=200_000, ge=0, description="Maximum number of vehicles that clients add or load.")
    fleets: Whole = Field(
        default=256,
        ge=0,
        description="Maximum number of fleets that clients add or load; a vehicle outside a fleet counts as one.",
    )
    memory: Positive = Field(default=1.0, description="Maximum estimated memory of those vehicles, in GiB.")
    tasks: Whole = Field(default=2000, ge=0, description="Maximum number of tasks that clients add or load.")
    points: Whole = Field(default=250_000, ge=0, description="Maximum number of points of one client's markers.")
    points_in_all: Whole = Field(default=1_000_000, ge=0, description="Maximum number of points of clients' markers.")


class Serve(Section):
    """Endpoints for other programs, all in one separate process. An endpoint that is not named is not served."""

    bind: Text = Field(default="127.0.0.1", description="Address to listen on.")
    token: Text | None = Field(
        default=None,
        min_length=SHORTEST_TOKEN,
        description="Token that clients must send; required to listen beyond this machine.",
    )
    insecure: Flag = Field(default=False, description="Listen beyond this machine without a token.")
    hosts: tuple[Text, ...] = Field(
        default=(),
        description="Names under which browsers reach the page and the metrics without a token, besides addresses and "
        "the machine's own name.",
    )
    lock: Flag = Field(default=False, description="Whether clients may not step, pause and reset.")
    limits: ClientLimits = Field(default=ClientLimits(), description="What clients may add to a run, or load.")
    web: WebEndpoint | None = Field(default=None, description="The page: a port, true, or a mapping.")
    stream: StreamEndpoint | None = Field(
        default=None, description="Binary frames and JSON-RPC over TCP: a port, true, or a mapping."
    )
    vds1: Vds1Endpoint | None = Field(default=None, description="Cars over UDP: a port, true, or a mapping.")
    zmq: ZmqEndpoint | None = Field(default=None, description="Notebooks over ZeroMQ: a port, true, or a mapping.")
    shm: ShmEndpoint | None = Field(
        default=None, description="Shared memory for local renderers: a name, true, or a mapping."
    )
    metrics: MetricsEndpoint | None = Field(
        default=None, description="Prometheus over HTTP: a port, true, or a mapping."
    )

    @field_validator("token", mode="before")
    @classmethod
    def _is_long(cls, token: Any) -> Any:
        """Check the length without showing the token."""
        if isinstance(token, str) and len(token) < SHORTEST_TOKEN:
            raise invalid(f"a token has at least {SHORTEST_TOKEN} characters, not {len(token)}")
        if isinstance(token, str) and len(token.encode()) > LONGEST_TOKEN:
            raise invalid(f"a token has at most {LONGEST_TOKEN} bytes, not {len(token.encode())}")
        return token

    @field_validator("hosts", mode="after")
    @classmethod
    def _are_names(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        for name in hosts:
            if not all(part.replace("-", "").replace("_", "").isalnum() for part in name.split(".")):
                raise invalid(f"hosts are names such as sim.example, without a port, not {name!r}")
        return hosts

    @field_validator("bind", mode="after")
    @classmethod
    def _is_address(cls, bind: str) -> str:
        try:
            ipaddress.ip_address(bind)
        except ValueError:
            if bind != "localhost":
                raise invalid(f"bind is an IP address such as 127.0.0.1 or 0.0.0.0, not {bind!r}") from None
        return bind

    @model_validator(mode="after")
    def _safe(self) -> Self:
        if self.local or self.insecure:
            return self
        if self.token is None:
            raise invalid(f"listening on {self.bind} needs a token, or insecure: true", ("bind",))
        if self.vds1 is not None:
            raise invalid("vds1 cannot check a token: listen on 127.0.0.1, or set insecure: true", ("vds1",))
        return self

    @model_validator(mode="after")
    def _different_ports(self) -> Self:
        users: dict[int, str] = {}
        for name, port in self.tcp_ports.items():
            if (other := users.setdefault(port, name)) != name:
                after = name == ZMQ_STATES and self.zmq is not None and self.zmq.publish is None
                why = " (the next port, unless `publish` is set)" if after else ""
                raise invalid(f"port {port} is that of {other} and of {name}{why}", (name.split()[-1],))
        return self

    @property
    def tcp_ports(self) -> dict[str, int]:
        """The TCP ports to listen on, by endpoint; without those that the system chooses."""
        ports = {name: getattr(endpoint, "port", 0) for name, endpoint in self.endpoints.items() if name != "vds1"}
        if self.zmq is not None:
            after = self.zmq.port + 1 if self.zmq.port else 0
            ports[ZMQ_STATES] = after if self.zmq.publish is None else self.zmq.publish
        return {name: port for name, port in ports.items() if port}

    @property
    def local(self) -> bool:
        """Whether only this machine can connect."""
        return is_loopback(self.bind)

    @property
    def endpoints(self) -> dict[str, EndpointSection]:
        """The endpoints to serve, by name."""
        return {name: getattr(self, name) for name in ENDPOINTS if getattr(self, name) is not None}
