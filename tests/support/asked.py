"""Operations as clients ask for them, for the tests of serving."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from paddock.serve.link import operate
from paddock.serve.live import LiveSource


def ask(source: LiveSource, operation: str, **arguments: Any) -> Any:
    """Return the result of an operation that a client asks for."""
    result = operate(source, operation, "eve", arguments)
    result = result.result(60) if isinstance(result, Future) else result
    return result() if callable(result) else result
