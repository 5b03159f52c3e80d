// What somebody sees whom the server does not know.
import { Cli } from "../shared/parts";

export function SignIn({ reason }: { reason: string | null }) {
  return (
    <main className="signin" data-testid="signin">
      <h1>Sign in</h1>
      <p className="dim">This page belongs to whoever started the server. Its link signs you in; it works once.</p>
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
