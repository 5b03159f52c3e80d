// Configurations that nobody has approved yet: what they would run.
import { post } from "../../api/client";
import type { TrustItem, TrustList } from "../../api/generated";
import { useGet, useOnce } from "../../shared/ask";
import { Button } from "../../shared/Button";
import { ErrorBox, Foreign, State } from "../../shared/parts";
import css from "./inbox.module.css";

export function TrustCards() {
  const trust = useGet<TrustList>("/trust");
  const { run: approve, error } = useOnce(
    (item: TrustItem) => post("/trust", { project: item.project, hash: item.hash }),
    () => trust.refetch(),
  );
  const items = trust.data?.items ?? [];
  return items.map((item) => (
    <article key={item.hash} className={css.icard} data-testid="trust-card">
      <header>
        <div className="row">
          <State state="needs_you" word="Trust" />
          <h2 className="grow">A configuration wants to run programs</h2>
        </div>
        <p className="sm dim">
          The project's configuration · <span className="mono">{item.hash.slice(0, 12)}</span>
        </p>
      </header>
      <div className={css.ibody}>
        <p className="sub">What it would run</p>
        <ul className="runs">
          {item.runs.map((run) => (
            <Foreign as="li" key={run} className="mono" text={run} mixed />
          ))}
        </ul>
        {error ? <ErrorBox error={error} /> : null}
      </div>
      <footer>
        <Button look="primary" onClick={() => approve(item)}>
          Approve what is shown
        </Button>
        <span className="faint sm">The approval is for this hash. If it changes, you are asked again.</span>
      </footer>
    </article>
  ));
}
