// What a new cast would run and nobody has approved: shown, and approved as it is shown.
import { post } from "../../api/client";
import type { TrustBody, TrustItem } from "../../api/generated";
import { useOnce } from "../../shared/ask";
import { Button } from "../../shared/Button";
import { ErrorBox } from "../../shared/parts";
import { Runs } from "../../shared/Runs";
import css from "./launch.module.css";

export function Trust({ items, project, onApproved }: { items: TrustItem[]; project: string; onApproved: () => void }) {
  const { run: approve, error } = useOnce(async () => {
    for (const item of items)
      await post("/trust", { project: item.project ?? project, hash: item.hash } satisfies TrustBody);
  }, onApproved);
  return (
    <div className={css.trust} data-testid="trust-question">
      <strong>The programs that this cast would run are not approved</strong>
      <Runs items={items.flatMap((item) => item.runs)} />
      {error ? <ErrorBox error={error} /> : null}
      <Button look="primary" onClick={() => approve(undefined)} data-testid="trust-approve">
        Approve what is shown, and start
      </Button>
    </div>
  );
}
