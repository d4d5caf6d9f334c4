"""The options that `demo` and `run` share, and what their values may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any

from cyclopts import Parameter, Token

from paddock.errors import InvalidValueError

SEED_END = 2**64


def whole(type_: Any, tokens: Sequence[Token]) -> int:
    """A whole number; cyclopts itself would round 1.5."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"must be a whole number, not {tokens[0].value!r}") from None


Whole = Annotated[int | None, Parameter(converter=whole)]
Flag = Annotated[bool, Parameter(negative="", show_default=False)]


@Parameter(name="*")
@dataclass(frozen=True)
class RunOptions:
    """How to run, whatever is run."""

    headless: Flag = False
    "No view; as fast as possible unless --pace says otherwise, in real time with autopilots."

    seconds: float | None = None
    "Simulated seconds to run; until interrupted by default."

    json: Flag = False
    "Print a JSON object at the end and nothing else; implies --headless."

    pace: float | None = None
    "Simulated seconds per second: 0 is as fast as possible, else 0.05 to 100."

    seed: Whole = None
    "Seed of every random draw, instead of the scenario's."

    threads: Whole = None
    "Threads for the kernels; all cores by default. Results do not depend on it."

    device: str = "cpu"
    "Where the vehicles are moved: cpu, or cuda for an NVIDIA GPU."

    record: str | None = None
    "Record the run to this file (MCAP), which is overwritten if it exists."

    record_rate: float | None = None
    "Samples per simulated second in the recording; 30 by default."

    @property
    def quiet(self) -> bool:
        """Whether nothing is shown while it runs."""
        return self.headless or self.json

    def check(self) -> None:
        """Refuse impossible values before anything is built."""
        from paddock.engine.pacing import checked_pace

        if self.seconds is not None and not (isfinite(self.seconds) and self.seconds > 0):
            raise InvalidValueError(f"--seconds must be a positive number, not {self.seconds:g}")
        if self.seed is not None and not 0 <= self.seed < SEED_END:
            raise InvalidValueError(f"--seed must lie in 0..2^64-1, not {self.seed}")
        if self.record == "":
            raise InvalidValueError("--record takes the name of a file, not ''")
        if self.record_rate is not None and not (isfinite(self.record_rate) and self.record_rate > 0):
            raise InvalidValueError(f"--record-rate must be a positive number of Hz, not {self.record_rate:g}")
        if self.pace is not None:
            try:
                checked_pace(self.pace)
            except InvalidValueError as error:
                raise InvalidValueError(f"--{error}") from None
