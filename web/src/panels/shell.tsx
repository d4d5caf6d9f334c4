// The page layout: which panel is where.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { withLateStyles } from "../state/files";
import { mission } from "../state/mission";
import { hasRadio } from "../state/radio";
import { showNotice } from "../state/store";
import { openFile } from "./actions";
import { FleetPanel } from "./fleets";
import {
  type BottomTab,
  bottomTab,
  fold,
  folded,
  helpOpen,
  type RightTab,
  rightTab,
  Splitter,
  showBottom,
  showRight,
  sizes,
} from "./layout";
import { Banner, LogPanel } from "./notices";
import { HelpSheet } from "./shortcuts";
import { TimelineStrip } from "./timeline";
import { TopBar } from "./topbar";
import { Viewport } from "./viewport";
import { Boundary, Button, lazy, type Tab, Tabs } from "./widgets";

// drag and drop ------------------------------------------------------------------------------------------------------

function DropPlace() {
  const over = useSignal(false);
  useEffect(() => {
    const stop = new AbortController();
    const on = (name: "dragover" | "dragleave" | "drop", act: (event: DragEvent) => void) =>
      window.addEventListener(name, act, { signal: stop.signal });
    on("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      over.value = true;
    });
    on("dragleave", (event) => {
      if (event.relatedTarget === null) over.value = false;
    });
    on("drop", (event) => {
      over.value = false;
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      take([...event.dataTransfer.files]);
    });
    return () => stop.abort();
  }, []);
  return over.value ? <div class="drop">Drop a recording (.mcap) to open it</div> : null;
}

function take(files: readonly File[]): void {
  const recording = files.find((file) => file.name.toLowerCase().endsWith(".mcap"));
  if (recording) void openFile(recording);
  else showNotice("warning", `${files[0]?.name ?? "This file"} is not a recording (.mcap)`);
}

// layout -------------------------------------------------------------------------------------------------------------

const Inspector = lazy("Inspector", () => import("./inspector").then((module) => module.Inspector));
const SpawnPanel = lazy("Spawn", () => import("./spawn").then((module) => module.SpawnPanel));
const LayersPanel = lazy("Layers", async () => (await import("./layers")).LayersPanel);
const EventsPanel = lazy("Events", async () => (await import("./events")).EventsPanel);
const PlotsPanel = lazy("Plots", async () => (await withLateStyles(import("./plots"))).PlotsPanel);
const MissionPanel = lazy("Mission", async () => (await withLateStyles(import("./mission"))).MissionPanel);
const RadioPanel = lazy("Radio", async () => (await withLateStyles(import("./radio"))).RadioPanel);
const PerformancePanel = lazy("Performance", async () => {
  return (await withLateStyles(import("./performance"))).PerformancePanel;
});

const RIGHT: readonly Tab<RightTab>[] = [
  { name: "inspect", label: "Inspect" },
  { name: "spawn", label: "Spawn" },
  { name: "layers", label: "Layers" },
];

/** Shown if a mission exists, or if the tab was open last. */
const MISSION: Tab<RightTab> = { name: "mission", label: "Mission" };

/** Shown if the run has radio, or if the tab was open last. */
const RADIO: Tab<RightTab> = { name: "radio", label: "Radio" };

const BOTTOM: readonly Tab<BottomTab>[] = [
  { name: "plots", label: "Plots" },
  { name: "events", label: "Events" },
  { name: "performance", label: "Performance" },
  { name: "log", label: "Log" },
];

export function Shell({ host }: { host: HTMLElement }) {
  return (
    <div class="shell">
      <Boundary name="Top bar">
        <TopBar />
      </Boundary>
      <Banner />
      <main class="rooms">
        <Left />
        <Centre host={host} />
        <Right />
      </main>
      <DropPlace />
      {helpOpen.value && <HelpSheet />}
    </div>
  );
}

function Left() {
  if (folded.value.left) {
    return (
      <div class="rail left">
        <Button look="bare" icon="tree" label="Show the fleets panel" onClick={() => fold("left")} />
      </div>
    );
  }
  return (
    <>
      <aside class="side left" style={{ width: `${sizes.value.left}rem` }} aria-label="Fleets">
        <Boundary name="Fleets panel">
          <FleetPanel />
        </Boundary>
      </aside>
      <Splitter side="left" />
    </>
  );
}

function Right() {
  if (folded.value.right) {
    return (
      <div class="rail right">
        <Button look="bare" icon="inspect" label="Show the inspector" onClick={() => showRight("inspect")} />
        <Button look="bare" icon="spawn" label="Show the spawn panel" onClick={() => showRight("spawn")} />
        <Button look="bare" icon="layers" label="Show the layers panel" onClick={() => showRight("layers")} />
        {mission.value && (
          <Button look="bare" icon="task" label="Show the mission panel" onClick={() => showRight("mission")} />
        )}
        {hasRadio.value && (
          <Button look="bare" icon="radio" label="Show the radio panel" onClick={() => showRight("radio")} />
        )}
      </div>
    );
  }
  const tab = rightTab.value;
  const tabs = [
    ...RIGHT,
    ...(mission.value || tab === "mission" ? [MISSION] : []),
    ...(hasRadio.value || tab === "radio" ? [RADIO] : []),
  ];
  return (
    <>
      <Splitter side="right" />
      <aside class="side right" style={{ width: `${sizes.value.right}rem` }} aria-label="Details">
        <Tabs label="Details" tabs={tabs} chosen={tab} onChoose={(name) => (rightTab.value = name)}>
          <Button look="bare small" icon="chevron" label="Collapse the details panel" onClick={() => fold("right")} />
        </Tabs>
        <TabPanel name={tab}>
          {tab === "inspect" && <Inspector />}
          {tab === "spawn" && <SpawnPanel />}
          {tab === "layers" && <LayersPanel />}
          {tab === "mission" && <MissionPanel />}
          {tab === "radio" && <RadioPanel />}
        </TabPanel>
      </aside>
    </>
  );
}

function Centre({ host }: { host: HTMLElement }) {
  const shut = folded.value.bottom;
  const tab = bottomTab.value;
  return (
    <div class="centre">
      <Viewport host={host} />
      <div class="timeline-slot">
        <Boundary name="Timeline">
          <TimelineStrip />
        </Boundary>
      </div>
      {shut ? <div /> : <Splitter side="bottom" />}
      <section
        class="bottom"
        style={{ height: shut ? "auto" : `${sizes.value.bottom}rem` }}
        aria-label="Plots and lists">
        <Tabs label="Plots and lists" tabs={BOTTOM} chosen={tab} onChoose={showBottom}>
          <span class={shut ? "turned up" : "turned"}>
            <Button
              look="bare small"
              icon="chevron"
              label={shut ? "Expand the lower panel" : "Collapse the lower panel"}
              expanded={!shut}
              onClick={() => fold("bottom")}
            />
          </span>
        </Tabs>
        {!shut && (
          <TabPanel name={tab}>
            {tab === "plots" && <PlotsPanel />}
            {tab === "events" && <EventsPanel />}
            {tab === "performance" && <PerformancePanel />}
            {tab === "log" && <LogPanel />}
          </TabPanel>
        )}
      </section>
    </div>
  );
}

function TabPanel({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="tab-panel" role="tabpanel" id={`panel-${name}`} aria-labelledby={`tab-${name}`}>
      <Boundary key={name} name={`${name} panel`}>
        {children}
      </Boundary>
    </div>
  );
}
