"""Metrics as JSON, CSV and Parquet: the same mission gives the same bytes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from paddock.errors import InvalidValueError, MissingFeatureError, unknown_name
from paddock.planning.metrics import Metrics, rows_of

TABLES = ("tasks", "agents", "series")
TYPES = {"tasks": "int64", "done": "int64"}
"""Of columns that are neither text nor float64."""
TEXT = ("name", "status", "kind", "state", "agent", "reason")


def to_json(metrics: Metrics) -> str:
    """All of them; valid JSON, keys in order."""
    return json.dumps(metrics.to_dict(), indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n"


def to_csv(metrics: Metrics, table: str = "tasks") -> str:
    """One of the tables: tasks, agents or series; None is an empty field."""
    rows = list(rows_of(metrics, _known(table)))
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else _header(table), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def to_arrow(metrics: Metrics, table: str = "tasks") -> Any:
    """One of the tables as an Arrow table."""
    pa = check_parquet()
    rows = list(rows_of(metrics, _known(table)))
    names = list(rows[0]) if rows else _header(table)
    kinds = {name: pa.string() if name in TEXT else getattr(pa, TYPES.get(name, "float64"))() for name in names}
    columns = [pa.array([row[name] for row in rows], kinds[name]) for name in names]
    return pa.Table.from_arrays(columns, schema=pa.schema(list(kinds.items())))


def to_parquet(metrics: Metrics, table: str = "tasks") -> bytes:
    """One of the tables as the content of a Parquet file."""
    found = to_arrow(metrics, table)
    from pyarrow import parquet  # type: ignore[import-untyped]

    content = io.BytesIO()
    parquet.write_table(found, content)
    return content.getvalue()


def export(metrics: Metrics, path: str | Path, table: str = "tasks") -> None:
    """Write a file; its ending says in which format: .json (everything), .csv or .parquet (one table)."""
    target = Path(path)
    if target.suffix == ".json":
        target.write_text(to_json(metrics), encoding="utf-8", newline="\n")
    elif target.suffix == ".csv":
        target.write_text(to_csv(metrics, table), encoding="utf-8", newline="\n")
    elif target.suffix == ".parquet":
        target.write_bytes(to_parquet(metrics, table))
    else:
        raise InvalidValueError(f"{target.name}: metrics are written as .json, .csv or .parquet, not {target.suffix!r}")


def _known(table: str) -> str:
    if table not in TABLES:
        raise unknown_name("table of metrics", table, TABLES)
    return table


def _header(table: str) -> list[str]:
    """The columns of a table without rows."""
    from paddock.planning.metrics import AgentMetrics, Series, TaskMetrics
    from paddock.planning.mission.members import STATUSES

    kind: Any = {"tasks": TaskMetrics, "agents": AgentMetrics, "series": Series}[table]
    names = [name for name in kind.__dataclass_fields__ if name != "seconds"]
    return names + ([f"{status}_s" for status in STATUSES] if table == "agents" else [])


def check_parquet() -> Any:
    """The library for Parquet; refuses with how to get it."""
    try:
        import pyarrow as library
    except ImportError:
        raise MissingFeatureError("Parquet needs pyarrow: pip install 'paddock[analysis]'") from None
    return library
