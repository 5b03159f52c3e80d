// Elk within the page, for the exported file: a file has nowhere to load a second script from. `vite.config.ts` puts
// this in the place of `elk-engine.ts` there.
import ElkBundled from "elkjs/lib/elk.bundled.js";

const Elk = ((ElkBundled as unknown as { default?: typeof ElkBundled }).default ?? ElkBundled) as typeof ElkBundled;
export const elk = new Elk();
