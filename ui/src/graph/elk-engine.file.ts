// Elk within the page, for the exported file: a file has nowhere to load a second script from. `vite.config.ts` puts
// this in the place of `elk-engine.ts` there, and Elk's own script before the script of the page.
import ElkApi from "elkjs/lib/elk-api";

declare const materiaElk: { exports: { Worker: new () => Worker } };
const Elk = ((ElkApi as unknown as { default?: typeof ElkApi }).default ?? ElkApi) as typeof ElkApi;
export const newElk = () => new Elk({ workerFactory: () => new materiaElk.exports.Worker() });
