// A fault of one page does not take the others with it: it is told, and the rest goes on.
import { Component, type ReactNode } from "react";
import { Button } from "./Button";
import { Page } from "./Page";
import { Empty, ErrorBox, Fault } from "./parts";
import { Link } from "./router";

export class Boundary extends Component<{ children: ReactNode }, { fault: Error | null }> {
  override state: { fault: Error | null } = { fault: null };

  static getDerivedStateFromError(fault: Error): { fault: Error } {
    return { fault };
  }

  override render(): ReactNode {
    const { fault } = this.state;
    if (!fault) return this.props.children;
    return (
      <Empty as="div" data-testid="fault">
        <h1>This page has an error</h1>
        <Fault>{fault.message}</Fault>
        <p>Nothing was lost: casts continue without the page, and their log is complete.</p>
        <Button onClick={() => this.setState({ fault: null })}>Try again</Button>
      </Empty>
    );
  }
}

interface NotOpenedProps {
  title?: string;
  error: Error;
  to: string;
  all: string;
}

/** Stands for what could not be opened, with the way to the others. */
export function NotOpened({ title, error, to, all }: NotOpenedProps) {
  return (
    <Page>
      {title ? <h1>{title}</h1> : null}
      <ErrorBox error={error} />
      <Link to={to}>{all}</Link>
    </Page>
  );
}
