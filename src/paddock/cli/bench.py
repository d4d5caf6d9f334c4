"""`paddock bench`: measure the simulator's speed on this machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from paddock.cli.options import Flag

if TYPE_CHECKING:
    from paddock.bench.result import Result


def bench(
    *names: str,
    json: Flag = False,
    check: Flag = False,
    quick: Flag = False,
    list_: Annotated[Flag, Parameter(name="--list")] = False,
) -> int:
    """Measure the simulator's speed.

    Parameters
    ----------
    names
        Benchmarks to run; default: the standard set, see --list.
    json
        Print only a JSON list of results.
    check
        Exit with 1 if a target is missed.
    quick
        Smaller and shorter runs.
    list_
        List the benchmarks.
    """
    from paddock.bench.result import benchmark_names, find_bench

    if list_:
        available = benchmark_names()
        width = max(map(len, available), default=0)
        print("\n".join(f"{name:{width}}  {find_bench(name).summary}" for name in available))
        return 0
    results = measure(names, quick)
    if json:
        from json import dumps

        print(dumps([result.to_dict() for result in results], indent=2))
    else:
        print_table(results)
    missed = [result for result in results if check and result.ok is False]
    for result in missed:
        value = f"{result.value:.4g} {result.unit}, target {result.target}"
        print(f"paddock: target missed: {result.bench} {result.case}: {value}", file=sys.stderr)
    return 1 if missed else 0


def measure(names: Sequence[str], quick: bool) -> list[Result]:
    """Run the benchmarks with progress on stderr: a line per result where it is not a terminal."""
    from rich.console import Console

    from paddock.bench.result import run_benchmarks

    def log(result: Result) -> None:
        value = f"{result.value:,.4g} {result.unit}"
        print(f"paddock: measured {result.bench}: {result.case}: {value}", file=sys.stderr, flush=True)

    if not sys.stderr.isatty():
        return run_benchmarks(names, quick, log)
    with Console(stderr=True).status("measuring ...") as status:
        return run_benchmarks(names, quick, lambda result: status.update(f"measured {result.bench}: {result.case}"))


def print_table(results: Sequence[Result]) -> None:
    """Print a line per result."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for column in ("benchmark", "case", "value", "target", "unit", ""):
        table.add_column(column, justify="right" if column in ("value", "target") else "left")
    for result in results:
        mark = {True: "[green]ok[/]", False: "[red]missed[/]", None: ""}[result.ok]
        table.add_row(result.bench, result.case, f"{result.value:,.4g}", result.target or "", result.unit, mark)
    Console().print(table)
