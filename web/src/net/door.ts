// Calls that come before the connection is open wait at its door, for a while.
const PATIENCE = 10_000; // ms

interface Waiting {
  go(): void;
  fail(error: Error): void;
}

export class Door {
  private waiting: Waiting[] = [];

  /** `patient`: whether it may take as long as it likes. */
  constructor(private readonly patient: () => boolean = () => false) {}

  /** Resolves when it opens; rejects when it will not. */
  wait(method: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        if (this.patient()) timer = setTimeout(giveUp, PATIENCE);
        else reject(new Error(`${method}: the server does not answer`));
      };
      let timer = setTimeout(giveUp, PATIENCE);
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
