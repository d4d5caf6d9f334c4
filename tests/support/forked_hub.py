"""Hub processes forked from a server that has imported their modules: a start takes a tenth of the CPU time."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
from multiprocessing.reduction import DupFd
from typing import Any

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "paddock.serve.hub",
        *(f"paddock.serve.endpoints.{name}" for name in ("metrics", "shm", "stream", "vds1", "web", "zmq")),
        *("uvicorn.protocols.websockets.websockets_impl", "starlette.staticfiles", "prometheus_client"),
    ]
)


def _detached(duplicate: Any) -> int:
    number: int = duplicate.detach()
    return number


class Descriptor:
    """A file descriptor that arrives in the new process as its number there."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> Any:
        return _detached, (DupFd(self.number),)


def run_hub(link: int, bell: int, log: int, folder: str, environment: dict[str, str]) -> None:
    """Run a hub in this process, as `python -m paddock.serve` does."""
    from paddock.serve.hub import main

    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 2)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    main(link, bell)


class ForkedHub:
    """A hub process with the interface of `subprocess.Popen`."""

    def __init__(self, link: int, bell: int) -> None:
        reading, writing = os.pipe()
        arguments = (*map(Descriptor, (link, bell, writing)), os.getcwd(), dict(os.environ))
        self._process = CONTEXT.Process(target=run_hub, args=arguments, daemon=True)
        self._process.start()
        os.close(writing)
        self.stderr = os.fdopen(reading, encoding="utf-8", errors="replace")

    @property
    def pid(self) -> int | None:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("hub", timeout or 0.0)
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()
