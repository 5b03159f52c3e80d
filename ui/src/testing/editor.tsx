// One configuration in the editor, with a server that keeps drafts and saves what it is sent.
import { screen, waitFor } from "@testing-library/react";
import type { ConfigBody, ConfigFile, Findings } from "../api/generated";
import { Editor } from "../pages/editor";
import { draftId } from "../pages/editor/state";
import { project } from "./demo";
import { type Asked, drawn, openAt, serve } from "./served";

export const text = `{
  // Who does what.
  "materia": {
    "Plan": { "prompt": "Plan it", "generator": true },
    "Build": { "prompt": "Build it", "description": "Builds one item" },
    "Eval": { "prompt": "Judge it", "parse": "json" },
    "Check": { "type": "utility", "command": ["sh", "check.sh"] }
  },
  "loadouts": {
    "Demo": {
      "entry": "Socket-1",
      "sockets": {
        "Socket-1": { "materia": "Plan", "edges": [{ "when": "always", "to": "Socket-2" }] },
        "Socket-2": { "materia": "Build", "edges": [{ "when": "always", "to": "Socket-3" }] },
        "Socket-3": { "materia": "Eval", "edges": [{ "when": "always", "to": "end" }] }
      }
    },
    "Other": { "entry": "Socket-1", "sockets": { "Socket-1": { "materia": "Build" } } }
  }
}
`;
const file: ConfigFile = { layer: "project", file: "materia.json", text, hash: "h0", editable: true };

const sound: Findings = { ok: true, findings: [] };

/** A server with the configuration; and whatever else it is told to answer. */
export function serveEditor(more: Record<string, unknown> = {}, files: ConfigFile[] = [file]): Asked[] {
  let version = 0;
  const keep = ({ method }: Asked) => ({
    version: method === "PUT" ? ++version : 0,
    updatedAt: "2026-11-15T12:00:00Z",
  });
  const drafts = (["loadout", "materia"] as const).flatMap((kind) =>
    ["Demo", "Build", "Check", "Fresh"].map((name) => [`/drafts/${draftId({ kind, name })}`, keep] as const),
  );
  return serve({
    "/projects": { items: [project] },
    "/config": { items: files, findings: [] } satisfies ConfigBody,
    "/drafts": { items: [] },
    "/check": sound,
    "/diff": { added: [], removed: [], changed: [] },
    "/config/project/materia.json": { hash: "h1" },
    ...Object.fromEntries(drafts),
    ...more,
  });
}

/** The editor of the loadout `Demo`, while it is opened. */
export function drawEditor(search = "", more: Record<string, unknown> = {}, files?: ConfigFile[]): Asked[] {
  openAt(`/loadouts/Demo${search}`);
  const asked = serveEditor(more, files);
  drawn(<Editor name="Demo" />);
  return asked;
}

export async function openEditor(...how: Parameters<typeof drawEditor>): Promise<Asked[]> {
  const asked = drawEditor(...how);
  await screen.findByTestId("editor");
  // The editor names the tab when it listens to keys and to its store.
  await waitFor(() => {
    if (!document.title.includes("Demo")) throw new Error("the editor is not ready");
  });
  return asked;
}

/** The texts of the drafts that were kept, the newest last. */
export const draftsOf = (asked: Asked[]) =>
  asked.flatMap(({ method, path, body }) =>
    method === "PUT" && path.startsWith("/drafts/") ? [(body as { text: string }).text] : [],
  );
