// The track editor: edits with undo, checks of the newest draft, and scenarios with an edited track.
import { beforeEach, expect, it } from "vitest";
import { applyScenery, draftTrack, scenery } from "../../src/state/scenery";
import {
  apply,
  canRedo,
  canUndo,
  check,
  chooseColour,
  chooseCone,
  chosenCone,
  closeDraft,
  draft,
  edit,
  fileFailure,
  fileNotes,
  format,
  movedCone,
  notText,
  openDraft,
  openTrackFile,
  placeCone,
  redo,
  removeCone,
  startAt,
  trackText,
  unchecked,
  undo,
  withTrack,
} from "../../src/state/track-draft";
import type { SceneryTree, TrackCheckTree, TrackTree } from "../../src/wire/schema";
import { fakeServer } from "../fake-server";

const TRACK = {
  ...{ name: "t", closed: false, length: 10, start: [0, 0, 0], movable: true, gates: [] },
  ...{ cones: [[0, 2], [0, -2]], colours: [0, 1], colour_names: ["blue", "yellow"] },
  ...{ centre: [[0, 0], [10, 0]], left_width: [2, 2], right_width: [2, 2], left: [], right: [] },
  ...{ left_cones: [0], right_cones: [1] },
} as unknown as TrackTree; // biome-ignore format: a table
const answer: TrackCheckTree = { track: null, problems: ["the right boundary has 1 cones"], warnings: [] };
const SPREAD = {
  format: "csv",
  cones: [[1, 2]],
  colours: ["orange"],
  covariances: [[0.1, 0.2, 0]],
  start: null,
  notes: [],
};
const settle = () => new Promise((resolve) => setTimeout(resolve));
let asked: unknown[] = [];

beforeEach(() => {
  asked = [];
  fakeServer((method, params) => {
    asked.push([method, params]);
    if (method === "read_track") {
      const { text, name } = params as { text: string; name: string };
      if (text === "bad") throw new Error(`${name}:1:1: not a track`);
      if (text === "spread") return { file: SPREAD };
      return { file: { ...SPREAD, format: "lanes", covariances: null, start: [3, 4, 0.5], notes: ["less"] } };
    }
    const { cones } = params as { cones: unknown[] };
    return { check: cones.length === 2 ? { track: TRACK, problems: [], warnings: [] } : answer };
  });
  applyScenery({ obstacles: [], roads: [], track: TRACK } as unknown as SceneryTree);
  closeDraft();
  openDraft(true);
  closeDraft();
  openDraft();
});

it("begins with the track of the run, whose cones are then drawn by the editor", () => {
  expect(draft.value).toEqual({ cones: TRACK.cones, colours: ["blue", "yellow"], start: [0, 0, 0] });
  expect(scenery.value?.track).toMatchObject({ movable: false, cones: TRACK.cones, centre: TRACK.centre });
  closeDraft();
  expect(scenery.value?.track).toBe(TRACK);
});

it("places, colours, moves and removes cones, and takes each step back", () => {
  chooseColour("orange");
  placeCone(1.23456, -4);
  expect([draft.value.cones[2], draft.value.colours[2], chosenCone.value]).toEqual([[1.235, -4], "orange", 2]);
  chooseColour("yellow"); // of the next cone, not of the one just placed
  expect([draft.value.colours[2], chosenCone.value]).toEqual(["orange", null]);
  chooseCone(2);
  chooseColour("yellow");
  expect(draft.value.colours[2]).toBe("yellow");
  const before = draft.value;
  apply(movedCone(before, 0, 5, 5));
  apply(movedCone(before, 0, 6, 6));
  edit(draft.value, before); // dropped: one step
  removeCone(1);
  expect(draft.value.cones).toEqual([[6, 6], [1.235, -4]]); // biome-ignore format: a table
  edit(startAt(draft.value, 1, 2, Math.PI / 2));
  expect(draft.value.start).toEqual([1, 2, 1.5708]);
  for (const _ of [1, 2, 3, 4, 5]) undo();
  expect(draft.value.cones).toEqual(TRACK.cones);
  expect([canUndo.value, canRedo.value]).toEqual([false, true]);
  for (const _ of [1, 2, 3]) redo();
  expect(draft.value.cones[0]).toEqual([6, 6]);
  placeCone(0, 0);
  expect(canRedo.value).toBe(false);
});

it("checks the newest draft, one request at a time, and shows no asphalt without a track", async () => {
  placeCone(1, 1);
  placeCone(2, 1);
  placeCone(3, 1);
  await settle();
  const sizes = asked.map((one) => (one as [string, { cones: unknown[] }])[1].cones.length);
  expect(sizes[sizes.length - 1]).toBe(5);
  expect(sizes.length).toBeLessThan(4);
  expect([check.value, unchecked.value]).toEqual([answer, false]);
  expect(draftTrack.value).toMatchObject({ centre: [], gates: [], length: 0 });
});

it("keeps an edited draft for the next time", () => {
  placeCone(7, 7);
  closeDraft();
  openDraft();
  expect(draft.value.cones).toHaveLength(3);
  openDraft(true);
  expect(draft.value.cones).toEqual([]);
});

it("replaces the section track of a scenario, of any form", () => {
  const block = 'track:\n  file: "a.csv"\n  text: |\n    tag,x,y\n    blue,1,2\n';
  const text = "tag,x,y\nblue,1,2\n";
  expect(withTrack("name: a\ntrack: park\nvehicles: []\n", "a.csv", text)).toBe(`name: a\n${block}vehicles: []\n`);
  const long = "track:\n  name: park\n  # wide\n  surface: {mu: 1}\nvehicles:\n  - {name: b}\n";
  expect(withTrack(long, "a.csv", text)).toBe(`${block}vehicles:\n  - {name: b}\n`);
  expect(withTrack("vehicles: []\n", "a.csv", text)).toBe(`vehicles: []\n${block}`);
  expect(withTrack("track: park\n", "a.csv", text, { mu: 1 })).toContain('  surface: {"mu":1}\n  text: |');
});

it("opens a file as one step, and keeps the draft if the file has errors", async () => {
  const before = draft.value;
  expect(await openTrackFile(new File(["bad"], "odd.csv"))).toBe(false);
  expect([draft.value, fileFailure.value]).toEqual([before, "odd.csv:1:1: not a track"]);
  expect(await openTrackFile(new File([Uint8Array.of(0x62, 0xff)], "odd.csv"))).toBe(false);
  expect(fileFailure.value).toBe("odd.csv:1:2: not UTF-8 text");
  expect(await openTrackFile(new File([" \n"], "none.csv"))).toBe(false);
  expect(fileFailure.value).toBe("none.csv:1:1: the file is empty");
  expect(await openTrackFile(new File(["track: {}"], "good.yaml"))).toBe(true);
  expect(draft.value).toEqual({ cones: [[1, 2]], colours: ["orange"], start: [3, 4, 0.5] });
  expect([format.value, fileNotes.value, fileFailure.value]).toEqual(["lanes", ["less"], ""]);
  undo();
  expect(draft.value).toEqual(before);
});

it("keeps the covariances of cones that were not moved, and asks for a start pose that the file lacks", async () => {
  expect(await openTrackFile(new File(["spread"], "spread.csv"))).toBe(true);
  expect([draft.value.covariances, draft.value.startless]).toEqual([[[0.1, 0.2, 0]], true]);
  placeCone(5, 5);
  placeCone(6, 6);
  edit(movedCone(draft.value, 1, 7, 7));
  removeCone(2);
  expect(draft.value.covariances).toEqual([[0.1, 0.2, 0], [0, 0, 0]]); // biome-ignore format: a table
  await trackText("csv").catch(() => "");
  expect(asked).toContainEqual([
    "write_track",
    expect.objectContaining({ covariances: draft.value.covariances, format: "csv" }),
  ]);
  edit(startAt(movedCone(draft.value, 0, 1, 1), 0, 0, 0));
  expect([draft.value.covariances?.[0], draft.value.startless]).toEqual([[0, 0, 0], undefined]);
  undo();
  expect([draft.value.covariances?.[0], draft.value.startless]).toEqual([[0.1, 0.2, 0], true]);
});

it.each([
  ["a,b\nc", null],
  ["\u00e9\n\u{1f600}", null],
  ["a\nb\xff", { line: 2, column: 2 }],
  ["\xc3(", { line: 1, column: 1 }],
  ["ab\n\xc3\xa9\xe2\x82", { line: 2, column: 3 }],
])("finds bytes that are no text in %j", (text, place) => {
  const plain = [...text].every((one) => one.charCodeAt(0) < 128) || place === null;
  const bytes = plain ? new TextEncoder().encode(text) : Uint8Array.from(text, (one) => one.charCodeAt(0));
  expect(notText(bytes)).toEqual(place);
});
