"""Measured figures and their targets."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any

from paddock.bench import suites
from paddock.errors import unknown_name


@dataclass(frozen=True)
class Result:
    """A line of the benchmark's output."""

    case: str
    value: float
    unit: str
    target: str | None = None  # ">= 10" or "<= 0.4"; None: no target
    bench: str = ""  # its name, when it is reported

    @property
    def ok(self) -> bool | None:
        """Whether the value satisfies the target, if it has one."""
        return None if self.target is None else meets(self.value, self.target)

    def to_dict(self) -> dict[str, Any]:
        """Return the form printed by `--json`."""
        return {"bench": self.bench, **asdict(self), "ok": self.ok}


@dataclass(frozen=True)
class Bench:
    """A benchmark: `run(quick)` yields results. `quick` takes smaller cases, for a first look and for the tests."""

    summary: str
    run: Callable[[bool], Iterable[Result]]
    by_default: bool = True  # part of a plain `paddock bench`


def measured(case: str, value: float, unit: str, target: str | None = None) -> Result:
    """Return a result with its target."""
    return Result(case, float(value), unit, target)


def meets(value: float, target: str) -> bool:
    """Return whether a value satisfies `>= x` or `<= x`."""
    sign, limit = target.split()
    return value >= float(limit) if sign == ">=" else value <= float(limit)


def best_time(work: Callable[[], object], seconds: float = 1.0) -> float:
    """Return the shortest time (s) of one call, over about that many seconds: noise only adds time."""
    return best_times({"": work}, seconds)[""]


def best_times(works: dict[str, Callable[[], object]], seconds: float = 2.0) -> dict[str, float]:
    """Return the shortest time of each function, measured in turns so that noise affects all of them."""
    best = dict.fromkeys(works, float("inf"))
    end, rounds = perf_counter() + seconds, 0
    while rounds < 3 or perf_counter() < end:
        for name, work in works.items():
            started = perf_counter()
            work()
            best[name] = min(best[name], perf_counter() - started)
        rounds += 1
    return best


def benchmark_names() -> list[str]:
    """Return all benchmarks."""
    return sorted(module.name for module in pkgutil.iter_modules(suites.__path__))


def find_bench(name: str) -> Bench:
    """Return the benchmark of that name."""
    if name not in benchmark_names():
        raise unknown_name("benchmark", name, benchmark_names())
    bench: Bench = importlib.import_module(f"{suites.__name__}.{name}").BENCH
    return bench


def run_benchmarks(
    names: Sequence[str] = (), quick: bool = False, report: Callable[[Result], object] | None = None
) -> list[Result]:
    """Run the named benchmarks, or all default ones; `report` is called with each result."""
    chosen = {name: find_bench(name) for name in names or benchmark_names()}
    results = []
    for name, bench in chosen.items():
        if names or bench.by_default:
            for result in bench.run(quick):
                results.append(replace(result, bench=name))
                if report is not None:
                    report(results[-1])
    return results
