// Many items in little room: neighbours share a cell. Pure.
import type { SocketState } from "../api/generated";
import type { LoopItem } from "../fold";

export interface ItemGroup {
  first: string;
  last: string;
  state: SocketState;
  done: number;
  size: number;
  /** The item that is looked at when the cell is pressed. */
  pick: string;
}

/** What stands out in a group, the strongest first. */
const STRENGTH: SocketState[] = ["failed", "needs_you", "stalled", "running", "queued", "aborted", "idle", "done"];

/** At most `cells` groups of equal size. */
export function groupItems(items: LoopItem[], cells: number): ItemGroup[] {
  const size = Math.max(1, Math.ceil(items.length / cells));
  const groups: ItemGroup[] = [];
  for (let from = 0; from < items.length; from += size) {
    const part = items.slice(from, from + size);
    const [first, last] = [part[0], part.at(-1)];
    if (!first || !last) continue;
    const state = STRENGTH.find((one) => part.some((item) => item.state === one)) ?? "idle";
    groups.push({
      first: first.key,
      last: last.key,
      state,
      done: part.filter((item) => item.state === "done").length,
      size: part.length,
      pick: part.find((item) => item.state === state)?.key ?? first.key,
    });
  }
  return groups;
}
