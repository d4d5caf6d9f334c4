"""Frame 0x13: events."""

import struct
from collections.abc import Iterable
from dataclasses import dataclass

from paddock.errors import InvalidValueError
from paddock.wire.layout import Field, Record, TailField
from paddock.wire.stream.frames import Buffer, Cursor, FrameType, Target, decode_records, encode_records

EVENT = Record(
    "events",
    (
        Field("number", "<u8", "", "counts the events of a run, from 1"),
        Field("tick", "<u8", "", "tick of the event"),
        Field("kind_bytes", "u1", "B", "length of the kind"),
        Field("subject_bytes", "u1", "B", "length of the subject"),
        Field("detail_bytes", "<u2", "B", "length of the detail"),
    ),
    (
        TailField("kind", "UTF-8", "kind_bytes", "", "spawned, removed, failsafe, ..."),
        TailField("subject", "UTF-8", "subject_bytes", "", "the vehicle or fleet concerned"),
        TailField("detail", "UTF-8", "detail_bytes", "", "more, as text"),
    ),
)


@dataclass(frozen=True, slots=True)
class EventRecord:
    """One event on the wire."""

    number: int
    tick: int
    kind: str  # up to 255 bytes of UTF-8
    subject: str  # up to 255
    detail: str = ""  # up to 65,535


def encode_events(events: Iterable[EventRecord], into: Target | None = None) -> memoryview:
    """Encode events, in order, as one frame."""
    return encode_records(FrameType.EVENTS, [_record(event) for event in events], into)


def _record(event: EventRecord) -> bytes:
    try:
        texts = [text.encode() for text in (event.kind, event.subject, event.detail)]
        return b"".join((EVENT.packer.pack(event.number, event.tick, *map(len, texts)), *texts))
    except (struct.error, UnicodeEncodeError) as error:
        where = f"event {event.number} ({event.kind[:40]!r})"
        raise InvalidValueError(f"{where} does not fit its frame: {error}") from error


def decode_events(payload: Buffer) -> tuple[EventRecord, ...]:
    """Decode the events of a frame."""
    return decode_records(payload, EVENT, _read)


def _read(cursor: Cursor) -> EventRecord:
    number, tick, kind, subject, detail = cursor.fields(EVENT)
    return EventRecord(number, tick, cursor.text(kind), cursor.text(subject), cursor.text(detail))
