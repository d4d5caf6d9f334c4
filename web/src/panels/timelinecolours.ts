// Which colour an event's tick has on the strip: by its kind, as names of the theme's colours.
const KINDS: Readonly<Record<string, string>> = {
  spawned: "--green",
  removed: "--faint",
  failsafe: "--amber",
  recovered: "--accent",
  refused: "--red",
  barrier_timeout: "--red",
  target_lost: "--amber",
};
const OTHERS = ["--accent", "--green", "--amber", "--soft"];

export function colourOf(kind: string): string {
  let sum = 0;
  for (const letter of kind) sum += letter.charCodeAt(0);
  return KINDS[kind] ?? (OTHERS[sum % OTHERS.length] as string);
}
