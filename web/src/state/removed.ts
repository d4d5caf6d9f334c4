// Vehicles that go while they are chosen: nothing may point at them any more, and the person is told.
import { effect } from "@preact/signals";
import { Roster } from "./roster";
import { focus, hovered, roster, selection, tell } from "./store";

const NAMED = 3;

/** Watch the roster that is shown; the returned function ends that. */
export function watchRemoved(): () => void {
  let before = Roster.empty;
  return effect(() => {
    const now = roster.value;
    forgetRemoved(before, now);
    before = now;
  });
}

export function forgetRemoved(before: Roster, now: Roster): void {
  if (now.number < 0) return; // nothing is known yet
  const gone = [...selection.peek()].filter((id) => now.rowOfId(id) === undefined);
  if (gone.length > 0) {
    const away = new Set(gone);
    selection.value = new Set([...selection.peek()].filter((id) => !away.has(id)));
    tell("warning", `${namesOf(gone, before)} ${gone.length > 1 ? "are" : "is"} no longer there`);
  }
  if (missing(focus.peek(), now)) focus.value = [...selection.peek()].at(-1) ?? null;
  if (missing(hovered.peek(), now)) hovered.value = null;
}

function missing(id: number | null, now: Roster): boolean {
  return id !== null && now.rowOfId(id) === undefined;
}

function namesOf(ids: readonly number[], before: Roster): string {
  if (ids.length > NAMED) return `${ids.length} selected vehicles`;
  return ids.map((id) => nameOf(id, before)).join(", ");
}

function nameOf(id: number, before: Roster): string {
  const row = before.rowOfId(id);
  return row === undefined ? `vehicle ${id}` : before.nameAt(row);
}
