// Many items in little room: neighbours share a cell. Pure.
import type { SocketState } from "../api/generated";
import { itemKey, type LoopState } from "../fold";

/** A cell of a strip: one item, or neighbours. */
export interface ItemGroup {
  first: string;
  last: string;
  /** The title of the first item. */
  label: string | null;
  state: SocketState;
  done: number;
  size: number;
  /** The item that is looked at when the cell is pressed. */
  pick: string;
}

/** Up to so many items each has a cell; more share so many cells. */
const SINGLE_MAX = 120;
const SHARED_CELLS = 60;
/** What stands out in a group, the strongest first. */
const STRENGTH: SocketState[] = ["failed", "needs_you", "stalled", "running", "queued", "aborted", "idle", "done"];

/** Groups of equal size; of one while the items are few. */
export function groupItems(
  { total, labels }: Pick<LoopState, "total" | "labels">,
  stateAt: (index: number) => SocketState,
): ItemGroup[] {
  const size = total > SINGLE_MAX ? Math.ceil(total / SHARED_CELLS) : 1;
  const groups: ItemGroup[] = [];
  for (let from = 0; from < total; from += size) {
    const end = Math.min(total, from + size);
    let [state, pick, done]: [SocketState, number, number] = ["done", from, 0];
    for (let index = from; index < end; index += 1) {
      const now = stateAt(index);
      if (now === "done") done += 1;
      if (now === state || STRENGTH.indexOf(now) > STRENGTH.indexOf(state)) continue;
      state = now;
      pick = index;
    }
    const label = labels[from] ?? null;
    groups.push({
      first: itemKey(from),
      last: itemKey(end - 1),
      label,
      state,
      done,
      size: end - from,
      pick: itemKey(pick),
    });
  }
  return groups;
}
