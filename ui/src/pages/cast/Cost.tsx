// What was spent, by socket and item. The sums are those of the head: both come from the same turns.
import { type CastState, itemTitle, nameOf, type Turn } from "../../fold";
import { count, duration, money } from "../../shared/format";
import { Item } from "../../shared/parts";
import { type Column, Table } from "../../shared/Table";
import css from "./style.module.css";

interface Sum {
  turns: number;
  tokens: number;
  cost: number | null;
  ms: number;
}

export function sumOf(turns: Turn[]): Sum {
  const sum: Sum = { turns: 0, tokens: 0, cost: null, ms: 0 };
  for (const turn of turns) {
    sum.turns += 1;
    sum.tokens += turn.tokens;
    if (turn.cost !== null) sum.cost = (sum.cost ?? 0) + turn.cost;
    sum.ms += turn.durationMs ?? 0;
  }
  return sum;
}

export function CostTab({ state }: { state: CastState }) {
  const sockets = Object.keys(state.plan?.nodes ?? {});
  const items = [...new Set(state.turns.map((turn) => turn.item))];
  const cell = (sum: Sum) =>
    sum.cost !== null ? money(sum.cost) : sum.tokens > 0 ? `${count(sum.tokens)} tokens` : "";
  const whole = state.turnsFrom <= 1;
  return (
    <div className={css.cost} data-testid="cost">
      {whole ? null : (
        <p className="dim sm">
          The table shows the turns since event {state.turnsFrom}; the total covers the whole cast.
        </p>
      )}
      <Table
        columns={[
          ["Socket"],
          ...items.map(
            (item): Column => [
              item ? <Item key={item} itemKey={item} title={itemTitle(state, item)} /> : "no item",
              null,
              "r",
            ],
          ),
          ...["Turns", "Tokens", "Time", "Cost"].map((name): Column => [name, null, "r"]),
        ]}
      >
        <tbody>
          {sockets.map((socket) => {
            const turns = state.turns.filter((turn) => turn.socket === socket);
            const sum = sumOf(turns);
            return (
              <tr key={socket}>
                <td>
                  {nameOf(state, socket)} <span className="mono faint">{socket}</span>
                </td>
                {items.map((item) => (
                  <td key={item ?? ""} className="r">
                    {cell(sumOf(turns.filter((turn) => turn.item === item)))}
                  </td>
                ))}
                <td className="r">{sum.turns}</td>
                <td className="r">{count(sum.tokens)}</td>
                <td className="r">{duration(sum.ms, true)}</td>
                <td className="r">{sum.turns === 0 ? "" : money(sum.cost)}</td>
              </tr>
            );
          })}
        </tbody>
        <tfoot>
          <tr>
            <td className="strong">Sum</td>
            {items.map((item) => (
              <td key={item ?? ""} className="r">
                {cell(sumOf(state.turns.filter((turn) => turn.item === item)))}
              </td>
            ))}
            <td className="r strong" data-testid="cost-turns">
              {count(state.usage.turns)}
            </td>
            <td className="r strong" data-testid="cost-tokens" data-value={state.usage.tokens}>
              {count(state.usage.tokens)}
            </td>
            <td className="r strong">{duration(sumOf(state.turns).ms, true)}</td>
            <td className="r strong" data-testid="cost-total" data-value={state.usage.cost ?? ""}>
              {money(state.usage.cost)}
            </td>
          </tr>
        </tfoot>
      </Table>
    </div>
  );
}
