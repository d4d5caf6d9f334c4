// Metres and lists of tasks in words.

/** `940 m`, `4.1 km`. */
export function formatWay(metres: number): string {
  if (!Number.isFinite(metres)) return "–";
  return metres < 1000 ? `${metres.toFixed(0)} m` : `${(metres / 1000).toFixed(1)} km`;
}

const SHOWN = 3;

/** `mast, farm, weir and 2 more`. */
export function nextTasks(names: readonly string[]): string {
  if (names.length === 0) return "nothing to do";
  const shown = names.slice(0, SHOWN).join(", ");
  return names.length > SHOWN ? `${shown} and ${names.length - SHOWN} more` : shown;
}
