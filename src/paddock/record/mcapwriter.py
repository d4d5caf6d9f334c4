"""Writing one recording: an MCAP file that is readable at any moment up to its last chunk."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import Any

from mcap.writer import CompressionType, Writer
from mcap_protobuf.schema import build_file_descriptor_set

from paddock.record.channels import CHANNELS
from paddock.record.output import Output

CHUNK = 2 * 2**20
"""Bytes of a chunk before it is compressed and written."""
FLUSH_EVERY = 1.0
"""s of wall time after which an unfinished chunk is written."""


class McapWriter:
    """Registers all channels at once, so that the first chunk tells what there is."""

    def __init__(self, output: Output, metadata: Mapping[str, str], scenario: str, started: int) -> None:
        """`scenario` as YAML, `started` in ns since 1970."""
        self.output = output
        stream: Any = output
        self._writer: Any = Writer(stream, chunk_size=CHUNK, compression=CompressionType.ZSTD)
        self._writer.start(library=f"paddock {metadata['paddock']}")
        self._writer.add_metadata("paddock", dict(metadata))
        self._writer.add_attachment(started, started, "scenario.yaml", "application/yaml", scenario.encode())
        output.mark()
        self._ids = {spec.topic: self._register(spec.topic, spec.schema) for spec in CHANNELS}
        self._pending = False
        self._latest = 0  # log time
        self._due = monotonic() + FLUSH_EVERY

    def _register(self, topic: str, message: Any) -> int:
        schema = build_file_descriptor_set(message).SerializeToString()
        number = self._writer.register_schema(message.DESCRIPTOR.full_name, "protobuf", schema)
        return int(self._writer.register_channel(topic, "protobuf", number))

    def write(self, topic: str, log_time: int, wall_time: int, data: bytes) -> None:
        """Add a message; both times in ns. What another thread tells a moment late is not dated back."""
        before = self.output.position
        log_time = self._latest = max(log_time, self._latest)
        self._writer.add_message(self._ids[topic], log_time, data, wall_time)
        self._pending = self.output.position == before
        if not self._pending:
            self._written()

    def flush_if_due(self) -> None:
        """Write what has waited for long enough."""
        if self._pending and monotonic() >= self._due:
            self.flush()

    def flush(self) -> None:
        """Write what is there."""
        self._writer.flush()
        self._pending = False
        self._written()

    def finish(self) -> None:
        """Write the rest, the indexes and the summary."""
        self._writer.finish()
        self.output.mark()

    def _written(self) -> None:
        self.output.mark()
        self._due = monotonic() + FLUSH_EVERY
