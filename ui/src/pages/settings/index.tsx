// Settings: how the page looks, which agents there are, which server this is.
import { forgetKey, remove, segment } from "../../api/client";
import type { Alive, ConfigBody, Health } from "../../api/generated";
import { useGet, useOnce } from "../../shared/ask";
import { Button } from "../../shared/Button";
import { Cli } from "../../shared/Cli";
import { refreshProjects, useProjects } from "../../shared/live";
import { Page } from "../../shared/Page";
import { ErrorBox, Foreign, State } from "../../shared/parts";
import { useProject, WhichProject } from "../../shared/project";
import { Findings, Table } from "../../shared/Table";
import { Own } from "./Own";
import css from "./settings.module.css";

export function Settings() {
  const projects = useProjects();
  const { run: drop, error: refused } = useOnce((id: string) => remove(`/projects/${segment(id)}`), refreshProjects);
  const project = useProject()?.id ?? null;
  const agents = useGet<Health>(project ? "/agents" : null, { project });
  const config = useGet<ConfigBody>(project ? "/config" : null, { project });
  const health = useGet<Alive>("/health");
  return (
    <Page data-testid="settings-page">
      <h1>Settings</h1>
      <Own />
      <h2>Agents</h2>
      {project ? null : <WhichProject title="Which project?" />}
      {project ? (
        <>
          {agents.error ? <ErrorBox error={agents.error} /> : null}
          <Table columns={[["Agent", 150], ["State", 170], ["Version", 170], ["What is missing"]]}>
            <tbody>
              {(agents.data?.agents ?? []).map((agent) => (
                <tr key={agent.name}>
                  <td className="med">{agent.label}</td>
                  <td>
                    <State
                      state={agent.installed ? "done" : "idle"}
                      word={agent.installed ? "Installed" : "Not installed"}
                    />
                  </td>
                  <td>{agent.version ?? <span className="faint">tested with {agent.testedWith}</span>}</td>
                  <Foreign as="td" title={agent.missing ?? ""} text={agent.missing ?? ""} />
                </tr>
              ))}
            </tbody>
          </Table>
          <Cli words={["materia", "doctor"]} />
        </>
      ) : null}
      <h2>Folders</h2>
      {refused ? <ErrorBox error={refused} /> : null}
      <ul className={css.folders}>
        {projects.map((one) => (
          <li key={one.id}>
            <strong>{one.name}</strong> <span className="mono faint">{one.dir}</span>{" "}
            {one.problem ? (
              <span data-testid={`folder-problem-${one.id}`}>
                cannot be opened: <Foreign text={one.problem} />
              </span>
            ) : null}{" "}
            <Button
              look="small"
              data-testid={`folder-remove-${one.id}`}
              title="Remove the project from the server; its files do not change"
              onClick={() => drop(one.id)}
            >
              Remove
            </Button>
          </li>
        ))}
      </ul>
      {project ? (
        <>
          <h2>Configuration</h2>
          {config.error ? <ErrorBox error={config.error} /> : null}
          <Table columns={[["Layer"], ["File"], ["Hash"]]}>
            <tbody>
              {(config.data?.items ?? []).map((item) => (
                <tr key={`${item.layer}${item.file}`}>
                  <td>{item.layer}</td>
                  <Foreign as="td" className="mono" text={item.file} />
                  <td className="mono faint">{item.hash.slice(0, 12)}</td>
                </tr>
              ))}
            </tbody>
          </Table>
          {config.data && config.data.findings.length > 0 ? <Findings items={config.data.findings} /> : null}
        </>
      ) : null}
      <h2>Security</h2>
      <p className="dim">
        The server listens on this machine only. This browser signs in with a link that works once. The key is stored in
        this browser, for this address only.
      </p>
      <Cli words={["materia", "ui", "--no-open"]} />
      <p>
        <Button
          data-testid="sign-out"
          onClick={() => {
            forgetKey();
            location.assign("/");
          }}
        >
          Sign out of this browser
        </Button>
      </p>
      <h2>About</h2>
      <p className="dim">
        Materia {health.data?.version ?? ""} at <span className="mono">{location.host}</span>. Press <kbd>?</kbd> for
        keyboard shortcuts and symbols.
      </p>
    </Page>
  );
}
