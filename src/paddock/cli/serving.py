"""`--serve` and what goes with it: endpoints from the command line, on top of the scenario's own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from paddock.cli.hosting import PAGE, Served
from paddock.cli.options import Flag
from paddock.cli.page import free_port
from paddock.errors import PaddockError, unknown_name

if TYPE_CHECKING:
    from paddock.scenario import Serve

TOKEN = "PADDOCK_TOKEN"
"""Environment variable that stands for --token: other users cannot read it in the list of processes."""
LONGEST_PORT = 5
"""Digits."""


@Parameter(name="*")
@dataclass(frozen=True)
class ServeOptions:
    """Who may watch and drive from outside."""

    serve: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = ()
    "Serve an endpoint: web, stream, vds1, zmq, shm or metrics, with a port if you like (zmq=5556); may be repeated."

    no_web: Flag = False
    "Serve no page; otherwise there is one unless nothing is shown."

    open: Flag = False
    "Open the page in a browser."

    bind: str | None = None
    "Address to listen on; beyond this machine it takes --token or --insecure."

    token: str | None = None
    "What clients have to know, 8 characters or more; better given as the environment variable PADDOCK_TOKEN."

    insecure: Flag = False
    "Listen beyond this machine without a token."

    lock: Flag = False
    "Keep clients from stepping, pausing and resetting."

    def over(self, own: Serve | None, page: bool = False) -> Served | None:
        """What is served: the scenario's own endpoints, with those of the command line over them; the `page` too."""
        fields = self._fields(own)
        asked = _any(fields)
        if PAGE in _endpoints(self.serve) and self.no_web:
            raise PaddockError(f"--serve {PAGE} and --no-web contradict each other")
        if self.no_web:
            fields.pop(PAGE, None)
        elif page and fields.get(PAGE) is None:
            fields[PAGE] = True
        movable = fields.get(PAGE) is True and not (own is not None and PAGE in own.endpoints)
        if not _any(fields):
            self._refuse_alone()
            return None
        if movable:
            fields[PAGE] = free_port(fields.get("bind", "127.0.0.1")) or True
        if self.open and fields.get(PAGE) is None:
            raise PaddockError("--open opens the page, which is not served here")
        return Served(self._checked(fields), asked, movable, self.open)

    def _fields(self, own: Serve | None) -> dict[str, Any]:
        fields: dict[str, Any] = {} if own is None else own.model_dump(mode="json", exclude_defaults=True)
        if own is not None:
            fields |= {name: True for name in own.endpoints if fields.get(name) is None}
        fields |= _endpoints(self.serve)
        if token := os.environ.get(TOKEN):
            fields["token"] = token
        return fields | self._given()

    def _checked(self, fields: dict[str, Any]) -> Serve:
        from paddock.serve.share import serve_options

        try:
            return serve_options(fields)
        except PaddockError as error:
            token = TOKEN if os.environ.get(TOKEN) and self.token is None else "--token"
            raise PaddockError(_as_flags(str(error), token)) from None

    def _given(self) -> dict[str, Any]:
        """What was said other than endpoints."""
        said = {"bind": self.bind, "token": self.token, "insecure": self.insecure or None, "lock": self.lock or None}
        return {name: value for name, value in said.items() if value is not None}

    def _refuse_alone(self) -> None:
        for name in [*self._given(), *(["open"] if self.open else [])]:
            raise PaddockError(f"--{name} goes with --serve: nothing is served")


def _known() -> tuple[str, ...]:
    from paddock.scenario.serve import ENDPOINTS

    return ENDPOINTS


def _any(fields: dict[str, Any]) -> bool:
    """Whether anything is served; on port 0, a free one, too."""
    return any(fields.get(name) is not None for name in _known())


def _endpoints(texts: tuple[str, ...]) -> dict[str, Any]:
    endpoints: dict[str, Any] = {}
    for name, value in map(_endpoint, texts):
        if name in endpoints:
            raise PaddockError(f"--serve {name} is given twice; an endpoint is served once")
        endpoints[name] = value
    return endpoints


def _endpoint(text: str) -> tuple[str, Any]:
    """`zmq=5556` -> its name and port."""
    name, equals, value = text.partition("=")
    if name not in _known():
        raise unknown_name("endpoint", name, _known(), "--serve")
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
