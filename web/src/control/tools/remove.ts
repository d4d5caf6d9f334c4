// Removing vehicles: whole fleets by name, others one by one; several only after confirmation.

import { call, reasonOf } from "../../net/connection";
import { formatCount, formatVehicles } from "../../state/format";
import { isRemoving, removing } from "../../state/removed-vehicles";
import type { Fleet, Roster } from "../../state/roster";
import { roster, select, selection, showNotice } from "../../state/store";
import { canCommand } from "../overrides";

const MAX_UNCONFIRMED = 5;
const MAX_CONCURRENT = 200; // concurrent requests

type Confirm = (question: string) => boolean;
const confirmRemoval: Confirm = (question) => window.confirm(question);

interface Request {
  ids: readonly number[];
  params: { vehicle: string } | { vehicle_id: number };
}

export async function removeSelected(confirm: Confirm = confirmRemoval): Promise<void> {
  await removeIds([...selection.value], { confirm });
}

/** `always`: confirm few vehicles, too, where another button moves under the pointer. */
export async function removeIds(
  wanted: readonly number[],
  { always = false, confirm = confirmRemoval } = {},
): Promise<void> {
  const ids = wanted.filter((id) => !isRemoving(id)); // a second click on the same button
  if (ids.length === 0 || !canCommand()) return;
  const question = `Remove ${describe(ids, roster.peek())}?`;
  if ((always || ids.length > MAX_UNCONFIRMED) && !confirm(question)) return;
  const over = removing(ids);
  const { gone: removed, reason } = await removeAll(requestsFor(ids, roster.peek()));
  over(removed);
  select([...selection.value].filter((id) => !removed.has(id)));
  if (reason === "") showNotice("info", `Removed ${formatVehicles(removed.size)}`, 3);
  else showNotice("error", `Removed ${formatCount(removed.size)} of ${formatVehicles(ids.length)}: ${reason}`);
}

/** One request per complete fleet, and one per other vehicle. */
export function requestsFor(ids: readonly number[], present: Roster): Request[] {
  const left = new Set(ids);
  const requests: Request[] = [];
  for (const fleet of present.fleets) {
    const members = idsOf(fleet);
    if (members.length === 0 || members.length > left.size || !members.every((id) => left.has(id))) continue;
    for (const id of members) left.delete(id);
    requests.push({ ids: members, params: { vehicle: fleet.name } });
  }
  return [...requests, ...[...left].map((id) => ({ ids: [id], params: { vehicle_id: id } }))];
}

/** The removed ids, and the first error. */
async function removeAll(requests: readonly Request[]): Promise<{ gone: Set<number>; reason: string }> {
  const removed = new Set<number>();
  let reason = "";
  for (let first = 0; first < requests.length && reason === ""; first += MAX_CONCURRENT) {
    const some = requests.slice(first, first + MAX_CONCURRENT);
    const answers = await Promise.allSettled(some.map(({ params }) => call("remove_vehicle", params)));
    answers.forEach((answer, k) => {
      if (answer.status === "fulfilled") some[k]?.ids.forEach((id) => removed.add(id));
      else reason ||= reasonOf(answer.reason);
    });
  }
  return { gone: removed, reason };
}

function idsOf({ ids }: Fleet): number[] {
  return ids.flatMap(([first, count]) => Array.from({ length: count }, (_, k) => first + k));
}

function describe(ids: readonly number[], present: Roster): string {
  const row = ids.length === 1 ? present.rowOfId(ids[0] as number) : undefined;
  return row === undefined ? formatVehicles(ids.length) : present.nameAt(row);
}
