// Whatever else waits: what the server says can be done.
import { ActButton } from "../../shared/ActButton";
import { type Act, commandLine } from "../../shared/acts";
import { Cli } from "../../shared/Cli";
import { Foreign } from "../../shared/parts";
import css from "./inbox.module.css";
import type { CardProps } from "./props";
import { targetOf } from "./target";

export function OtherCard({ item, onAnswered }: CardProps) {
  const target = targetOf(item);
  // Words and bounds are for the person to fill in.
  const acts = item.next.filter((act) => !["say", "nodeBudget"].includes(act.do)) as Act[];
  return (
    <>
      <div className={css.ibody}>
        <Foreign as="p" text={item.message} />
      </div>
      <footer>
        {acts.map((act) => (
          <ActButton
            key={JSON.stringify(act)}
            look={act.do === "abort" ? "danger" : undefined}
            target={target}
            act={act}
            onDone={() => onAnswered(`${act.do}: ${item.castId}`)}
          >
            {act.do}
          </ActButton>
        ))}
        <span className="grow" />
        {acts[0] ? <Cli bare words={commandLine(item.castId, acts[0])} project={target.project} /> : null}
      </footer>
    </>
  );
}
