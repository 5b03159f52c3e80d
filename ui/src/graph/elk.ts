// The drawing of a graph, made once for each graph and size.
import { useEffect, useState } from "react";
import type { Grid } from "../api/generated";
import { newElk } from "./elk-engine";
import { type Drawn, FULL, layout, type Sizes } from "./layout";

let engine: ReturnType<typeof newElk> | undefined;
/** Elk, which loads while the page still asks for a graph. */
export function elk(): ReturnType<typeof newElk> {
  engine ??= newElk();
  return engine;
}
const known = new Map<string, Promise<Drawn>>();

function drawing(grid: Grid, sizes: Sizes): Promise<Drawn> {
  // What runs in a socket does not change where it stands.
  const shape = grid.sockets.map(({ materia: _, type: __, generator: ___, multiTurn: ____, ...rest }) => rest);
  const key = JSON.stringify([shape, grid.loops, sizes]);
  const before = known.get(key);
  if (before) return before;
  const made = layout(elk(), grid, sizes);
  known.set(key, made);
  // An editor makes many; the oldest are the least likely to come back.
  const oldest = known.keys().next();
  if (known.size > 200 && !oldest.done) known.delete(oldest.value);
  return made;
}

export function useDrawing(grid: Grid | null | undefined, sizes: Sizes = FULL): Drawn | null {
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  useEffect(() => {
    let left = false;
    elk();
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
