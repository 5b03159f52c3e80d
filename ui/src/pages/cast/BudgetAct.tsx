// Changing what a cast, or one of its sockets, may spend.
import { SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { nameOf } from "../../fold";
import { Confirm } from "../../shared/ActButton";
import type { Act } from "../../shared/acts";
import { Input } from "../../shared/Field";
import { Pick } from "../../shared/parts";
import type { ActProps } from "./props";
import css from "./style.module.css";

const WHOLE = ["maxTurns", "maxTokens", "maxCost"] as const;
const SOCKET = ["maxTurns", "maxCost", "maxTimeMs"] as const;
const labels: Record<string, string> = {
  maxTurns: "Turns",
  maxTokens: "Tokens",
  maxCost: "Cost",
  maxTimeMs: "Milliseconds in turns",
};

export function BudgetAct({ state, target, onDone }: ActProps) {
  const [node, setNode] = useState("");
  const [values, setValues] = useState<Record<string, string>>({});
  const names = node ? SOCKET : WHOLE;
  const bound = (name: string) => (Number(values[name]) > 0 ? Number(values[name]) : null);
  const [maxTurns, maxCost] = [bound("maxTurns"), bound("maxCost")];
  const act: Act = node
    ? { do: "nodeBudget", node, budgets: { turns: maxTurns, cost: maxCost, timeMs: bound("maxTimeMs") } }
    : { do: "budget", budget: { maxTurns, maxCost, maxTokens: bound("maxTokens") } };
  return (
    <Confirm
      look="quiet small icon"
      target={target}
      act={act}
      testid="budget-act"
      label="Change the budget"
      title="Change the budget of this cast"
      text="Bounds that you leave empty do not change. When a bound is spent, the cast waits for you. Spent amounts still count."
      verb="Change the budget"
      ready={names.some((name) => bound(name) !== null)}
      onDone={(result, what) => {
        setValues({});
        onDone(result, what);
      }}
      body={
        <>
          <Pick
            label="Of"
            value={node}
            onPick={setNode}
            any="the whole cast"
            options={Object.keys(state.plan?.nodes ?? {}).map((id) => ({
              value: id,
              label: `${nameOf(state, id)} (${id})`,
            }))}
          />
          {names.map((name) => (
            <label key={name} className={css.brow2}>
              <span>{labels[name]}</span>
              <Input
                className="r"
                inputMode="decimal"
                placeholder={node ? "unchanged" : String(state.budget[name as keyof typeof state.budget] ?? "none")}
                value={values[name] ?? ""}
                data-testid={`set-${name}`}
                onChange={(event) => setValues({ ...values, [name]: event.target.value.replace(/[^0-9.]/g, "") })}
              />
            </label>
          ))}
        </>
      }
    >
      <SlidersHorizontal className="ico" />
    </Confirm>
  );
}
