// Buttons, tabs, switches, menus and other widgets that panels share.
import {
  Component,
  type ComponentChildren,
  type ComponentType,
  h,
  type TargetedKeyboardEvent,
  type TargetedMouseEvent,
} from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { reasonOf } from "../net/connection";
import { Icon, type IconName } from "./icons";

interface ButtonProps {
  /** Accessible name; also the tooltip of icon buttons. */
  label: string;
  icon?: IconName;
  /** Text on the button; without it only the icon is shown. */
  text?: string;
  title?: string;
  look?: string; // additional classes: bare, primary, danger, small
  pressed?: boolean;
  expanded?: boolean;
  disabled?: boolean;
  onClick(event: TargetedMouseEvent<HTMLButtonElement>): void;
}

export function Button({ label, icon, text, title, look = "", pressed, expanded, disabled, onClick }: ButtonProps) {
  const shape = text === undefined ? "icon-only" : "";
  return (
    <button
      type="button"
      class={`button ${shape} ${look}`}
      aria-label={label}
      title={title ?? label}
      aria-pressed={pressed}
      aria-expanded={expanded}
      disabled={disabled ?? false}
      onClick={onClick}>
      {icon !== undefined && <Icon name={icon} />}
      {text !== undefined && <span class="text">{text}</span>}
    </button>
  );
}

export interface Tab<Name extends string> {
  name: Name;
  label: string;
}

interface TabsProps<Name extends string> {
  label: string;
  tabs: readonly Tab<Name>[];
  chosen: Name;
  onChoose(name: Name): void;
  children?: ComponentChildren; // beside the tabs, at the end
}

/** Tabs as in the ARIA practices: arrow keys move, only the selected tab is a tab stop. */
export function Tabs<Name extends string>({ label, tabs, chosen, onChoose, children }: TabsProps<Name>) {
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const move = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (move === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const at = (tabs.findIndex((tab) => tab.name === chosen) + move + tabs.length) % tabs.length;
    onChoose((tabs[at] as Tab<Name>).name);
    (event.currentTarget.children[at] as HTMLElement | undefined)?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.name}
            type="button"
            role="tab"
            class="tab"
            id={`tab-${tab.name}`}
            aria-selected={tab.name === chosen}
            aria-controls={`panel-${tab.name}`}
            tabIndex={tab.name === chosen ? 0 : -1}
            onClick={() => onChoose(tab.name)}>
            {tab.label}
          </button>
        ))}
      </div>
      <div class="push">{children}</div>
    </div>
  );
}

interface PopoverProps {
  label: string;
  end?: boolean; // aligned with the end of its anchor
  onClose(): void;
  children: ComponentChildren;
}

/** A popover below its anchor, until Escape or a click outside. */
export function Popover({ label, end, onClose, children }: PopoverProps) {
  const box = useRef<HTMLDivElement>(null);
  const before = useRef<Element | null>(null);
  useEffect(() => {
    before.current = document.activeElement;
    box.current?.querySelector<HTMLElement>("input, select, button")?.focus();
    const outside = (event: PointerEvent) => {
      if (!box.current?.parentElement?.contains(event.target as Node)) onClose();
    };
    document.addEventListener("pointerdown", outside, true);
    return () => document.removeEventListener("pointerdown", outside, true);
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key !== "Escape") return;
    onClose();
    // Escape returns the focus to the button; after use the view gets it, otherwise Space would press the button again
    if (before.current instanceof HTMLElement) before.current.focus();
  };
  return (
    <div class={`popover ${end ? "end" : ""}`} role="dialog" aria-label={label} ref={box} onKeyDown={onKeyDown}>
      {children}
    </div>
  );
}

interface SearchProps {
  label: string;
  value: string;
  small?: boolean;
  onChange(value: string): void;
  onEnter?(): void;
}

export function Search({ label, value, small, onChange, onEnter }: SearchProps) {
  return (
    <div class="search">
      <Icon name="search" />
      <input
        type="search"
        class={`field ${small ? "small" : ""}`}
        placeholder="Find"
        aria-label={label}
        title={label}
        value={value}
        spellcheck={false}
        onInput={(event) => onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" && event.key !== "Escape") return;
          if (event.key === "Enter") onEnter?.();
          else onChange("");
          event.preventDefault(); // of Escape: the selection stays
          event.currentTarget.blur(); // shortcuts work again
        }}
      />
    </div>
  );
}

interface SwitchProps {
  label: string;
  on: boolean;
  note?: string | undefined;
  onChange(on: boolean): void;
}

export function Switch({ label, on, note, onChange }: SwitchProps) {
  return (
    <label class="switch">
      <input type="checkbox" role="switch" checked={on} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span class="grow ellipsis">{label}</span>
      {note !== undefined && <span class="faint number">{note}</span>}
    </label>
  );
}

/** A placeholder for an empty panel. */
export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <strong>{title}</strong>
      {children}
    </div>
  );
}

// error boundary -----------------------------------------------------------------------------------------------------

interface Props {
  name: string;
  children: ComponentChildren;
}

interface State {
  failure: string | null;
}

export class Boundary extends Component<Props, State> {
  override state: State = { failure: null };

  override componentDidCatch(error: unknown): void {
    this.setState({ failure: error instanceof Error ? error.message : String(error) });
  }

  override render({ name, children }: Props, { failure }: State) {
    if (failure === null) return children;
    return (
      <div class="failed" role="alert">
        <strong>{name} failed</strong>
        <p>{failure}</p>
        <Button label={`Retry ${name}`} text="Retry" onClick={() => this.setState({ failure: null })} />
      </div>
    );
  }
}

/** A component that is loaded on first use. */
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
    if (failure !== "")
      return (
        <Empty icon="warn" title={`Cannot load ${name.toLowerCase()}`}>
          {failure}
        </Empty>
      );
    return <Empty icon="info" title={`Loading ${name.toLowerCase()}`} />;
  };
}
