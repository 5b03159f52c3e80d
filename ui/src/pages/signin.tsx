// The page for somebody whom the server does not know.
import { Cli } from "../shared/Cli";
import { Fault, Sub } from "../shared/parts";
import css from "./signin.module.css";

export function SignIn({ reason }: { reason: string | null }) {
  return (
    <main className={css.signin} data-testid="signin">
      <h1>Sign in</h1>
      <p className="dim">
        This page belongs to the person who started the server. A link signs you in: it works once, for a minute. Open
        it in this tab or another.
      </p>
      {reason ? <Fault role="alert">{reason}</Fault> : null}
      <Sub>Print a new link</Sub>
      <Cli words={["materia", "ui", "--no-open"]} />
    </main>
  );
}
