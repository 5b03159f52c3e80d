import { useEffect, useState } from "react";
import { at, find } from "../../document";
import { noteRefusal } from "../../shared/live";
import { ErrorBox } from "../../shared/parts";
import { useProject } from "../../shared/project";
import { Link, searchNow } from "../../shared/router";
import { useTries } from "../../shared/useLoad";
import { begunWith } from "./begin";
import { openSubject } from "./opening";
import { readText } from "./state";
import { EditorStore } from "./store";
import { Workbench } from "./Workbench";
import "./editor.css";

export function Editor({ name }: { name: string }) {
  const project = useProject()?.id ?? null;
  const [store, setStore] = useState<EditorStore | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const tries = useTries(error);
  // biome-ignore lint/correctness/useExhaustiveDependencies: where the server did not answer, it is asked again
  useEffect(() => {
    if (!project) return;
    let made: EditorStore | null = null;
    let left = false;
    openSubject(project, { kind: "loadout", name })
      .then(
        ({ state, exists }) => {
          if (left) return;
          const fresh = !exists && searchNow().get("begin") !== null;
          if (!exists && !fresh) throw new Error(`There is no loadout ${name}.`);
          made = new EditorStore(state);
          if (fresh) begin(made, name);
          const [kind, ...rest] = (searchNow().get("sel") ?? "").split(":");
          const id = rest.join(":");
          if (id && (kind === "socket" || kind === "edge" || kind === "loop")) made.select([{ kind, id }]);
          setStore(made);
        },
        (reason: Error) => {
          noteRefusal(reason);
          if (!left) setError(reason);
        },
      )
      .catch((reason: Error) => !left && setError(reason));
    return () => {
      left = true;
      made?.close();
      setStore(null);
      setError(null);
    };
  }, [project, name, tries]);
  if (error)
    return (
      <div className="page">
        <h1>{name}</h1>
        <ErrorBox error={error} />
        <p>
          <Link to="/loadouts">All loadouts</Link>
        </p>
      </div>
    );
  return store ? <Workbench store={store} key={name} /> : <p className="empty">Opening.</p>;
}

/** A new loadout begins with what was asked for elsewhere: as it was written there, or worked out. */
function begin(store: EditorStore, name: string): void {
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
