// Ends a cast that waits, after one more question.
import { Confirm } from "../../shared/ActButton";
import type { CardProps } from "./props";
import { targetOf } from "./target";

export function StopCast({ item, testid, onAnswered }: CardProps & { testid: string }) {
  return (
    <Confirm
      look="danger"
      target={targetOf(item)}
      act={{ do: "abort" }}
      testid={testid}
      title="Stop this cast"
      text="The cast ends and cannot be resumed. Its files and its log stay."
      verb="Stop this cast"
      danger
      onDone={() => onAnswered(`Stopped: ${item.castId}`)}
    >
      Stop this cast
    </Confirm>
  );
}
