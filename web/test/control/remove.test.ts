// Removing vehicles: requests, confirmation, notices.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { removeIds, requestsFor } from "../../src/control/tools/remove";
import { forgetRemoved } from "../../src/state/removed-vehicles";
import { Roster } from "../../src/state/roster";
import type { FrameSource } from "../../src/state/source";
import { notices, select, selection, source } from "../../src/state/store";
import { fakeServer } from "../fake-server";

const calls: unknown[] = [];
let answer: (params: unknown) => Promise<unknown> = () => Promise.resolve({});
let underWay = 0;
let mostUnderWay = 0;

async function respond(_method: string, params: unknown): Promise<unknown> {
  calls.push(params);
  mostUnderWay = Math.max(mostUnderWay, ++underWay);
  await new Promise((resolve) => setTimeout(resolve, 1));
  underWay -= 1;
  return answer(params);
}

const fleet = (name: string, first: number, count: number) => ({
  name,
  kind: "quad",
  model: "quad",
  single: count === 1,
  ids: [[first, count]] as [number, number][],
  members: [[0, count]] as [number, number][],
  columns: [],
});
const world = new Roster({ roster: 1, fleets: [fleet("red", 1, 1), fleet("blue", 2, 1), fleet("scouts", 10, 10_000)] });
// a removed vehicle is not removed again: each test uses other vehicles
const ids = (first: number, count: number) => Array.from({ length: count }, (_, k) => first + k);
const yes = vi.fn(() => true);

beforeEach(() => {
  fakeServer(respond);
  calls.length = underWay = mostUnderWay = 0;
  answer = () => Promise.resolve({});
  notices.value = [];
  yes.mockClear();
  source.value = { kind: "live", roster: { value: world, peek: () => world } } as unknown as FrameSource;
});

describe("removing", () => {
  it("sends one request per complete fleet, and one per other vehicle", () => {
    const whole = requestsFor([1, ...ids(10, 10_000)], world).map(({ params }) => params);
    expect(whole).toEqual([{ vehicle: "red" }, { vehicle: "scouts" }]);
    expect(requestsFor([11, 12], world).map(({ params }) => params)).toEqual([{ vehicle_id: 11 }, { vehicle_id: 12 }]);
  });

  it("has at most 200 concurrent requests, and shows one notice", async () => {
    select(ids(10, 900));
    await removeIds(ids(10, 900), { confirm: yes });
    expect([calls.length, mostUnderWay]).toEqual([900, 200]);
    expect(notices.value.map(({ text }) => text)).toEqual(["Removed 900 vehicles"]);
    expect(selection.value.size).toBe(0);
  });

  it("asks for confirmation above five vehicles, or always on request", async () => {
    await removeIds(ids(2000, 5), { confirm: yes });
    expect(yes).not.toHaveBeenCalled();
    await removeIds(ids(2010, 6), { confirm: yes });
    await removeIds([1], { confirm: yes, always: true });
    expect(yes.mock.calls.map(([question]: unknown[]) => question)).toEqual(["Remove 6 vehicles?", "Remove red?"]);
    calls.length = 0;
    await removeIds(ids(2020, 6), { confirm: () => false });
    expect(calls).toEqual([]);
  });

  it("stops at a refusal, shows it once and keeps the rest selected", async () => {
    answer = (params) => Promise.reject(new Error(`no ${JSON.stringify(params)}`));
    select(ids(3000, 300));
    await removeIds(ids(3000, 300), { confirm: yes });
    expect(calls.length).toBe(200);
    expect(notices.value.map(({ text }) => text)).toEqual(['Removed 0 of 300 vehicles: no {"vehicle_id":3000}']);
    expect(selection.value.size).toBe(300);
  });

  it("shows no notice for vehicles removed by this page", async () => {
    const without = new Roster({ roster: 2, fleets: [fleet("scouts", 10, 10_000)] });
    select([2]);
    const removal = removeIds([2], { confirm: yes });
    await removeIds([2], { confirm: yes }); // a double click
    forgetRemoved(world, without); // the roster arrives before the response
    await removal;
    expect(calls.length).toBe(1);
    expect(notices.value.map(({ text }) => text)).toEqual(["Removed 1 vehicle"]);
    select([9009]);
    forgetRemoved(without, new Roster({ roster: 3, fleets: [] }));
    expect(notices.value.at(-1)?.text).toBe("scouts[8999] removed");
  });

  it("is disabled in a recording", async () => {
    source.value = { ...source.value, kind: "recording" } as FrameSource;
    await removeIds([5000]);
    expect(calls).toEqual([]);
    expect(notices.value.at(-1)?.text).toBe("Commands are disabled: recordings are read-only");
  });
});
