// The page for somebody whom the server does not know.
import { Cli } from "../shared/Cli";
import css from "./signin.module.css";

export function SignIn({ reason }: { reason: string | null }) {
  return (
    <main className={css.signin} data-testid="signin">
      <h1>Sign in</h1>
      <p className="dim">
        This page belongs to the person who started the server. A link signs you in: it works once, for a minute. Open
        it in this tab or another.
      </p>
      {reason ? (
        <p className="error-box" role="alert">
          {reason}
        </p>
      ) : null}
      <p className="sub">Print a new link</p>
      <Cli words={["materia", "ui", "--no-open"]} />
    </main>
  );
}
