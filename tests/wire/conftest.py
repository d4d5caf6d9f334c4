"""Fixtures of the tests of encoders and decoders."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from paddock.wire.stream import positions

ROUNDS = 5
ATTEMPTS = 4
KEPT = 20_000
"""Bytes that may come and go by chance."""


@pytest.fixture
def keeps_no_memory() -> Callable[[Callable[[], object]], bool]:
    """Whether doing something again and again leaves nothing behind."""

    def kept(work: Callable[[], object]) -> int:
        work()
        gc.collect()
        tracemalloc.start()
        try:
            work()
            gc.collect()
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(ROUNDS):
                work()
            gc.collect()
            return tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()

    def check(work: Callable[[], object]) -> bool:
        """A leak shows in every attempt, an allocation of another thread in one of them."""
        return any(kept(work) < KEPT for _ in range(ATTEMPTS))

    return check


@pytest.fixture(scope="module", params=[0, 1 << 30], ids=["compiled", "numpy"])
def each_encoder(request: pytest.FixtureRequest) -> Iterator[None]:
    """Encode with the compiled code of large fleets, then with the NumPy code of small ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(positions, "COMPILED_FROM", request.param)
        yield
