// The events panel: filter by kind and text; a click selects the subject, jumps to the time, and looks at the place.

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { contactOf } from "../state/events";
import { formatCount, formatDetail, formatTime } from "../state/format";
import { camera, clock, roster, select, showNotice, source } from "../state/store";
import type { EventRecord } from "../wire/schema";
import { stage } from "./actions";
import { extentOf, seek } from "./timeline-model";
import { colourOf } from "./timeline-track";
import { VirtualList } from "./virtual-list";
import { Empty, Search } from "./widgets";

const LINE = 1.75; // rem

export function EventsPanel() {
  const kind = useSignal("");
  const query = useSignal("");
  const all = source.value?.events.value ?? [];
  const kinds = useMemo(() => [...new Set(all.map((event) => event.kind))].sort(), [all]);
  const shown = useMemo(() => filterEvents(all, kind.value, query.value), [all, kind.value, query.value]);
  return (
    <>
      <div class="bar">
        <select
          class="select small"
          aria-label="Kind of event"
          value={kind.value}
          onChange={(event) => (kind.value = event.currentTarget.value)}>
          <option value="">all kinds</option>
          {kinds.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <Search small label="Find in events" value={query.value} onChange={(value) => (query.value = value)} />
        <span class="faint number">
          {formatCount(shown.length)} of {formatCount(all.length)}
        </span>
      </div>
      {shown.length === 0 ? (
        <Empty icon="events" title={all.length === 0 ? "No events yet" : "No matching events"} />
      ) : (
        <VirtualList
          label="Events"
          count={shown.length}
          lineRem={LINE}
          stickToEnd
          line={(index, top) => <EventLine key={shown[index]?.number ?? index} event={shown[index]} top={top} />}
        />
      )}
    </>
  );
}

export function filterEvents(events: readonly EventRecord[], kind: string, query: string): readonly EventRecord[] {
  const wanted = query.trim().toLowerCase();
  if (kind === "" && wanted === "") return events;
  const fits = (event: EventRecord) =>
    (kind === "" || event.kind === kind) &&
    `${event.kind} ${event.subject} ${event.detail}`.toLowerCase().includes(wanted);
  return events.filter(fits);
}

function EventLine({ event, top }: { event: EventRecord | undefined; top: string }) {
  if (event === undefined) return null;
  return (
    <button
      type="button"
      class="event-row"
      style={{ top }}
      title={`Tick ${event.tick}: ${event.detail}`}
      onClick={() => jumpTo(event)}>
      <span class="number faint">{formatTime(timeOf(event))}</span>
      <span class="kind ellipsis">
        <span class="dot" style={{ color: `var(${colourOf(event.kind)})` }} />
        {event.kind}
      </span>
      <span class="ellipsis">{nameOf(event.subject)}</span>
      <span class="ellipsis faint">{formatDetail(event.detail)}</span>
    </button>
  );
}

const NEAR = 25; // m: farthest view of a place

function jumpTo(event: EventRecord): void {
  const row = rowOf(event.subject);
  const id = row === undefined ? undefined : roster.value.idAt(row);
  if (id !== undefined) select([id]);
  const at = contactOf(event.detail)?.place;
  if (at) {
    if (camera.value === "chase" || camera.value === "fpv") camera.value = "orbit";
    stage.value?.lookAtPoint(...at, NEAR);
  }
  const time = timeOf(event);
  const { start, end } = extentOf(source.value);
  if (time < start || time > end) return showNotice("info", "This time is no longer in the buffer");
  seek(time);
}

/** A subject is a vehicle's name or id. */
function rowOf(subject: string): number | undefined {
  return roster.value.rowOfName(subject) ?? (/^\d+$/.test(subject) ? roster.value.rowOfId(Number(subject)) : undefined);
}

/** Simulated s of an event; in recordings its position. */
function timeOf(event: EventRecord): number {
  return "time" in event && typeof event.time === "number" ? event.time : event.tick / (clock.value.rate || 1);
}

function nameOf(subject: string): string {
  const row = rowOf(subject);
  return row === undefined ? subject : roster.value.nameAt(row);
}
