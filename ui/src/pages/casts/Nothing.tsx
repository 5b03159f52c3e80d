// Before the first cast: what a cast is, the demo, and what is missing for one's own.
import { Play } from "lucide-react";
import { post } from "../../api/client";
import type { CastSummary, DemoView, Health, LoadoutView } from "../../api/generated";
import { MiniGraph } from "../../graph/MiniGraph";
import { useGet, useOnce } from "../../shared/ask";
import { Button, LinkButton } from "../../shared/Button";
import { cx } from "../../shared/cx";
import { keepDemo } from "../../shared/demo";
import { castPath, useProjects } from "../../shared/live";
import { CopyButton, ErrorBox, Foreign } from "../../shared/parts";
import { navigate } from "../../shared/router";
import css from "./casts.module.css";

const steps = [
  ["Plans three items", "Auto-Plan splits the request."],
  ["Builds each", "Real files change, in a scratch folder."],
  ["Sends one back", "With a reason, into the next prompt."],
  ["Asks you once", "Then it goes on, until no item is left."],
];

export function Nothing() {
  const projects = useProjects();
  const project = projects[0]?.id ?? null;
  const demo = useGet<DemoView>("/demo");
  const available = demo.data?.available === true;
  const picture = useGet<LoadoutView>(available ? "/loadouts/Demo" : null, { project });
  const agents = useGet<Health>(project ? "/agents" : null, { project });
  const { run, busy, error } = useOnce(
    () => post<CastSummary>("/demo", {}),
    (made) => {
      keepDemo(made.castId);
      navigate(castPath(made));
    },
  );
  const there = (agents.data?.agents ?? []).filter((agent) => agent.installed);
  return (
    <div className={css.nothing} data-testid="nothing">
      <h1>Nothing has been cast here yet</h1>
      <p className={cx(css.lead, "dim")}>
        A cast runs a loadout: a graph of agents and commands. You see what it does, why, and what it needs from you.
        {available
          ? " The demo shows a whole one in half a minute, with scripted agents. It needs no key and no network."
          : ""}
      </p>
      <div className="row">
        {available ? (
          <Button
            icon={Play}
            className={css.big}
            look="primary"
            disabled={busy}
            onClick={() => run(undefined)}
            data-testid="run-demo"
          >
            Run the demo
          </Button>
        ) : (
          <LinkButton look="primary" className={css.big} to="/casts?new=1">
            Start a cast
          </LinkButton>
        )}
        <LinkButton className={css.big} to="/loadouts">
          Open a loadout
        </LinkButton>
        <span className="faint sm">
          or in the terminal <span className="mono">materia demo{available ? "" : " --ui"}</span>
        </span>
      </div>
      {error ? <ErrorBox error={error} /> : null}
      {available ? (
        <section className={css.show} aria-label="The demo">
          <header>
            <strong>Demo</strong> <span className="dim">Three items, one sent back, one question to you.</span>
          </header>
          {picture.data?.graph ? (
            <div className={css.picture}>
              <MiniGraph grid={picture.data.graph} label="The graph of the demo" />
            </div>
          ) : null}
          <ol>
            {steps.map(([title, text]) => (
              <li key={title}>
                <strong>{title}</strong>
                <span className="dim">{text}</span>
              </li>
            ))}
          </ol>
        </section>
      ) : null}
      {agents.data ? (
        <section aria-label="Agents">
          <p className="dim">
            {there.length > 0
              ? `To cast on your own repository, ${there.map((agent) => agent.label).join(", ")} can be used here.`
              : "To cast on your own repository, install one agent. None is on this machine yet."}
          </p>
          <ul className={css.agents}>
            {agents.data.agents.map((agent) => (
              <li key={agent.name}>
                <span className="med">{agent.label}</span>
                <span className="dim">{agent.installed ? `installed, ${agent.version ?? ""}` : "not installed"}</span>
                <Foreign as="span" className="cut mono" title={agent.missing ?? ""} text={agent.missing ?? ""} />
                {agent.missing ? (
                  <CopyButton text={agent.missing} label={`Copy what ${agent.label} needs`} />
                ) : (
                  <span />
                )}
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </div>
  );
}
