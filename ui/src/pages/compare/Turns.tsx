// The turns of both casts, aligned by the server; those that they share stand first.
import { useState } from "react";
import type { CastView, ComparedTurn, Comparison, TurnSide } from "../../api/generated";
import type { Turn } from "../../fold";
import { KindIcon } from "../../graph/KindIcon";
import { duration } from "../../shared/format";
import { Foreign, Item, Seg } from "../../shared/parts";
import { Table } from "../../shared/Table";
import { oneLine } from "../../shared/text";
import css from "./compare.module.css";
import { A, B } from "./Heads";

export const rowKey = (row: ComparedTurn) => `${row.socket} ${row.item ?? ""} ${row.attempt} ${row.a ? "a" : "b"}`;

const words: Record<string, string> = {
  outcome: "verdict",
  prompt: "input",
  output: "output",
  route: "route",
  cost: "cost",
};

export function sideText(side: TurnSide | null | undefined): string {
  if (!side) return "";
  const verdict = side.satisfied === true ? "satisfied" : side.satisfied === false ? "not satisfied" : "";
  const outcome = side.outcome === "completed" ? "" : side.outcome;
  return [verdict, outcome, side.durationMs || (!verdict && !outcome) ? duration(side.durationMs ?? 0, true) : ""]
    .filter(Boolean)
    .join(", ");
}

interface TurnsProps {
  compared: Comparison;
  view: CastView;
  /** Turns before they parted. */
  shared: Turn[];
  picked: ComparedTurn | undefined;
  onPick: (key: string) => void;
}

export function Turns({ compared, view, shared, picked, onPick }: TurnsProps) {
  const [only, setOnly] = useState<"all" | "different">("all");
  const different = compared.rows.filter((row) => row.verdict !== "same");
  const rows = only === "all" ? compared.rows : different;
  const all = compared.rows.length + shared.length;
  return (
    <>
      <div className={css.bar2}>
        <h2>Turns, aligned</h2>
        <span className="faint sm grow">by socket, item and attempt</span>
        <Seg
          small
          label="Which"
          now={only}
          onPick={setOnly}
          items={{ all: `All ${all}`, different: `Different ${different.length}` }}
        />
      </div>
      <Table className={css.turns} columns={[["Socket"], ["Item", 132], [A], [B], ["Difference"]]}>
        <tbody>
          {compared.forkedAt && only === "all" ? (
            <tr className={css.part}>
              <td colSpan={5}>Shared: events 1 to {compared.forkedAt}</td>
            </tr>
          ) : null}
          {only === "all"
            ? shared.map((turn) => (
                <tr key={turn.seq} className={css.shared}>
                  <Name view={view} socket={turn.socket} />
                  <td className="cut">{turn.item ? <Item itemKey={turn.item} title={turn.itemLabel} /> : null}</td>
                  <td>
                    {sideText({
                      seq: turn.seq,
                      outcome: turn.outcome,
                      satisfied: turn.satisfied,
                      durationMs: turn.durationMs ?? null,
                    })}
                  </td>
                  <td>the same</td>
                  <td>= shared</td>
                </tr>
              ))
            : null}
          {compared.forkedAt && rows.length > 0 ? (
            <tr className={css.part}>
              <td colSpan={5}>Forked after event {compared.forkedAt}</td>
            </tr>
          ) : null}
          {rows.map((row) => (
            <tr
              key={rowKey(row)}
              aria-selected={row === picked}
              className={row.verdict === "same" ? css.shared : ""}
              data-testid="compared"
              data-row={JSON.stringify([row.socket, row.item ?? null, row.attempt, row.verdict, row.differs ?? []])}
            >
              <Name view={view} socket={row.socket} onPick={() => onPick(rowKey(row))} />
              <td className="cut">{row.item ? <Item itemKey={row.item} title={row.itemLabel} /> : null}</td>
              <td className={row.a ? "" : css.none}>{sideText(row.a)}</td>
              <td className={row.b ? "" : css.none}>{sideText(row.b)}</td>
              <td>
                {row.verdict === "same" ? (
                  "= the same"
                ) : row.verdict === "only_a" ? (
                  <strong>− only A</strong>
                ) : row.verdict === "only_b" ? (
                  <strong>+ only B</strong>
                ) : (
                  <span className={css.wrap}>
                    <strong>≠ {(row.differs ?? []).map((one) => words[one] ?? one).join(", ")}</strong>
                    {row.differs?.includes("prompt") ? null : <span className="dim">; same input</span>}
                  </span>
                )}
              </td>
            </tr>
          ))}
          {rows.length === 0 && shared.length === 0 ? (
            <tr>
              <td colSpan={5} className="faint">
                No turn has run.
              </td>
            </tr>
          ) : null}
        </tbody>
      </Table>
    </>
  );
}

function Name({ view, socket, onPick }: { view: CastView; socket: string; onPick?: () => void }) {
  const node = view.plan.nodes[socket];
  const name = oneLine(node?.materia ?? socket, 40);
  return (
    <td>
      <span className="row">
        <KindIcon kind={node?.generator ? "generator" : (node?.behavior.type ?? "agent")} color={node?.color} />
        {onPick ? (
          <button type="button" className="cut" data-testid="rowpick" onClick={onPick}>
            <Foreign text={name} />
          </button>
        ) : (
          <Foreign as="span" className="cut" text={name} />
        )}
      </span>
    </td>
  );
}
