"""A simulation behind one endpoint, and what its clients have in common, for the tests of endpoints with JSON-RPC."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import paddock
from paddock.serve.host import Host


class RpcClient:
    """Calls methods, and keeps the notifications that come before an answer."""

    def __init__(self) -> None:
        self.notifications: list[dict[str, Any]] = []
        self.number = 0

    def send_request(self, request: dict[str, Any]) -> None:
        """Send one request."""
        raise NotImplementedError

    def next_tree(self) -> dict[str, Any]:
        """Return the next JSON message; others are left out or kept."""
        raise NotImplementedError

    def send(self, method: str, /, **params: Any) -> int:
        """Call without waiting; the id of the call."""
        self.number += 1
        self.send_request({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def call(self, method: str, /, **params: Any) -> Any:
        """The result of a call."""
        answer = self.answer(self.send(method, **params))
        assert "result" in answer, answer
        return answer["result"]

    def refused(self, method: str, /, **params: Any) -> tuple[int, str]:
        """(code, message) of a call that is refused."""
        error = self.answer(self.send(method, **params))["error"]
        return error["code"], error["message"]

    def answer(self, number: int | None) -> dict[str, Any]:
        """The answer to a call; frames that come before it are left out."""
        return self.until(lambda tree: tree if tree.get("id", -1) == number else None)

    def notification(self, method: str) -> dict[str, Any]:
        """The parameters of the next notification of that name, or of the first that was kept."""
        for k, tree in enumerate(self.notifications):
            if tree["method"] == method:
                return self.notifications.pop(k)["params"]
        return self.until(lambda tree: tree["params"] if tree.get("method") == method else None)

    def until(self, wanted: Callable[[dict[str, Any]], Any]) -> Any:
        """The first value that is not None, of the messages that come."""
        while (value := wanted(tree := self.next_tree())) is None:
            if "method" in tree:
                self.notifications.append(tree)
        return value


class ServedEndpoint:
    """A simulation with an endpoint, and with that of metrics."""

    endpoint = ""  # its name

    def __init__(
        self, stack: ExitStack, scenario: dict[str, Any], running: bool, serve: dict[str, Any], metrics: Any
    ) -> None:
        self._metrics = metrics
        self.sim = stack.enter_context(paddock.load(scenario))
        fields = {self.endpoint: {"port": 0}, "metrics": {"port": 0}, **serve}
        self.host: Host = stack.enter_context(paddock.share(self.sim, lambda line: None, **fields))
        self._stack = stack
        if running:
            stack.enter_context(self.sim.clock.running())

    @property
    def port(self) -> int:
        return self.host.addresses[self.endpoint]["port"]

    def count(self, name: str, **labels: str) -> float:
        """One of the hub's counters, as the metrics endpoint shows it."""
        samples = [s.value for s in self.samples(f"paddock_hub_{name}_total") if s.labels == labels]
        return samples[0] if samples else 0.0

    def samples(self, name: str) -> list[Any]:
        """What the metrics endpoint shows under a name."""
        return self._metrics(self.host, name)
