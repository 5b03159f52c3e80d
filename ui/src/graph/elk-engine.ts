// Elk runs beside the page: laying out a large graph must not stop it.
import ElkApi from "elkjs/lib/elk-api";
import workerUrl from "elkjs/lib/elk-worker.min.js?url";

const Elk = ((ElkApi as unknown as { default?: typeof ElkApi }).default ?? ElkApi) as typeof ElkApi;
export const newElk = () => new Elk({ workerFactory: () => new Worker(workerUrl) });
