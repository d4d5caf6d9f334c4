// Sets behaviour overrides and refreshes their list.
import { type Behaviour, call, reasonOf } from "../net/connection";
import { blockedAmong } from "../state/controllers";
import { addPendingOverride } from "../state/overrides";
import { live, overrides, readOnlyReason, routes, showNotice } from "../state/store";

/** Whether the shown run and these vehicles accept commands; show a notice if not. */
export function canCommand(ids: Iterable<number> = []): boolean {
  const reason = readOnlyReason.value || blockedAmong(ids);
  if (reason !== "") showNotice("warning", `Commands are disabled: ${reason}`);
  return live.value && reason === "";
}

/** Override the behaviour of vehicles; return false (with a notice) if the server refuses. */
export async function setOverride(ids: readonly number[], behaviour: Behaviour): Promise<boolean> {
  return setOverrides([[ids, behaviour]]);
}

/** Set several overrides; the list is requested once, at the end. */
export async function setOverrides(all: readonly (readonly [readonly number[], Behaviour])[]): Promise<boolean> {
  const sent = all.map(([ids, behaviour]) => addPendingOverride(ids, behaviour));
  try {
    await Promise.all(all.map(([vehicles, behaviour]) => call("override", { vehicles, behaviour })));
    return true;
  } catch (error) {
    showNotice("error", `Override refused: ${reasonOf(error)}`);
    return false;
  } finally {
    await refresh().catch(() => undefined); // display only
    for (const answered of sent) answered();
  }
}

async function refresh(): Promise<void> {
  const [listed, behaviours] = await Promise.all([call("overrides", {}), call("routes", {})]);
  overrides.value = listed.overrides;
  routes.value = behaviours.routes;
}
