// The sheet of keyboard shortcuts.
import { useEffect, useRef } from "preact/hooks";
import { metadata } from "../state/store";
import { helpOpen } from "./layout";
import { Button } from "./parts";
import { SHORTCUTS, type Shortcut } from "./shortcuts";

const GROUPS: readonly Shortcut["group"][] = ["Time", "Camera", "Tools", "Driving", "Panels"];

export function HelpSheet() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  const close = () => {
    helpOpen.value = false;
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby="help-title"
      onClose={close}
      onKeyDown={(event) => event.key === "?" && close()}
      onClick={(event) => event.target === event.currentTarget && close()}
    >
      <div class="dialog-head">
        <h2 id="help-title">Keyboard shortcuts</h2>
        <span class="faint">{metadata.value ? `Paddock ${metadata.value.version}` : ""}</span>
        <Button look="bare" icon="close" label="Close" onClick={close} />
      </div>
      <div class="keys">
        {GROUPS.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {SHORTCUTS.filter((one) => one.group === group && one.shown !== "").map((one) => (
                <div key={one.shown + one.meaning}>
                  <dt>
                    {one.shown.split(" ").map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{one.meaning}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </dialog>
  );
}
