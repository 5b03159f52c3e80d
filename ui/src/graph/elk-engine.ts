// Elk runs beside the page: laying out a large graph must not stop it. It is loaded with the pages that draw one.
import ElkApi from "elkjs/lib/elk-api";
import workerUrl from "elkjs/lib/elk-worker.min.js?url";

const Elk = ((ElkApi as unknown as { default?: typeof ElkApi }).default ?? ElkApi) as typeof ElkApi;
// It starts with the first page that has a graph, while that page still asks the server.
export const elk = new Elk({ workerFactory: () => new Worker(workerUrl) });
