"""`--serve` and what goes with it: endpoints from the command line, on top of the scenario's own."""

from __future__ import annotations

import os
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

TOKEN = "PADDOCK_TOKEN"
"""Environment variable that stands for --token: other users cannot read it in the list of processes."""
LONGEST_PORT = 5
"""Digits."""


@Parameter(name="*")
@dataclass(frozen=True)
class ServeOptions:
    """Who may watch and drive from outside."""

    serve: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = ()
    "Serve an endpoint: stream, vds1, zmq, shm or metrics, with a port if you like (zmq=5556); may be repeated."

    bind: str | None = None
    "Address to listen on; beyond this machine it takes --token or --insecure."

    token: str | None = None
    "What clients have to know, 8 characters or more; better given as the environment variable PADDOCK_TOKEN."

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
        fields |= _endpoints(self.serve)
        if not self.serve and (own is None or not own.endpoints):
            self._refuse_alone()
            return None
        if token := os.environ.get(TOKEN):
            fields["token"] = token
        fields |= self._given()
        try:
            return serve_options(fields)
        except PaddockError as error:
            raise PaddockError(_as_flags(str(error), TOKEN if token and self.token is None else "--token")) from None

    def _given(self) -> dict[str, Any]:
        """What was said other than endpoints."""
        said = {"bind": self.bind, "token": self.token, "insecure": self.insecure or None, "lock": self.lock or None}
        return {name: value for name, value in said.items() if value is not None}

    def _refuse_alone(self) -> None:
        for name in self._given():
            raise PaddockError(f"--{name} goes with --serve: nothing is served")


def _endpoints(texts: tuple[str, ...]) -> dict[str, Any]:
    endpoints: dict[str, Any] = {}
    for name, value in map(_endpoint, texts):
        if name in endpoints:
            raise PaddockError(f"--serve {name} is given twice; an endpoint is served once")
        endpoints[name] = value
    return endpoints


def _endpoint(text: str) -> tuple[str, Any]:
    """`zmq=5556` -> its name and port."""
    from paddock.scenario.serve import ENDPOINTS

    name, equals, value = text.partition("=")
    if name not in ENDPOINTS:
        raise unknown_name("endpoint", name, ENDPOINTS, "--serve")
    if equals and not value:
        raise PaddockError(f"--serve takes an endpoint, with a port if you like: --serve {name}=5556, not {text!r}")
    if not equals or name == "shm":
        return name, value or True
    if not (value.isascii() and value.isdecimal() and len(value) <= LONGEST_PORT):
        raise PaddockError(f"--serve {name}: a port is a whole number from 0 to 65535, not {value!r}")
    return name, int(value)


def _as_flags(message: str, token: str) -> str:
    """Name the flags instead of the places in a scenario that nobody wrote."""
    for written, flag in (("serve.bind", "--bind"), ("serve.token", token), ("insecure: true", "--insecure")):
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
