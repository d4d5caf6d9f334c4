// A fence around a panel: when it fails, it says so in its place, and the rest of the page goes on.
import { Component, type ComponentChildren } from "preact";
import { Button } from "./parts";

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
        <strong>{name} has failed</strong>
        <p>{failure}</p>
        <Button label={`Try ${name} again`} text="Try again" onClick={() => this.setState({ failure: null })} />
      </div>
    );
  }
}
