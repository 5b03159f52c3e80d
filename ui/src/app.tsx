// The shell: the rail, the bar at the top, and which page is open.
import {
  Box,
  Inbox as InboxIcon,
  List,
  type LucideIcon,
  Search,
  Server,
  Settings as SettingsIcon,
  Workflow,
} from "lucide-react";
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import css from "./app.module.css";
import { SignIn } from "./pages/signin";
import { Boundary } from "./shared/Boundary";
import { cx } from "./shared/cx";
import { FindButton } from "./shared/FindField";
import { money } from "./shared/format";
import { Keys } from "./shared/keys";
import { startLive, useInbox, useNow, useProjects, whenBack } from "./shared/live";
import { useLive } from "./shared/live-state";
import { Palette } from "./shared/Palette";
import { Empty } from "./shared/parts";
import { ProjectName, useProject, WhichProject } from "./shared/project";
import { Link, navigate, useAddress, useSearch } from "./shared/router";
import { Main, Shell, Top } from "./shared/Shell";
import { spentToday } from "./shared/today";
import { turnLink } from "./shared/turnLink";
import { typing } from "./shared/typing";
import { useKeydown } from "./shared/useKeydown";

/** A page that is read when it is opened. Where the server does not answer, the page is loaded anew when it is back. */
function page<P extends object>(read: () => Promise<(props: P) => ReactNode>) {
  return lazy(async () => {
    try {
      return { default: await read() };
    } catch {
      await whenBack();
      location.reload();
      return new Promise<never>(() => {});
    }
  });
}

const Casts = page(async () => (await import("./pages/casts")).Casts);
const Cast = page(async () => (await import("./pages/cast")).Cast);
const Inbox = page(async () => (await import("./pages/inbox")).Inbox);
const Launch = page(async () => (await import("./pages/launch")).Launch);
const Compare = page(async () => (await import("./pages/compare")).Compare);
const Materia = page(async () => (await import("./pages/materia")).Materia);
const MateriaEditor = page(async () => (await import("./pages/materia/MateriaEditor")).MateriaEditor);
const Editor = page(async () => (await import("./pages/editor")).Editor);
const Loadouts = page(async () => (await import("./pages/materia")).Loadouts);
const Workers = page(async () => (await import("./pages/workers")).Workers);
const Settings = page(async () => (await import("./pages/settings")).Settings);

interface Place {
  rail: (typeof rail)[number]["id"];
  crumb: ReactNode;
  page: ReactNode;
}

/** A page of the rail. */
const top = (rail: Place["rail"], word: string, page: ReactNode): Place => ({
  rail,
  crumb: <span aria-current="page">{word}</span>,
  page,
});

/** What is shown below a page of the rail: one thing, by its name. */
const below = (rail: Place["rail"], word: string, name: string, page: ReactNode, look = "cut"): Place => ({
  rail,
  crumb: (
    <>
      <Link to={`/${rail}`}>{word}</Link> /{" "}
      <span className={look} aria-current="page">
        {name}
      </span>
    </>
  ),
  page,
});

function placeOf(path: string): Place {
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  const [first, id, third, fourth] = parts;
  if (first === "inbox") return top("inbox", "Inbox", <Inbox />);
  if (first === "loadouts" && id) return below("loadouts", "Loadouts", id, <Editor name={id} key={id} />);
  if (first === "loadouts") return top("loadouts", "Loadouts", <Loadouts />);
  if (first === "materia" && id) return below("materia", "Materia", id, <MateriaEditor name={id} key={id} />);
  if (first === "materia") return top("materia", "Materia", <Materia />);
  if (first === "workers") return top("workers", "Workers", <Workers />);
  if (first === "settings") return top("settings", "Settings", <Settings />);
  if (first === "casts" && id && third === "compare" && fourth)
    return below("casts", "Casts", "Compare", <Compare a={id} b={fourth} key={path} />);
  if (first === "casts" && id && id !== "new")
    return below("casts", "Casts", id, <Cast id={id} key={id} link={turnLink(parts.slice(2))} />, "mono cut");
  return { rail: "casts", crumb: <span className="mono">{location.host}</span>, page: <Casts /> };
}

const rail = [
  { id: "casts", word: "Casts", icon: List },
  { id: "inbox", word: "Inbox", icon: InboxIcon },
  { id: "loadouts", word: "Loadouts", icon: Workflow },
  { id: "materia", word: "Materia", icon: Box },
  { id: "workers", word: "Workers", icon: Server },
  { id: "settings", word: "Settings", icon: SettingsIcon },
] as const;

interface RailProps {
  id: Place["rail"];
  word: string;
  icon: LucideIcon;
  now: Place["rail"];
  waits: number;
}

function RailLink({ id, word, icon: Icon, now, waits }: RailProps) {
  return (
    <Link
      to={`/${id}`}
      title={word}
      data-testid={`nav-${id}`}
      aria-label={waits > 0 ? `${word} ${waits}, waiting for you` : word}
      {...(now === id ? { "aria-current": "page" as const } : {})}
    >
      <Icon className="ico" />
      <span className={css.word}>{word}</span>{" "}
      {waits > 0 ? (
        <span className={css.n} data-testid="inbox-count">
          {waits}
        </span>
      ) : null}
    </Link>
  );
}

export function App({ refused }: { refused: string | null }) {
  const signedOut = useLive((live) => live.signedOut);
  const waits = useInbox().length;
  const { path } = useAddress();
  const [search, change] = useSearch();
  const project = useProject();
  // Only casts on NATS have workers.
  const hasWorkers = useProjects().some((one) => one.space);
  const pages = rail.filter(({ id }) => id !== "workers" || hasWorkers);
  const started = useRef(false);
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  useEffect(() => {
    if (started.current || refused) return;
    started.current = true;
    startLive();
  }, [refused]);
  useShortcuts(
    () => setPalette(true),
    () => setHelp(true),
    change,
  );
  const place = placeOf(path);
  useEffect(() => {
    if (place.rail !== "casts" || path === "/casts" || path === "/")
      document.title = `${waits > 0 ? `(${waits}) ` : ""}Materia`;
  }, [waits, place.rail, path]);

  if (signedOut || refused) return <SignIn reason={refused} />;
  const asks = !project && (place.rail === "loadouts" || place.rail === "materia");
  const launch = path === "/casts/new" || search.get("new") === "1";
  return (
    <Shell>
      <a className={css.skip} href="#main">
        To the content
      </a>
      <nav className={css.rail} aria-label="Pages">
        <svg
          className={css.brand}
          aria-hidden="true"
          width="20"
          height="20"
          viewBox="0 0 20 20"
          fill="none"
          stroke="currentColor"
          strokeWidth="1.6"
        >
          <circle cx="10" cy="10" r="7" />
          <circle cx="10" cy="10" r="2.200" fill="currentColor" stroke="none" />
          <circle className={css.moon} cx="15" cy="5" r="2.300" strokeWidth="1.500" />
        </svg>
        {pages.map((one) => (
          <RailLink key={one.id} {...one} now={place.rail} waits={one.id === "inbox" ? waits : 0} />
        ))}
      </nav>
      <Top>
        <nav className={css.crumb} aria-label="Breadcrumb">
          {place.crumb}
        </nav>
        <ProjectName />
        <span className="grow" />
        <FindButton type="button" className={css.finder} onClick={() => setPalette(true)} data-testid="open-palette">
          <Search className="ico s" />
          Find casts, sockets, events
          <kbd>Ctrl K</kbd>
        </FindButton>
        <Today />
        <ConnectionChip />
      </Top>
      <Main id="main" tabIndex={-1}>
        <Boundary key={path}>
          <Suspense fallback={<Reading />}>{asks ? <WhichProject /> : place.page}</Suspense>
        </Boundary>
      </Main>
      {launch ? (
        <Suspense fallback={null}>
          <Launch
            onClose={() =>
              path === "/casts/new" ? navigate("/casts", true) : change({ new: null, loadout: null, from: null })
            }
          />
        </Suspense>
      ) : null}
      {palette ? <Palette onClose={() => setPalette(false)} /> : null}
      {help ? <Keys onClose={() => setHelp(false)} /> : null}
    </Shell>
  );
}

/** What the casts that began today have cost, as far as that is known. */
function Today() {
  const casts = useLive((live) => live.casts);
  const next = useLive((live) => live.next);
  const { cost, unknown, whole } = spentToday([...casts.values()], Date.now());
  if (cost === null) return null;
  const sure = whole || next === null;
  return (
    <span
      className={cx(css.today, "nowrap")}
      data-testid="today"
      title={`Casts that began today${unknown > 0 ? `; the cost of ${unknown} is unknown` : ""}${sure ? "" : "; older casts are not loaded"}`}
    >
      Today <strong>{money(cost)}</strong>
    </span>
  );
}

function Reading() {
  const connection = useLive((live) => live.connection);
  return (
    <Empty role="status">
      {connection.kind === "connected"
        ? "Reading…"
        : "The server does not answer. The page reconnects when the server is back."}
    </Empty>
  );
}

function ConnectionChip() {
  const connection = useLive((live) => live.connection);
  const lastSeq = useLive((live) => live.lastSeq);
  const now = useNow(connection.kind !== "connected");
  const since = useRef(now);
  if (connection.kind === "connected") since.current = now;
  const left =
    connection.kind === "reconnecting"
      ? Math.max(1, Math.ceil(connection.inSeconds - (now - since.current) / 1000))
      : 0;
  const text =
    connection.kind === "connected"
      ? "Connected"
      : connection.kind === "offline"
        ? "Offline"
        : connection.inSeconds === 0
          ? "Connecting"
          : `Reconnecting ${left} s`;
  return (
    <span className={cx(css.conn, connection.kind !== "connected" && css.off)} role="status" data-testid="connection">
      <i />
      {text}
      {lastSeq !== null ? <span className="faint wide-only">event {lastSeq.toLocaleString("en")}</span> : null}
    </span>
  );
}

function useShortcuts(
  openPalette: () => void,
  openHelp: () => void,
  change: (changes: Record<string, string>) => void,
): void {
  const going = useRef(0);
  useKeydown((event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      openPalette();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event)) return;
    if (event.key === "?") {
      openHelp();
      return;
    }
    if (Date.now() - going.current < 1500) {
      const to = { c: "/casts", i: "/inbox", l: "/loadouts", m: "/materia", s: "/settings" }[event.key];
      going.current = 0;
      if (to) navigate(to);
      return;
    }
    if (event.key === "g") going.current = Date.now();
    else if (event.key === "c") {
      event.preventDefault();
      change({ new: "1" });
    } else if (event.key === ".") navigate("/inbox");
  });
}
