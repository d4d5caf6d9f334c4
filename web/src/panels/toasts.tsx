// Notices that come and go at the lower edge; the log keeps them.
import { useEffect } from "preact/hooks";
import { dismiss, type Notice, notices } from "../state/store";
import { Icon, type IconName } from "./icons";
import { Button } from "./parts";

const ICONS: Readonly<Record<Notice["kind"], IconName>> = { info: "info", warning: "warn", error: "warn" };

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {notices.value.map((notice) => (
        <Toast key={notice.number} notice={notice} />
      ))}
    </div>
  );
}

function Toast({ notice }: { notice: Notice }) {
  useEffect(() => {
    const left = notice.until - performance.now();
    if (!Number.isFinite(left)) return undefined;
    const timer = setTimeout(() => dismiss(notice.number), Math.max(0, left));
    return () => clearTimeout(timer);
  }, [notice.number]);
  return (
    <div class={`toast ${notice.kind}`}>
      <Icon name={ICONS[notice.kind]} />
      <span>{notice.text}</span>
      <Button look="bare small" icon="close" label="Dismiss" onClick={() => dismiss(notice.number)} />
    </div>
  );
}
