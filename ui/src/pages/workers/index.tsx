// The workers of casts on NATS: who is there, what they run, and what waits for one.
import { useQuery } from "@tanstack/react-query";
import { get } from "../../api/client";
import type { SpaceItem, WorkerBody, Workers as WorkersList } from "../../api/generated";
import { counted } from "../../fold/view";
import { Cli } from "../../shared/Cli";
import { cx } from "../../shared/cx";
import { castPath, keyOf, useNow, useProjects } from "../../shared/live";
import { useLive } from "../../shared/live-state";
import { WidePage } from "../../shared/Page";
import { ErrorBox, Fault, Foreign, Reading, State, Tag } from "../../shared/parts";
import { useProject } from "../../shared/project";
import { Link } from "../../shared/router";
import { type Column, Table } from "../../shared/Table";
import { oneLine } from "../../shared/text";
import css from "./workers.module.css";

/** Signs of life are no events, so the list is asked for again and again. */
const ASK_AGAIN_MS = 3000;

export function Workers() {
  const project = useProject()?.id ?? null;
  const { data, error } = useQuery({
    queryKey: ["/workers", project],
    queryFn: ({ signal }) => get<WorkersList>("/workers", project ? { project } : {}, signal),
    refetchInterval: ASK_AGAIN_MS,
  });
  return (
    <WidePage className={css.workers} data-testid="workers-page">
      <h1>Workers</h1>
      {error ? <ErrorBox error={error} /> : null}
      {data ? null : <Reading />}
      {data?.items.length === 0 ? (
        <p className="dim">
          The casts of this project are in a file, and this server runs them. Only casts on NATS servers have workers.
        </p>
      ) : null}
      {data?.items.map((space) => (
        <Space key={space.project} space={space} />
      ))}
    </WidePage>
  );
}

function Space({ space }: { space: SpaceItem }) {
  const projects = useProjects();
  const name = projects.length > 1 ? projects.find((one) => one.id === space.project)?.name : undefined;
  return (
    <section aria-label={`Space ${space.space}`} data-testid={`space-${space.space}`}>
      <h2>
        Space <span className="mono">{space.space}</span>
        {name ? (
          <span className="faint">
            {" "}
            of <Foreign text={name} />
          </span>
        ) : null}
      </h2>
      {space.problem ? <Fault>{space.problem}</Fault> : null}
      {space.workers.length > 0 ? <Rows space={space} /> : null}
      {space.waiting.length > 0 ? (
        <p data-testid="waiting-casts">
          {counted(space.waiting.length, "cast")} {space.waiting.length === 1 ? "waits" : "wait"} for a worker:{" "}
          <Casts project={space.project} ids={space.waiting} />
        </p>
      ) : null}
      {space.workers.length === 0 && !space.problem ? (
        <div className={css.none} data-testid="no-workers">
          <p>
            <strong>No worker is there.</strong> A worker runs the casts of this space. Start one in the folder of the
            project, on this machine or on another one. Everyone who can write to the space can then run programs there.
          </p>
          <Cli words={space.start} project={space.project} />
        </div>
      ) : null}
    </section>
  );
}

const COLUMNS: Column[] = [
  ["Worker", 220],
  ["Slots", 130],
  ["Casts"],
  ["Machine and folder", 300],
  ["Labels", 150],
  ["Version", 90],
  ["Last sign of life", 140],
];

function Rows({ space }: { space: SpaceItem }) {
  const now = useNow(true);
  return (
    <Table columns={COLUMNS}>
      <tbody>
        {space.workers.map((worker) => (
          <Row key={worker.name} worker={worker} project={space.project} now={now} />
        ))}
      </tbody>
    </Table>
  );
}

function Row({ worker, project, now }: { worker: WorkerBody; project: string; now: number }) {
  const { name, host, pid, folder, runs, slots, ends, version } = worker;
  const labels = worker.labels ?? [];
  const left = worker.leftAlone ?? [];
  const state = ends ? "queued" : runs.length > 0 ? "running" : "idle";
  return (
    <tr data-testid={`worker-${name}`}>
      <Foreign as="td" className="mono med" text={oneLine(name, 100)} />
      <td className="nowrap">
        <State state={state} word={ends ? `Ends, ${runs.length} left` : `${runs.length} of ${slots}`} />
      </td>
      <td>
        {runs.length > 0 ? <Casts project={project} ids={runs} /> : <span className="faint">no casts</span>}
        {left.map((one) => (
          <span className={cx(css.left, "dim sm")} key={one.castId}>
            leaves <Casts project={project} ids={[one.castId]} />: <Foreign text={oneLine(one.why, 300)} />
          </span>
        ))}
      </td>
      <td>
        <Foreign text={oneLine(host, 100)} /> <span className="faint nowrap">process {pid}</span>
        <Foreign as="span" className={cx(css.note, "mono")} text={oneLine(folder, 300)} />
      </td>
      <td>
        {labels.length > 0 ? (
          <span className={css.labels}>
            {labels.map((label) => (
              <Tag key={label}>
                <Foreign text={oneLine(label, 60)} />
              </Tag>
            ))}
          </span>
        ) : (
          <span className="faint">no labels</span>
        )}
      </td>
      <td>
        <span className="narrow-only faint">Version </span>
        <Foreign text={oneLine(version, 40)} />
      </td>
      <td>
        <span className="narrow-only faint">Last sign of life </span>
        {seconds(now - Date.parse(worker.seenAt))} ago
      </td>
    </tr>
  );
}

function seconds(ms: number): string {
  return `${Math.max(0, Math.round(ms / 1000))} s`;
}

/** Links to casts: their requests where they are known, else their ids. */
function Casts({ project, ids }: { project: string; ids: string[] }) {
  const casts = useLive((live) => live.casts);
  return (
    <span className={css.castsOf}>
      {ids.map((castId) => (
        <Link key={castId} to={castPath({ castId, project })} title={castId} className="cut">
          <Foreign text={oneLine(casts.get(keyOf({ castId, project }))?.request ?? "", 80) || castId} />
        </Link>
      ))}
    </span>
  );
}
