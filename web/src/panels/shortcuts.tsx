// All keyboard shortcuts in one table, which the key handler, the help dialog and the docs use.
import { options } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { exportPng } from "../control/controls";
import { isShortcut, isTyping } from "../control/driving";
import { camera, focus, metadata, roster, select, source, theme } from "../state/store";
import { lookAtSelection, setCamera, setLayer, stage } from "./actions";
import { fold, helpOpen, showBottom, showRight, toggleHelp } from "./layout";
import {
  backToLive,
  jumpToEvent,
  playOrPause,
  setShownPace,
  shownPace,
  shownRate,
  stepSample,
  stepShown,
} from "./timeline-model";
import { chooseTool, toggleTrackEditor } from "./toolbar";
import { paceAt, placeOf } from "./transport";
import { Button } from "./widgets";

interface Shortcut {
  group: "Time" | "Camera" | "Tools" | "Panels" | "Driving" | "Track editor";
  /** KeyboardEvent.key; "" if handled elsewhere and only listed here. */
  key: string;
  shown: string; // displayed; keys separated by spaces
  meaning: string;
  act?: () => void;
}

export const SHORTCUTS: readonly Shortcut[] = [
  { group: "Time", key: " ", shown: "Space", meaning: "play or pause", act: playOrPause },
  { group: "Time", key: ".", shown: ".", meaning: "step one tick or sample", act: () => stepShown(1) },
  { group: "Time", key: ":", shown: "Shift .", meaning: "step 0.1 s", act: () => stepShown(tenth()) },
  { group: "Time", key: ">", shown: "", meaning: "", act: () => stepShown(tenth()) },
  { group: "Time", key: ",", shown: ",", meaning: "one sample back", act: () => stepSample(-1) },
  { group: "Time", key: "PageUp", shown: "PgUp PgDn", meaning: "previous, next event", act: () => jumpToEvent(-1) },
  { group: "Time", key: "PageDown", shown: "", meaning: "", act: () => jumpToEvent(1) },
  { group: "Time", key: "j", shown: "J", meaning: "return to live", act: () => void backToLive() },
  { group: "Time", key: "-", shown: "−", meaning: "slower", act: () => changePace(-30) },
  { group: "Time", key: "+", shown: "+", meaning: "faster", act: () => changePace(30) },
  { group: "Time", key: "=", shown: "", meaning: "", act: () => changePace(30) },
  { group: "Time", key: "0", shown: "0", meaning: "real time", act: () => setShownPace(1) },

  { group: "Camera", key: "1", shown: "1", meaning: "orbit", act: () => setCamera("orbit") },
  { group: "Camera", key: "2", shown: "2", meaning: "chase", act: () => setCamera("chase") },
  { group: "Camera", key: "3", shown: "3", meaning: "top view", act: () => setCamera("top") },
  { group: "Camera", key: "4", shown: "4", meaning: "first person", act: () => setCamera("fpv") },
  { group: "Camera", key: "c", shown: "C", meaning: "next camera", act: nextCamera },
  { group: "Camera", key: "f", shown: "F", meaning: "look at the selected vehicles", act: lookAtSelection },
  { group: "Camera", key: "h", shown: "H", meaning: "frame everything", act: () => stage.value?.frameAll() },
  { group: "Camera", key: "[", shown: "[ ]", meaning: "previous, next vehicle", act: () => nextVehicle(-1) },
  { group: "Camera", key: "]", shown: "", meaning: "", act: () => nextVehicle(1) },
  { group: "Camera", key: "p", shown: "P", meaning: "save a picture", act: savePicture },
  { group: "Camera", key: "", shown: "Drag", meaning: "orbit; with Shift, pan" },
  { group: "Camera", key: "", shown: "Wheel", meaning: "zoom" },

  { group: "Tools", key: "v", shown: "V", meaning: "select", act: () => chooseTool("select") },
  { group: "Tools", key: "b", shown: "B", meaning: "select with a box", act: () => chooseTool("box") },
  { group: "Tools", key: "t", shown: "T", meaning: "go to a place", act: () => chooseTool("go") },
  { group: "Tools", key: "r", shown: "R", meaning: "draw a route (Enter to send)", act: () => chooseTool("route") },
  { group: "Tools", key: "n", shown: "N", meaning: "spawn vehicles", act: () => chooseTool("spawn") },
  { group: "Tools", key: "y", shown: "Y", meaning: "edit the track", act: toggleTrackEditor },
  { group: "Tools", key: "", shown: "Shift click", meaning: "add to the selection" },
  { group: "Tools", key: "", shown: "Delete", meaning: "remove the selected vehicles" },
  {
    group: "Tools",
    key: "Escape",
    shown: "Esc",
    meaning: "leave the tool, clear the selection",
    act: () => select([]),
  },

  { group: "Panels", key: "?", shown: "?", meaning: "this help", act: toggleHelp },
  { group: "Panels", key: "/", shown: "/", meaning: "find a vehicle", act: findVehicle },
  { group: "Panels", key: "i", shown: "I", meaning: "inspector", act: () => showRight("inspect") },
  { group: "Panels", key: "l", shown: "L", meaning: "layers", act: () => showRight("layers") },
  { group: "Panels", key: "o", shown: "O", meaning: "plots", act: () => showBottom("plots") },
  { group: "Panels", key: "e", shown: "E", meaning: "events", act: () => showBottom("events") },
  { group: "Panels", key: "m", shown: "M", meaning: "minimap", act: () => setLayer("minimap") },
  { group: "Panels", key: "\\", shown: "\\", meaning: "collapse or restore all panels", act: foldAll },
  { group: "Panels", key: "k", shown: "K", meaning: "dark or light theme", act: otherTheme },

  { group: "Track editor", key: "", shown: "Click", meaning: "place a cone, choose one; drag moves it" },
  { group: "Track editor", key: "", shown: "1 2 3 4 5", meaning: "blue, yellow, orange, large orange, unknown" },
  { group: "Track editor", key: "", shown: "S", meaning: "set the start pose: click, or drag ahead" },
  { group: "Track editor", key: "", shown: "Delete", meaning: "remove the chosen cone" },
  { group: "Track editor", key: "", shown: "Ctrl Z", meaning: "undo; with Shift, redo" },

  { group: "Driving", key: "", shown: "G", meaning: "drive the selected vehicle, or stop driving" },
  { group: "Driving", key: "", shown: "W A S D", meaning: "drive, steer; tilt a drone (or arrow keys)" },
  { group: "Driving", key: "", shown: "Space", meaning: "handbrake" },
  { group: "Driving", key: "", shown: "R F", meaning: "up and down; faster and slower" },
  { group: "Driving", key: "", shown: "Q E", meaning: "yaw a drone" },
  { group: "Driving", key: "", shown: "X", meaning: "arm or disarm a drone" },
  { group: "Driving", key: "", shown: "M", meaning: "flight mode" },
  { group: "Driving", key: "", shown: "Gamepad", meaning: "sticks and triggers" },
  { group: "Driving", key: "", shown: "Esc", meaning: "stop driving" },
];

/** The shortcut of a key; letters are case-insensitive. */
export function shortcutFor(key: string): Shortcut | undefined {
  const wanted = key.length === 1 ? key.toLowerCase() : key;
  return SHORTCUTS.find((shortcut) => shortcut.key === wanted && shortcut.act !== undefined);
}

function otherTheme(): void {
  theme.value = theme.value === "dark" ? "light" : "dark";
}

function tenth(): number {
  return Math.max(1, Math.round(shownRate() / 10));
}

function changePace(places: number): void {
  const pace = shownPace();
  const size = paceAt(placeOf(pace === 0 ? 100 : Math.abs(pace)) + places);
  setShownPace(pace < 0 ? -size : size); // recordings can be played backwards
}

function nextCamera(): void {
  const all = ["orbit", "chase", "top", "fpv"] as const;
  setCamera(all[(all.indexOf(camera.value) + 1) % all.length] ?? "orbit");
}

function nextVehicle(way: 1 | -1): void {
  const row = focus.value === null ? undefined : roster.value.rowOfId(focus.value);
  const id = roster.value.idAt(roster.value.nextRow(row, way) ?? -1);
  if (id !== undefined) select([id]);
}

function savePicture(): void {
  if (stage.value && source.value) void exportPng(stage.value);
}

/** Focus the field before the next key arrives: a folded panel is rendered at once. */
function findVehicle(): void {
  const later = options.debounceRendering;
  options.debounceRendering = (render) => render();
  fold("left", false);
  if (later === undefined) Reflect.deleteProperty(options, "debounceRendering");
  else options.debounceRendering = later;
  document.querySelector<HTMLInputElement>(".side.left input[type=search]")?.focus();
}

let away = false;

function foldAll(): void {
  away = !away;
  for (const side of ["left", "right", "bottom"] as const) fold(side, away);
}

// key handler --------------------------------------------------------------------------------------------------------

export function startShortcuts(): () => void {
  const over = new AbortController();
  const { signal } = over;
  let tabbed = false; // the focus was moved by Tab: then Space presses the focused control
  const onDown = (event: KeyboardEvent) => {
    if (event.key === "Tab") tabbed = true;
    if (event.defaultPrevented || event.key === " " || isShortcut(event) || isTyping(event.target)) return;
    const shortcut = shortcutFor(event.key);
    if (shortcut?.act === undefined || document.querySelector("dialog[open]") !== null) return;
    event.preventDefault();
    shortcut.act();
  };
  // in the capture phase: a control that was clicked does not get Space
  const onSpace = (event: KeyboardEvent) => {
    if (event.key !== " " || isShortcut(event) || isTyping(event.target)) return;
    if ((tabbed && isPressable(event.target)) || document.querySelector("dialog[open]") !== null) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.type === "keydown" && !event.repeat) playOrPause();
  };
  window.addEventListener("keydown", onSpace, { capture: true, signal });
  window.addEventListener("keyup", onSpace, { capture: true, signal }); // browsers press a button on key-up
  window.addEventListener("keydown", onDown, { signal });
  // a list that was opened with the pointer keeps the focus after the choice
  const onChosen = (event: Event) => {
    if (!tabbed && event.target instanceof HTMLSelectElement) event.target.blur();
  };
  window.addEventListener("change", onChosen, { signal });
  window.addEventListener("pointerdown", () => (tabbed = false), { capture: true, signal });
  return () => over.abort();
}

/** Whether an element handles Space itself. */
function isPressable(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.matches("button, summary, input, [role=tab], [role=button], [role=tree]")
  );
}

// help dialog --------------------------------------------------------------------------------------------------------

const GROUPS: readonly Shortcut["group"][] = ["Time", "Camera", "Tools", "Driving", "Track editor", "Panels"];

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
      onClick={(event) => event.target === event.currentTarget && close()}>
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
              {SHORTCUTS.filter((shortcut) => shortcut.group === group && shortcut.shown !== "").map((shortcut) => (
                <div key={shortcut.shown + shortcut.meaning}>
                  <dt>
                    {shortcut.shown.split(" ").map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{shortcut.meaning}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </dialog>
  );
}
