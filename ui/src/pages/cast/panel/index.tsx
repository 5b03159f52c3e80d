// The focus panel: one socket, one item, one turn.
import { ChevronLeft, ChevronRight, Columns2, Link as LinkIcon, X } from "lucide-react";
import { segment } from "../../../api/client";
import type { TurnView } from "../../../api/generated";
import { nameOf, sentBackBy, titled } from "../../../fold";
import { Badges, KindIcon } from "../../../graph/KindIcon";
import { useGet } from "../../../shared/ask";
import { Button, IconButton } from "../../../shared/Button";
import { isExported } from "../../../shared/exported";
import { EventLink } from "../../../shared/Linked";
import { CopyButton, ErrorBox, Foreign, Pick, State, Tabs } from "../../../shared/parts";
import { turnPath } from "../../../shared/turnLink";
import { usePaced } from "../../../shared/usePaced";
import { useWide } from "../../../shared/useWide";
import type { PanelProps } from "../props";
import css from "../style.module.css";
import { cardOf } from "../views";
import { FilesTab } from "./Files";
import { HistoryTab } from "./History";
import { InputTab } from "./Input";
import { NowTab } from "./Now";
import { OutputTab } from "./Output";
import { WhyTab } from "./Why";

export type PanelTab = "now" | "input" | "output" | "why" | "history" | "files";

/** How long a turn is shown before a newer one takes its place. */
const READ_MS = 1000;

export function FocusPanel(props: PanelProps) {
  const { store, state, past, socket, live, item, search, change, onEvent, now } = props;
  const turns = state.turns.filter((turn) => turn.socket === socket);
  const ofItem = item ? turns.filter((turn) => turn.item === item) : turns;
  const wanted = Number(search.get("turn") ?? 0);
  // Turns that follow each other faster than anybody reads are shown at a pace.
  const last = usePaced(ofItem.at(-1)?.seq, READ_MS, `${socket} ${item} ${past ? state.seq : ""}`);
  const turn = turns.find((one) => one.seq === wanted) ?? ofItem.findLast((one) => one.seq === last);
  const card = cardOf(state, socket, live, now, past);
  const fallback: PanelTab = !turn ? "why" : turn.outcome === "running" ? "input" : "output";
  const tab = (search.get("tab") as PanelTab | null) ?? fallback;
  const kind = state.plan?.nodes[socket]?.generator
    ? "generator"
    : (state.plan?.nodes[socket]?.behavior.type ?? "agent");
  const loaded = useGet<TurnView>(
    turn ? `/casts/${segment(store.id)}/turns/${turn.seq}` : null,
    { project: store.project },
    { since: turn?.endSeq, fixed: turn?.endSeq !== undefined },
  );
  const full = turn && loaded.data?.seq === turn.seq ? loaded.data : null;
  const reason = turn ? (sentBackBy(state, turn)?.reason ?? null) : null;
  const beside = search.get("beside") === "1";
  const wide = useWide(1400);
  const twice = beside && wide && (tab === "input" || tab === "output");
  const place = turn ? turns.indexOf(turn) : -1;
  const items = [...new Set(turns.map((one) => one.item).filter((key): key is string => key !== null))];
  const here = item ?? turn?.item ?? "";
  const files = turn?.endSeq ? (full?.artifacts.length ?? 0) : 0;
  const input = <InputTab {...{ turn, full, turns, onEvent, store, reason }} />;
  const output = <OutputTab {...{ turn, full, onEvent, search, change }} />;
  return (
    <aside
      className={css.panel}
      aria-label={`${nameOf(state, socket)}${turn ? `, visit ${turn.visit}` : ""}`}
      data-testid="panel"
    >
      <div className={css.phead}>
        <div className="row">
          <KindIcon kind={kind} color={card.color} />
          <Foreign as="h2" className="cut" text={nameOf(state, socket)} />
          <span className="mono faint">{socket}</span>
          <Badges
            generator={state.plan?.nodes[socket]?.generator ?? false}
            consumer={(state.plan?.nodes[socket]?.loops ?? []).length > 0}
          />
          <span className="grow" />
          <State state={card.state} word={card.word} testid="panel-state" />
          <Button
            icon={X}
            className={css.sheetClose}
            look="quiet small icon"
            aria-label="Close"
            data-testid="sheet-close"
            onClick={() => change({ socket: null, turn: null, item: null })}
          />
        </div>
        <div className={css.turn}>
          {items.length > 0 ? (
            <Pick
              label="Item"
              value={here}
              testid="pick-item"
              onPick={(value) => change({ item: value, turn: null })}
              options={items.map((key) => ({ value: key, label: () => titled(state, key) }))}
            />
          ) : null}
          {turn ? (
            <Pick
              label="Visit"
              value={String(turn.seq)}
              testid="pick-turn"
              onPick={(value) => change({ turn: value, item: null })}
              options={turns.map((one) => ({
                value: String(one.seq),
                label: `${one.visit}${one.attempt > 1 ? `, attempt ${one.attempt}` : ""} of ${turns.at(-1)?.visit}`,
              }))}
            />
          ) : (
            <span className="faint sm">No turn yet</span>
          )}
          {turn ? (
            <span className="faint sm nowrap">
              event <EventLink seq={turn.seq} onEvent={onEvent} />
            </span>
          ) : null}
          {turn && !isExported() ? (
            <CopyButton
              text={location.origin + turnPath(store.id, turn)}
              label="Copy the link to this turn"
              icon={<LinkIcon className="ico s" />}
            />
          ) : null}
          <span className="grow" />
          <Button
            icon={Columns2}
            className={css.besideOnly}
            look="quiet small icon"
            aria-label="Input and output side by side"
            title="Input and output side by side"
            aria-pressed={beside}
            data-testid="beside"
            onClick={() => change({ beside: beside ? null : "1" })}
          />
          <IconButton
            icon={ChevronLeft}
            label="Previous turn"
            disabled={place <= 0}
            onClick={() => change({ turn: turns[place - 1]?.seq ?? null, item: null })}
          />
          <IconButton
            icon={ChevronRight}
            label="Next turn"
            disabled={place < 0 || place >= turns.length - 1}
            onClick={() => change({ turn: turns[place + 1]?.seq ?? null, item: null })}
          />
        </div>
        <Tabs<PanelTab>
          name="tab"
          label="Turn"
          now={tab}
          onPick={(id) => change({ tab: id })}
          items={[
            { id: "now", label: "Now" },
            { id: "input", label: "Input" },
            { id: "output", label: "Output" },
            { id: "why", label: "Why" },
            { id: "history", label: "History", count: turns.length },
            { id: "files", label: "Files", count: files || undefined },
          ]}
        />
      </div>
      <div
        className={css.pbody}
        id="tab-body"
        role="tabpanel"
        aria-labelledby={`tab-${tab}`}
        data-testid={`panel-${tab}`}
        tabIndex={0}
      >
        {loaded.error && (tab === "input" || tab === "output" || tab === "files") ? (
          <ErrorBox error={loaded.error} />
        ) : null}
        {tab === "now" ? <NowTab {...props} turn={turn} full={full} /> : null}
        {twice ? (
          <div className={css.twice}>
            <section aria-label="Input">{input}</section>
            <section aria-label="Output">{output}</section>
          </div>
        ) : null}
        {tab === "input" && !twice ? input : null}
        {tab === "output" && !twice ? output : null}
        {tab === "why" ? <WhyTab {...props} turn={turn} newest={turn === undefined || turn === turns.at(-1)} /> : null}
        {tab === "history" ? (
          <HistoryTab turns={turns} now={turn} pick={(seq) => change({ turn: seq, item: null })} time={now} />
        ) : null}
        {tab === "files" ? (
          <FilesTab full={turn?.endSeq ? full : null} store={store} search={search} change={change} />
        ) : null}
      </div>
    </aside>
  );
}
