// Below the top bar when something is amiss: the server is gone, wants a token, or the past is shown.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { reconnectNow, useToken as showToken } from "../net/link";
import { type Connection, connection, preparing } from "../state/store";
import { Icon } from "./icons";
import { Button } from "./parts";

export function Banner() {
  const now = connection.value;
  if (now.state === "lost") return <Lost lost={now} />;
  if (now.state === "refused") return <Refused reason={now.reason} />;
  if (preparing.value !== "") return <Preparing what={preparing.value} />;
  return null;
}

function Preparing({ what }: { what: string }) {
  return (
    <div class="banner" role="status">
      <Icon name="info" />
      <span>Preparing the simulation: {what.replace(/[.\s]+$/, "")}.</span>
    </div>
  );
}

function Lost({ lost }: { lost: Extract<Connection, { state: "lost" }> }) {
  const seconds = useSignal(secondsUntil(lost.retryAt));
  useEffect(() => {
    const count = () => {
      seconds.value = secondsUntil(lost.retryAt);
    };
    count();
    const timer = setInterval(count, 250);
    return () => clearInterval(timer);
  }, [lost.retryAt]);
  return (
    <div class="banner" role="alert">
      <Icon name="warn" />
      <span>
        The server is gone{causeOf(lost.reason)}.{" "}
        {seconds.value > 0 ? `Next try in ${seconds.value} s.` : "Trying now."}
      </span>
      <Button look="small" label="Try to connect now" text="Try now" onClick={reconnectNow} />
    </div>
  );
}

function secondsUntil(moment: number): number {
  return Math.max(0, Math.ceil((moment - performance.now()) / 1000));
}

function Refused({ reason }: { reason: string }) {
  const token = useSignal("");
  const submit = (event: Event) => {
    event.preventDefault();
    if (token.value.trim() !== "") showToken(token.value.trim());
  };
  return (
    <form class="banner" aria-label="Token" onSubmit={submit}>
      <Icon name="key" />
      <span>{sentence(reason || "the server wants a token")} It was printed when the server started.</span>
      <input
        class="field small"
        type="password"
        aria-label="Token"
        placeholder="Token"
        autocomplete="off"
        value={token.value}
        onInput={(event) => (token.value = event.currentTarget.value)}
      />
      <button type="submit" class="button small primary">
        Connect
      </button>
    </form>
  );
}

/** Why, without what is said here anyway. */
function causeOf(reason: string): string {
  const cause = (reason.split(";")[0] ?? "").replace(/[.\s]+$/, "");
  return cause === "" ? "" : `: ${cause}`;
}

/** Words of the server as a sentence. */
function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1).replace(/[.\s]+$/, "")}.`;
}
