import { at, find } from "../../document";
import { NotOpened } from "../../shared/Boundary";
import { Empty } from "../../shared/parts";
import { searchNow } from "../../shared/router";
import { begunWith } from "./begin";
import { readText } from "./state";
import type { EditorStore } from "./store";
import { useOpened } from "./useOpened";
import { Workbench } from "./Workbench";

export function Editor({ name }: { name: string }) {
  const { store, error } = useOpened("loadout", name, prepare);
  if (error) return <NotOpened title={name} error={error} to="/loadouts" all="All loadouts" />;
  return store ? <Workbench store={store} key={name} /> : <Empty>Opening.</Empty>;
}

function prepare(store: EditorStore, exists: boolean): void {
  if (!exists) begin(store);
  if (searchNow().get("copy")) store.patch({ sheet: { kind: "copy" } });
  // The address names what is selected.
  const [kind, ...rest] = (searchNow().get("sel") ?? "").split(":");
  const id = rest.join(":");
  if (id && (kind === "socket" || kind === "edge" || kind === "loop")) store.select([{ kind, id }]);
}

/** A new loadout begins with what was asked for elsewhere: as it was written there, or worked out. */
function begin(store: EditorStore): void {
  const { name } = store.state.subject;
  const text = begunWith(name);
  store.edit(`new loadout ${name}`, (writer) => {
    if (!text.includes("\n")) {
      writer.set(at(name), readText(text).value ?? {});
      return;
    }
    writer.set(at(name), {});
    const node = find(writer.root(), at(name));
    if (node) writer.splice(node.offset, node.length, text);
  });
}
