// Reads what the cast gives it, answers with a state patch.
import { readFileSync } from "node:fs";

const given = JSON.parse(readFileSync(0, "utf8"));
const hello = { ok: true, message: given.params.message, request: given.request };
console.log(JSON.stringify({ state: { hello } }));
