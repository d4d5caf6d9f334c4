"""Two classes never share a name, except where every file of a plugin folder has one of that name."""

import re
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "paddock"
CONVENTIONS = {
    *("State", "Command", "Parameters", "Report"),  # of vehicle models
    *("Options", "Memory", "Reading", "Seen", "Observation"),  # of rules, sensors and tasks
}
KNOWN = {"Links"}  # of radio, and of detours in planning


def test_class_names_are_unique() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            found[name].append(str(path.relative_to(PACKAGE)))
    assert len(found) > 500
    twice = {name: places for name, places in found.items() if len(places) > 1 and name not in CONVENTIONS | KNOWN}
    assert not twice
