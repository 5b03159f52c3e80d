// An approval: exactly what would run, with what, and what follows from each answer.
import { useState } from "react";
import { segment } from "../../api/client";
import type { CastView, GivenView, Json } from "../../api/generated";
import { ActButton, Confirm } from "../../shared/ActButton";
import { type Act, commandLine } from "../../shared/acts";
import { useGet } from "../../shared/ask";
import { Cli } from "../../shared/Cli";
import { Input } from "../../shared/Field";
import { dayOrClock, duration } from "../../shared/format";
import { castPath } from "../../shared/live";
import { ErrorBox, Foreign, Reading, Sub } from "../../shared/parts";
import { Link } from "../../shared/router";
import { Check, Fact, Facts } from "../../shared/Table";
import { oneLine, pieces } from "../../shared/text";
import { Whole } from "../../shared/Whole";
import { Changed } from "./Changed";
import css from "./inbox.module.css";
import type { CardProps } from "./props";
import { targetOf } from "./target";

const ANSWERS = [
  ["If you approve", "It runs once and the cast goes on."],
  ["If you deny", "Nothing runs. Its input and the question are kept."],
  ["If you do nothing", "The cast waits, without a timeout. A newer payload asks again."],
];

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
  const routes = item.approval?.routes;
  const canRoute = routes === true;
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
      <div className={css.ibody}>
        {refused ? <Refused {...refused} /> : null}
        <Sub>{refused ? "This was refused" : "Exactly this will run, once"}</Sub>
        <div className={css.argv} data-testid="argv">
          {isArgv
            ? runs.map((word, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: words of a command have no other name
                <Foreign as="code" key={index} text={word} mixed />
              ))
            : runs.map((text) => <Foreign as="pre" key={text} text={text} mixed />)}
          <span className="grow" />
          <span className="faint sm">
            {isArgv ? `${runs.length} ${runs.length === 1 ? "word" : "words"}, ` : ""}
            {item.approval?.shell ? <strong className={css.warn}>runs a script in a shell, </strong> : null}
            {odd === 0 ? (
              "no hidden characters"
            ) : (
              <strong className={css.warn}>{odd} unusual characters, shown by code</strong>
            )}
          </span>
        </div>
        <div className={css.two}>
          <div>
            <Sub>Input</Sub>
            <GivenText given={given.isPlaceholderData ? null : (given.data ?? null)} />
            {given.error ? <ErrorBox error={given.error} /> : null}
          </div>
          <Facts className={css.plainfacts}>
            <Fact name="Socket" className="mono">
              <Foreign text={node} mixed />
            </Fact>
            <Fact name="Folder" className="mono" data-testid="cwd">
              {folder ? <Foreign text={folder} mixed /> : null}
            </Fact>
            <Fact name="Limit">{plan?.timeoutMs ? duration(plan.timeoutMs) : null}</Fact>
            <Fact name="Policy">
              <span className="mono">approval: {plan?.approval ?? "before"}</span> at this socket of{" "}
              {oneLine(item.loadout, 40)}
            </Fact>
            <Fact name="Cause">
              <Link to={castPath(item, { socket: node, tab: "why" })} data-testid="who-asked">
                Why it asks
              </Link>
            </Fact>
            <Fact name="May write">{item.approval?.writes ? words(item.approval.writes).join(", ") : null}</Fact>
            <Fact name="Then">{Array.isArray(routes) ? words(routes).join(" · ") : null}</Fact>
            <Fact name="Approval" className="mono">
              {hash?.slice(0, 12)}
            </Fact>
          </Facts>
        </div>
        <Changed item={item} project={target.project} />
        {refused ? null : (
          <>
            <div className={css.three}>
              {ANSWERS.map(([title, text]) => (
                <div key={title}>
                  <strong>{title}</strong>
                  <p>{text}</p>
                </div>
              ))}
            </div>
            <label className="sm dim">
              Why not, if you deny{" "}
              <Input
                value={reason}
                onChange={(event) => setReason(event.target.value)}
                placeholder="Stored with the refusal"
                data-testid="deny-reason"
              />
            </label>
          </>
        )}
        {canRoute && !refused ? (
          <Check className="sm dim" checked={route} onTick={setRoute} testid="deny-route">
            Send the work back with this reason, and continue the cast
          </Check>
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
            <ActButton
              look="primary"
              target={target}
              act={approve}
              testid="approve"
              data-key="y"
              onDone={() => onAnswered(`Approved: ${node}`)}
            >
              Approve <kbd>Y</kbd>
            </ActButton>
            <ActButton
              target={target}
              act={deny}
              testid="deny"
              data-key="n"
              onDone={() => onAnswered(`Denied: ${node}`)}
            >
              Deny <kbd>N</kbd>
            </ActButton>
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
    <div className={css.refused} data-testid="refused">
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
  if (!given) return <Reading />;
  if (typeof given.prompt === "string") return <Whole decides value={given.prompt} label="the prompt" testid="given" />;
  if (given.input !== undefined && given.input !== null)
    return <Whole decides value={given.input} label="the input, on its standard input" testid="given" />;
  return given.payloads.map((one) => (
    <Whole decides key={one.payloadId} value={one as unknown as Json} label="a payload" testid="given" />
  ));
}
