// Taking the selected vehicles out of the world; many only after a question.
import { call } from "../../net/link";
import { reasonOf } from "../../state/caller";
import { select, selection, tell } from "../../state/store";
import { canCommand } from "../orders";

const WITHOUT_ASKING = 5;

type Ask = (question: string) => boolean;

export async function removeSelected(ask: Ask = (text) => window.confirm(text)): Promise<void> {
  const ids = [...selection.value];
  if (ids.length === 0 || !canCommand()) return;
  if (ids.length > WITHOUT_ASKING && !ask(`Remove ${ids.length} vehicles from the world?`)) return;
  const answers = await Promise.allSettled(ids.map((id) => call("remove_vehicle", { vehicle_id: id })));
  const refused = answers.find((answer) => answer.status === "rejected");
  if (refused) tell("error", `Not all could be removed: ${reasonOf(refused.reason)}`);
  else tell("info", ids.length === 1 ? "Removed 1 vehicle." : `Removed ${ids.length} vehicles.`);
  const left = new Set(ids.filter((_, k) => answers[k]?.status === "rejected"));
  select(left);
}
