"""Python values -> the plain values that YAML could have written: finite numbers, text, lists, mappings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from paddock.scenario.marks import KeyPath, ScenarioError, dotted

MAX_DEPTH = 64
"""Deepest nesting that is followed; a value that contains itself is deeper than any."""


def plain(value: Any, path: KeyPath = ()) -> Any:
    """Copy a value as plain data; tuples and arrays become lists. Anything else is refused with its path."""
    if len(path) > MAX_DEPTH:
        raise ScenarioError(f"{dotted(path[:3])}: nested more than {MAX_DEPTH} deep, or it contains itself")
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return _finite(value, path)
    if isinstance(value, Mapping):
        return {_key(key, path): plain(item, (*path, key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, (*path, index)) for index, item in enumerate(value)]
    return _converted(value, path)


def _finite(value: float, path: KeyPath) -> float:
    if not math.isfinite(value):
        raise ScenarioError(f"{dotted(path)}: {value!r} is not a finite number")
    return float(value)


def _key(key: Any, path: KeyPath) -> str:
    if isinstance(key, str):
        return key
    raise ScenarioError(f"{dotted(path)}: the key {key!r} must be text")


def _converted(value: Any, path: KeyPath) -> Any:
    """Convert numpy arrays and scalars, paths and parts of a scenario by the methods they offer."""
    if hasattr(value, "tolist"):
        return plain(value.tolist(), path)
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json"), path)
    raise ScenarioError(f"{dotted(path)}: {type(value).__name__} is not plain data (numbers, text, lists, mappings)")
