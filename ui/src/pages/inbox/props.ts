import type { InboxItem } from "../../api/generated";

/** What the card of something that waits is given. */
export interface CardProps {
  item: InboxItem;
  onAnswered: (text: string) => void;
}
