// What the parts of the page of a cast are given.
import type { CastState } from "../../fold";
import type { Target } from "../../shared/ActButton";
import type { Act, Done } from "../../shared/acts";
import type { CastStore, LiveText } from "../../shared/cast-store";

/** A cast as of an event, and the address with the choices of its view. */
interface Looked {
  store: CastStore;
  state: CastState;
  past: boolean;
  now: number;
  search: URLSearchParams;
  change: (changes: Record<string, string | number | null>, push?: boolean) => void;
  target: Target;
}

export interface DockProps extends Looked {
  onSelect: (socket: string) => void;
}

export interface PanelProps extends Looked {
  socket: string;
  live: LiveText | undefined;
  item: string | null;
  onEvent: (seq: number) => void;
}

export interface ActProps {
  state: CastState;
  target: Target;
  onDone: (done: Done, act: Act) => void;
}
