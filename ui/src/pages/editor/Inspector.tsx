// The inspector: what is selected, and everything that can be said about it.
import { memo, useState } from "react";
import { edgeById, exitOf, innermost, type Selected, thingAt } from "../../document";
import { Badges, KindIcon } from "../../graph/Graph";
import { LinkButton } from "../../shared/Button";
import { Code } from "../../shared/code";
import { Foreign, Tabs } from "../../shared/parts";
import { setSocket } from "./acts";
import { EdgeForm } from "./EdgeForm";
import css from "./editor.module.css";
import { LoadoutForm } from "./LoadoutForm";
import { LoopForm } from "./LoopForm";
import { SocketForm } from "./SocketForm";
import { type EditorStore, useEditor } from "./store";
import { keyOf } from "./views";

type Tab = "socket" | "edge" | "prompt" | "loop" | "loadout";

export const Inspector = memo(function Inspector({ store }: { store: EditorStore }) {
  const parts = ["selection", "loadout", "materia", "findings", "readOnly"] as const;
  const { selection, loadout, materia, findings, readOnly } = useEditor(store, ...parts);
  const [wish, setWish] = useState<{ of: string; tab: Tab } | null>(null);
  if (!loadout) return <aside className={css.insp} aria-label="Inspector" />;
  const first: Selected = selection.at(-1) ?? { kind: "loadout" };
  const edge = first.kind === "edge" ? edgeById(loadout, first.id) : null;
  const exit = first.kind === "edge" ? exitOf(loadout, first.id) : null;
  const socket = loadout.sockets.find((one) => one.id === (first.kind === "socket" ? first.id : edge?.socket.id));
  const loop =
    first.kind === "loop"
      ? loadout.loops.find((one) => one.id === first.id)
      : (exit?.loop ?? (socket ? innermost(loadout, socket.id) : null));
  const info = materia.get(socket?.materia ?? "");
  const tabs: { id: Tab; label: string }[] = [
    ...(first.kind === "edge" ? [{ id: "edge" as const, label: exit ? "Exit" : "Edge" }] : []),
    ...(socket ? [{ id: "socket" as const, label: "Socket" }] : []),
    ...(socket && info?.kind !== "utility" ? [{ id: "prompt" as const, label: "Prompt" }] : []),
    ...(socket && info?.kind === "utility" ? [{ id: "prompt" as const, label: "Command" }] : []),
    ...(loop ? [{ id: "loop" as const, label: "Loop" }] : []),
    { id: "loadout", label: "Loadout" },
  ];
  const usual: Tab = first.kind;
  const chosen = wish?.of === keyOf(first) ? wish.tab : usual;
  const tab = tabs.some((one) => one.id === chosen) ? chosen : "loadout";
  const about = (thing: Selected) =>
    findings.filter((finding) => {
      const place = thingAt(loadout, finding.pointer);
      return place && keyOf(place) === keyOf(thing) && finding.severity !== "info";
    });
  const title =
    first.kind === "edge"
      ? exit
        ? `Exit of ${exit.loop.id}`
        : `${edge?.socket.materia} to ${loadout.sockets.find((one) => one.id === edge?.edge.to)?.materia ?? edge?.edge.to}`
      : first.kind === "loop"
        ? first.id
        : socket
          ? info?.label || socket.materia || "no materia"
          : loadout.name;
  return (
    <aside className={css.insp} aria-label="Inspector" data-testid="inspector" data-inspector>
      <div className={css.ih}>
        <div className="row">
          {socket && first.kind === "socket" ? (
            <KindIcon kind={info?.generator ? "generator" : (info?.kind ?? "agent")} />
          ) : null}
          <Foreign as="h2" className="cut" text={title} />
          {socket && first.kind === "socket" ? (
            <>
              <span className="mono faint cut">{socket.id}</span>
              <Badges generator={info?.generator ?? false} consumer={innermost(loadout, socket.id) !== null} />
            </>
          ) : null}
          {selection.length > 1 ? <span className="faint sm">and {selection.length - 1} more</span> : null}
        </div>
        <Tabs
          name="insp"
          label="Inspector"
          items={tabs}
          now={tab}
          onPick={(id) => setWish({ of: keyOf(first), tab: id })}
        />
      </div>
      <div id="insp-body" role="tabpanel" aria-labelledby={`insp-${tab}`}>
        {tab === "edge" && first.kind === "edge" ? (
          <EdgeForm store={store} id={first.id} findings={about(first)} />
        ) : null}
        {tab === "socket" && socket ? (
          <SocketForm
            key={socket.id}
            store={store}
            socket={socket}
            findings={[
              ...about({ kind: "socket", id: socket.id }),
              ...socket.edges.flatMap((one) => about({ kind: "edge", id: one.id })),
            ]}
          />
        ) : null}
        {tab === "prompt" && socket ? (
          <>
            <section className={css.f}>
              <h3 className={css.l}>
                {info?.kind === "utility" ? "What runs" : "Prompt"}
                <span className="faint">{info ? `${info.layer}, ${info.file}` : ""}</span>
              </h3>
              <Code
                className={css.codeField}
                language="markdown"
                label="Prompt of the materia"
                readOnly
                text={wordsOfMateria(info?.value)}
              />
              <LinkButton look="small" to={`/materia/${encodeURIComponent(socket.materia)}`}>
                Open the materia
              </LinkButton>
            </section>
            {info?.kind === "utility" ? null : (
              <section className={css.f}>
                <h3 className={css.l}>
                  Added here<span className="faint">after the prompt of the materia</span>
                </h3>
                <Code
                  key={socket.id}
                  className={css.codeField}
                  language="markdown"
                  label="Text added to the prompt"
                  readOnly={readOnly || (socket.raw.prompt !== undefined && typeof socket.raw.prompt !== "string")}
                  text={typeof socket.raw.prompt === "string" ? socket.raw.prompt : ""}
                  onType={(text) => setSocket(store, socket.id, ["prompt"], text || undefined, `${socket.id} prompt`)}
                  onUndo={() => store.undo()}
                  onRedo={() => store.redo()}
                />
              </section>
            )}
          </>
        ) : null}
        {tab === "loop" && loop ? (
          <LoopForm key={loop.id} store={store} loop={loop} findings={about({ kind: "loop", id: loop.id })} />
        ) : null}
        {tab === "loadout" ? <LoadoutForm store={store} findings={about({ kind: "loadout" })} /> : null}
      </div>
    </aside>
  );
});

function wordsOfMateria(value: Record<string, unknown> | undefined): string {
  if (!value) return "There is no materia of this name.";
  if (typeof value.prompt === "string") return value.prompt;
  if (value.prompt) return JSON.stringify(value.prompt, null, 2);
  if (Array.isArray(value.command)) return value.command.join(" ");
  if (value.script) return JSON.stringify(value.script, null, 2);
  return "The prompt is empty.";
}
