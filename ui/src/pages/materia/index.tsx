// Loadouts and materia: what there is, where it is written, and the ways into their editors.
import { type FormEvent, type ReactNode, useState } from "react";
import { segment } from "../../api/client";
import type { Catalog, DraftItem, Drafts, LoadoutView } from "../../api/generated";
import { templates } from "../../document";
import { Badges } from "../../graph/KindIcon";
import { MIDDLE } from "../../graph/layout";
import { MiniGraph } from "../../graph/MiniGraph";
import { useGet } from "../../shared/ask";
import { Button, LinkButton } from "../../shared/Button";
import { Cli } from "../../shared/Cli";
import { cx } from "../../shared/cx";
import { Input } from "../../shared/Field";
import { useProjects } from "../../shared/live";
import { WidePage } from "../../shared/Page";
import { ErrorBox, Foreign, Pick, Tag } from "../../shared/parts";
import { useProject } from "../../shared/project";
import { Link, navigate, useSearch } from "../../shared/router";
import { Findings, Table } from "../../shared/Table";
import { oneLine } from "../../shared/text";
import { startNew, templateNamed } from "../editor/begin";
import { SelectField } from "../editor/fields";
import { draftId } from "../editor/state";
import css from "./materia.module.css";

/** Which project, where there are several. */
function ProjectPick({ project }: { project: string | null }) {
  const projects = useProjects();
  const [, change] = useSearch();
  if (projects.length < 2 || !project) return null;
  return (
    <Pick
      label="Project"
      value={project}
      options={projects.map((one) => ({ value: one.id, label: one.name }))}
      onPick={(id) => change({ project: id, show: null })}
    />
  );
}
/** Drafts by their id. */
function useDrafts(project: string | null): Map<string, DraftItem> {
  const list = useGet<Drafts>(project ? "/drafts" : null, { project });
  return new Map((list.data?.items ?? []).map((one) => [one.id, one]));
}

export function Loadouts() {
  const project = useProject()?.id ?? null;
  const [search, change] = useSearch();
  const list = useGet<Catalog>(project ? "/loadouts" : null, { project });
  const drafts = useDrafts(project);
  const items = list.data?.items ?? [];
  const shown = items.find((item) => item.name === search.get("show")) ?? items.find((item) => item.active) ?? items[0];
  const wanted = shown?.name ?? null;
  const one = useGet<LoadoutView>(project && wanted ? `/loadouts/${segment(wanted)}` : null, { project });
  // Until another one is read, all that is said is about the one before.
  const told = items.find((item) => item.name === one.data?.name);
  const unsaved = [...drafts.values()].filter(
    (draft) =>
      draft.id.startsWith("loadout.") &&
      !items.some((item) => draftId({ kind: "loadout", name: item.name }) === draft.id),
  );
  return (
    <div className={css.library} data-testid="loadouts-page">
      <section className={css.index} aria-label="Loadouts">
        <header>
          <h1>Loadouts</h1>
          <p className="dim">A loadout says what runs, in which order, and what runs next.</p>
          <ProjectPick project={project} />
          <NewLoadout taken={items.map((item) => item.name)} />
        </header>
        {list.error ? <ErrorBox error={list.error} /> : null}
        <ul>
          {items.map((item) => (
            <li key={item.name}>
              <button
                type="button"
                className={css.pickrow}
                data-testid={`loadout-row-${item.name}`}
                aria-current={item.name === wanted}
                onClick={() => change({ show: item.name })}
                onDoubleClick={() => navigate(`/loadouts/${encodeURIComponent(item.name)}`)}
              >
                <Foreign as="span" className="grow cut" text={oneLine(item.name, 80)} />
                {drafts.has(draftId({ kind: "loadout", name: item.name })) ? <Tag>draft</Tag> : null}
                <span className="faint sm">
                  {item.layer}
                  {item.active ? ", active" : ""}
                </span>
              </button>
            </li>
          ))}
          {unsaved.map((draft) => (
            <li key={draft.id} className={cx(css.unsaved, "sm dim")}>
              <Link to={`/loadouts/${encodeURIComponent(draft.id.split(".").slice(1, -1).join("."))}?begin=1`}>
                {draft.id.split(".").slice(1, -1).join(".")}
              </Link>
              , a draft that was never saved
            </li>
          ))}
        </ul>
      </section>
      <section className={css.detail}>
        {one.error ? <ErrorBox error={one.error} /> : null}
        {one.data ? (
          <>
            <div className="row">
              <Foreign as="h2" className="grow" text={one.data.name} />
              <LinkButton to={`/loadouts/${encodeURIComponent(one.data.name)}`} data-testid="open-editor">
                {told?.layer === "shipped" ? "Open" : "Edit"}
              </LinkButton>
              <LinkButton to={`/loadouts/${encodeURIComponent(one.data.name)}?copy=1`} data-testid="copy-loadout">
                Copy
              </LinkButton>
              <LinkButton look="primary" to={`/casts?new=1&loadout=${encodeURIComponent(one.data.name)}`}>
                Start a cast
              </LinkButton>
            </div>
            <p className="dim sm">
              {told?.layer ?? ""} · <Foreign as="span" className="mono" text={told?.file} /> ·{" "}
              {one.data.graph?.sockets.length ?? 0} sockets
            </p>
            {one.data.graph ? (
              <div className={css.bigpicture}>
                <MiniGraph grid={one.data.graph} sizes={MIDDLE} label={`The graph of ${one.data.name}`} />
              </div>
            ) : null}
            {one.data.findings.length === 0 ? (
              <p className="dim">✓ No problems found.</p>
            ) : (
              <Findings items={one.data.findings} />
            )}
            <div className="stack">
              <Cli words={["materia", "check"]} />
              <Cli words={["materia", "grid", one.data.name]} />
            </div>
          </>
        ) : null}
      </section>
    </div>
  );
}

function NewLoadout({ taken }: { taken: string[] }) {
  const [template, setTemplate] = useState("");
  const begin = (name: string) => {
    startNew(name, template ? templateNamed(template) : { sockets: {} });
    navigate(`/loadouts/${encodeURIComponent(name)}?begin=1`);
  };
  return (
    <NewOne of="loadout" testid="new" taken={taken} onBegin={begin}>
      <SelectField
        label="Begin with"
        testid="new-template"
        value={template}
        options={[{ value: "", label: "blank" }, ...templates.map(({ name }) => ({ value: name, label: name }))]}
        onChange={setTemplate}
      />
    </NewOne>
  );
}

interface NewProps {
  of: string;
  testid: string;
  taken: string[];
  onBegin: (name: string) => void;
  children?: ReactNode;
}

function NewOne({ of, testid, taken, onBegin, children }: NewProps) {
  const [name, setName] = useState("");
  const isTaken = taken.includes(name);
  const begin = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() && !isTaken) onBegin(name);
  };
  return (
    <form className={css.newone} onSubmit={begin}>
      <Input
        aria-label={`Name of a new ${of}`}
        placeholder={`Name of a new ${of}`}
        data-testid={`${testid}-name`}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      {children}
      <Button type="submit" testid={`new-${of}`} disabled={!name.trim() || isTaken}>
        {isTaken ? "Taken" : "New"}
      </Button>
    </form>
  );
}

export function Materia() {
  const project = useProject()?.id ?? null;
  const list = useGet<Catalog>(project ? "/materia" : null, { project });
  const items = list.data?.items ?? [];
  return (
    <WidePage className={css.materiaList} data-testid="materia-page">
      <h1>Materia</h1>
      <p className="dim">
        A materia is one behaviour: a prompt for an agent, or a program. Loadouts put them into sockets.
      </p>
      <NewOne
        of="materia"
        testid="new-materia"
        taken={items.map((item) => item.name)}
        onBegin={(name) => navigate(`/materia/${encodeURIComponent(name)}?begin=1`)}
      />
      {list.error ? <ErrorBox error={list.error} /> : null}
      <Table
        columns={[["Name", 190], ["Kind", 130], ["Description"], ["Group", 100], ["Layer", 100], ["Written in", 190]]}
      >
        <tbody>
          {items.map((item) => (
            <tr key={item.name}>
              <td className="med">
                <Link to={`/materia/${encodeURIComponent(item.name)}`} data-testid={`materia-${item.name}`}>
                  <Foreign text={oneLine(item.name, 80)} />
                </Link>
              </td>
              <td>
                {item.kind ?? ""} <Badges generator={item.generator ?? false} consumer={false} />
              </td>
              <Foreign as="td" title={item.description ?? undefined} text={oneLine(item.description ?? "", 300)} />
              <Foreign as="td" text={item.group} />
              <td>{item.layer}</td>
              <Foreign as="td" className="mono" text={item.file} />
            </tr>
          ))}
        </tbody>
      </Table>
      <Cli words={["materia", "materia"]} />
    </WidePage>
  );
}
