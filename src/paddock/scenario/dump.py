"""Plain values -> YAML text that reads back the same."""

from __future__ import annotations

from typing import Any

import yaml

from paddock.scenario.scalars import reads_as_text

_BASE: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_BASE):  # type: ignore[misc]
    """Quotes text that our reader would take for something else, and never writes aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write every value out."""
        return True


def _text(dumper: Any, text: str) -> Any:
    style = None if reads_as_text(text) else "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def dump_yaml(data: dict[str, Any]) -> str:
    """Return block style for the outer levels and one line for each innermost list or mapping."""
    options: dict[str, Any] = {"sort_keys": False, "default_flow_style": None, "allow_unicode": True, "width": 118}
    text: str = yaml.dump(data, Dumper=_Dumper, **options)
    return text
