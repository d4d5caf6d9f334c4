// A part of the page that is loaded when it is first shown.
import { type ComponentType, h } from "preact";
import { useEffect, useState } from "preact/hooks";
import { reasonOf } from "../state/caller";
import { Empty } from "./parts";

/** A component in place of one that is still to be loaded. */
export function lazy<P extends object>(name: string, load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function Lazy(props: P) {
    const [, redraw] = useState(0);
    const [failure, fail] = useState("");
    useEffect(() => {
      if (loaded !== null) return;
      load().then(
        (component) => {
          loaded = component;
          redraw((count) => count + 1);
        },
        (error: unknown) => fail(reasonOf(error)),
      );
    }, []);
    if (loaded !== null) return h(loaded, props);
    if (failure !== "") return <Empty icon="warn" title={`${name} could not be loaded`}>{failure}</Empty>;
    return <Empty icon="info" title={`Loading ${name.toLowerCase()}`} />;
  };
}
