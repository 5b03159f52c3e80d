// What was changed before somebody asked: the newest difference that a turn of the cast left.
import { useQuery } from "@tanstack/react-query";
import { get, getText, segment } from "../../api/client";
import { field } from "../../api/events";
import type { InboxItem, TurnView } from "../../api/generated";
import { readEvents } from "../../api/texts";
import { DiffView } from "../../shared/DiffView";
import { castPath } from "../../shared/live";
import { Foreign, Sub } from "../../shared/parts";
import { Link } from "../../shared/router";
import css from "./inbox.module.css";

const LOOK_BACK = 20;

interface Found {
  turn: TurnView;
  text: string;
}

async function newest(item: InboxItem, project: string | null, signal: AbortSignal): Promise<Found | null> {
  const cast = `/casts/${segment(item.castId)}`;
  const query = { project, type: "turn.completed", order: "desc", limit: LOOK_BACK };
  const { items } = await readEvents(item.castId, query, signal);
  const left = items.find(
    (one) => one.type === "turn.completed" && one.data.artifacts?.some(({ kind }) => kind === "diff"),
  );
  if (!left) return null;
  const turn = await get<TurnView>(`${cast}/turns/${field(left, "turn")}`, { project }, signal);
  const file = turn.artifacts.find((one) => /\.(diff|patch)$/.test(one.path));
  if (!file) return null;
  const path = `${cast}/files/${file.path.split("/").map(segment).join("/")}`;
  return { turn, text: await getText(path, { project }, signal) };
}

export function Changed({ item, project }: { item: InboxItem; project: string | null }) {
  // Where there is none, or it cannot be read, the question stands as it is.
  const found = useQuery({
    queryKey: ["changed", item.castId, project, item.since],
    queryFn: ({ signal }) => newest(item, project, signal).catch(() => null),
  });
  if (!found.data) return null;
  const { turn, text } = found.data;
  return (
    <div role="group" aria-label="What was changed before" data-testid="changed">
      <Sub>
        What <Foreign text={turn.materia} /> changed before,{" "}
        <Link to={castPath(item, { socket: turn.socket, turn: turn.seq, tab: "files" })}>event {turn.seq}</Link>
      </Sub>
      <div className={css.changed}>
        <DiffView text={text} />
      </div>
    </div>
  );
}
