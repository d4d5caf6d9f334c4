"""Two classes never share a name, except where every file of a plugin folder has one of that name."""

import re
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "paddock"
CONVENTIONS = {
    *("State", "Command", "Parameters", "Report"),  # of vehicle models
    *("Options", "Memory", "Reading", "Seen", "Observation"),  # of rules, sensors and tasks
}
PLUGINS = ("models", "parts", "rules", "sensors", "tasks", "methods")  # folders of the conventions


def test_class_names_are_unique() -> None:
    files: dict[str, list[str]] = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            if name not in CONVENTIONS or not set(PLUGINS) & set(path.parts):
                files[name].append(str(path.relative_to(PACKAGE)))
    assert len(files) > 500
    assert not {name: places for name, places in files.items() if len(places) > 1}
