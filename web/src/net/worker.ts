// The Worker in which the socket lives: only joins messages of the page to the pump.
import { measureDecode } from "./measure";
import type { FromWorker, ToWorker } from "./messages";
import { Pump, type Socket } from "./pump";

interface Scope {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer: Transferable[]): void;
}

const scope = globalThis as unknown as Scope;
let pump: Pump | null = null;

function begin(url: string): void {
  pump = new Pump(
    url,
    (address) => new WebSocket(address) as unknown as Socket,
    (message, transfer) => scope.postMessage(message, transfer),
  );
  pump.connect();
}

scope.onmessage = ({ data: told }) => {
  if (told.kind === "start") begin(told.url);
  else if (told.kind === "send") pump?.send(told.data);
  else if (told.kind === "next") pump?.next();
  else if (told.kind === "again") pump?.again();
  else if (told.kind === "drop") pump?.drop();
  else if (told.kind === "hold") pump?.hold();
  else scope.postMessage({ kind: "measured", times: measureDecode(told.count) }, []);
};
