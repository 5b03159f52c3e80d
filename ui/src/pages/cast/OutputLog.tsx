// What the sockets put out, one turn after the other, in one log.
import { useState } from "react";
import { field } from "../../api/events";
import { nameOf, type Turn } from "../../fold";
import { Button } from "../../shared/Button";
import { useCast } from "../../shared/cast-store";
import { download } from "../../shared/download";
import { FindBox } from "../../shared/FindField";
import { duration } from "../../shared/format";
import { Jump } from "../../shared/Linked";
import { Pick, Seg } from "../../shared/parts";
import { oneLine, plain } from "../../shared/text";
import type { DockProps } from "./props";
import css from "./style.module.css";

const TURNS_MAX = 60;
const CHARS_MAX = 20_000;

export function OutputLog({ store, state, search, change, onSelect }: DockProps) {
  const [words, setWords] = useState("");
  const [wrap, setWrap] = useState<"wrap" | "long">("wrap");
  const only = search.get("logof") ?? "";
  const events = useCast(store, (held) => held.events);
  const first = events[0]?.seq ?? 1;
  const ended = state.turns.filter((turn) => turn.endSeq !== undefined && (!only || turn.socket === only));
  const textOf = (turn: Turn) => plain(String(field(events[(turn.endSeq ?? 0) - first], "output") ?? ""));
  const outputs = ended.slice(-TURNS_MAX).map((turn) => ({ turn, text: textOf(turn) }));
  const hits = words ? outputs.filter(({ text }) => text.toLowerCase().includes(words.toLowerCase())) : outputs;
  const all = () =>
    ended.map((turn) => `== ${turn.socket} visit ${turn.visit} (event ${turn.seq})\n${textOf(turn)}\n`).join("\n");
  return (
    <div className={css.logWrap}>
      <div className={css.evTools}>
        <FindBox>
          <input
            value={words}
            onChange={(event) => setWords(event.target.value)}
            placeholder="Text in the output"
            aria-label="Text in the output"
          />
        </FindBox>
        <Pick
          label="Socket"
          value={only}
          onPick={(logof) => change({ logof })}
          any="all"
          options={Object.keys(state.plan?.nodes ?? {}).map((id) => ({ value: id, label: nameOf(state, id) }))}
        />
        <Seg small label="Lines" now={wrap} onPick={setWrap} items={{ wrap: "Wrap", long: "Long" }} />
        <span className="faint sm grow r">
          {hits.length} of {ended.length} turns
        </span>
        <Button look="small" onClick={() => download(`${store.id}.log`, all())}>
          Download
        </Button>
      </div>
      <div className={css.log}>
        {hits.length === 0 ? (
          <p className="dim">{ended.length === 0 ? "No turn has ended yet." : "No output has this text."}</p>
        ) : null}
        {hits.map(({ turn, text }) => (
          <section key={turn.seq}>
            <h3 className="row">
              <Jump
                onClick={() => {
                  onSelect(turn.socket);
                  change({ turn: turn.seq, tab: "output" });
                }}
              >
                {nameOf(state, turn.socket)}
              </Jump>
              <span className="faint sm">
                visit {turn.visit}
                {turn.item ? `, ${oneLine(turn.itemLabel ?? turn.item, 60)}` : ""},{" "}
                {duration(turn.durationMs ?? 0, true)}
              </span>
            </h3>
            <pre className={wrap === "long" ? css.long : ""}>
              {text.length > CHARS_MAX
                ? `${text.slice(0, CHARS_MAX / 4)}\n… ${text.length - CHARS_MAX} more characters; the focus panel has all of it …\n${text.slice((-CHARS_MAX / 4) * 3)}`
                : text}
            </pre>
          </section>
        ))}
      </div>
    </div>
  );
}
