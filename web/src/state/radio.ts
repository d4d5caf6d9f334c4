// The radio of the shown source: radios, stations and jammers; and the layers that a client shows on all pages.
import { computed, signal } from "@preact/signals";
import type { CoverageGrid, RadioTree, VisualizationTree } from "../wire/schema";
import { type Layers, layers, metadata, source } from "./store";

const received = signal<RadioTree | null>(null);

export function applyRadio(tree: RadioTree | null): void {
  received.value = tree;
}

/** Null: there is none, or it is not known yet. */
export const radio = computed<RadioTree | null>(() => {
  const shown = source.value;
  return shown?.routes === undefined ? received.value : (shown.radio?.value ?? null);
});

/** Whether the shown run has radio. */
export const hasRadio = computed(() =>
  source.value?.routes === undefined ? metadata.value?.scenario?.["radio"] != null : radio.value !== null,
);

/** Incremented when links or coverage have changed that the view draws. */
export const radioChanged = signal(0);

export function redrawRadio(): void {
  radioChanged.value = radioChanged.peek() + 1;
}

// coverage -----------------------------------------------------------------------------------------------------------

export type Quantity = "power" | "sinr" | "per";

/** What the heat map shows. */
export interface CoverageChoice {
  of: string | null; // a station or vehicle; null: all stations
  quantity: Quantity;
  height: number; // m above the ground
}

export const coverageChoice = signal<CoverageChoice>({ of: null, quantity: "power", height: 2 });
export const coverage = signal<CoverageGrid | null>(null);

/** Worst and best value of the colours: dBm, dB or packet error rate. */
export function coverageSpan({ sensitivity, needed }: CoverageGrid, quantity: Quantity): [number, number] {
  if (quantity === "per") return [1, 0];
  return quantity === "power"
    ? [sensitivity - 10, sensitivity + 50]
    : [Math.round(needed) - 10, Math.round(needed) + 30];
}

// layers set by a client ---------------------------------------------------------------------------------------------

const SHOWS: readonly [keyof VisualizationTree, readonly (keyof Layers)[]][] = [
  ["show_comm_links", ["links"]],
  ["show_rf_range", ["ranges"]],
  ["show_jamming", ["jamming"]],
  ["show_coverage", ["coverage"]],
  ["show_paths", ["trails", "routes"]],
  ["show_labels", ["names"]],
];
let version = 0;

/** Show what `set_visualization_mode` has set, once; the user can change it afterwards. */
export function applyVisualization(mode: VisualizationTree | null | undefined): void {
  const fresh = mode != null && mode.version !== version;
  version = mode?.version ?? 0;
  if (!fresh) return;
  const changes = SHOWS.flatMap(([name, own]) => (mode[name] === null ? [] : own.map((layer) => [layer, mode[name]])));
  layers.value = { ...layers.value, ...Object.fromEntries(changes) };
}
