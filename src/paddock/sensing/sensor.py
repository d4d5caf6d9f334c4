"""The contract of a sensor: one plain scalar function over named tuples, like a vehicle model's.

`measure` contains no `if` and no loop, so that the same source runs as Python and as packed code for a whole fleet. It
draws only from the key, stream, purposes and tick that it is given: what a vehicle reads never depends on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import xxhash

from paddock.compute.kernel import Each, KernelSpec, Rows, Shared, Value
from paddock.compute.philox import signed
from paddock.errors import PaddockError
from paddock.sensing.site import Site
from paddock.world.columns import column_index
from paddock.world.pose import Environment, Pose

COMMON_OPTIONS = ("rate", "delay")
"""Options that every sensor declares: samples per second (Hz) and the age of a reading when it arrives (s)."""


@dataclass(frozen=True)
class Sensor:
    """A kind of sensor. Reading, options and memory are named tuples of floats with Column annotations.

    A new vehicle's memory is all zeros, so a `primed` column that `measure` sets to 1 marks the first sample.
    """

    summary: str
    reading: type
    options: type  # with defaults, `rate` and `delay` among them
    memory: type  # at least one column
    measure: Callable[..., Any]
    # (pose, memory, options, environment, site, seed, stream, purpose, tick, interval) -> (reading, memory);
    # `interval`: seconds since the sample before; purposes `purpose` to `purpose + PURPOSES - 1` are the sensor's own
    from_vehicle: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # option -> the parameters of the vehicle from the first of which it is taken, unless the user gives it
    name: str = ""  # given by the registry

    def __post_init__(self) -> None:
        """Refuse options that lack what every sensor has."""
        missing = [name for name in COMMON_OPTIONS if name not in column_index(self.options)]
        if missing:
            raise PaddockError(f"sensor {self.summary!r}: its options have no {missing[0]!r}")

    def named(self, name: str) -> Sensor:
        """The sensor under the name that users write."""
        return replace(self, name=name)

    def key(self, seed: int) -> int:
        """The random key of this kind of sensor: kinds share no draws with each other or with the rest of the world."""
        return signed(seed ^ self._name_hash)

    @cached_property
    def _name_hash(self) -> int:
        return xxhash.xxh3_64_intdigest(f"sensor {self.name}".encode())

    def spec(self) -> KernelSpec:
        """The kernel that samples a fleet."""
        arguments = (
            Rows("reading", self.reading, "write"),
            Rows("pose", Pose),
            Rows("memory", self.memory, "update"),
            Shared("options", self.options),
            Shared("environment", Environment),
            Shared("site", Site),
            Value("seed"),
            Each("stream"),
            Value("purpose"),
            Value("tick"),
            Value("interval"),
        )
        return KernelSpec(f"{self.name}-measure", self.measure, arguments)
