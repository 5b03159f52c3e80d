import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useProject } from "../../shared/project";
import { searchNow } from "../../shared/router";
import { openSubject } from "./opening";
import type { Subject } from "./state";
import { EditorStore } from "./store";

/** Opens a loadout or a materia for editing; the store is closed when its page is left. */
export function useOpened(kind: Subject["kind"], name: string, prepare: (store: EditorStore, exists: boolean) => void) {
  const project = useProject()?.id ?? null;
  const [store, setStore] = useState<EditorStore | null>(null);
  const opened = useQuery({
    queryKey: ["open", project, kind, name],
    queryFn: async ({ signal }) => {
      const { state, exists } = await openSubject(project ?? "", { kind, name }, signal);
      if (!exists && searchNow().get("begin") === null) throw new Error(`There is no ${kind} ${name}.`);
      return { state, exists };
    },
    enabled: project !== null,
    // The person edits this answer: reading it again would overwrite unsaved changes.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    structuralSharing: false,
    meta: { once: true },
  });
  const prepared = useRef(prepare);
  const data = opened.isPlaceholderData ? undefined : opened.data;
  useEffect(() => {
    if (!data) return;
    const made = new EditorStore(data.state);
    prepared.current(made, data.exists);
    setStore(made);
    return () => {
      made.close();
      setStore(null);
    };
  }, [data]);
  return { store, error: opened.error };
}
