// When to draw: only after changes, never in a hidden tab; without shadows, then at a lower resolution while a moving
// picture is slow.
import type { Sample } from "../state/source";

const LEVELS = [
  { scale: 1, shadows: true },
  { scale: 1, shadows: false },
  { scale: 0.75, shadows: false },
  { scale: 0.5, shadows: false },
] as const;
const PLAIN = 1; // first level without shadows
const TRIES = 2; // times that shadows were too slow until they stay off
const SLOW = 60; // ms per frame
const QUICK = 22;
const PATIENCE = 12; // consecutive frames before a change
const CAUTION = 90; // consecutive frames before an increase

export class Governor {
  private level = 0;
  private slow = 0;
  private quick = 0;
  private dropped = 0; // times that shadows were too slow

  get scale(): number {
    return LEVELS[this.level]?.scale ?? 1;
  }

  /** Whether shadows can be afforded. */
  get shadows(): boolean {
    return LEVELS[this.level]?.shadows ?? false;
  }

  /** Record the duration of a frame in ms; `shadowed`: with shadows. Return whether the level changed. */
  note(milliseconds: number, shadowed = false): boolean {
    this.slow = milliseconds > SLOW ? this.slow + 1 : 0;
    this.quick = milliseconds < QUICK ? this.quick + 1 : 0;
    if (this.slow >= PATIENCE && this.level < LEVELS.length - 1) {
      if (shadowed) this.dropped += 1;
      return this.moveTo(shadowed ? PLAIN : Math.max(this.level, PLAIN) + 1);
    }
    const best = this.dropped >= TRIES ? PLAIN : 0;
    return this.quick >= CAUTION && this.level > best ? this.moveTo(this.level - 1) : false;
  }

  private moveTo(level: number): boolean {
    this.level = level;
    this.slow = 0;
    this.quick = 0;
    return true;
  }
}

// draw loop ----------------------------------------------------------------------------------------------------------

interface Drawable {
  /** What to draw now; null: nothing has arrived. */
  sample(now: number): Sample | null;
  /** Whether drawing must continue without new samples (a moving camera). */
  settling(): boolean;
  /** Whether shadows are drawn only if there is time for them. */
  shadowed?(): boolean;
  draw(sample: Sample | null, now: number, seconds: number, scale: number): void;
  resized(scale: number): void;
  failed(error: unknown): void;
}

const GAP = 400; // ms: longer pauses do not count as slow drawing
const STILL = 200; // ms without a change until the picture is drawn in full resolution

export class DrawLoop {
  private request = 0;
  private dirty = true;
  private last: Sample | null = null;
  private drawnAt = 0;
  private sequence = 0; // frames drawn without a pause
  private sharp = false; // drawn in full resolution
  private readonly governor = new Governor();
  private readonly over = new AbortController();
  private failures = 0;

  constructor(private readonly what: Drawable) {
    document.addEventListener("visibilitychange", () => this.wake(), { signal: this.over.signal });
    this.wake();
  }

  invalidate(): void {
    this.dirty = true;
    this.wake();
  }

  get scale(): number {
    return this.sharp ? 1 : this.governor.scale;
  }

  /** Whether there is time for shadows. */
  get shadows(): boolean {
    return this.governor.shadows;
  }

  /** Draw in full resolution now; the next change returns to the lower one. */
  sharpen(): void {
    if (this.scale < 1) this.setSharp(true);
    else this.now();
  }

  /** Draw now. */
  now(): void {
    this.picture(performance.now(), this.what.sample(performance.now()));
  }

  stop(): void {
    cancelAnimationFrame(this.request);
    this.over.abort();
    this.request = -1;
  }

  private wake(): void {
    if (this.request !== 0 || document.hidden) return;
    this.request = requestAnimationFrame((now) => this.step(now));
  }

  private step(now: number): void {
    if (this.request < 0) return;
    this.request = 0;
    const sample = this.what.sample(now);
    if (this.dirty || !same(sample, this.last) || this.what.settling()) {
      this.measure(now);
      if (this.sequence > 1) this.setSharp(false);
      this.picture(now, sample);
    } else {
      this.sequence = 0;
      if (!this.sharp && now - this.drawnAt > STILL) this.setSharp(true);
    }
    this.wake(); // the next sample may differ
  }

  /** Resizing draws, too. */
  private setSharp(sharp: boolean): void {
    const before = this.scale;
    this.sharp = sharp;
    if (this.scale !== before) this.what.resized(this.scale);
  }

  private picture(now: number, sample: Sample | null): void {
    this.dirty = false;
    this.last = sample;
    const seconds = Math.min((now - this.drawnAt) / 1000, 0.2);
    this.drawnAt = now;
    try {
      this.what.draw(sample, now, seconds, this.scale);
      this.failures = 0;
    } catch (error) {
      // one failed frame must not stop the view
      if (this.failures++ === 0) this.what.failed(error);
    }
  }

  private measure(now: number): void {
    const took = now - this.drawnAt;
    this.sequence = took < GAP ? this.sequence + 1 : 0;
    if (this.sequence > 2 && this.governor.note(took, this.what.shadowed?.())) this.what.resized(this.scale);
  }
}

function same(a: Sample | null, b: Sample | null): boolean {
  return a?.from === b?.from && a?.to === b?.to && a?.mix === b?.mix;
}
