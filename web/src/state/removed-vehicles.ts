// Updates selection and focus when vehicles are removed or another scenario starts, and notifies the user.
import { effect } from "@preact/signals";
import { formatCount } from "./format";
import { Roster } from "./roster";
import { focus, hovered, metadata, roster, selection, showNotice } from "./store";

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

let replaced = false;

/** The page has connected again: ids may belong to vehicles of another scenario. */
export function vehiclesReplaced(): void {
  replaced = true;
}

/** Watch the shown roster; return a stop function. */
export function watchRemoved(): () => void {
  let before = Roster.empty;
  let scenario: string | undefined;
  return effect(() => {
    const now = roster.value;
    if (now.number < 0) return; // no roster yet
    if (replaced) followNames(before, now);
    forgetRemoved(before, now, scenario === metadata.peek()?.name);
    [before, scenario, replaced] = [now, metadata.peek()?.name, false];
  });
}

/** `same`: both rosters belong to one scenario; otherwise no vehicle was removed, and no notice is shown. */
export function forgetRemoved(before: Roster, now: Roster, same = true): void {
  const gone = [...selection.peek()].filter((id) => now.rowOfId(id) === undefined);
  if (gone.length > 0) {
    const away = new Set(gone);
    selection.value = new Set([...selection.peek()].filter((id) => !away.has(id)));
    const removed = gone.filter((id) => same && !removedHere.has(id));
    notifyRemoved(removed, before);
  }
  if (missing(focus.peek(), now)) focus.value = [...selection.peek()].at(-1) ?? null;
  if (missing(hovered.peek(), now)) hovered.value = null;
}

/** Keep the vehicles of the same names; forget ids that belong to other names now. */
export function followNames(before: Roster, now: Roster): void {
  const follow = (id: number | null): number | null => {
    const name = id === null ? "" : nameOf(id, before);
    const row = now.rowOfName(name);
    return row === undefined ? null : (now.idAt(row) ?? null);
  };
  const [focused, chosen] = [follow(focus.peek()), [...selection.peek()].map(follow)];
  selection.value = new Set(chosen.filter((id) => id !== null));
  focus.value = focused;
  hovered.value = null;
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
