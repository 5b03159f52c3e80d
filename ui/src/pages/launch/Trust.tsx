// What a new cast would run and nobody has approved: shown, and approved as it is shown.
import { post } from "../../api/client";
import type { TrustItem } from "../../api/generated";
import { useOnce } from "../../shared/ask";
import { Button } from "../../shared/Button";
import { ErrorBox, Foreign } from "../../shared/parts";
import css from "./launch.module.css";

export function Trust({ items, project, onApproved }: { items: TrustItem[]; project: string; onApproved: () => void }) {
  const { run: approve, error } = useOnce(async () => {
    for (const item of items) await post("/trust", { project: item.project ?? project, hash: item.hash });
  }, onApproved);
  return (
    <div className={css.trust} data-testid="trust-question">
      <strong>The programs that this cast would run are not approved</strong>
      <ul className="runs">
        {items
          .flatMap((item) => item.runs)
          .map((run) => (
            <Foreign as="li" key={run} className="mono" text={run} mixed />
          ))}
      </ul>
      {error ? <ErrorBox error={error} /> : null}
      <Button look="primary" onClick={() => approve(undefined)} data-testid="trust-approve">
        Approve what is shown, and start
      </Button>
    </div>
  );
}
