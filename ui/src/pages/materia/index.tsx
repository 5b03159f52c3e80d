// Loadouts and materia: what there is, and where it is written.
import { get, segment } from "../../api/client";
import type { LoadoutView, NamedItem, Page } from "../../api/types";
import { MIDDLE } from "../../graph/layout";
import { MiniGraph } from "../../graph/MiniGraph";
import { useLive } from "../../shared/live";
import { Cli, ErrorBox, Foreign } from "../../shared/parts";
import { Link } from "../../shared/router";
import { oneLine } from "../../shared/text";
import { useLoad } from "../../shared/useLoad";

function useProject(): string | null {
  return useLive().projects[0]?.id ?? null;
}

export function Loadouts({ name }: { name: string | null }) {
  const project = useProject();
  const list = useLoad(project ? () => get<Page<NamedItem>>("/loadouts", { project }) : null, `loadouts:${project}`);
  const items = list.value?.items ?? [];
  const shown = items.find((item) => item.name === name) ?? items.find((item) => item.active) ?? items[0];
  const wanted = name ?? shown?.name ?? null;
  const one = useLoad(
    project && wanted ? () => get<LoadoutView>(`/loadouts/${segment(wanted)}`, { project }) : null,
    `${project}:${wanted}`,
  );
  return (
    <div className="library" data-testid="loadouts-page">
      <section className="index" aria-label="Loadouts">
        <header>
          <h1>Loadouts</h1>
          <p className="dim">A loadout says what runs, in which order, and where it goes from there.</p>
        </header>
        {list.error ? <ErrorBox error={list.error} /> : null}
        <ul>
          {items.map((item) => (
            <li key={item.name}>
              <Link
                to={`/loadouts/${encodeURIComponent(item.name)}`}
                {...(item.name === wanted ? { "aria-current": "page" as const } : {})}
              >
                <span className="grow cut">
                  <Foreign text={oneLine(item.name, 80)} />
                </span>
                <span className="faint sm">
                  {item.layer}
                  {item.active ? ", active" : ""}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </section>
      <section className="detail">
        {one.error ? <ErrorBox error={one.error} /> : null}
        {one.value ? (
          <>
            <div className="row">
              <h2 className="grow">
                <Foreign text={one.value.name} />
              </h2>
              <Link className="btn primary" to={`/casts?new=1&loadout=${encodeURIComponent(one.value.name)}`}>
                Start a cast
              </Link>
            </div>
            <p className="dim sm">
              {shown?.layer ?? ""} ·{" "}
              <span className="mono">
                <Foreign text={shown?.file} />
              </span>{" "}
              · {one.value.graph.sockets.length} sockets
            </p>
            <div className="bigpicture">
              <MiniGraph grid={one.value.graph} sizes={MIDDLE} label={`The graph of ${one.value.name}`} />
            </div>
            {one.value.findings.length === 0 ? (
              <p className="dim">✓ Sound: nothing was found.</p>
            ) : (
              <ul className="findings">
                {one.value.findings.map((finding) => (
                  <li key={`${finding.code}${finding.message}`}>
                    <code>{finding.code}</code> <Foreign text={finding.message} />
                  </li>
                ))}
              </ul>
            )}
            <table className="tbl">
              <thead>
                <tr>
                  <th>Socket</th>
                  <th>Materia</th>
                  <th>Kind</th>
                  <th>Ways out</th>
                </tr>
              </thead>
              <tbody>
                {one.value.graph.sockets.map((socket) => (
                  <tr key={socket.id}>
                    <td className="mono">{socket.id}</td>
                    <td>
                      <Foreign text={socket.materia} />
                    </td>
                    <td>{socket.generator ? "generator" : socket.type}</td>
                    <td>
                      {socket.edges
                        .map(
                          (edge) =>
                            `${edge.when === "always" ? "" : `${edge.when.replace("_", " ")} `}→ ${edge.to}${edge.maxTraversals ? ` (${edge.maxTraversals}×)` : ""}`,
                        )
                        .join(", ")}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            <div className="stack">
              <Cli words={["materia", "check"]} />
              <Cli words={["materia", "grid", one.value.name]} />
            </div>
          </>
        ) : null}
      </section>
    </div>
  );
}

export function Materia() {
  const project = useProject();
  const list = useLoad(project ? () => get<Page<NamedItem>>("/materia", { project }) : null, `materia:${project}`);
  return (
    <div className="page" data-testid="materia-page">
      <h1>Materia</h1>
      <p className="dim">
        A materia is one behaviour: a prompt for an agent, or a program. Loadouts put them into sockets.
      </p>
      {list.error ? <ErrorBox error={list.error} /> : null}
      <table className="tbl">
        <thead>
          <tr>
            <th>Name</th>
            <th>Layer</th>
            <th>Written in</th>
          </tr>
        </thead>
        <tbody>
          {(list.value?.items ?? []).map((item) => (
            <tr key={item.name}>
              <td className="med">
                <Foreign text={oneLine(item.name, 80)} />
              </td>
              <td>{item.layer}</td>
              <td className="mono">
                <Foreign text={item.file} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Cli words={["materia", "materia"]} />
    </div>
  );
}
