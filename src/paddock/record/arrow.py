"""A recording as an Arrow table, and in batches for files of Arrow's formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from paddock.errors import MissingFeatureError
from paddock.record.rows import KEYS, Batch, Rows

if TYPE_CHECKING:
    from paddock.record.run import Run


def arrow_table(run: Run, fleet: str | None) -> Any:
    """Everything in one table."""
    pa = pyarrow()
    rows = Rows(run, fleet)
    return pa.Table.from_batches(list(arrow_batches(rows)), arrow_schema(rows)).unify_dictionaries()


def arrow_schema(rows: Rows) -> Any:
    """Keys first, then the columns as nullable float64."""
    pa = pyarrow()
    text = pa.dictionary(pa.int32(), pa.string())
    kinds = dict(zip(KEYS, (pa.float64(), pa.int64(), pa.int32(), text, text, pa.int64()), strict=True))
    fields = [pa.field(name, kind) for name, kind in kinds.items()]
    fields += [pa.field(name, pa.float64()) for name in rows.columns]
    about = {key: rows.run.metadata[key] for key in ("name", "seed", "rate", "paddock") if key in rows.run.metadata}
    return pa.schema(fields, metadata={f"paddock.{key}": value for key, value in about.items()})


def arrow_batches(rows: Rows) -> Iterator[Any]:
    """Batch by batch."""
    schema = arrow_schema(rows)
    return (_record_batch(batch, schema) for batch in rows.batches())


def _record_batch(batch: Batch, schema: Any) -> Any:
    pa = pyarrow()
    arrays: list[Any] = []
    for name in KEYS:
        text = name in ("fleet", "vehicle")
        arrays.append(pa.array(batch.keys[name], pa.string()).dictionary_encode() if text else batch.keys[name])
    arrays = [
        array.cast(field.type) if isinstance(array, pa.Array) else pa.array(array, field.type)
        for array, field in zip(arrays, schema, strict=False)
    ]
    arrays += [pa.array(row, pa.float64(), from_pandas=True) for row in batch.values]  # NaN becomes null
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def pyarrow() -> Any:
    """The library, or how to get it."""
    try:
        import pyarrow as library  # type: ignore[import-untyped]
    except ImportError:
        raise MissingFeatureError("this needs pyarrow: pip install 'paddock[analysis]'") from None
    return library
