// A vehicle in a recording or in the buffer: what the frames themselves tell.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { eulerOf } from "./euler";
import { orientationOf, positionOf } from "../state/frame";
import { fleetColour } from "../state/palette";
import { camera, roster, source } from "../state/store";
import { lookAt, setCamera } from "./actions";
import { formatValue } from "./format";
import { KindIcon } from "./icons";
import { Button } from "./parts";
import { summarise } from "./summary";

type Line = readonly [name: string, value: number, unit: string];

export function PoseOnly({ id }: { id: number }) {
  const lines = useSignal<readonly Line[]>([]);
  const row = roster.value.rowOfId(id) ?? 0;
  useEffect(() => {
    const look = () => {
      lines.value = linesOf(row);
    };
    look();
    const timer = setInterval(look, 100);
    return () => clearInterval(timer);
  }, [row]);
  const fleet = roster.value.fleetAt(row);
  return (
    <div class="panel-body">
      <div class="vehicle">
        <div class="title">
          <span class="tinted" style={{ "--tint": fleetColour(fleet?.index ?? 0).hex, fontSize: "1.5rem" }}>
            <KindIcon kind={fleet?.kind ?? "agent"} />
          </span>
          <h2 class="grow ellipsis">{roster.value.nameAt(row)}</h2>
          <span class="chip number">id {id}</span>
        </div>
        <p class="faint">
          {fleet?.kind}, {fleet?.model}. This is the past: it can be looked at, not commanded.
        </p>
        <div class="buttons">
          <Button
            look="small"
            icon="chase"
            label="Follow"
            text="Follow"
            pressed={camera.value === "chase"}
            onClick={() => setCamera(camera.value === "chase" ? "orbit" : "chase")}
          />
          <Button look="small" icon="frame" label="Look at it" text="Look" onClick={() => lookAt(id)} />
        </div>
      </div>
      <div class="section">
        {lines.value.map(([name, value, unit]) => (
          <div key={name} class="value-row">
            <span class="name">{name}</span>
            <span class="value">{formatValue(value)}</span>
            <span class="unit">{unit}</span>
            <span />
          </div>
        ))}
      </div>
    </div>
  );
}

function linesOf(row: number): Line[] {
  const sample = source.value?.sample(performance.now());
  if (!sample || row >= sample.to.count) return [];
  const [x, y, z] = positionOf(sample.to, row);
  const { roll, pitch, yaw } = eulerOf(orientationOf(sample.to, row));
  return [
    ["x", x, "m"],
    ["y", y, "m"],
    ["z", z, "m"],
    ["speed", summarise(sample, [row]).speed, "m/s"],
    ["heading", yaw, "rad"],
    ["pitch", pitch, "rad"],
    ["roll", roll, "rad"],
  ];
}
