// Updates selection and focus when vehicles are removed, and notifies the user.
import { effect } from "@preact/signals";
import { Roster } from "./roster";
import { focus, hovered, roster, selection, tell } from "./store";

/** 12345678: `12 345 678`, with narrow gaps. */
export function formatCount(count: number): string {
  return Number.isFinite(count) ? String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, "\u202f") : "–";
}

/** `1 vehicle`, `1 200 vehicles`. */
export function vehiclesOf(count: number): string {
  return `${formatCount(count)} ${count === 1 ? "vehicle" : "vehicles"}`;
}

const NAMED = 3;
const REMEMBERED = 10_000; // ms: the roster without them may come after the answer
const ours = new Set<number>();

/** These are being removed from here: nobody need be told that they go. The returned function hears which are gone. */
export function removing(ids: readonly number[]): (gone: ReadonlySet<number>) => void {
  for (const id of ids) ours.add(id);
  return (gone) => {
    for (const id of ids) if (!gone.has(id)) ours.delete(id);
    setTimeout(() => gone.forEach((id) => ours.delete(id)), REMEMBERED);
  };
}

export function isRemoving(id: number): boolean {
  return ours.has(id);
}

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
    tellGone(
      gone.filter((id) => !ours.has(id)),
      before,
    );
  }
  if (missing(focus.peek(), now)) focus.value = [...selection.peek()].at(-1) ?? null;
  if (missing(hovered.peek(), now)) hovered.value = null;
}

function tellGone(gone: readonly number[], before: Roster): void {
  if (gone.length === 0) return;
  tell("warning", `${namesOf(gone, before)} ${gone.length > 1 ? "are" : "is"} no longer there`);
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
