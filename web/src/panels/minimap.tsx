// The minimap in the corner: the scene draws it, this gives it a place.
import { useEffect, useRef } from "preact/hooks";
import { createMinimap } from "../scene/minimap";
import { stage } from "./stage";

export function Minimap() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const ready = stage.value;
  useEffect(() => {
    if (ready === null || canvas.current === null) return undefined;
    const map = createMinimap(canvas.current);
    return () => map.dispose();
  }, [ready]);
  if (ready === null) return null;
  return (
    <div class="floating minimap">
      <canvas
        ref={canvas}
        role="button"
        tabIndex={0}
        aria-label="Minimap: click to move the camera, Enter to see everything"
      />
    </div>
  );
}
