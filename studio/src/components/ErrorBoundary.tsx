import { Component, type ReactNode } from "react";
import { ErrorNotice } from "./ErrorNotice";

interface Props {
  /** When it changes, what is inside is tried again: usually the address. */
  resetKey: string;
  children: ReactNode;
}

/** A fault in one page leaves the rest standing. */
export class ErrorBoundary extends Component<Props, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidUpdate(before: Props) {
    if (this.state.error !== null && before.resetKey !== this.props.resetKey) this.setState({ error: null });
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    const isOld = /dynamically imported module|module script/i.test(String(this.state.error));
    if (isOld) {
      return (
        <ErrorNotice
          title="The studio has been updated"
          error={new Error("This page is of an older version of the studio. Reload it.")}
          onRetry={() => location.reload()}
        />
      );
    }
    return <ErrorNotice title="This page has failed" error={this.state.error} onRetry={() => this.setState({ error: null })} />;
  }
}
