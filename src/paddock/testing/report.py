"""What a conformance check found."""

from __future__ import annotations

from dataclasses import dataclass, field

from paddock.errors import PaddockError


class ConformanceError(PaddockError):
    """Something that breaks the contract: which check, which model, which column, and what to do about it."""

    def __init__(self, check: str, subject: str, problem: str) -> None:
        """`subject` is what was checked, e.g. `model 'rover'`."""
        super().__init__(f"{subject}: {check}: {problem}")
        self.check = check
        self.subject = subject
        self.problem = problem


@dataclass
class Report:
    """The checks that were passed, in order, each with what was measured."""

    subject: str
    details: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """One line for each check."""
        width = max(map(len, self.details), default=0)
        lines = [f"{check:<{width}}  {detail}" for check, detail in self.details.items()]
        return "\n".join([f"{self.subject}: {len(lines)} checks passed", *(f"  {line}" for line in lines)])
