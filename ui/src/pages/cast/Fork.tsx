// A fork: a new cast with the past of this one up to an event, which can be told something before it goes on.
import { GitFork } from "lucide-react";
import { useState } from "react";
import { nameOf } from "../../fold";
import { Confirm } from "../../shared/ActButton";
import { type Act, commandLine, type Done, perform } from "../../shared/acts";
import { Button } from "../../shared/Button";
import { Cli } from "../../shared/Cli";
import { TextArea } from "../../shared/Field";
import { Pop } from "../../shared/Pop";
import { ErrorBox, Pick } from "../../shared/parts";
import type { ActProps } from "./props";

export function Fork({ state, target, past, socket, onDone }: ActProps & { past: boolean; socket: string }) {
  const [chosen, setNode] = useState<string | null>(null);
  const node = chosen ?? socket;
  const [text, setText] = useState("");
  const [failed, setFailed] = useState<{ castId: string; error: unknown } | null>(null);
  const told = text.trim();
  // A cast that failed is forked before the turn that failed, which the server finds.
  const broke = !past && state.status === "failed" ? state.error?.socket : undefined;
  // Who is told something before it goes on must not go on by itself.
  const act: Act = { do: "fork", ...(broke ? {} : { at: state.seq }), ...(told ? { interactive: true } : {}) };
  const say: Act = { do: "say", node, text: told };
  const after = async (done: Done) => {
    if (told && done.castId)
      try {
        await perform(done.castId, target.project, say);
        await perform(done.castId, target.project, { do: "resume" });
      } catch (error) {
        // The fork is there, and at rest; what it was to be told stays in the box.
        setFailed({ castId: done.castId, error });
        return;
      }
    setText("");
    onDone(done, act);
  };
  return (
    <>
      <Confirm
        look={past ? "primary" : undefined}
        target={target}
        act={act}
        onDone={(done) => void after(done)}
        testid="fork"
        title={broke ? "Fork before the turn that failed" : `Fork at event ${state.seq}`}
        text={`A new cast starts with everything that this cast had ${broke ? `before the last turn of ${nameOf(state, broke)}` : "at that event"}. This cast does not change. ${state.own ? "It gets a workspace of its own with the files as of then." : "Files of the project are not part of a fork: they are as they are now."}`}
        verb={broke ? "Fork before that turn" : `Fork at event ${state.seq}`}
        body={
          <>
            <Pick
              label="First tell"
              value={node}
              onPick={setNode}
              options={Object.keys(state.plan?.nodes ?? {}).map((id) => ({ value: id, label: nameOf(state, id) }))}
            />
            <TextArea
              rows={2}
              value={text}
              placeholder="what to do differently (optional)"
              aria-label="Text for the fork"
              data-testid="fork-text"
              onChange={(event) => {
                setNode(node);
                setText(event.target.value);
              }}
            />
            {told ? (
              <div className="faint sm">
                Then: <Cli bare words={commandLine("FORK", say)} />
                <Cli bare words={commandLine("FORK", { do: "resume" })} />
              </div>
            ) : null}
          </>
        }
      >
        <GitFork className="ico" />
        {past ? `Fork at ${state.seq}` : "Fork"}
      </Confirm>
      {failed ? (
        <Pop open onOpen={(open) => !open && setFailed(null)} label="The fork">
          <ErrorBox error={failed.error} />
          <p>
            The fork <span className="mono">{failed.castId}</span> exists but is not running.
          </p>
          <Button
            onClick={() => {
              setFailed(null);
              onDone({ castId: failed.castId }, act);
            }}
          >
            Go to it
          </Button>
        </Pop>
      ) : null}
    </>
  );
}
