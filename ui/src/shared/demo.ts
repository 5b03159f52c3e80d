// Which cast was begun as the demo, so that its end can say what could be next.
import { keep, kept } from "./kept";

const KEY = "materia.demo";

export function keepDemo(castId: string | null): void {
  keep(KEY, castId);
}
export function isDemo(castId: string): boolean {
  return kept(KEY) === castId;
}
