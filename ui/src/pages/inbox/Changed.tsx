// What was changed before somebody asked: the newest difference that a turn of the cast left.
import { get, getText, segment } from "../../api/client";
import type { InboxItem, JournalEvent, Page, TurnView } from "../../api/types";
import { DiffView } from "../../shared/DiffView";
import { castPath } from "../../shared/live";
import { Foreign } from "../../shared/parts";
import { Link } from "../../shared/router";
import { useLoad } from "../../shared/useLoad";

const LOOK_BACK = 20;

interface Found {
  turn: TurnView;
  text: string;
}

async function newest(item: InboxItem, project: string | null): Promise<Found | null> {
  const cast = `/casts/${segment(item.castId)}`;
  const { items } = await get<Page<JournalEvent>>(`${cast}/events`, {
    project,
    type: "turn.completed",
    order: "desc",
    limit: LOOK_BACK,
  });
  const left = items.find((event) => event.data.artifacts?.some((one: { kind?: string }) => one.kind === "diff"));
  if (!left) return null;
  const turn = await get<TurnView>(`${cast}/turns/${left.data.turn}`, { project });
  const file = turn.artifacts.find((one) => /\.(diff|patch)$/.test(one.path));
  if (!file) return null;
  return { turn, text: await getText(`${cast}/files/${file.path.split("/").map(segment).join("/")}`, { project }) };
}

export function Changed({ item, project }: { item: InboxItem; project: string | null }) {
  // Where there is none, or it cannot be read, the question stands as it is.
  const found = useLoad(() => newest(item, project).catch(() => null), `${item.castId}:${item.since}`);
  if (!found.value) return null;
  const { turn, text } = found.value;
  return (
    <section aria-label="What was changed before" data-testid="changed">
      <p className="sub">
        What <Foreign text={turn.materia} /> changed before,{" "}
        <Link to={castPath(item, { socket: turn.socket, turn: turn.seq, tab: "files" })}>event {turn.seq}</Link>
      </p>
      <div className="changed">
        <DiffView text={text} />
      </div>
    </section>
  );
}
