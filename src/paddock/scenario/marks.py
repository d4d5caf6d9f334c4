"""Where each value of a scenario was written, and the error that says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from paddock.errors import PaddockError

Step = str | int
KeyPath = tuple[Step, ...]
"""The way to a value: keys and list indices, e.g. `("vehicles", 0, "model")`."""

Mark = tuple[int, int]
"""Line and column of a value, both counted from 1."""

SHOWN_PROBLEMS = 20
"""How many problems the text of one error lists before it says how many more there are."""


class ScenarioError(PaddockError):
    """What is wrong with a scenario: one line per problem, each beginning with its place."""

    def __init__(self, problems: str | Iterable[str]) -> None:
        """Take one problem or several."""
        given = [problems] if isinstance(problems, str) else problems
        self.problems: list[str] = [_one_line(problem) for problem in given]
        super().__init__(self.problems)

    def __str__(self) -> str:
        """Join the problems, one a line."""
        more = len(self.problems) - SHOWN_PROBLEMS
        tail = [f"(and {more} more)"] if more > 0 else []
        return "\n".join(self.problems[:SHOWN_PROBLEMS] + tail)


def _one_line(text: str) -> str:
    """Escape line breaks and control characters, which keys and values may contain."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def dotted(path: KeyPath) -> str:
    """Write a path as users do: `vehicles[0].model`; the empty path is the `scenario` itself."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "scenario"


@dataclass(slots=True)
class Marks:
    """Line and column of every value and of every key; `source` is empty for values that came from Python."""

    source: str = ""
    values: dict[KeyPath, Mark] = field(default_factory=dict)
    keys: dict[KeyPath, Mark] = field(default_factory=dict)

    def mark(self, path: KeyPath) -> Mark:
        """Return the mark of a value, or of its nearest parent that has one."""
        for end in range(len(path), 0, -1):
            if (found := self.values.get(path[:end])) is not None:
                return found
        return self.values.get((), (1, 1))

    def at(self, path: KeyPath) -> str:
        """Return `file.yaml:7:5` for a value, or `vehicles[0].model` where there is no file."""
        return self.place(self.mark(path)) if self.source else dotted(path)

    def at_key(self, path: KeyPath) -> str:
        """Return the place of the key itself rather than of its value."""
        return self.place(self.keys[path]) if path in self.keys else self.at(path)

    def place(self, mark: Mark) -> str:
        """Write a mark as `file.yaml:7:5`."""
        return f"{self.source}:{mark[0]}:{mark[1]}"
