// The page's icons: strokes on a 16 px grid in the text colour.
const STROKES = {
  radio:
    "M8 8v6M5 14h6M8 8.6a1.4 1.4 0 1 0 0-2.8 1.4 1.4 0 0 0 0 2.8M4.6 10.4a4.4 4.4 0 0 1 0-6.4M11.4 4a4.4 4.4 0 0 1 0 6.4",
  play: "M4.5 2.8v10.4L13 8z",
  pause: "M5 3v10M11 3v10",
  freeze: "M8 1.8v12.4M2.6 4.9l10.8 6.2M13.4 4.9 2.6 11.1M6.4 2.9 8 4.4l1.6-1.5M6.4 13.1 8 11.6l1.6 1.5",
  step: "M3.5 3.5v9L10 8zM12.5 3.5v9",
  steps: "M2 4v8l5-4zM8 4v8l5-4zM14.2 4v8",
  reset: "M3 8a5 5 0 1 0 1.6-3.7M3 2.6v3h3",
  fast: "M2 4v8l5.5-4zM8.5 4v8L14 8z",
  search: "M7 11.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9M10.3 10.3 14 14",
  chevron: "m6 3.5 4.5 4.5L6 12.5",
  close: "m4 4 8 8M12 4l-8 8",
  check: "m3 8.5 3.2 3L13 4.5",
  plus: "M8 3v10M3 8h10",
  trash: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5",
  select: "M4 2.5 12.5 7l-3.6 1.2L7.4 12z",
  all: "M2.5 5.5v-3h3M10.5 2.5h3v3M13.5 10.5v3h-3M5.5 13.5h-3v-3M6 6h4v4H6z",
  box: "M2.5 5V2.5H5M7 2.5h2M11 2.5h2.5V5M13.5 7v2M13.5 11v2.5H11M9 13.5H7M5 13.5H2.5V11M2.5 9V7",
  go: "M8 14s4.5-4.2 4.5-7.5a4.5 4.5 0 0 0-9 0C3.5 9.8 8 14 8 14M8 8a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3",
  track: "M7 2.5h2l3.2 9.5H3.8zM2 13.5h12M5.9 6.2h4.2M4.9 9.2h6.2",
  undo: "M6 3 2.8 6.2 6 9.4M2.8 6.2h6.4a4 4 0 0 1 0 8H6",
  redo: "m10 3 3.2 3.2L10 9.4M13.2 6.2H6.8a4 4 0 0 0 0 8H10",
  route:
    "M3.5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M12.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3" +
    "M5 12h5a2 2 0 0 0 0-4H6a2 2 0 0 1 0-4h5",
  spawn: "M8 5v6M5 8h6M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12",
  orbit:
    "M8 9.6a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2" +
    "M14.2 8c0 1.5-2.8 2.7-6.2 2.7S1.8 9.5 1.8 8 4.6 5.3 8 5.3 14.2 6.5 14.2 8M12.8 3.2v2.3h-2.3",
  chase: "M2 8s2.2-4 6-4 6 4 6 4-2.2 4-6 4-6-4-6-4M8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6",
  top: "M2.5 4.5 6 3l4 1.5L13.5 3v8.5L10 13l-4-1.5L2.5 13zM6 3v8.5M10 4.5V13",
  fpv: "M2 5.5h12v6h-3.8L8 9.7 5.8 11.5H2zM5 8h.01M11 8h.01",
  camera: "M2 5h3l1-1.5h4L11 5h3v7.5H2zM8 10.8a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6",
  film: "M2 4.5h8.5v7H2zM10.5 7 14 5v6l-3.5-2",
  frame: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  sun:
    "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7" +
    "M3.4 12.6l.7-.7M11.9 4.1l.7-.7",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5",
  help: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M6.2 6.3C6.3 5.3 7 4.7 8 4.7s1.8.7 1.8 1.6c0 1.3-1.8 1.4-1.8 2.7M8 11.3h.01",
  gallery: "M2.5 2.5h4.5V7H2.5zM9 2.5h4.5V7H9zM2.5 9H7v4.5H2.5zM9 9h4.5v4.5H9z",
  editor: "M6 4 2.5 8 6 12M10 4l3.5 4L10 12",
  open: "M2 12.5v-9h4l1.5 2H14v7z",
  plot: "M2 13.5h12M2.5 10.5 6 6l2.5 2.5L13.5 3",
  events: "M8 2v4M8 8.5v.01M8 14A6 6 0 1 0 8 2",
  gauge: "M2.5 11.5a6 6 0 1 1 11 0M8 9.5 10.5 6",
  log: "M3 4h10M3 8h10M3 12h6",
  task: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11M5.6 8.2 7.3 9.9l3.2-3.6",
  inspect: "M3 3.5h10M3 8h10M3 12.5h10M6 2.2v2.6M10 6.7v2.6M5 11.2v2.6",
  layers: "m8 2 6 3.2-6 3.2-6-3.2zM2 8.3l6 3.2 6-3.2M2 11l6 3.2L14 11",
  tree: "M3 2.5v9.5h4M3 6h4M9 4.5h4.5v3H9zM9 10.5h4.5v3H9z",
  fold: "M10 4 6 8l4 4",
  wheel: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 9.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M2.2 7h4.5M9.3 7h4.5M8 9.5V14",
  power: "M8 2.5V8M4.7 4.4a5 5 0 1 0 6.6 0",
  warn: "M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.8v.01",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 7.2v3.8M8 5v.01",
  eye: "M2 8s2.2-4 6-4 6 4 6 4-2.2 4-6 4-6-4-6-4M8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6",
  download: "M8 2.5v7.5M5 7.2 8 10l3-2.8M3 13.3h10",
  key: "M6 10a3 3 0 1 0-.01 0M8.3 8.3 13.5 13.5M11.5 11.5l1.5-1.5",
  ghost: "M3.5 13.5V7a4.5 4.5 0 0 1 9 0v6.5L11 12.3l-1.5 1.2L8 12.3l-1.5 1.2L5 12.3zM6.3 7h.01M9.7 7h.01",
  back: "M6.5 3.5 2.5 7.5l4 4M2.5 7.5H10a3.5 3.5 0 0 1 0 7H8",
} as const;

/** Vehicle kinds seen from above. */
const KINDS: Readonly<Record<string, string>> = {
  car:
    "M1.8 11V8.6l2.2-.9L6 4.8h4.3l2.4 2.9 1.7.7V11M1.8 11h1.3M6.5 11h3M12.9 11h1.5" +
    "M4.8 12.7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4M11.2 12.7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4",
  quad:
    "M4 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4M12 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4M4 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4" +
    "M12 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2",
  rover:
    "M3 9.2h10M4.5 9.2V6.5h5v2.7M11 9.2V4.2M11 4.2h2M3.3 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3" +
    "M8 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M12.7 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3",
  aircraft: "M8 1.8v12.4M8 5.5 2 8.5M8 5.5l6 3M8 11.8 5.5 13.5M8 11.8l2.5 1.7",
  agent: "M8 2.5 12.5 13 8 10.8 3.5 13z",
};

export type IconName = keyof typeof STROKES;

/** Filled shapes. */
const FULL: ReadonlySet<IconName> = new Set(["play", "step", "steps", "fast"]);

export function Icon({ name }: { name: IconName }) {
  return <Strokes path={STROKES[name]} full={FULL.has(name)} wide={name === "pause"} />;
}

export function KindIcon({ kind }: { kind: string }) {
  return <Strokes path={KINDS[kind] ?? (KINDS["agent"] as string)} />;
}

function Strokes({ path, full = false, wide = false }: { path: string; full?: boolean; wide?: boolean }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" fill={full ? "currentColor" : "none"}>
      <path
        d={path}
        stroke="currentColor"
        stroke-width={wide ? 2.6 : 1.4}
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}

/** The logo: a track with an open gate, and a vehicle leaving through it. */
export function Logo() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" fill="none">
      <path class="ring" d="M19.1 4.4A12 12 0 1 0 27.6 12.9" stroke-width="3.2" stroke-linecap="round" />
      <path class="arrow" d="M28.4 3.6 18.8 22 15.9 16.1 10 13.2Z" />
    </svg>
  );
}
