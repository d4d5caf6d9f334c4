// Lowers the resolution while drawing is too slow, and raises it again when there is time.
const SCALES = [1, 0.75, 0.5];
const SLOW = 60; // ms a frame
const QUICK = 22;
const PATIENCE = 12; // frames in a row before something changes
const CAUTION = 90; // the same before it is raised

export class Governor {
  private level = 0;
  private slow = 0;
  private quick = 0;

  get scale(): number {
    return SCALES[this.level] ?? 1;
  }

  /** Note how long a frame took in ms; whether the scale has changed. */
  note(milliseconds: number): boolean {
    this.slow = milliseconds > SLOW ? this.slow + 1 : 0;
    this.quick = milliseconds < QUICK ? this.quick + 1 : 0;
    if (this.slow >= PATIENCE && this.level < SCALES.length - 1) return this.moveTo(this.level + 1);
    if (this.quick >= CAUTION && this.level > 0) return this.moveTo(this.level - 1);
    return false;
  }

  private moveTo(level: number): boolean {
    this.level = level;
    this.slow = 0;
    this.quick = 0;
    return true;
  }
}
