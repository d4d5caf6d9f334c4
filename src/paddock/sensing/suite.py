"""One sensor on one fleet: sampling times, memory, and delayed samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.compute.kernel import kernel
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.sensing.sensor import PURPOSES, Sensor
from paddock.sensing.site import Site
from paddock.world.columns import Floats, column_index, filled

NEVER = -1
"""The tick of a sample that does not exist."""


class History:
    """A ring of samples (slots x columns x capacity); NaN for vehicles that joined after a sample."""

    def __init__(self, columns: int, capacity: int, period: int, delay: int) -> None:
        """`period` between samples and `delay` of each, both in ticks."""
        slots = -(-delay // period) + 1  # those under way, and the newest that has arrived
        self.delay = delay
        self.samples: Floats = np.full((slots, columns, capacity), np.nan)
        self.clear()

    def clear(self) -> None:
        """Discard every sample."""
        self.samples[:] = np.nan
        self.ticks = np.full(len(self.samples), NEVER, dtype=np.int64)
        self.taken = 0  # samples so far
        self.arrived = 0  # of those

    @property
    def newest_tick(self) -> int:
        """The tick of the last sample taken; -1: none yet."""
        return int(self.ticks[(self.taken - 1) % len(self.ticks)]) if self.taken else NEVER

    @property
    def arrived_tick(self) -> int:
        """The tick at which the newest arrived sample was taken; -1: none yet."""
        return int(self.ticks[(self.arrived - 1) % len(self.ticks)]) if self.arrived else NEVER

    def slot(self, tick: int) -> Floats:
        """Return the array for the sample of this tick: (columns, capacity)."""
        k = self.taken % len(self.ticks)
        self.ticks[k] = tick
        self.taken += 1
        sample: Floats = self.samples[k]
        return sample

    def arrive(self, tick: int) -> None:
        """Deliver every sample whose delay has elapsed at this tick."""
        while self.arrived < self.taken and self.ticks[self.arrived % len(self.ticks)] + self.delay <= tick:
            self.arrived += 1

    def current(self) -> Floats | None:
        """Return the newest arrived sample (columns, capacity), if any."""
        return self.samples[(self.arrived - 1) % len(self.ticks)] if self.arrived else None

    def save(self, n: int) -> dict[str, Any]:
        """Return everything that later readings depend on, for the first `n` vehicles."""
        return {
            "samples": self.samples[:, :, :n].copy(),
            "ticks": self.ticks.copy(),
            "taken": self.taken,
            "arrived": self.arrived,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore the result of `save`."""
        samples, ticks = np.asarray(saved["samples"]), np.asarray(saved["ticks"])
        if samples.shape[:2] != self.samples.shape[:2] or ticks.shape != self.ticks.shape:
            raise InvalidValueError(
                f"saved sensor history has shape {samples.shape[:2]}, this sensor's is {self.samples.shape[:2]}: "
                f"its kind, rate or delay differs"
            )
        self.samples[:] = np.nan
        self.samples[:, :, : samples.shape[2]] = samples
        self.ticks[:] = ticks
        self.taken, self.arrived = int(saved["taken"]), int(saved["arrived"])


INDEX_MAX = 65536 // PURPOSES - 1
"""The highest index of a sensor among those of its kind on a vehicle."""


class FleetSensor:
    """A sensor that every vehicle of a fleet carries; arrays are columns x capacity, of which `n` are in use."""

    def __init__(
        self,
        sensor: Sensor,
        options: Mapping[str, Any],
        tick_rate: float,
        site: Site | None = None,
        capacity: int = 1,
        index: int = 0,
        where: str = "",
    ) -> None:
        """`tick_rate` in Hz; `index` counts sensors of one kind on a vehicle; `where` prefixes error messages."""
        if not 0 <= index <= INDEX_MAX:
            raise InvalidValueError(f"sensor {sensor.name!r}: index must lie in 0 to {INDEX_MAX}, not {index}")
        self.sensor = sensor
        self.n = 0
        self.tick_rate = tick_rate
        self.options = filled(sensor.options, options, f"option of sensor {sensor.name!r}", where)
        self.period = self._period(where)
        self.delay = round(self._option("delay") * tick_rate)
        self.purpose = index * PURPOSES
        self._site = np.array(Site() if site is None else site, dtype=np.float64)
        self._memory = np.zeros((len(column_index(sensor.memory)), capacity))
        self._history = History(len(column_index(sensor.reading)), capacity, self.period, self.delay)
        self.kernel = kernel(sensor.spec())

    @property
    def capacity(self) -> int:
        """Number of vehicles that fit in the arrays."""
        return self._memory.shape[1]

    @property
    def rate(self) -> float:
        """Samples per second, rounded to whole ticks."""
        return self.tick_rate / self.period

    def due(self, tick: int) -> int:
        """Return the first tick >= `tick` at which to sample."""
        return -(-tick // self.period) * self.period

    def sample(
        self, tick: int, pose: Floats, n: int, streams: NDArray[np.int64], environment: Floats, seed: int
    ) -> None:
        """Measure the first `n` vehicles; `pose` is (13, capacity), `streams` their name hashes (int64)."""
        before = self._history.newest_tick
        if tick <= before or tick != self.due(tick):
            raise PaddockError(
                f"sensor {self.sensor.name!r} samples next at tick {self.due(max(tick, before + 1))}, not at {tick}"
            )
        self.extend(n)
        # a skipped sample must not appear as twice the acceleration
        interval = (tick - before if before >= 0 else self.period) / self.tick_rate
        self.kernel(
            n,
            1,
            self._history.slot(tick),
            pose,
            self._memory,
            self.options,
            environment,
            self._site,
            self.sensor.key(seed),
            streams,
            self.purpose,
            tick,
            interval,
        )
        self.arrive(tick)

    def arrive(self, tick: int) -> None:
        """Publish the newest sample whose delay has elapsed."""
        self._history.arrive(tick)

    @property
    def sample_tick(self) -> int:
        """The tick at which the published readings were measured; -1 before the first arrives."""
        return self._history.arrived_tick

    def reading(self, name: str) -> Floats:
        """Return a published column (n,), read-only, valid until the next sample; NaN without a reading."""
        rows = column_index(self.sensor.reading)
        if name not in rows:
            raise unknown_name(f"reading of sensor {self.sensor.name!r}", name, rows)
        column: Floats = self.published()[rows[name]]
        return column

    def readings(self) -> dict[str, Floats]:
        """Return all published columns by name, as `reading` does."""
        return dict(zip(column_index(self.sensor.reading), self.published(), strict=True))

    def published(self) -> Floats:
        """Return all published columns (columns, n) in the order of the reading."""
        current = self._history.current()
        block = np.full((self._history.samples.shape[1], self.n), np.nan) if current is None else current[:, : self.n]
        block.flags.writeable = False
        return block

    def extend(self, n: int) -> None:
        """Extend to `n` vehicles; new ones start without readings, bias or past."""
        if n < self.n:
            raise PaddockError(
                f"sensor {self.sensor.name!r} has {self.n} vehicles, not {n}; use keep() to remove vehicles"
            )
        self.grow(n)
        self.n = n

    def grow(self, capacity: int) -> None:
        """Make room for that many vehicles; never shrinks."""
        more = capacity - self.capacity
        if more > 0:
            self._memory = np.pad(self._memory, ((0, 0), (0, more)))
            wider = ((0, 0), (0, 0), (0, more))
            self._history.samples = np.pad(self._history.samples, wider, constant_values=np.nan)

    def keep(self, vehicles: NDArray[Any]) -> None:
        """Keep only these vehicles, a mask (n,) or ascending indices, in order."""
        rows = np.arange(self.n)[vehicles]
        for block, empty in ((self._memory, 0.0), (self._history.samples, np.nan)):
            block[..., : len(rows)] = block[..., rows]
            block[..., len(rows) :] = empty
        self.n = len(rows)

    def reset(self) -> None:
        """Discard everything: the next sample is the first."""
        self._memory[:] = 0.0
        self._history.clear()

    def save(self) -> dict[str, Any]:
        """Return everything that later readings depend on: arrays and integers."""
        return {"n": self.n, "memory": self._memory[:, : self.n].copy(), **self._history.save(self.n)}

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore the result of `save`."""
        memory, n = np.asarray(saved["memory"]), int(saved["n"])
        if memory.shape != (len(self._memory), n) or np.asarray(saved["samples"]).shape[-1] != n:
            raise InvalidValueError(f"saved memory of sensor {self.sensor.name!r} has the wrong shape {memory.shape}")
        self.grow(n)
        self._history.restore(saved)
        self._memory[:] = 0.0
        self._memory[:, :n] = memory
        self.n = n

    def _option(self, name: str) -> float:
        return float(self.options[column_index(self.sensor.options)[name]])

    def _period(self, where: str) -> int:
        """Return the ticks between samples."""
        rate = self._option("rate")
        if rate > self.tick_rate:
            place = f"{where}: " if where else ""
            raise InvalidValueError(
                f"{place}sensor {self.sensor.name!r} cannot sample at {rate:g} Hz: the clock allows at most "
                f"{self.tick_rate:g} Hz"
            )
        return max(1, round(self.tick_rate / rate))
