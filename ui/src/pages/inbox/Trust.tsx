// Configurations that nobody has approved yet: what they would run.
import { useEffect, useState } from "react";
import { get, post } from "../../api/client";
import type { Page, TrustItem } from "../../api/types";
import { ErrorBox, Foreign, State } from "../../shared/parts";

export function TrustCards() {
  const [items, setItems] = useState<TrustItem[]>([]);
  const [error, setError] = useState<unknown>(null);
  const load = () =>
    get<Page<TrustItem>>("/trust").then(
      (page) => setItems(page.items),
      () => setItems([]),
    );
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => void load(), []);
  const approve = (item: TrustItem) => post("/trust", { project: item.project, hash: item.hash }).then(load, setError);
  return items.map((item) => (
    <article key={item.hash} className="icard" data-testid="trust-card">
      <header>
        <div className="row">
          <State state="needs_you" word="Trust" />
          <h2 className="grow">A configuration wants to run programs</h2>
        </div>
        <p className="sm dim">
          {item.loadout ? `Loadout ${item.loadout}` : "The project's configuration"} ·{" "}
          <span className="mono">{item.hash.slice(0, 12)}</span>
        </p>
      </header>
      <div className="ibody">
        <p className="sub">What it would run</p>
        <ul className="runs">
          {item.runs.map((run) => (
            <li key={run} className="mono">
              <Foreign text={run} mixed />
            </li>
          ))}
        </ul>
        {item.changed && item.changed.length > 0 ? (
          <>
            <p className="sub">Changes since your last approval</p>
            <ul className="runs">
              {item.changed.map((one) => (
                <li key={one} className="mono">
                  <Foreign text={one} mixed />
                </li>
              ))}
            </ul>
          </>
        ) : null}
        {error ? <ErrorBox error={error} /> : null}
      </div>
      <footer>
        <button type="button" className="btn primary" onClick={() => void approve(item)}>
          Approve what is shown
        </button>
        <span className="faint sm">The approval is for this hash. If it changes, you are asked again.</span>
      </footer>
    </article>
  ));
}
