// A server for tests: records calls and notifications, and responds as the test says.
import { vi } from "vitest";
import { server } from "../src/net/connection";

type Respond = (method: string, params: unknown) => unknown;

export interface FakeServer {
  calls: [method: string, params: unknown][];
  notified: Record<string, unknown>[]; // parameters only
}

/** Replace the page's connection; an error or promise from `respond` rejects or delays the call. */
export function fakeServer(respond: Respond = () => ({})): FakeServer {
  const fake: FakeServer = { calls: [], notified: [] };
  vi.spyOn(server, "call").mockImplementation(async (method, params) => {
    fake.calls.push([method, params]);
    return (await respond(method, params)) as never;
  });
  vi.spyOn(server, "notify").mockImplementation((_method, params) => {
    fake.notified.push(params as Record<string, unknown>);
  });
  return fake;
}
