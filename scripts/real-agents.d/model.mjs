// A model server that is no model: it answers what the prompt tells it to answer.
//
// Real agents talk to it as if it were their provider, on the loopback only, so that a whole cast
// runs without a key and without a network. It speaks four dialects, streamed or whole:
//
//   Anthropic   POST …/v1/messages, …/count_tokens
//   OpenAI      POST …/responses, …/chat/completions; GET …/models
//   Google      POST …/models/NAME:generateContent, :streamGenerateContent, :countTokens
//
// A line of the prompt that begins with `@model ` holds one JSON object that says what to do. The
// last such line of the conversation counts:
//
//   {"say": "text", "use": [{"tool": "NAME", "with": {…}}, …], "status": 429, "drop": true, "hang": true}
//
// Tools are used one after the other, then the text is said; of a list of texts, the first that was
// not said yet in this conversation. Without a line it says SAY.
//
//   node model.mjs [--log FILE]      prints its port as one line
import { createServer } from "node:http";
import { appendFileSync } from "node:fs";

const SAY = '{"satisfied": true, "context": "ok"}';
const SPENT = { input: 1000, cached: 200, output: 20 };
const logFile = process.argv.includes("--log") ? process.argv[process.argv.indexOf("--log") + 1] : null;
let counter = 0;
const id = (kind) => `${kind}_${++counter}`;

const textOf = (content) =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n");

/** A text without the blanks that do not matter in JSON. */
function plain(text) {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text.trim();
  }
}

/**
 * What the conversation asks for: `said` are the texts of the user, `answers` those given so far,
 * `results` counts tool results since the last text of the user.
 */
function orders(said, answers, results) {
  const lines = said.flatMap((text) => text.split("\n")).filter((line) => line.startsWith("@model "));
  let order = {};
  try {
    if (lines.length) order = JSON.parse(lines.at(-1).slice("@model ".length));
  } catch (error) {
    order = { status: 400, say: `the @model line is no JSON: ${error.message}` };
  }
  if (Array.isArray(order.say)) {
    const texts = order.say.map(plain);
    const given = answers.filter((answer) => texts.includes(plain(answer))).length;
    order.say = order.say[Math.min(given, order.say.length - 1)];
  }
  const tool = (order.use ?? [])[results];
  return { say: SAY, ...order, tool: tool && { name: tool.tool, args: tool.with ?? {} } };
}

/** Folds a conversation; each entry is {text} of the user, {answer} of the model or {results} of tools. */
function conversation(entries) {
  const said = [];
  const answers = [];
  let results = 0;
  for (const { text, answer, results: more } of entries) {
    results += more ?? 0;
    if (answer && answer.trim()) answers.push(answer);
    if (text && text.trim()) {
      said.push(text);
      if (!text.trimStart().startsWith("<")) results = 0;
    }
  }
  return orders(said, answers, results);
}

const pieces = (text) => text.match(/[\s\S]{1,6}/g) ?? [""];

function stream(response) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  return (data, event) =>
    response.write(`${event ? `event: ${event}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
}

const whole = (response, value, status = 200) => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
};

/** True when the stream ends here on purpose. */
function broken(order, response) {
  if (order.drop) response.destroy();
  return Boolean(order.drop || order.hang);
}

function anthropic(body, response) {
  const order = conversation(
    body.messages.map(({ role, content }) => {
      const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
      if (role !== "user") {
        const checked = parts.find((part) => part.name === "StructuredOutput");
        return { answer: checked ? JSON.stringify(checked.input) : textOf(parts) };
      }
      const results = parts.filter((part) => part.type === "tool_result").length;
      return results ? { results } : { text: textOf(parts) };
    }),
  );
  if (order.status) {
    const type = { 401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error" }[order.status];
    return whole(response, { type: "error", error: { type: type ?? "api_error", message: `told to fail with ${order.status}` } }, order.status);
  }
  // An answer under a schema is given through the tool that the program offers for it.
  const offered = (body.tools ?? []).some((tool) => tool.name === "StructuredOutput");
  if (offered && !order.tool) {
    try {
      order.tool = { name: "StructuredOutput", args: JSON.parse(order.say) };
    } catch {
      // Prose stays prose.
    }
  }
  const usage = { input_tokens: SPENT.input, cache_creation_input_tokens: 0, cache_read_input_tokens: SPENT.cached, output_tokens: SPENT.output };
  const block = order.tool
    ? { type: "tool_use", id: id("toolu"), name: order.tool.name, input: order.tool.args }
    : { type: "text", text: order.say };
  const stop_reason = order.tool ? "tool_use" : "end_turn";
  const message = { id: id("msg"), type: "message", role: "assistant", model: body.model, stop_sequence: null };
  if (!body.stream) return whole(response, { ...message, content: [block], stop_reason, usage });
  const send = stream(response);
  const event = (type, rest) => send({ type, ...rest }, type);
  event("message_start", { message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } });
  event("content_block_start", { index: 0, content_block: order.tool ? { ...block, input: {} } : { type: "text", text: "" } });
  if (broken(order, response)) return;
  if (order.tool) {
    event("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json: JSON.stringify(order.tool.args) } });
  } else {
    for (const text of pieces(order.say)) event("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
  }
  event("content_block_stop", { index: 0 });
  event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage });
  event("message_stop", {});
  response.end();
}

const openaiFault = (response, status) =>
  whole(response, { error: { message: `told to fail with ${status}`, type: status === 401 ? "authentication_error" : "server_error", code: null, param: null } }, status);

function responses(body, response) {
  const input = typeof body.input === "string" ? [{ role: "user", content: body.input }] : body.input;
  const order = conversation(
    input.map((item) => {
      if (String(item.type).endsWith("_output")) return { results: 1 };
      if (item.role === "assistant") return { answer: textOf(item.content) };
      return item.role === "user" ? { text: textOf(item.content) } : {};
    }),
  );
  if (order.status) return openaiFault(response, order.status);
  const usage = {
    input_tokens: SPENT.input + SPENT.cached, input_tokens_details: { cached_tokens: SPENT.cached },
    output_tokens: SPENT.output, output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: SPENT.input + SPENT.cached + SPENT.output,
  };
  const custom = order.tool && (body.tools ?? []).some((tool) => tool.type === "custom" && tool.name === order.tool.name);
  let item;
  if (custom) {
    item = { type: "custom_tool_call", id: id("ctc"), call_id: id("call"), name: order.tool.name, input: order.tool.args.input ?? "", status: "completed" };
  } else if (order.tool) {
    item = { type: "function_call", id: id("fc"), call_id: id("call"), name: order.tool.name, arguments: JSON.stringify(order.tool.args), status: "completed" };
  } else {
    item = { type: "message", id: id("msg"), role: "assistant", status: "completed", content: [{ type: "output_text", text: order.say, annotations: [] }] };
  }
  const base = { id: id("resp"), object: "response", created_at: Math.floor(Date.now() / 1000), model: body.model, output: [] };
  const done = { ...base, status: "completed", output: [item], usage };
  if (!body.stream) return whole(response, done);
  const send = stream(response);
  let number = 0;
  const event = (type, rest) => send({ type, sequence_number: number++, ...rest }, type);
  event("response.created", { response: { ...base, status: "in_progress" } });
  event("response.output_item.added", { output_index: 0, item: { ...item, status: "in_progress", ...(order.tool ? {} : { content: [] }) } });
  if (broken(order, response)) return;
  if (!order.tool) {
    const place = { item_id: item.id, output_index: 0, content_index: 0 };
    event("response.content_part.added", { ...place, part: { type: "output_text", text: "", annotations: [] } });
    for (const delta of pieces(order.say)) event("response.output_text.delta", { ...place, delta });
    event("response.output_text.done", { ...place, text: order.say });
  }
  event("response.output_item.done", { output_index: 0, item });
  event("response.completed", { response: done });
  response.end();
}

function chat(body, response) {
  const order = conversation(
    body.messages.map((message) => {
      if (message.role === "tool") return { results: 1 };
      if (message.role === "assistant") return { answer: textOf(message.content) };
      return message.role === "user" ? { text: textOf(message.content) } : {};
    }),
  );
  if (order.status) return openaiFault(response, order.status);
  const usage = {
    prompt_tokens: SPENT.input + SPENT.cached, completion_tokens: SPENT.output,
    total_tokens: SPENT.input + SPENT.cached + SPENT.output, prompt_tokens_details: { cached_tokens: SPENT.cached },
  };
  const call = order.tool && {
    id: id("call"), type: "function", function: { name: order.tool.name, arguments: JSON.stringify(order.tool.args) },
  };
  const base = { id: id("chatcmpl"), created: Math.floor(Date.now() / 1000), model: body.model };
  const finish_reason = call ? "tool_calls" : "stop";
  if (!body.stream) {
    const message = { role: "assistant", content: call ? null : order.say, ...(call ? { tool_calls: [call] } : {}) };
    return whole(response, { ...base, object: "chat.completion", choices: [{ index: 0, message, finish_reason }], usage });
  }
  const send = stream(response);
  const chunk = (delta, finish = null) =>
    send({ ...base, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] });
  chunk({ role: "assistant", content: "" });
  if (broken(order, response)) return;
  if (call) chunk({ tool_calls: [{ ...call, index: 0 }] });
  else for (const content of pieces(order.say)) chunk({ content });
  chunk({}, finish_reason);
  send({ ...base, object: "chat.completion.chunk", choices: [], usage });
  send("[DONE]");
  response.end();
}

function google(model, verb, body, response) {
  if (verb === "countTokens") return whole(response, { totalTokens: SPENT.input });
  const order = conversation(
    (body.contents ?? []).map(({ role, parts }) => {
      if (role === "model") return { answer: textOf(parts) };
      const results = parts.filter((part) => part.functionResponse).length;
      return results ? { results } : { text: textOf(parts) };
    }),
  );
  if (order.status) {
    const status = { 400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE" }[order.status];
    return whole(response, { error: { code: order.status, message: `told to fail with ${order.status}`, status: status ?? "INTERNAL" } }, order.status);
  }
  const usageMetadata = {
    promptTokenCount: SPENT.input + SPENT.cached, candidatesTokenCount: SPENT.output,
    cachedContentTokenCount: SPENT.cached, totalTokenCount: SPENT.input + SPENT.cached + SPENT.output,
  };
  const answer = (parts, finishReason) => ({
    candidates: [{ content: { role: "model", parts }, index: 0, ...(finishReason ? { finishReason } : {}) }],
    usageMetadata, modelVersion: model, responseId: id("resp"),
  });
  const call = order.tool && [{ functionCall: { name: order.tool.name, args: order.tool.args } }];
  if (verb === "generateContent") return whole(response, answer(call ?? [{ text: order.say }], "STOP"));
  const send = stream(response);
  if (order.drop || order.hang) send(answer([{ text: order.say.slice(0, 1) }]));
  if (broken(order, response)) return;
  if (call) {
    send(answer(call, "STOP"));
  } else {
    for (const text of pieces(order.say)) send(answer([{ text }]));
    send(answer([{ text: "" }], "STOP"));
  }
  response.end();
}

function route(path, body, response) {
  const named = /\/models\/([^/:]+):(\w+)$/.exec(path);
  if (path.endsWith("/count_tokens")) return whole(response, { input_tokens: SPENT.input });
  if (path.endsWith("/messages")) return anthropic(body, response);
  if (path.endsWith("/responses")) return responses(body, response);
  if (path.endsWith("/chat/completions")) return chat(body, response);
  if (named) return google(named[1], named[2], body, response);
  if (path.endsWith("/models")) return whole(response, { object: "list", data: [], models: [] });
  return whole(response, { error: { message: `nothing at ${path}` } }, 404);
}

const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  let body = {};
  try {
    body = JSON.parse(Buffer.concat(parts).toString() || "{}");
  } catch {
    // Telemetry and the like; answered with 404 below.
  }
  const path = new URL(request.url, "http://localhost").pathname;
  if (logFile) {
    const tools = (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? [tool.function ?? tool]).map((tool) => tool.name ?? tool.type);
    appendFileSync(logFile, `${JSON.stringify({ method: request.method, path, tools, format: body.text?.format })}\n`);
  }
  try {
    route(path, body, response);
  } catch (error) {
    if (!response.headersSent) whole(response, { error: { message: String(error) } }, 400);
    else response.destroy();
  }
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
