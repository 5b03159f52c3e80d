// Elk runs beside the page: laying out a large graph must not stop it. It is loaded with the pages that draw one.
import ElkApi from "elkjs/lib/elk-api";
import workerUrl from "elkjs/lib/elk-worker.min.js?url";
import { useEffect, useState } from "react";
import type { Grid } from "../api/types";
import { type Drawn, FULL, layout, type Sizes } from "./layout";

const Elk = ((ElkApi as unknown as { default?: typeof ElkApi }).default ?? ElkApi) as typeof ElkApi;
// It starts with the first page that has a graph, while that page still asks the server.
const elk = new Elk({ workerFactory: () => new Worker(workerUrl) });
const known = new Map<string, Promise<Drawn>>();

function drawing(grid: Grid, sizes: Sizes): Promise<Drawn> {
  const key = JSON.stringify([grid.sockets, grid.loops, sizes.card]);
  const before = known.get(key);
  if (before) return before;
  const made = layout(elk, grid, sizes);
  known.set(key, made);
  return made;
}

export function useDrawing(grid: Grid | null | undefined, sizes: Sizes = FULL): Drawn | null {
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  useEffect(() => {
    let left = false;
    if (!grid) return;
    void drawing(grid, sizes).then((made) => {
      if (!left) setDrawn(made);
    });
    return () => {
      left = true;
    };
  }, [grid, sizes]);
  return drawn;
}
