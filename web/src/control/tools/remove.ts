// Removing vehicles: whole fleets by name, others one by one; several only after confirmation.
import { call } from "../../net/connection";
import { reasonOf } from "../../net/rpc";
import { formatCount, formatVehicles, isRemoving, removing } from "../../state/removed-vehicles";
import type { Fleet, Roster } from "../../state/roster";
import { roster, select, selection, showNotice } from "../../state/store";
import { canCommand } from "../overrides";

const WITHOUT_ASKING = 5;
const AT_ONCE = 200; // concurrent requests

type Ask = (question: string) => boolean;
const confirmRemoval: Ask = (question) => window.confirm(question);

interface Request {
  ids: readonly number[];
  params: { vehicle: string } | { vehicle_id: number };
}

export async function removeSelected(confirm: Ask = confirmRemoval): Promise<void> {
  await removeIds([...selection.value], { ask: confirm });
}

/** `always`: confirm few vehicles, too, where another button moves under the pointer. */
export async function removeIds(
  wanted: readonly number[],
  { always = false, ask: confirm = confirmRemoval } = {},
): Promise<void> {
  const ids = wanted.filter((id) => !isRemoving(id)); // a second click on the same button
  if (ids.length === 0 || !canCommand()) return;
  const question = `Remove ${describe(ids, roster.peek())}?`;
  if ((always || ids.length > WITHOUT_ASKING) && !confirm(question)) return;
  const over = removing(ids);
  const { gone, reason } = await removeAll(requestsFor(ids, roster.peek()));
  over(gone);
  select([...selection.value].filter((id) => !gone.has(id)));
  if (reason === "") showNotice("info", `Removed ${formatVehicles(gone.size)}`, 3);
  else showNotice("error", `Removed ${formatCount(gone.size)} of ${formatVehicles(ids.length)}: ${reason}`);
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
  const gone = new Set<number>();
  let reason = "";
  for (let first = 0; first < requests.length && reason === ""; first += AT_ONCE) {
    const some = requests.slice(first, first + AT_ONCE);
    const answers = await Promise.allSettled(some.map(({ params }) => call("remove_vehicle", params)));
    answers.forEach((answer, k) => {
      if (answer.status === "fulfilled") some[k]?.ids.forEach((id) => gone.add(id));
      else reason ||= reasonOf(answer.reason);
    });
  }
  return { gone, reason };
}

function idsOf({ ids }: Fleet): number[] {
  return ids.flatMap(([first, count]) => Array.from({ length: count }, (_, k) => first + k));
}

function describe(ids: readonly number[], present: Roster): string {
  const row = ids.length === 1 ? present.rowOfId(ids[0] as number) : undefined;
  return row === undefined ? formatVehicles(ids.length) : present.nameAt(row);
}
