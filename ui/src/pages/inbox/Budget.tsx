// A budget that is spent: what was spent, and how much more may be.

import { type ReactNode, useEffect, useState } from "react";
import { segment } from "../../api/client";
import type { Budget, CastView } from "../../api/generated";
import { ActButton } from "../../shared/ActButton";
import { type Act, commandLine } from "../../shared/acts";
import { useGet } from "../../shared/ask";
import { Cli } from "../../shared/Cli";
import { count, money } from "../../shared/format";
import { ErrorBox, Foreign, Meter } from "../../shared/parts";
import type { CardProps } from ".";
import { StopCast } from "./StopCast";
import { targetOf } from "./target";

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
    setBudget({
      maxTurns: double(now.maxTurns, usage.turns),
      maxTokens: double(now.maxTokens, usage.tokens),
      maxCost: double(now.maxCost, usage.cost ?? 0),
    });
  }, [now, usage, budget]);
  const changed: Budget = {};
  for (const name of ["maxTurns", "maxTokens", "maxCost"] as const)
    if (budget?.[name] && budget[name] !== now?.[name]) changed[name] = budget[name] as number;
  const act: Act = { do: "budget", budget: changed };
  const row = (
    name: "maxTurns" | "maxTokens" | "maxCost",
    label: string,
    spent: number | null,
    show: (value: number) => string,
  ): ReactNode =>
    now?.[name] ? (
      <div className="brow" key={name}>
        <label htmlFor={`${item.castId}-${name}`}>{label}</label>
        <span className="dim sm">
          {spent === null ? "unknown" : show(spent)} of {show(now[name] ?? 0)}
          <Meter spent={spent ?? 0} limit={now[name] ?? 1} />
        </span>
        <input
          id={`${item.castId}-${name}`}
          className="field r"
          type="number"
          min={0}
          step={name === "maxCost" ? 0.5 : 1}
          value={budget?.[name] ?? ""}
          data-testid={`raise-${name}`}
          onChange={(event) => setBudget({ ...budget, [name]: Number(event.target.value) || null })}
        />
      </div>
    ) : null;
  return (
    <>
      <div className="ibody">
        <p>
          <Foreign text={item.message} />. Its inputs are kept.
        </p>
        {view.error ? <ErrorBox error={view.error} /> : null}
        {usage ? (
          <div className="budgets">
            {row("maxTurns", "Turns", usage.turns, count)}
            {row("maxTokens", "Tokens", usage.tokens, count)}
            {row("maxCost", "Cost", usage.cost ?? null, money)}
          </div>
        ) : null}
      </div>
      <footer>
        <ActButton
          className="btn primary"
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
