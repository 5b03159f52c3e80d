// What can be done to a cast, beside its head: the modes, pause, guide, fork, stop.
import { MessageSquare, Pause, Play, RotateCcw, Square, Undo2 } from "lucide-react";
import { useState } from "react";
import { nameOf } from "../../fold";
import { ActButton, Confirm } from "../../shared/ActButton";
import type { Act } from "../../shared/acts";
import { TextArea } from "../../shared/Field";
import { Pick } from "../../shared/parts";
import { Fork } from "./Fork";
import { Modes } from "./Modes";
import type { ActProps } from "./props";
import { SkipButton, SkipPart } from "./SkipItem";
import css from "./style.module.css";

export function Acts({ state, past, target, socket, onDone }: ActProps & { past: boolean; socket: string }) {
  const over = state.status === "completed" || state.status === "aborted" || state.status === "failed";
  const fork = <Fork state={state} target={target} onDone={onDone} past={past} socket={socket} />;
  if (past)
    return (
      <div className={css.acts}>
        <span className="faint sm">Read only</span>
        {fork}
      </div>
    );
  const rests = state.status === "waiting" || (state.status === "running" && state.pace === "INTERACTIVE");
  return (
    <div className={css.acts}>
      {over ? null : <Modes state={state} target={target} onDone={onDone} />}
      {over ? null : rests ? (
        <>
          <ActButton icon={Play} target={target} act={{ do: "resume" }} onDone={onDone} testid="resume">
            Resume
          </ActButton>
          {state.waiting?.reason === "workspace" ? (
            <ActButton
              icon={Undo2}
              target={target}
              act={{ do: "resume", putBack: true }}
              onDone={onDone}
              testid="put-back"
            >
              Put back
            </ActButton>
          ) : null}
        </>
      ) : (
        <ActButton icon={Pause} target={target} act={{ do: "pause" }} onDone={onDone} testid="pause">
          Pause
        </ActButton>
      )}
      {state.status === "failed" ? (
        ["edge_exhausted", "no_advance"].includes(state.error?.code ?? "") ? (
          <ActButton icon={RotateCcw} target={target} act={{ do: "revive" }} onDone={onDone} testid="revive">
            Revive
          </ActButton>
        ) : (
          <ActButton icon={RotateCcw} target={target} act={{ do: "recast" }} onDone={onDone} testid="recast">
            Try again
          </ActButton>
        )
      ) : null}
      {state.status === "failed" ? <SkipButton state={state} target={target} socket={socket} onDone={onDone} /> : null}
      {over ? null : <Guide state={state} target={target} socket={socket} onDone={onDone} />}
      {fork}
      {over ? null : <Stop state={state} target={target} socket={socket} onDone={onDone} />}
    </div>
  );
}

function Guide({ state, target, socket, onDone }: ActProps & { socket: string }) {
  // The socket in focus, until somebody begins to write: what they write must not go elsewhere when another one runs.
  const [chosen, setNode] = useState<string | null>(null);
  const node = chosen ?? socket;
  const draft = `materia.draft.${target.castId}`;
  const [text, setText] = useState(() => sessionStorage.getItem(draft) ?? "");
  const keep = (value: string) => {
    setText(value);
    sessionStorage.setItem(draft, value);
  };
  const act: Act = { do: "say", node, text };
  return (
    <Confirm
      target={target}
      act={act}
      testid="guide"
      title="Send text to a socket"
      text="The text is one more input. The socket takes it with its next turn, and its prompt shows it."
      verb="Send"
      ready={text.trim() !== ""}
      onDone={(result, what) => {
        keep("");
        setNode(null);
        onDone(result, what);
      }}
      body={
        <>
          <Pick
            label="To"
            value={node}
            onPick={setNode}
            options={Object.entries(state.plan?.nodes ?? {}).map(([id, plan]) => ({
              value: id,
              label: plan.materia === id ? id : `${nameOf(state, id)} (${id})`,
            }))}
          />
          <TextArea
            rows={3}
            value={text}
            aria-label="Text for the socket"
            data-testid="guide-text"
            onChange={(event) => {
              setNode(node);
              keep(event.target.value);
            }}
            autoFocus
          />
        </>
      }
    >
      <MessageSquare className="ico" />
      Guide
    </Confirm>
  );
}

/** Ends the cast, or only the item that is under way: each names its thing and asks in place. */
function Stop({ state, target, socket, onDone }: ActProps & { socket: string }) {
  return (
    <Confirm
      look="danger"
      target={target}
      act={{ do: "abort" }}
      onDone={onDone}
      testid="stop"
      title="Stop this cast"
      text="The cast ends and cannot be resumed. Its files and its log stay. To stop it for a while, pause it instead."
      verb="Stop this cast"
      danger
      more={<SkipPart state={state} target={target} socket={socket} onDone={onDone} />}
      icon={Square}
    >
      Stop
    </Confirm>
  );
}
