// The files of a workspace are not those that the last event names: go on with them, or put them back.
import { ActButton } from "../../shared/ActButton";
import { type Act, commandLine } from "../../shared/acts";
import { Cli } from "../../shared/Cli";
import { Foreign } from "../../shared/parts";
import css from "./inbox.module.css";
import type { CardProps } from "./props";
import { targetOf } from "./target";

const GO_ON: Act = { do: "resume" };
const PUT_BACK: Act = { do: "resume", putBack: true };

export function WorkspaceCard({ item, onAnswered }: CardProps) {
  const target = targetOf(item);
  return (
    <>
      <div className={css.ibody}>
        <Foreign as="p" text={item.message} />
        <Cli words={commandLine(item.castId, GO_ON)} project={target.project} />
        <Cli words={commandLine(item.castId, PUT_BACK)} project={target.project} />
      </div>
      <footer>
        <ActButton
          look="primary"
          target={target}
          act={GO_ON}
          testid="go-on"
          onDone={() => onAnswered(`Goes on with the files as they are: ${item.castId}`)}
        >
          Go on with the files as they are
        </ActButton>
        <ActButton
          target={target}
          act={PUT_BACK}
          testid="put-back"
          onDone={() => onAnswered(`Put back: ${item.castId}`)}
        >
          Put back
        </ActButton>
      </footer>
    </>
  );
}
