// The palette: every materia by kind, beginnings of graphs, and loadouts that can be linked behind this one.
import { PanelLeftClose, PanelLeftOpen, Workflow } from "lucide-react";
import { type DragEvent, memo, type ReactNode, useMemo, useState } from "react";
import type { MateriaInfo } from "../../document";
import { templates } from "../../document";
import { KindIcon } from "../../graph/Graph";
import graph from "../../graph/graph.module.css";
import { Button } from "../../shared/Button";
import { materiaColor } from "../../shared/color";
import { cx } from "../../shared/cx";
import { FindBox } from "../../shared/FindField";
import { Foreign } from "../../shared/parts";
import { oneLine } from "../../shared/text";
import { add, addTemplate } from "./acts";
import { DRAGGED } from "./Canvas";
import css from "./editor.module.css";
import { loadoutNames } from "./names";
import { type EditorStore, useEditor } from "./store";

/** What a materia is besides its kind, as words. */
export function badgeOf(info: MateriaInfo, group: string): string {
  if (group === "Generator")
    return ["Generator", info.kind === "utility" ? "utility" : info.multiTurn ? "multi-turn" : ""]
      .filter(Boolean)
      .join(", ");
  if (info.multiTurn) return "multi-turn";
  return info.kind === "agent" && info.parse === "json" ? "verdict" : "";
}

/** Generators, agents, utilities; inside each those of one group stand together. */
export function grouped(materia: Map<string, MateriaInfo>): { name: string; items: MateriaInfo[] }[] {
  const all = [...materia.values()];
  const order = (items: MateriaInfo[]) => {
    const first = new Map<string, number>();
    for (const one of items) if (!first.has(one.group)) first.set(one.group, first.size);
    return items.toSorted((a, b) => (first.get(a.group) ?? 0) - (first.get(b.group) ?? 0));
  };
  return [
    { name: "Agent", items: order(all.filter((one) => one.kind === "agent" && !one.generator)) },
    { name: "Generator", items: order(all.filter((one) => one.generator)) },
    { name: "Utility", items: order(all.filter((one) => one.kind === "utility" && !one.generator)) },
  ];
}

export const fitting = (words: string, ...texts: string[]): boolean => {
  const text = texts.join(" ").toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
};

const GRAPH = <Workflow className={cx(graph.kind, "ico")} aria-hidden="true" />;

interface PaletteProps {
  store: EditorStore;
  folded: boolean;
  onFold: () => void;
}

export const PalettePane = memo(function PalettePane({ store, folded, onFold }: PaletteProps) {
  const { materia, files, subject } = useEditor(store, "materia", "files", "subject");
  const loadouts = useMemo(() => loadoutNames(files), [files]);
  const [words, setWords] = useState("");
  const put = (name: string) => {
    const sockets = store.selectedSockets();
    const [first] = store.state.selection;
    const edge = first?.kind === "edge" ? first.id : null;
    add(store, name, { after: sockets.length === 1 ? (sockets[0] ?? null) : null, edge });
  };
  const groups = grouped(materia).map((group) => ({
    ...group,
    items: group.items.filter((one) => fitting(words, one.name, one.label, one.description, one.group)),
  }));
  const begin = templates.filter((one) => fitting(words, one.name, one.description));
  const others = loadouts.filter((name) => name !== subject.name && fitting(words, name));
  if (folded)
    return (
      <aside className={cx(css.pal, "folded")} aria-label="Palette">
        <Button
          icon={PanelLeftOpen}
          look="quiet icon"
          aria-label="Show the palette"
          data-testid="show-palette"
          onClick={onFold}
        />
      </aside>
    );
  return (
    <aside className={css.pal} aria-label="Palette" data-testid="palette">
      <div className={css.palhead}>
        <FindBox>
          <span className="sr">Find materia</span>
          <input
            value={words}
            placeholder="Find materia"
            data-testid="palette-find"
            onChange={(event) => setWords(event.target.value)}
          />
        </FindBox>
        <Button icon={PanelLeftClose} look="quiet icon" aria-label="Hide the palette" onClick={onFold} />
      </div>
      {groups.map((group) => (
        <Group key={group.name} name={group.name} count={group.items.length}>
          {group.items.map((one, index) => (
            <Entry
              key={one.name}
              kind="materia"
              name={one.name}
              icon={<KindIcon kind={one.generator ? "generator" : one.kind} color={one.color} />}
              title={one.label || one.name}
              badge={badgeOf(one, group.name)}
              text={one.description || `From ${one.file}.`}
              color={one.color}
              apart={index > 0 && group.items[index - 1]?.group !== one.group}
              onPut={() => put(one.name)}
            />
          ))}
        </Group>
      ))}
      <Group name="Templates" count={begin.length}>
        {begin.map((one) => (
          <Entry
            key={one.name}
            kind="template"
            name={one.name}
            icon={GRAPH}
            title={one.name}
            text={one.description}
            onPut={() => addTemplate(store, one)}
          />
        ))}
      </Group>
      <Group name="Loadouts to append" count={others.length}>
        {others.map((name) => (
          <Entry
            key={name}
            kind="loadout"
            name={name}
            icon={GRAPH}
            title={name}
            text="Shows the linked graph first."
            onPut={() => store.patch({ sheet: { kind: "link", behind: name } })}
          />
        ))}
      </Group>
    </aside>
  );
});

function Group({ name, count, children }: { name: string; count: number; children: ReactNode }) {
  if (count === 0) return null;
  return (
    <section aria-label={name}>
      <h2>
        {name}
        <span>{count}</span>
      </h2>
      <ul>{children}</ul>
    </section>
  );
}

function Entry(props: {
  kind: string;
  name: string;
  icon: ReactNode;
  title: string;
  badge?: string;
  text: string;
  color?: string;
  apart?: boolean;
  onPut: () => void;
}) {
  const drag = (event: DragEvent) => {
    event.dataTransfer.setData(DRAGGED, JSON.stringify({ kind: props.kind, name: props.name }));
    event.dataTransfer.effectAllowed = "copy";
  };
  const color = materiaColor(props.color);
  return (
    <li className={props.apart ? css.apart : ""}>
      <button
        type="button"
        draggable
        onDragStart={drag}
        onClick={props.onPut}
        data-testid={`${props.kind === "materia" ? "pal" : props.kind}-${props.name}`}
      >
        {props.icon}
        <Foreign as="span" className="n cut" text={oneLine(props.title, 60)} />
        <span className="faint xs" data-testid="pal-badge">
          {props.badge}
        </span>
        <Foreign as="span" className={cx(css.d, "cut")} text={oneLine(props.text, 160)} />
        {color ? <i className={graph.spine} style={{ background: color }} /> : null}
      </button>
    </li>
  );
}
