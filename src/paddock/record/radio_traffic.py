"""Counts of messages, packets by service and changes of links in recordings: written with the links, read at a time."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from foxglove_schemas_protobuf.SceneEntity_pb2 import SceneEntity
from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate
from google.protobuf.message import DecodeError

from paddock.wire.operations.radio_results import RadioTree, ServiceTrafficTree

if TYPE_CHECKING:  # the reader uses the writer, which uses this module
    from paddock.record.reader import RecordedRun

TOPIC = "/radio"
DROPS = ("queue_full", "no_route", "lost", "ttl", "expired")  # why messages do not arrive
SERVICE_COUNTS = ("sent", "delivered", "lost", "dropped", "waiting")  # of each service


class RadioTraffic(NamedTuple):
    """Counts since the start of the run."""

    messages: dict[str, int]  # sent, delivered, dropped by reason, ...; empty: not recorded
    services: dict[str, ServiceTrafficTree]  # of services that have sent packets
    link_changes: dict[str, int]  # `ups`, `downs`: links that have become usable or unusable; empty: not recorded


NO_TRAFFIC = RadioTraffic({}, {}, {})
LINKS = "links"  # their changes stand among the services


def write_traffic(entity: SceneEntity, radio: RadioTree) -> None:
    """Add the counts to an entity as its metadata; those of services are `commands.sent`, ..., of links `links.ups`."""
    for change in ("ups", "downs"):
        entity.metadata.add(key=f"{LINKS}.{change}", value=str(radio[change]))
    for name, count in radio["traffic"].items():
        entity.metadata.add(key=name, value=str(count))
    for service, counts in radio["services"].items():
        for name, count in cast(Mapping[str, int], counts).items():
            entity.metadata.add(key=f"{service}.{name}", value=str(count))


def recorded_traffic(run: "RecordedRun", time: float = np.inf) -> RadioTraffic:
    """Return the counts of a recording at a time (s from its start), or at its end; empty where it has none."""
    times = run.file.index(TOPIC).times
    if not np.isinf(time):
        times = times[: np.searchsorted(times, run.sections[0].start + round(1e9 * time), "right")]
    if not len(times):
        return NO_TRAFFIC
    try:
        update = SceneUpdate.FromString(bytes(run.file.message(TOPIC, len(times) - 1).data))
        pairs = {pair.key: int(pair.value) for entity in update.entities[:1] for pair in entity.metadata}
    except (DecodeError, ValueError):
        return NO_TRAFFIC
    changes = {name.partition(".")[2]: count for name, count in pairs.items() if name.startswith(f"{LINKS}.")}
    found = RadioTraffic({name: count for name, count in pairs.items() if "." not in name}, {}, changes)
    for service in dict.fromkeys(name.partition(".")[0] for name in pairs if "." in name):
        if service == LINKS:
            continue
        counts: Any = {name: pairs.get(f"{service}.{name}", 0) for name in SERVICE_COUNTS}
        found.services[service] = counts
    return found


def message_summary(messages: Mapping[str, int]) -> str:
    """Return the counts of messages in one line: sent, delivered, dropped by reason, left from full mailboxes."""
    dropped = {name: count for name, count in messages.items() if count and name in DROPS}
    lost = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in dropped.items()) or "none"
    replaced = messages.get("mailbox_full", 0)  # they have arrived, and may have been read
    more = f"; {replaced:,} made room for newer ones in full mailboxes" if replaced else ""
    return f"{messages['sent']:,} sent, {messages['delivered']:,} delivered; dropped: {lost}{more}"


def service_summary(counts: Mapping[str, int]) -> str:
    """Return the counts of a service in one line, without those that are zero beyond the first two."""
    shown = {name: counts[name] for k, name in enumerate(SERVICE_COUNTS) if k < 2 or counts[name]}
    return ", ".join(f"{count:,} {'under way' if name == 'waiting' else name}" for name, count in shown.items())
