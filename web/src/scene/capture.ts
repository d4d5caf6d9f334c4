// Pictures and films of the view: the world and what is written over it on one canvas.
export class Capture {
  private readonly film = document.createElement("canvas");
  private filming = 0; // streams that are still wanted

  constructor(
    private readonly world: HTMLCanvasElement,
    private readonly overlay: HTMLCanvasElement,
  ) {}

  /** Must follow the drawing in the same task: the browser empties the world's canvas afterwards. */
  png(): Promise<Blob> {
    const canvas = document.createElement("canvas");
    this.compose(canvas);
    return new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture could not be made."))),
        "image/png");
    });
  }

  stream(fps: number): MediaStream {
    this.compose(this.film);
    const stream = this.film.captureStream(fps);
    this.filming += 1;
    for (const track of stream.getTracks()) this.untilStopped(track);
    return stream;
  }

  /** After each drawing, while somebody films. */
  frame(): void {
    if (this.filming > 0) this.compose(this.film);
  }

  private untilStopped(track: MediaStreamTrack): void {
    const stop = track.stop.bind(track);
    track.stop = () => {
      if (track.readyState === "live") this.filming -= 1; // stopping oneself gives no event
      stop();
    };
  }

  private compose(canvas: HTMLCanvasElement): void {
    const { width, height } = this.overlay.width > 0 ? this.overlay : this.world;
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const pen = canvas.getContext("2d");
    pen?.drawImage(this.world, 0, 0, width, height);
    if (this.overlay.style.display !== "none") pen?.drawImage(this.overlay, 0, 0, width, height);
  }
}
