// About the graphics card: whether there is one, and what to do when it is taken away (sleep, a driver that starts
// anew).
import { tell } from "../state/store";

export function surviveLoss(canvas: HTMLCanvasElement, restored: () => void): () => void {
  const over = new AbortController();
  const { signal } = over;
  const lost = (event: Event): void => {
    event.preventDefault(); // without it the browser never gives it back
    tell("warning", "The graphics of the view were lost; they come back by themselves.");
  };
  const back = (): void => {
    tell("info", "The graphics of the view are back.");
    restored();
  };
  canvas.addEventListener("webglcontextlost", lost, { signal });
  canvas.addEventListener("webglcontextrestored", back, { signal });
  return () => over.abort();
}

/** Whether the processor draws instead of a graphics card: then smooth edges cost as much again as everything else. */
export function rendersInSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return false;
  const about = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(about ? gl.getParameter(about.UNMASKED_RENDERER_WEBGL) : gl.getParameter(gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}
