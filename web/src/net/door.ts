// Calls that come before the connection is open wait at its door, for a while.
const PATIENCE = 10_000; // ms

interface Waiting {
  go(): void;
  fail(error: Error): void;
}

export class Door {
  private waiting: Waiting[] = [];

  /** Resolves when it opens; rejects when it will not. */
  wait(method: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: the server does not answer`)), PATIENCE);
      const then = (end: () => void) => {
        clearTimeout(timer);
        end();
      };
      this.waiting.push({ go: () => then(resolve), fail: (error) => then(() => reject(error)) });
    });
  }

  open(): void {
    for (const { go } of this.waiting.splice(0)) go();
  }

  shut(reason: string): void {
    for (const { fail } of this.waiting.splice(0)) fail(new Error(reason));
  }
}
