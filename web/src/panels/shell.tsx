// The whole page: which panel is in which room.
import type { ComponentChildren } from "preact";
import { mission } from "../state/mission";
import { Banner } from "./banner";
import { Boundary } from "./boundary";
import { DropPlace } from "./drop";
import { EventsPanel } from "./events";
import { FleetPanel } from "./fleets";
import { Inspector } from "./inspector";
import { LayersPanel } from "./layerspanel";
import { type BottomTab, bottomTab, fold, folded, helpOpen, type RightTab, rightTab } from "./layout";
import { showBottom, showRight, sizes } from "./layout";
import { lazy } from "./lazy";
import { LogPanel } from "./log";
import { Button, type Tab, Tabs } from "./parts";
import { Splitter } from "./splitter";
import { TimelineStrip } from "./timeline";
import { TopBar } from "./topbar";
import { Viewport } from "./viewport";

const PlotsPanel = lazy("Plots", () => import("./plots").then((module) => module.PlotsPanel));
const SpawnPanel = lazy("Spawn", () => import("./spawn").then((module) => module.SpawnPanel));
const MissionPanel = lazy("Mission", () => import("./mission").then((module) => module.MissionPanel));
const PerformancePanel = lazy("Performance", () => import("./performance").then((module) => module.PerformancePanel));
const HelpSheet = lazy("Shortcuts", () => import("./help").then((module) => module.HelpSheet));

const RIGHT: readonly Tab<RightTab>[] = [
  { name: "inspect", label: "Inspect" },
  { name: "spawn", label: "Spawn" },
  { name: "layers", label: "Layers" },
];

/** Only where there is one, or where it was looked at last. */
const MISSION: Tab<RightTab> = { name: "mission", label: "Mission" };

const BOTTOM: readonly Tab<BottomTab>[] = [
  { name: "plots", label: "Plots" },
  { name: "events", label: "Events" },
  { name: "performance", label: "Performance" },
  { name: "log", label: "Log" },
];

export function Shell({ host }: { host: HTMLElement }) {
  return (
    <div class="shell">
      <Boundary name="The top bar">
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
        <Button look="bare" icon="tree" label="Show the fleets" onClick={() => fold("left")} />
      </div>
    );
  }
  return (
    <>
      <aside class="side left" style={{ width: `${sizes.value.left}rem` }} aria-label="Fleets">
        <Boundary name="The fleets panel">
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
        <Button look="bare" icon="layers" label="Show the layers" onClick={() => showRight("layers")} />
        {mission.value && (
          <Button look="bare" icon="task" label="Show the mission" onClick={() => showRight("mission")} />
        )}
      </div>
    );
  }
  const tab = rightTab.value;
  const tabs = mission.value || tab === "mission" ? [...RIGHT, MISSION] : RIGHT;
  return (
    <>
      <Splitter side="right" />
      <aside class="side right" style={{ width: `${sizes.value.right}rem` }} aria-label="Details">
        <Tabs label="Details" tabs={tabs} chosen={tab} onChoose={(name) => (rightTab.value = name)}>
          <Button look="bare small" icon="chevron" label="Fold the details panel" onClick={() => fold("right")} />
        </Tabs>
        <TabPanel name={tab}>
          {tab === "inspect" && <Inspector />}
          {tab === "spawn" && <SpawnPanel />}
          {tab === "layers" && <LayersPanel />}
          {tab === "mission" && <MissionPanel />}
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
        <Boundary name="The timeline">
          <TimelineStrip />
        </Boundary>
      </div>
      {shut ? <div /> : <Splitter side="bottom" />}
      <section
        class="bottom"
        style={{ height: shut ? "auto" : `${sizes.value.bottom}rem` }}
        aria-label="Plots and lists"
      >
        <Tabs label="Plots and lists" tabs={BOTTOM} chosen={tab} onChoose={showBottom}>
          <span class={shut ? "turned up" : "turned"}>
            <Button
              look="bare small"
              icon="chevron"
              label={shut ? "Unfold the lower panel" : "Fold the lower panel"}
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
      <Boundary key={name} name={`The ${name} panel`}>
        {children}
      </Boundary>
    </div>
  );
}
