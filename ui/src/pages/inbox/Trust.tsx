// Configurations that nobody has approved yet: what they would run.
import { post } from "../../api/client";
import type { TrustBody, TrustItem, TrustList } from "../../api/generated";
import { useGet, useOnce } from "../../shared/ask";
import { Button } from "../../shared/Button";
import { ErrorBox, State, Sub } from "../../shared/parts";
import { Runs } from "../../shared/Runs";
import css from "./inbox.module.css";

export function TrustCards() {
  const trust = useGet<TrustList>("/trust");
  const { run: approve, error } = useOnce(
    (item: TrustItem) => post("/trust", { project: item.project, hash: item.hash } satisfies TrustBody),
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
        <Sub>What it would run</Sub>
        <Runs items={item.runs} />
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
