// The rows of the list of casts, by group.
import { memo, type ReactNode } from "react";
import type { CastSummary } from "../../api/generated";
import { castState } from "../../fold/view";
import { LinkButton } from "../../shared/Button";
import { cx } from "../../shared/cx";
import { ago, dayOrClock, duration, money } from "../../shared/format";
import { castPath, inboxPath, keyOf, useProjects } from "../../shared/live";
import { Foreign, State, Strip } from "../../shared/parts";
import { Link } from "../../shared/router";
import { oneLine } from "../../shared/text";
import css from "./casts.module.css";

/** Casts that are chosen to be compared: two at the most. */
export interface Picked {
  keys: string[];
  toggle: (key: string) => void;
}

interface GroupProps {
  title: string;
  casts: CastSummary[];
  now: number;
  picked: Picked;
  tall?: boolean;
}

export function Group({ title, casts, now, picked, tall = false }: GroupProps) {
  const projects = useProjects();
  if (casts.length === 0) return null;
  const names = new Map(projects.length > 1 ? projects.map((one) => [one.id, one.name]) : []);
  return (
    <tbody data-testid={`group-${title}`}>
      <tr className={css.ghead}>
        <th colSpan={10} scope="colgroup">
          {title} <span className="faint">{casts.length}</span>
        </th>
      </tr>
      {casts.map((cast) => (
        <CastRow
          key={keyOf(cast)}
          cast={cast}
          time={timeOf(cast, now)}
          began={dayOrClock(cast.startedAt, now)}
          tall={tall}
          name={names.get(cast.project)}
          chosen={picked.keys.includes(keyOf(cast))}
          toggle={picked.toggle}
        />
      ))}
    </tbody>
  );
}

const verbs: Record<string, string> = {
  approval: "Review",
  multi_turn: "Answer",
  stall: "See evidence",
  budget: "Raise budget",
  manual: "Start turn",
  trust: "Review",
};

const waits = (cast: CastSummary) => cast.status === "waiting" && castState(cast).state !== "idle";

function timeOf(cast: CastSummary, now: number): string {
  const updated = Date.parse(cast.updatedAt);
  if (waits(cast)) return `waits ${ago(now - updated)}`;
  return duration((cast.status === "running" && cast.driven ? now : updated) - Date.parse(cast.startedAt));
}

interface RowProps {
  cast: CastSummary;
  time: string;
  began: string;
  tall: boolean;
  name: string | undefined;
  chosen: boolean;
  toggle: Picked["toggle"];
}

/** Drawn again when its own words change, not when the clock ticks or another cast does something. */
const CastRow = memo(function CastRow({ cast, time, began, tall, name, chosen, toggle }: RowProps) {
  const { state, word } = castState(cast);
  const to = castPath(cast);
  const waiting = waits(cast);
  const verb = waiting ? verbs[cast.waiting?.reason ?? ""] : undefined;
  const note: ReactNode = cast.waiting
    ? cast.waiting.message
    : cast.error
      ? cast.error.message
      : cast.worker
        ? `on ${cast.worker}`
        : cast.waitsForWorker
          ? "waits for a worker"
          : cast.fromCastId
            ? `from ${cast.fromCastId}`
            : "";
  return (
    <tr className={tall && note ? "tall" : ""} data-testid={`cast-${cast.castId}`}>
      <td className={cx(css.pickCell, "wide")}>
        <input
          type="checkbox"
          aria-label={`Choose ${oneLine(cast.request, 60) || cast.castId} to compare`}
          data-testid={`choose-${cast.castId}`}
          checked={chosen}
          onChange={() => toggle(keyOf(cast))}
        />
      </td>
      <td>
        <State state={state} word={word} />
      </td>
      <td>
        <span className={css.what}>
          <Link to={to} className={css.req}>
            <Foreign as="span" className="cut" text={oneLine(cast.request) || cast.castId} />
          </Link>
          {note ? (
            <Foreign as="span" className={cx(css.note, "cut")} text={oneLine(String(note).replaceAll("`", ""))} />
          ) : null}
          <span className="narrow-only faint xs">
            {name ? `${name} · ` : ""}
            {cast.loadout} · {time}
          </span>
        </span>
      </td>
      <td className="wide">
        <span className="cut">{oneLine(cast.loadout, 60)}</span>
        {name ? <span className={cx(css.note, "mono cut")}>{name}</span> : null}
      </td>
      <td className="wide">
        {cast.items && cast.items.total > 0 ? <Items cast={cast} /> : <span className="faint">no items</span>}
      </td>
      <td className="r wide">{cast.usage?.turns ?? ""}</td>
      <td className="r wide">
        {cast.usage?.cost === null || cast.usage?.cost === undefined ? (
          <span className="faint">unknown</span>
        ) : (
          money(cast.usage.cost)
        )}
      </td>
      <td className="r wide">{time}</td>
      <td className="r wide faint">{began}</td>
      <td className="r wide">{verb ? <LinkButton to={inboxPath(cast)}>{verb}</LinkButton> : null}</td>
    </tr>
  );
});

function Items({ cast }: { cast: CastSummary }) {
  const { done, total } = cast.items ?? { done: 0, total: 0 };
  const { state } = castState(cast);
  const now = state === "done" ? "done" : state;
  const cells = Array.from({ length: total }, (_, index) => ({
    key: String(index),
    state: index < done ? ("done" as const) : index === done ? now : ("idle" as const),
  }));
  return (
    <span className={css.items}>
      <Strip cells={cells} label={`${done} of ${total} items done`} />
      <span className="faint nowrap">
        {done} of {total}
      </span>
    </span>
  );
}
