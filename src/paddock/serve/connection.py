"""One hub process as seen from the simulation: its link, its doorbell, its signs of life."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

from paddock.errors import PaddockError
from paddock.serve.link import Link, LinkClosedError

PIECE = 1 << 18


class HubConnection:
    """Starts `python -m paddock.serve` (never a fork) and talks to it until it is stopped or dies."""

    def __init__(
        self,
        config: dict[str, Any],
        on_message: Callable[[HubConnection, dict[str, Any]], None],
        tell: Callable[[str], None],
    ) -> None:
        """`on_message` is called in a thread of this connection's own; `tell` hears each line that the hub logs."""
        ours, theirs = socket.socketpair()
        self._bell, bell = socket.socketpair()
        self._bell.setblocking(False)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "paddock.serve", str(theirs.fileno()), str(bell.fileno())],
            pass_fds=(theirs.fileno(), bell.fileno()),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,  # what is typed at the simulation's terminal is not for the hub
        )
        theirs.close()
        bell.close()
        self.link = Link(ours, blocking=True)
        self._on_message = on_message
        self._seen = monotonic()
        self._ready = threading.Event()
        self._answer: dict[str, Any] = {}
        self._broken = ""
        self._clients: set[str] = set()
        self._stopped = False
        self.send({"config": config})
        self._reader = threading.Thread(target=self._read, name="paddock-link", daemon=True)
        self._reader.start()
        self._logger = threading.Thread(target=self._tell_lines, args=(tell,), name="paddock-hub-log", daemon=True)
        self._logger.start()

    def send(self, message: dict[str, Any]) -> None:
        """Send, without ever waiting; what a dead hub should have heard is lost."""
        try:
            self.link.send(message)
        except LinkClosedError as error:
            self._broken = self._broken or str(error)

    def ring_doorbell(self) -> None:
        """Tell the hub that there is a new snapshot."""
        with suppress(BlockingIOError, OSError):  # full: it has not listened to the earlier ones yet
            self._bell.send(b"\0")

    def wait_ready(self, timeout: float) -> dict[str, Any]:
        """Where the endpoints can be reached, once all of them are open; PaddockError if one cannot be."""
        deadline = monotonic() + timeout
        while not self._ready.wait(0.05):
            ended = self.process.poll() is not None
            if ended:
                self._reader.join()  # its last words may still be on their way
            if (ended or monotonic() > deadline) and not self._ready.is_set():
                self.stop()
                raise PaddockError(f"the hub process did not start: {self._broken or 'no answer'}")
        if "failed" in self._answer:
            self.stop()
            raise PaddockError(self._answer["failed"])
        addresses: dict[str, Any] = self._answer["ready"]
        return addresses

    def trouble(self, patience: float) -> str | None:
        """What is wrong with the hub; None while it lives."""
        if self.process.poll() is not None:
            return f"process ended with code {self.process.returncode}"
        if self._broken:
            return f"was lost: {self._broken}"
        if monotonic() - self._seen > patience:
            return f"has not answered for {patience:g} s"
        return None

    def clients(self) -> list[str]:
        """Clients that this hub has acted for."""
        return list(self._clients)

    def stop(self) -> None:
        """End the process: politely, then for certain."""
        if self._stopped:
            return
        self._stopped = True
        with suppress(LinkClosedError):
            self.link.send({"stop": True})
        try:
            self.process.wait(2.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if threading.current_thread() is not self._reader:
            self._reader.join()
        self._logger.join()
        self.link.close()
        self._bell.close()

    def _tell_lines(self, tell: Callable[[str], None]) -> None:
        """Pass on what the hub writes to stderr: it must not write over somebody's terminal by itself."""
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                tell(line.rstrip())

    def _read(self) -> None:
        """Hear the hub until its end of the link closes."""
        while True:
            try:
                piece = self.link.socket.recv(PIECE)  # ends with the hub's process, which holds the other end
            except OSError:
                piece = b""
            if not piece:
                self._broken = self._broken or "its end of the link is closed"
                return
            try:
                for message in self.link.decoder.feed(piece):
                    self._hear(message)
            except Exception as error:  # the keeper starts another hub; the simulation goes on
                self._broken = f"what it sent could not be understood: {error!r}"
                return

    def _hear(self, message: dict[str, Any]) -> None:
        self._seen = monotonic()
        if "ready" in message or "failed" in message:
            self._answer = message
            self._ready.set()
        elif "beat" not in message:
            if "client" in message:
                self._clients.add(message["client"])
            self._clients.discard(message.get("gone", ""))
            self._on_message(self, message)
