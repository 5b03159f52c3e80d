// An approval: exactly what would run, with what, and what follows from each answer.

import { useState } from "react";
import { segment } from "../../api/client";
import type { CastView, GivenView, Json } from "../../api/generated";
import { ActButton, Confirm } from "../../shared/ActButton";
import { type Act, commandLine } from "../../shared/acts";
import { useGet } from "../../shared/ask";
import { Cli } from "../../shared/Cli";
import { dayOrClock, duration } from "../../shared/format";
import { castPath } from "../../shared/live";
import { ErrorBox, Foreign } from "../../shared/parts";
import { Link } from "../../shared/router";
import { oneLine, pieces } from "../../shared/text";
import { Whole } from "../../shared/Whole";
import type { CardProps } from ".";
import { Changed } from "./Changed";
import { targetOf } from "./target";

function words(value: Json | undefined): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  return [typeof value === "string" ? value : JSON.stringify(value, null, 2)];
}

export function Approval({ item, onAnswered }: CardProps) {
  const [reason, setReason] = useState("");
  const target = targetOf(item);
  const node = item.node ?? "";
  const hash = item.approval?.hash;
  const refused = item.approval?.denied;
  // The plan has the words of a program one by one; the inbox says them in a sentence.
  const view = useGet<CastView>(`/casts/${segment(item.castId)}`, { project: target.project }, { since: hash });
  const given = useGet<GivenView>(
    `/casts/${segment(item.castId)}/nodes/${segment(node)}/given`,
    { project: target.project },
    { since: hash },
  );
  const plan = view.data?.plan.nodes[node];
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
        {refused ? <Refused {...refused} /> : null}
        <p className="sub">{refused ? "This was refused" : "Exactly this will run, once"}</p>
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
            {isArgv ? `${runs.length} ${runs.length === 1 ? "word" : "words"}, ` : ""}
            {item.approval?.shell ? <strong className="warn">runs a script in a shell, </strong> : null}
            {odd === 0 ? (
              "no hidden characters"
            ) : (
              <strong className="warn">{odd} unusual characters, shown by code</strong>
            )}
          </span>
        </div>
        <div className="two">
          <div>
            <p className="sub">Input</p>
            <GivenText given={given.data ?? null} />
            {given.error ? <ErrorBox error={given.error} /> : null}
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
              <dt>Cause</dt>
              <dd>
                <Link to={castPath(item, { socket: node, tab: "why" })} data-testid="who-asked">
                  Why it asks
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
        {refused ? null : (
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
              <p>The cast waits, without a timeout. A newer payload asks again.</p>
            </div>
          </div>
        )}
        {refused ? null : (
          <label className="sm dim">
            Why not, if you deny{" "}
            <input
              className="field"
              value={reason}
              onChange={(event) => setReason(event.target.value)}
              placeholder="Stored with the refusal"
              data-testid="deny-reason"
            />
          </label>
        )}
        {canRoute && !refused ? (
          <label className="check sm dim">
            <input
              type="checkbox"
              checked={route}
              onChange={(event) => setRoute(event.target.checked)}
              data-testid="deny-route"
            />{" "}
            Send the work back with this reason, and continue the cast
          </label>
        ) : null}
      </div>
      <footer>
        {refused ? (
          <Confirm
            target={target}
            act={approve}
            testid="approve-refused"
            title="Approve what was refused?"
            text={`It was refused${refused.reason ? `: ${oneLine(refused.reason, 300)}` : ""}. If you approve, it runs once with the input above, and the cast goes on.`}
            verb="Approve anyway"
            onDone={() => onAnswered(`Approved after a refusal: ${node}`)}
          >
            Approve anyway…
          </Confirm>
        ) : (
          <>
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
          </>
        )}
        <span className="grow" />
        <Cli bare words={commandLine(item.castId, approve)} project={target.project} />
      </footer>
    </>
  );
}

const actors: Record<string, string> = {
  page: "A person on this page",
  person: "A person at a terminal",
  timeline: "The script of the cast",
};

function Refused({ by, at, reason, seq }: { by: string; at: string; reason?: string | null; seq: number }) {
  return (
    <div className="refused" data-testid="refused">
      <strong>{actors[by] ?? oneLine(by, 60)} refused this</strong>{" "}
      <span className="dim">
        {dayOrClock(at, Date.now())}, event {seq}
      </span>
      <p>{reason ? <Foreign text={reason} mixed /> : <span className="dim">without a reason</span>}</p>
    </div>
  );
}

/** The input as the turn gets it: a prompt, a utility's object, or the payloads of a turn for each element. */
function GivenText({ given }: { given: GivenView | null }) {
  if (!given)
    return (
      <p className="dim" role="status">
        Reading…
      </p>
    );
  if (typeof given.prompt === "string") return <Whole decides value={given.prompt} label="the prompt" testid="given" />;
  if (given.input !== undefined && given.input !== null)
    return <Whole decides value={given.input} label="the input, on its standard input" testid="given" />;
  return given.payloads.map((one) => (
    <Whole decides key={one.payloadId} value={one as unknown as Json} label="a payload" testid="given" />
  ));
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
