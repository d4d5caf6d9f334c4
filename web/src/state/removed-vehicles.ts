// Updates selection and focus when vehicles are removed, and notifies the user.
import { effect } from "@preact/signals";
import { formatCount } from "./format";
import { Roster } from "./roster";
import { focus, hovered, roster, selection, showNotice } from "./store";

const NAMED = 3;
const REMEMBERED = 10_000; // ms: the roster may arrive after the response
const removedHere = new Set<number>();

/** Mark vehicles as being removed by this page, so that no notice is shown. Call the result with the removed ids. */
export function removing(ids: readonly number[]): (gone: ReadonlySet<number>) => void {
  for (const id of ids) removedHere.add(id);
  return (gone) => {
    for (const id of ids) if (!gone.has(id)) removedHere.delete(id);
    setTimeout(() => gone.forEach((id) => removedHere.delete(id)), REMEMBERED);
  };
}

export function isRemoving(id: number): boolean {
  return removedHere.has(id);
}

/** Watch the shown roster; return a stop function. */
export function watchRemoved(): () => void {
  let before = Roster.empty;
  return effect(() => {
    const now = roster.value;
    forgetRemoved(before, now);
    before = now;
  });
}

export function forgetRemoved(before: Roster, now: Roster): void {
  if (now.number < 0) return; // no roster yet
  const gone = [...selection.peek()].filter((id) => now.rowOfId(id) === undefined);
  if (gone.length > 0) {
    const away = new Set(gone);
    selection.value = new Set([...selection.peek()].filter((id) => !away.has(id)));
    notifyRemoved(
      gone.filter((id) => !removedHere.has(id)),
      before,
    );
  }
  if (missing(focus.peek(), now)) focus.value = [...selection.peek()].at(-1) ?? null;
  if (missing(hovered.peek(), now)) hovered.value = null;
}

function notifyRemoved(gone: readonly number[], before: Roster): void {
  if (gone.length === 0) return;
  showNotice("warning", `${namesOf(gone, before)} removed`);
}

function missing(id: number | null, now: Roster): boolean {
  return id !== null && now.rowOfId(id) === undefined;
}

function namesOf(ids: readonly number[], before: Roster): string {
  if (ids.length > NAMED) return `${formatCount(ids.length)} selected vehicles`;
  return ids.map((id) => nameOf(id, before)).join(", ");
}

function nameOf(id: number, before: Roster): string {
  const row = before.rowOfId(id);
  return row === undefined ? `vehicle ${id}` : before.nameAt(row);
}
