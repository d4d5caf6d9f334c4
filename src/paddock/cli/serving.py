"""`--serve` and what goes with it: endpoints from the command line, on top of the scenario's own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from paddock.cli.options import Flag
from paddock.errors import PaddockError, unknown_name

if TYPE_CHECKING:
    from paddock.cli.notices import Notices
    from paddock.scenario import Serve
    from paddock.serve.source import Source


@Parameter(name="*")
@dataclass(frozen=True)
class ServeOptions:
    """Who may watch and drive from outside."""

    serve: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = ()
    "Serve an endpoint: stream, vds1, zmq, shm or metrics, with a port if you like (zmq=5556); may be repeated."

    bind: str | None = None
    "Address to listen on; beyond this machine it takes --token or --insecure."

    token: str | None = None
    "What clients have to know."

    insecure: Flag = False
    "Listen beyond this machine without a token."

    lock: Flag = False
    "Keep clients from stepping, pausing and resetting."

    def over(self, own: Serve | None) -> Serve | None:
        """What is served: the scenario's own endpoints, with those of the command line over them."""
        from paddock.serve.share import serve_options

        fields: dict[str, Any] = {} if own is None else own.model_dump(mode="json", exclude_defaults=True)
        if own is not None:
            fields |= {name: fields.get(name) or True for name in own.endpoints}
        fields |= dict(map(_endpoint, self.serve))
        given = {"bind": self.bind, "token": self.token}
        fields |= {name: value for name, value in given.items() if value is not None}
        fields |= {name: True for name in ("insecure", "lock") if getattr(self, name)}
        if not fields:
            return None
        try:
            options = serve_options(fields)
        except PaddockError as error:
            raise PaddockError(_as_flags(str(error))) from None
        return options if options.endpoints else None


def _endpoint(text: str) -> tuple[str, Any]:
    """`zmq=5556` -> its name and port."""
    from paddock.scenario.serve import ENDPOINTS

    name, equals, value = text.partition("=")
    if name not in ENDPOINTS:
        raise unknown_name("endpoint", name, ENDPOINTS, "--serve")
    if equals and not value:
        raise PaddockError(f"--serve takes an endpoint, with a port if you like: --serve {name}=5556, not {text!r}")
    if not equals:
        return name, True
    return name, int(value) if value.isascii() and value.isdecimal() else value


def _as_flags(message: str) -> str:
    """Name the flags instead of the places in a scenario that nobody wrote."""
    for written, flag in (("serve.bind", "--bind"), ("serve.token", "--token"), ("insecure: true", "--insecure")):
        message = message.replace(written, flag)
    return message.replace("serve.", "--serve ")


@contextmanager
def serving(source: Source, options: Serve | None, notices: Notices) -> Iterator[None]:
    """Serve a source while the block runs, and say where."""
    if options is None:
        yield
        return
    from paddock.serve.host import Host

    with Host(source, options, notices.tell) as host:
        for name, address in host.addresses.items():
            print(f"serving {name} {_told(options.bind, address)}", file=sys.stderr, flush=True)
        yield


def _told(bind: str, address: dict[str, Any]) -> str:
    ports = " and ".join(f"{bind}:{value}" for key, value in address.items() if isinstance(value, int))
    return f"on {ports}" if ports else f"as {address.get('name', '')}"
