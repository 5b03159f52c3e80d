// Launch: what should be done, by which loadout, with what bounds; and the command that does the same.
import { useEffect, useMemo, useRef, useState } from "react";
import { newKey, post, Refusal, segment } from "../../api/client";
import type {
  Budget,
  CastSummary,
  Catalog,
  Health,
  LoadoutView,
  ProjectItem,
  StartBody,
  WorkspaceKind,
} from "../../api/generated";
import { MiniGraph } from "../../graph/MiniGraph";
import { MODES, PACES, startLine } from "../../shared/acts";
import { useGet, useOnce } from "../../shared/ask";
import { Button } from "../../shared/Button";
import { BOUNDS, NO_BOUNDS, usualBounds } from "../../shared/bounds";
import { Cli } from "../../shared/Cli";
import { cx } from "../../shared/cx";
import { Dialog } from "../../shared/Dialog";
import { Select, TextArea } from "../../shared/Field";
import { castPath, useProjects } from "../../shared/live";
import { useLive } from "../../shared/live-state";
import { ErrorBox, Foreign, Seg } from "../../shared/parts";
import { useProject, WhichProject } from "../../shared/project";
import { navigate, useSearch } from "../../shared/router";
import { Check, Findings } from "../../shared/Table";
import { oneLine } from "../../shared/text";
import { useKeydown } from "../../shared/useKeydown";
import { Bound } from "./Bound";
import css from "./launch.module.css";
import { MostTurns } from "./MostTurns";
import { Trust } from "./Trust";

const DRAFT = "materia.launch";

const empty = {
  request: "",
  loadout: "",
  from: "",
  provider: "",
  pace: "AUTO" as keyof typeof PACES,
  mode: "IMPLEMENTATION" as keyof typeof MODES,
  /** Where turns work; as the loadout or the configuration says where nobody chose. */
  workspace: "" as WorkspaceKind | "",
  includeChanges: false,
  budget: NO_BOUNDS,
  project: "",
};
type Draft = typeof empty;

function kept(): Draft {
  try {
    const draft = JSON.parse(sessionStorage.getItem(DRAFT) ?? "{}") as Partial<Draft>;
    return { ...empty, budget: usualBounds(), ...draft };
  } catch {
    return { ...empty, budget: usualBounds() };
  }
}

/** A draft belongs to a project, which may be known only later: another one begins with its own. */
export function Launch({ onClose }: { onClose: () => void }) {
  const place = useProject();
  return <Sheet key={place?.id} place={place} onClose={onClose} />;
}

function Sheet({ place, onClose }: { place: ProjectItem | null; onClose: () => void }) {
  const casts = useLive((live) => live.casts);
  const projects = useProjects();
  const project = place?.id ?? "";
  const [search, change] = useSearch();
  const [draft, setDraft] = useState<Draft>(() => {
    const before = kept();
    const named = (name: string) => (search.get("new") ? search.get(name) : null);
    // Names of loadouts, casts and agents count in their project only.
    const own = before.project === project ? before : { ...before, loadout: "", from: "", provider: "" };
    return { ...own, project, loadout: named("loadout") ?? own.loadout, from: named("from") ?? own.from };
  });
  const key = useRef(newKey());
  const set = (part: Partial<Draft>) => {
    const next = { ...draft, ...part };
    setDraft(next);
    key.current = newKey();
    sessionStorage.setItem(DRAFT, JSON.stringify(next));
  };
  const loadouts = useGet<Catalog>(project ? "/loadouts" : null, { project });
  const names = loadouts.data?.items ?? [];
  const chosen = names.find((item) => item.name === draft.loadout) ?? names.find((item) => item.active) ?? names[0];
  const driven = [...casts.values()].filter((cast) => cast.project === project && cast.driven);
  const picture = useGet<LoadoutView>(
    chosen ? `/loadouts/${segment(chosen.name)}` : null,
    { project },
    { since: driven.map((cast) => cast.castId) },
  );
  const writes = draft.mode !== "PLANNING" && picture.data?.mayWrite;
  const workspace = draft.workspace || (picture.data?.workspace ?? "project");
  const own = workspace === "own";
  const beside = (own ? [] : (picture.data?.beside ?? [])).filter((other) => writes || other.mayWrite);
  const agents = useGet<Health>(project ? "/agents" : null, { project });
  const there = (agents.data?.agents ?? []).filter((agent) => agent.installed);
  const past = useMemo(
    () =>
      [...casts.values()].filter(
        (cast) => cast.project === project && cast.loadout === chosen?.name && cast.status === "completed",
      ),
    [casts, chosen?.name, project],
  );
  const budget: Budget = {};
  for (const { field } of BOUNDS) {
    const value = Number(draft.budget[field]);
    if (Number.isFinite(value) && value > 0) budget[field] = value;
  }
  const start: StartBody = {
    project,
    request: draft.request.trim(),
    ...(draft.from && chosen ? { link: [`loadout:${chosen.name}`], from: draft.from } : {}),
    ...(!draft.from && chosen ? { loadout: chosen.name } : {}),
    ...(draft.provider ? { provider: draft.provider } : {}),
    ...(draft.mode === "PLANNING" ? { planning: true } : {}),
    ...(draft.pace === "INTERACTIVE" ? { interactive: true } : {}),
    ...(draft.workspace ? { workspace: draft.workspace } : {}),
    ...(own && draft.includeChanges ? { includeChanges: true } : {}),
    ...(draft.request.trim() ? {} : { noRequest: true }),
    ...(Object.keys(budget).length > 0 ? { budget } : {}),
  };
  const begin = useOnce(
    () => post<CastSummary>("/casts", start, key.current),
    (made) => {
      sessionStorage.removeItem(DRAFT);
      navigate(castPath(made));
    },
  );
  const { busy, error } = begin;
  const run = () => {
    if (place && chosen) begin.run(undefined);
  };
  useKeydown((event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") run();
  });
  useEffect(() => {
    if (project) document.getElementById("request")?.focus();
  }, [project]);
  const trust =
    error instanceof Refusal && error.problem.code === "trust_required" ? (error.problem.questions ?? []) : null;
  return (
    <Dialog label="New cast" onClose={onClose} className={css.launch}>
      <header className="row">
        <h2 className="grow">New cast</h2>
        <Button look="quiet" onClick={onClose}>
          Close <kbd>Esc</kbd>
        </Button>
      </header>
      {place ? (
        <div className={css.where} data-testid="launch-project">
          <Foreign as="strong" text={place.name} />
          <Foreign as="span" className="mono dim cut" title={place.dir} text={place.dir} mixed />
          {projects.length > 1 ? (
            <Button
              look="small"
              data-testid="other-project"
              onClick={() => change({ project: null, loadout: null, from: null })}
            >
              Other project
            </Button>
          ) : null}
        </div>
      ) : (
        <WhichProject />
      )}
      <div className={css.cols} hidden={!place}>
        <div className={css.form}>
          <label htmlFor="request" className={css.lab}>
            Request
          </label>
          <TextArea
            id="request"
            rows={6}
            value={draft.request}
            data-autofocus
            data-testid="request"
            onChange={(event) => set({ request: event.target.value })}
          />
          <div className={css.pair2}>
            <label>
              <span className={css.lab}>Agent</span>
              <Select
                value={draft.provider}
                data-testid="provider"
                onChange={(event) => set({ provider: event.target.value })}
              >
                <option value="">As configured</option>
                {(agents.data?.agents ?? []).map((agent) => (
                  <option key={agent.name} value={agent.name} disabled={!agent.installed}>
                    {oneLine(agent.label, 40)}
                    {agent.installed ? "" : ", not installed"}
                  </option>
                ))}
                <option value="mock">Mock: answers without an agent</option>
              </Select>
            </label>
            <label>
              <span className={css.lab}>
                Go on from <span className="faint">a cast, optional</span>
              </span>
              <Select value={draft.from} onChange={(event) => set({ from: event.target.value })}>
                <option value="">None</option>
                {[...casts.values()]
                  .filter((cast) => cast.project === project)
                  .map((cast) => (
                    <option key={cast.castId} value={cast.castId}>
                      {oneLine(cast.request, 50) || cast.castId}
                    </option>
                  ))}
              </Select>
            </label>
            <div>
              <span className={css.lab}>Pace</span>
              <Seg label="Pace" now={draft.pace} onPick={(pace) => set({ pace })} items={PACES} />
            </div>
            <div>
              <span className={css.lab}>Mode</span>
              <Seg label="Mode" now={draft.mode} onPick={(mode) => set({ mode })} items={MODES} />
            </div>
          </div>
          <p className={css.lab}>Work in</p>
          <Seg
            label="Work in"
            now={workspace}
            onPick={(picked) => set({ workspace: picked })}
            items={{ project: "Project folder", own: "A copy of the repository" }}
          />
          {own ? (
            <>
              <Check
                checked={draft.includeChanges}
                testid="include-changes"
                onTick={(includeChanges) => set({ includeChanges })}
              >
                Include uncommitted changes
              </Check>
              <p className="faint sm">Your files stay as they are; the result is a branch that you can apply.</p>
            </>
          ) : null}
          <p className={css.lab}>
            Budget <span className="faint">the cast waits for you when one is spent</span>
          </p>
          {chosen ? <MostTurns project={project} loadout={chosen.name} budget={draft.budget.maxTurns} /> : null}
          {BOUNDS.map(({ name, field, of, show }) => (
            <Bound
              key={field}
              name={name}
              value={draft.budget[field]}
              onChange={(value) => set({ budget: { ...draft.budget, [field]: value } })}
              past={past.map((cast) => cast.usage?.[of] ?? 0)}
              show={show}
            />
          ))}
          <p className="faint sm">
            {past.length >= 3
              ? `Usual: the range from the median to the 90th percentile of ${past.length} completed casts of ${chosen?.name}.`
              : past.length === 0
                ? "No cast of this loadout has completed yet. Usual values appear after three."
                : `${past.length} ${past.length === 1 ? "cast of this loadout has" : "casts of this loadout have"} completed. Usual values appear after three.`}
          </p>
          {beside.length > 0 ? (
            <p className={css.beside} data-testid="beside">
              {beside.length === 1 ? "Another cast is" : `${beside.length} other casts are`} running in this folder:{" "}
              {beside.map((other) => other.castId).join(", ")}. Each sees what the others change.
            </p>
          ) : null}
          {error && !trust ? <ErrorBox error={error} /> : null}
          {error instanceof Refusal && error.problem.findings ? <Findings help items={error.problem.findings} /> : null}
          {trust ? (
            <Trust
              items={trust}
              project={project}
              onApproved={() => {
                key.current = newKey();
                run();
              }}
            />
          ) : null}
        </div>
        <div className={css.side}>
          <p className={css.lab} id="loadouts-label">
            Loadout
          </p>
          <ul className={css.choices} aria-labelledby="loadouts-label">
            {names.map((item) => (
              <li key={item.name}>
                <label className={item === chosen ? css.on : ""}>
                  <input
                    type="radio"
                    name="loadout"
                    checked={item === chosen}
                    onChange={() => set({ loadout: item.name })}
                    data-testid={`loadout-${item.name}`}
                  />
                  <span className="grow">
                    <span className="row">
                      <span className={cx(css.name, "grow cut")}>{oneLine(item.name, 60)}</span>
                      <span className="faint sm nowrap">
                        {item.layer}
                        {item.active ? ", active" : ""}
                      </span>
                    </span>
                    {item.description ? (
                      <Foreign
                        as="span"
                        className={cx(css.about, "sm dim cut")}
                        text={oneLine(item.description, 120)}
                      />
                    ) : null}
                  </span>
                </label>
              </li>
            ))}
          </ul>
          {loadouts.error ? <ErrorBox error={loadouts.error} /> : null}
          <div className={css.picture}>
            {picture.data?.graph ? (
              <MiniGraph grid={picture.data.graph} label={`The graph of ${picture.data.name}`} />
            ) : picture.error ? (
              <ErrorBox error={picture.error} />
            ) : null}
            {picture.data ? (
              <p className="dim sm">
                {picture.data.findings.length === 0 ? "✓ Sound." : `${picture.data.findings.length} findings.`}{" "}
                {picture.data.graph?.sockets.length ?? 0} sockets.{" "}
                {agents.data
                  ? there.length > 0
                    ? `Agents: ${there.map((agent) => `${agent.label}${agent.version ? ` ${agent.version}` : ""}`).join(", ")}.`
                    : "No agent is installed here."
                  : null}
              </p>
            ) : null}
          </div>
        </div>
      </div>
      <footer className="row" hidden={!place}>
        <div className="grow">
          <Cli words={startLine(start)} project={project} />
        </div>
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" disabled={busy || !chosen || !place} onClick={run} data-testid="start">
          Start cast <kbd>Ctrl Enter</kbd>
        </Button>
      </footer>
    </Dialog>
  );
}
