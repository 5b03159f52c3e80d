// A budget that is spent: what was spent, and how much more may be.
import { useEffect, useState } from "react";
import { segment } from "../../api/client";
import type { Budget, CastView } from "../../api/generated";
import { ActButton } from "../../shared/ActButton";
import { type Act, commandLine } from "../../shared/acts";
import { useGet } from "../../shared/ask";
import { BOUNDS } from "../../shared/bounds";
import { Cli } from "../../shared/Cli";
import { Input } from "../../shared/Field";
import { count, money } from "../../shared/format";
import { ErrorBox, Foreign, Meter } from "../../shared/parts";
import css from "./inbox.module.css";
import type { CardProps } from "./props";
import { StopCast } from "./StopCast";
import { targetOf } from "./target";

const spoken = (of: string, value: number | null | undefined) =>
  of === "cost" ? money(value) : value === null || value === undefined ? "unknown" : count(value);

export function BudgetCard({ item, onAnswered }: CardProps) {
  const target = targetOf(item);
  const view = useGet<CastView>(`/casts/${segment(item.castId)}`, { project: target.project }, { since: item.since });
  const [budget, setBudget] = useState<Budget | null>(null);
  const usage = view.data?.usage;
  const now = view.data?.budget;
  useEffect(() => {
    if (!now || !usage || budget) return;
    const double = (limit: number | null | undefined, spent: number) =>
      limit && spent >= limit ? limit * 2 : (limit ?? null);
    setBudget(Object.fromEntries(BOUNDS.map(({ field, of }) => [field, double(now[field], usage[of] ?? 0)])));
  }, [now, usage, budget]);
  const changed: Budget = {};
  for (const { field } of BOUNDS) if (budget?.[field] && budget[field] !== now?.[field]) changed[field] = budget[field];
  const act: Act = { do: "budget", budget: changed };
  return (
    <>
      <div className={css.ibody}>
        <p>
          <Foreign text={item.message} />. Its inputs are kept.
        </p>
        {view.error ? <ErrorBox error={view.error} /> : null}
        {usage ? (
          <div className={css.budgets}>
            {BOUNDS.filter(({ field }) => now?.[field]).map(({ field, name, of }) => (
              <div className={css.brow} key={field}>
                <label htmlFor={`${item.castId}-${field}`}>{name}</label>
                <span className="dim sm">
                  {spoken(of, usage[of])} of {spoken(of, now?.[field])}
                  <Meter spent={usage[of] ?? 0} limit={now?.[field] ?? 1} />
                </span>
                <Input
                  id={`${item.castId}-${field}`}
                  className="r"
                  type="number"
                  min={0}
                  step={field === "maxCost" ? 0.5 : 1}
                  value={budget?.[field] ?? ""}
                  data-testid={`raise-${field}`}
                  onChange={(event) => setBudget({ ...budget, [field]: Number(event.target.value) || null })}
                />
              </div>
            ))}
          </div>
        ) : null}
      </div>
      <footer>
        <ActButton
          look="primary"
          target={target}
          act={act}
          disabled={Object.keys(changed).length === 0}
          testid="raise"
          onDone={() => onAnswered(`Raised: ${item.castId}`)}
        >
          Raise and go on
        </ActButton>
        <StopCast item={item} testid="stop-budget" onAnswered={onAnswered} />
        <span className="grow" />
        <Cli bare words={commandLine(item.castId, act)} project={target.project} />
      </footer>
    </>
  );
}
