"""Finding a behaviour by name: shipped files, installed entry points, or a user's own dotted name."""

from __future__ import annotations

from functools import cache

from paddock.behaviour import rules
from paddock.behaviour.rule import Rule
from paddock.plugins import find_plugin, plugin_modules

ENTRY_POINTS = "paddock.behaviours"


def rule_names() -> list[str]:
    """The names a scenario may give as `behaviour` or `driver`, besides dotted names of a user's own modules."""
    return sorted(plugin_modules(rules, ENTRY_POINTS))


@cache
def find_rule(name: str) -> Rule:
    """The rule of that name; an unknown one is refused with the nearest name."""
    return find_plugin("behaviour", name, rules, ENTRY_POINTS, "RULE", Rule).named(name)
