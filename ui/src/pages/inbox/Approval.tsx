// An approval: exactly what would run, with what, and what follows from each answer.
import { useState } from "react";
import { get, segment } from "../../api/client";
import type { CastView, Json } from "../../api/types";
import { ActButton } from "../../shared/ActButton";
import { type Act, commandLine } from "../../shared/acts";
import { duration } from "../../shared/format";
import { castPath, projectOf, useLive } from "../../shared/live";
import { Cli, Foreign } from "../../shared/parts";
import { Link } from "../../shared/router";
import { oneLine, pieces, plain } from "../../shared/text";
import { useLoad } from "../../shared/useLoad";
import type { CardProps } from ".";
import { Changed } from "./Changed";

function words(value: Json | undefined): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  return [typeof value === "string" ? value : JSON.stringify(value, null, 2)];
}

export function Approval({ item, onAnswered }: CardProps) {
  const { projects } = useLive();
  const [reason, setReason] = useState("");
  const target = { castId: item.castId, project: projectOf(projects, item.project) };
  const node = item.node ?? "";
  const hash = item.approval?.hash;
  // The plan has the words of a program one by one; the inbox says them in a sentence.
  const view = useLoad(
    () => get<CastView>(`/casts/${segment(item.castId)}`, { project: target.project }),
    `${item.castId}:${hash}`,
  );
  const plan = view.value?.plan.nodes[node];
  const argv = item.approval?.argv ?? (plan?.behavior.type === "utility" ? plan.behavior.command : null);
  const folder = item.approval?.cwd ?? plan?.cwd;
  const runs = argv ?? words(item.approval?.runs);
  const canRoute = item.approval?.routes === true;
  const [route, setRoute] = useState(false);
  const odd = runs.reduce((sum, word) => sum + pieces(word, true).filter((piece) => piece.odd).length, 0);
  const isArgv = argv !== null || Array.isArray(item.approval?.runs);
  const approve: Act = { do: "approve", node, ...(hash ? { hash } : {}) };
  const deny: Act = {
    do: "deny",
    node,
    ...(hash ? { hash } : {}),
    ...(reason ? { reason } : {}),
    ...(route && canRoute ? { route } : {}),
  };
  return (
    <>
      <div className="ibody">
        <p className="sub">Exactly this would run, once</p>
        <div className="argv" data-testid="argv">
          {isArgv
            ? runs.map((word, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: words of a command have no other name
                <code key={index}>
                  <Foreign text={word} mixed />
                </code>
              ))
            : runs.map((text) => (
                <pre key={text} className="text">
                  <Foreign text={text} mixed />
                </pre>
              ))}
          <span className="grow" />
          <span className="faint sm">
            {isArgv ? `${runs.length} ${runs.length === 1 ? "argument" : "arguments"}, no shell, ` : ""}
            {odd === 0 ? (
              "no hidden characters"
            ) : (
              <strong className="warn">{odd} odd characters, shown by number</strong>
            )}
          </span>
        </div>
        <div className="two">
          <div>
            <p className="sub">It is given</p>
            {words(item.approval?.inputs).map((text) => (
              <pre key={text} className="text quote">
                {plain(text)}
              </pre>
            ))}
            {words(item.approval?.inputs).length === 0 ? <p className="dim">nothing but the request</p> : null}
          </div>
          <dl className="facts plainfacts">
            <div>
              <dt>Socket</dt>
              <dd className="mono">
                <Foreign text={node} mixed />
              </dd>
            </div>
            {folder ? (
              <div>
                <dt>Folder</dt>
                <dd className="mono" data-testid="cwd">
                  <Foreign text={folder} mixed />
                </dd>
              </div>
            ) : null}
            {plan?.timeoutMs ? (
              <div>
                <dt>Limit</dt>
                <dd>{duration(plan.timeoutMs)}</dd>
              </div>
            ) : null}
            <div>
              <dt>Policy</dt>
              <dd>
                <span className="mono">approval: {plan?.approval ?? "before"}</span> at this socket of{" "}
                {oneLine(item.loadout, 40)}
              </dd>
            </div>
            <div>
              <dt>Who asked</dt>
              <dd>
                <Link to={castPath(item, projects, { socket: node, tab: "why" })} data-testid="who-asked">
                  Why it came to this
                </Link>
              </dd>
            </div>
            {item.approval?.writes ? (
              <div>
                <dt>May write</dt>
                <dd>{words(item.approval.writes).join(", ")}</dd>
              </div>
            ) : null}
            {Array.isArray(item.approval?.routes) && item.approval.routes.length > 0 ? (
              <div>
                <dt>Then</dt>
                <dd>{words(item.approval?.routes).join(" · ")}</dd>
              </div>
            ) : null}
            {hash ? (
              <div>
                <dt>Approval</dt>
                <dd className="mono">{hash.slice(0, 12)}</dd>
              </div>
            ) : null}
          </dl>
        </div>
        <Changed item={item} project={target.project} />
        <div className="three">
          <div>
            <strong>If you approve</strong>
            <p>It runs once and the cast goes on.</p>
          </div>
          <div>
            <strong>If you deny</strong>
            <p>Nothing runs. Its input and the question are kept.</p>
          </div>
          <div>
            <strong>If you do nothing</strong>
            <p>It waits; there is no time limit. A newer payload asks again.</p>
          </div>
        </div>
        <label className="sm dim">
          Why not, if you deny{" "}
          <input
            className="field"
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            placeholder="Kept with the refusal"
          />
        </label>
        {canRoute ? (
          <label className="check sm dim">
            <input
              type="checkbox"
              checked={route}
              onChange={(event) => setRoute(event.target.checked)}
              data-testid="deny-route"
            />{" "}
            Send the work back with this reason, so that the cast goes on
          </label>
        ) : null}
      </div>
      <footer>
        <Keyed name="y">
          <ActButton
            className="btn primary"
            target={target}
            act={approve}
            testid="approve"
            onDone={() => onAnswered(`Approved: ${node}`)}
          >
            Approve <kbd>Y</kbd>
          </ActButton>
        </Keyed>
        <Keyed name="n">
          <ActButton target={target} act={deny} testid="deny" onDone={() => onAnswered(`Denied: ${node}`)}>
            Deny <kbd>N</kbd>
          </ActButton>
        </Keyed>
        <span className="grow" />
        <Cli bare words={commandLine(item.castId, approve)} />
      </footer>
    </>
  );
}

/** Lets a key of the page press the button inside. */
function Keyed({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <span
      ref={(element) => {
        element?.querySelector("button")?.setAttribute("data-key", name);
      }}
    >
      {children}
    </span>
  );
}
