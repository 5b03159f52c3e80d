// Inbox: everything that waits for a person, the riskiest first.
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { get, segment } from "../../api/client";
import type { CastView, InboxItem, SocketState } from "../../api/generated";
import { cx } from "../../shared/cx";
import { ago, clock } from "../../shared/format";
import { castPath, refreshInbox, useInbox, useNow } from "../../shared/live";
import { Empty, Foreign, Mark, State, Sub } from "../../shared/parts";
import { Link, navigate, useSearch } from "../../shared/router";
import { oneLine } from "../../shared/text";
import { typing } from "../../shared/typing";
import { useKeydown } from "../../shared/useKeydown";
import { Approval } from "./Approval";
import { BudgetCard } from "./Budget";
import { Conversation } from "./Conversation";
import css from "./inbox.module.css";
import { OtherCard } from "./Other";
import type { CardProps } from "./props";
import { Stall } from "./Stall";
import { TrustCards } from "./Trust";
import { WorkspaceCard } from "./Workspace";

const risk: Record<string, number> = { trust: 0, approval: 1, stall: 3, multi_turn: 2, budget: 4, manual: 5 };
const titles: Record<string, string> = {
  approval: "Approval",
  multi_turn: "Question",
  stall: "Stall",
  budget: "Budget",
  manual: "Start",
  trust: "Trust",
  workspace: "Files",
};

const cardsOf: Record<string, (props: CardProps) => ReactNode> = {
  approval: Approval,
  multi_turn: Conversation,
  stall: Stall,
  budget: BudgetCard,
  workspace: WorkspaceCard,
};

const isRefused = (item: InboxItem) => Boolean(item.approval?.denied);
/** What was refused stands last: it waits, but for another decision. */
const riskOf = (item: InboxItem) => (isRefused(item) ? 8 : (risk[item.reason] ?? 9));
const titleWord = (item: InboxItem) => (isRefused(item) ? "Refused" : (titles[item.reason] ?? "Waits"));

export function lookOf(item: InboxItem): SocketState {
  if (isRefused(item)) return "queued";
  return item.reason === "stall" ? "stalled" : "needs_you";
}
export function titleOf(item: InboxItem, name = item.node ?? ""): string {
  const who = name || "The cast";
  const words: Record<string, string> = {
    approval: isRefused(item) ? `${who} was refused and waits` : `${who} asks before it runs`,
    multi_turn: `${who} has answered and waits for you`,
    stall: `${who} repeats without progress`,
    budget: "The budget is spent",
    workspace: "The files of its workspace need a decision",
    trust: "Its configuration is not approved",
  };
  return words[item.reason] ?? oneLine(item.message, 120);
}
const keyOf = (item: InboxItem) => `${item.project ?? ""}/${item.castId}/${item.node ?? ""}/${item.reason}`;

export function Inbox() {
  const inbox = useInbox();
  const now = useNow();
  const [search, change] = useSearch();
  const [answered, setAnswered] = useState<{ key: string; text: string; at: number }[]>([]);
  const items = useMemo(
    () => [...inbox].sort((a, b) => riskOf(a) - riskOf(b) || String(a.since).localeCompare(String(b.since))),
    [inbox],
  );
  const [wanted, project] = [search.get("cast"), search.get("project")];
  const isWanted = (item: InboxItem) => item.castId === wanted && (!project || item.project === project);
  const current = items.find((item) => keyOf(item) === search.get("at")) ?? items.find(isWanted) ?? items[0];
  const cards = useRef(new Map<string, HTMLElement>());
  const currentKey = current ? keyOf(current) : null;
  useEffect(() => {
    void refreshInbox();
  }, []);
  useEffect(() => {
    if (currentKey) cards.current.get(currentKey)?.scrollIntoView({ block: "nearest" });
  }, [currentKey]);
  useKeydown((event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event)) return;
    const place = items.findIndex((item) => keyOf(item) === currentKey);
    const card = currentKey ? cards.current.get(currentKey) : undefined;
    const press = (name: string) => card?.querySelector<HTMLButtonElement>(`[data-key="${name}"]`)?.click();
    if (event.key === "j" || event.key === "k") {
      const next = items[Math.max(0, Math.min(items.length - 1, place + (event.key === "j" ? 1 : -1)))];
      if (next) change({ at: keyOf(next), cast: null });
    } else if (event.key === "y" || event.key === "n") press(event.key);
    else return;
    event.preventDefault();
  });
  const here = useRef(new Set<string>());
  const gone = useGone(items, here.current);
  const answeredBy = (item: InboxItem, text: string) => {
    here.current.add(keyOf(item));
    setAnswered((before) => [{ key: `${keyOf(item)}${Date.now()}`, text, at: Date.now() }, ...before].slice(0, 20));
    void refreshInbox();
    // Whoever came from a cast to answer it goes back to see what follows.
    if (search.get("back")) navigate(castPath(item));
  };
  const nameOf = useNames(items);
  const casts = new Set(items.map((item) => item.castId)).size;
  return (
    <div className={css.inbox} data-testid="inbox-page">
      <section className={css.index} aria-label="Waiting casts">
        <header>
          <h1>Inbox</h1>
          <p className="dim">
            {items.length === 0
              ? "Nothing waits for you."
              : `${casts} ${casts === 1 ? "cast waits" : "casts wait"} for you. The riskiest is first.`}
          </p>
        </header>
        <ul>
          {items.map((item) => (
            <li key={keyOf(item)}>
              <button
                type="button"
                aria-current={item === current}
                onClick={() => change({ at: keyOf(item), cast: null })}
              >
                <span className={cx("st", lookOf(item))}>
                  <Mark state={lookOf(item)} />
                </span>
                <span className="grow">
                  <span className="row">
                    <span className="grow cut">
                      {titleWord(item)}: {oneLine(nameOf(item) || item.message, 60)}
                    </span>
                    <span className="faint sm nowrap">{item.since ? ago(now - Date.parse(item.since)) : ""}</span>
                  </span>
                  <Foreign as="span" className={cx(css.req, "sm dim cut")} text={oneLine(item.request, 120)} />
                </span>
              </button>
            </li>
          ))}
        </ul>
        {answered.length > 0 ? (
          <>
            <Sub>Answered here</Sub>
            <ul className={css.answered}>
              {answered.map((one) => (
                <li key={one.key} className="dim sm row">
                  <Foreign as="span" className="grow cut" text={one.text} />
                  <span className="faint">{clock(one.at)}</span>
                </li>
              ))}
            </ul>
          </>
        ) : null}
        <Sub className="wide-only">Keys</Sub>
        <p className="faint sm wide-only">
          <kbd>J</kbd> <kbd>K</kbd> next, previous · <kbd>Y</kbd> <kbd>N</kbd> approve, deny
        </p>
      </section>
      <section className={css.cards} aria-label="Answers">
        <TrustCards />
        {gone.map(({ item, at }) => (
          <article key={keyOf(item)} className={cx(css.icard, css.gone)} data-testid={`gone-${item.castId}`}>
            <Head item={item} name={nameOf(item)} look="done" word="Answered elsewhere" time={`at ${clock(at)}`}>
              · it does not wait for this any more
            </Head>
          </article>
        ))}
        {items.length === 0 && gone.length === 0 ? (
          <Empty as="div">Nothing waits for you. What a cast needs from a person appears here.</Empty>
        ) : null}
        {items.map((item) => {
          const Card = cardsOf[item.reason] ?? OtherCard;
          return (
            <article
              key={keyOf(item)}
              className={css.icard}
              aria-label={titleOf(item, nameOf(item))}
              aria-current={item === current}
              data-testid={`inbox-${item.castId}`}
              ref={(element) => {
                if (element) cards.current.set(keyOf(item), element);
                else cards.current.delete(keyOf(item));
              }}
            >
              <Head
                item={item}
                name={nameOf(item)}
                look={lookOf(item)}
                word={titleWord(item)}
                time={item.since ? `waits ${ago(now - Date.parse(item.since))}` : ""}
              >
                · {oneLine(item.loadout, 40)} · <span className="mono">{item.castId}</span>
              </Head>
              <Card item={item} onAnswered={(text) => answeredBy(item, text)} />
            </article>
          );
        })}
      </section>
    </div>
  );
}

interface HeadProps {
  item: InboxItem;
  name: string;
  look: SocketState;
  word: string;
  time: string;
  children: ReactNode;
}

/** The head of a card: what it asks, since when, and for which cast. */
function Head({ item, name, look, word, time, children }: HeadProps) {
  return (
    <header>
      <div className="row">
        <State state={look} word={word} />
        <Foreign as="h2" className="cut grow" text={titleOf(item, name)} mixed />
        <span className="faint sm nowrap">{time}</span>
      </div>
      <p className="sm dim cut">
        <Link to={castPath(item)}>
          <Foreign text={oneLine(item.request, 160) || item.castId} />
        </Link>{" "}
        {children}
      </p>
    </header>
  );
}

/** What waited while this page was open and was answered by somebody else: its card stays, without buttons. */
function useGone(items: InboxItem[], here: Set<string>): { item: InboxItem; at: number }[] {
  const before = useRef<InboxItem[]>([]);
  const [gone, setGone] = useState<{ item: InboxItem; at: number }[]>([]);
  useEffect(() => {
    const now = new Set(items.map(keyOf));
    const left = before.current.filter((item) => !now.has(keyOf(item)) && !here.has(keyOf(item)));
    before.current = items;
    for (const key of now) here.delete(key);
    setGone((known) => {
      const rest = known.filter(({ item }) => !now.has(keyOf(item)));
      if (left.length === 0 && rest.length === known.length) return known;
      return [...left.map((item) => ({ item, at: Date.now() })), ...rest].slice(0, 5);
    });
  }, [items, here]);
  return gone;
}

const NAMES_MAX = 20;

/** The names that people gave to the sockets that wait; until they are read, their ids. */
function useNames(items: InboxItem[]): (item: InboxItem) => string {
  const asked = items.filter((item) => item.node).slice(0, NAMES_MAX);
  const read = useQuery({
    queryKey: ["names", asked.map(keyOf)],
    queryFn: async ({ signal }) => {
      const views = await Promise.allSettled(
        asked.map((item) => get<CastView>(`/casts/${segment(item.castId)}`, { project: item.project }, signal)),
      );
      return new Map(
        views.flatMap((view) =>
          view.status === "fulfilled" ? [[view.value.castId, view.value.plan.nodes] as const] : [],
        ),
      );
    },
  });
  return (item) => oneLine(read.data?.get(item.castId)?.[item.node ?? ""]?.materia ?? item.node ?? "", 60);
}
