"""Finding and running benchmarks: a file in `suites/` is one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence

from paddock.bench import suites
from paddock.bench.result import Bench, Result
from paddock.errors import unknown_name


def benchmark_names() -> list[str]:
    """All benchmarks."""
    return sorted(module.name for module in pkgutil.iter_modules(suites.__path__))


def find_bench(name: str) -> Bench:
    """The benchmark of that name."""
    if name not in benchmark_names():
        raise unknown_name("benchmark", name, benchmark_names())
    bench: Bench = importlib.import_module(f"{suites.__name__}.{name}").BENCH
    return bench


def run_benchmarks(
    names: Sequence[str] = (), quick: bool = False, tell: Callable[[Result], object] | None = None
) -> list[Result]:
    """Run the named benchmarks, or all default ones; `tell` hears of each result as it comes."""
    chosen = {name: find_bench(name) for name in names or benchmark_names()}
    results = []
    for bench in chosen.values():
        if names or bench.by_default:
            for result in bench.run(quick):
                results.append(result)
                if tell is not None:
                    tell(result)
    return results
