"""`paddock doctor`: what works on this machine, and how to get the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.cli.options import Flag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddock.cli.checks import Finding

MARKS = {"ok": "[green]ok[/]", "warn": "[yellow]warn[/]", "broken": "[red]broken[/]"}


def doctor(*, json: Flag = False) -> int:
    """Show what works on this machine, and how to get the rest. Exits with 1 if the simulator itself does not work.

    Parameters
    ----------
    json
        Print a JSON list of findings and nothing else.
    """
    from paddock.cli.checks import examine

    findings = examine()
    print_json(findings) if json else print_table(findings)
    return 1 if any(finding.mark == "broken" for finding in findings) else 0


def print_json(findings: Sequence[Finding]) -> None:
    """A list of objects: group, name, mark, value, advice."""
    import json
    from dataclasses import asdict

    print(json.dumps([asdict(finding) for finding in findings], indent=2))


def print_table(findings: Sequence[Finding]) -> None:
    """A line per finding."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    group = ""
    for finding in findings:
        title = f"[bold]{finding.group}[/]" if finding.group != group else ""
        group = finding.group
        advice = f"  [dim]{escape(finding.advice)}[/]" if finding.advice else ""
        table.add_row(title, finding.name, MARKS[finding.mark], escape(finding.value) + advice)
    Console().print(table)
