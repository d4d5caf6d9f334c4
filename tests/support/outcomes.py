"""What decoders do with damaged bytes, for the tests of several wires."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from paddock.wire import WireError


def count_outcomes(decoder: Callable[[bytes], Any], inputs: Iterable[bytes]) -> Counter[str]:
    """Count the reasons of errors, and the values that were read."""
    outcomes: Counter[str] = Counter()
    for data in inputs:
        try:
            decoder(data)
        except WireError as error:
            outcomes[error.reason] += 1
        else:
            outcomes["value read"] += 1
    return outcomes
