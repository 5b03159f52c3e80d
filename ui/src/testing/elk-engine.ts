// Elk in the thread of the tests, which have no workers. `vite.config.ts` puts it in the place of `graph/elk-engine.ts`.
import ElkModule from "elkjs/lib/elk.bundled.js";

// The package is CommonJS: depending on who loads it, the class is the module or its default.
const Elk = ((ElkModule as unknown as { default?: typeof ElkModule }).default ?? ElkModule) as typeof ElkModule;
export const newElk = () => new Elk();
