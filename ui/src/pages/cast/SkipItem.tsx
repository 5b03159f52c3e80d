// Ending the item that a loop is at: as not satisfied, with a reason if there is one; the cast goes on with what follows.
import { useState } from "react";
import { type CastState, currentItem, isOpen, nameOf, openLoop } from "../../fold";
import { ActButton, Confirm } from "../../shared/ActButton";
import { type Act, commandLine } from "../../shared/acts";
import { Cli } from "../../shared/Cli";
import { Input } from "../../shared/Field";
import { Item } from "../../shared/parts";
import { oneLine } from "../../shared/text";
import type { ActProps } from "./props";
import css from "./style.module.css";

type SkipProps = ActProps & { socket: string };

/** The item, and who is at work on it: while somebody is, it cannot be ended. */
function itemOf(state: CastState, socket: string) {
  const loop = openLoop(state, socket);
  const item = loop ? currentItem(loop) : null;
  if (!loop || !item) return null;
  const busy = (state.plan?.loops?.[loop.id]?.members ?? []).find((member) => isOpen(state, member));
  return { loop: loop.id, item, busy: busy ? nameOf(state, busy) : null };
}

function Reason({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <Input
      value={value}
      placeholder="Reason (optional), stored with the item"
      aria-label="Why the item is stopped"
      data-testid="skip-reason"
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** The second choice below the question whether the cast should be stopped. */
export function SkipPart({ state, target, socket, onDone }: SkipProps) {
  const [reason, setReason] = useState("");
  const found = itemOf(state, socket);
  if (!found) return null;
  const act: Act = { do: "skip", loop: found.loop, ...(reason.trim() ? { reason: reason.trim() } : {}) };
  return (
    <div className={css.or} data-testid="stop-item-part">
      <h2>
        Or stop the item <Item itemKey={found.item.key} title={found.item.label} />
      </h2>
      <div className="dim">
        {found.busy
          ? `${found.busy} works on it. You can stop the item when that turn has ended or the cast is paused.`
          : "The item ends as not satisfied, and the cast continues."}
      </div>
      {found.busy ? null : (
        <>
          <Reason value={reason} onChange={setReason} />
          <Cli words={commandLine(target.castId, act)} />
        </>
      )}
      <ActButton target={target} act={act} testid="skip" disabled={found.busy !== null} onDone={onDone}>
        Stop item {found.item.key}
      </ActButton>
    </div>
  );
}

/** For a cast that failed within a loop: it goes on without the item. */
export function SkipButton({ state, target, socket, onDone }: SkipProps) {
  const [reason, setReason] = useState("");
  const found = itemOf(state, socket);
  if (!found || found.busy) return null;
  return (
    <Confirm
      target={target}
      act={{ do: "skip", loop: found.loop, ...(reason.trim() ? { reason: reason.trim() } : {}) }}
      testid="skip"
      title={`Stop item ${oneLine(found.item.label, 40) || found.item.key}`}
      text="The item ends as not satisfied. The cast continues; other items do not change."
      verb={`Stop item ${found.item.key}`}
      onDone={onDone}
      body={<Reason value={reason} onChange={setReason} />}
    >
      Stop item {found.item.key}
    </Confirm>
  );
}
