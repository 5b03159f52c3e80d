// Two prompts beside each other, layer by layer. Pure.
import type { TurnView } from "../../api/types";
import { sliceBytes } from "../../shared/text";

export interface LayerPair {
  key: string;
  name: string;
  a: string | null;
  b: string | null;
  same: boolean;
}

function named(turn: TurnView | null): Map<string, { name: string; text: string }> {
  const out = new Map<string, { name: string; text: string }>();
  if (!turn || typeof turn.prompt !== "string") return out;
  const bytes = new TextEncoder().encode(turn.prompt);
  const seen = new Map<string, number>();
  const layers = turn.layers.length > 0 ? turn.layers : [{ name: "prompt", start: 0, end: bytes.length }];
  for (const layer of layers) {
    const nth = (seen.get(layer.name) ?? 0) + 1;
    seen.set(layer.name, nth);
    out.set(`${layer.name} ${nth}`, { name: layer.name, text: sliceBytes(bytes, layer.start, layer.end) });
  }
  return out;
}

/** Layers of the same name belong together; what only one has stands where it is there. */
export function layerPairs(a: TurnView | null, b: TurnView | null): LayerPair[] {
  const [left, right] = [named(a), named(b)];
  const order = [...left.keys()];
  let place = 0;
  for (const key of right.keys()) {
    const known = order.indexOf(key);
    if (known >= 0) place = known + 1;
    else order.splice(place++, 0, key);
  }
  return order.map((key) => {
    const [x, y] = [left.get(key), right.get(key)];
    return { key, name: (x ?? y)?.name ?? "", a: x?.text ?? null, b: y?.text ?? null, same: x?.text === y?.text };
  });
}

/** Neighbours that are the same in both are told as one. */
export function told(pairs: LayerPair[]): LayerPair[] {
  const out: LayerPair[] = [];
  for (const pair of pairs) {
    const before = out.at(-1);
    if (pair.same && before?.same)
      out[out.length - 1] = {
        ...before,
        key: `${before.key}, ${pair.key}`,
        name: `${before.name}, ${pair.name}`,
        a: (before.a ?? "") + (pair.a ?? ""),
        b: (before.b ?? "") + (pair.b ?? ""),
      };
    else out.push(pair);
  }
  return out;
}

/** Fewer or more, said in words. */
export function against(a: number, b: number, show: (value: number) => string, less: string, more: string): string {
  if (a === b) return "";
  return `${show(Math.abs(b - a))} ${b < a ? less : more}`;
}
