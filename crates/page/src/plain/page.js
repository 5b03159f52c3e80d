// A plain page: the casts as they change, and the events of one. Everything is text.
const state = document.getElementById("state");
const body = document.querySelector("#casts tbody");
const events = document.getElementById("events");
const title = document.getElementById("events-title");

async function signIn() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (!code) return;
  history.replaceState(null, "", location.pathname + location.search);
  const answer = await fetch("/api/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ code }),
  });
  if (answer.ok) localStorage.setItem("materia-key", (await answer.json()).key);
}

function ask(path, signal) {
  const key = localStorage.getItem("materia-key") ?? "";
  return fetch(path, { headers: { "X-Materia-Key": key }, signal });
}

// Reads server-sent events with fetch, for a request of the page carries its key.
async function read(path, signal, told) {
  const answer = await ask(path, signal);
  if (answer.status === 401) throw new Error("Sign in with the link that `materia ui` prints");
  if (!answer.ok) throw new Error(`The server answered ${answer.status}`);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    let end;
    while ((end = text.indexOf("\n\n")) >= 0) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
      const kind = lines.find((line) => line.startsWith("event: "))?.slice(7);
      if (data.length > 0) told(kind, JSON.parse(data.join("\n")));
    }
  }
}

const rows = new Map();
let following;

function cell(row, text) {
  row.insertCell().textContent = text;
}

function show(cast) {
  const key = `${cast.project}/${cast.castId}`;
  let row = rows.get(key);
  if (!row) {
    row = body.insertRow(0);
    row.addEventListener("click", () => follow(cast));
    rows.set(key, row);
  }
  row.replaceChildren();
  const waits = cast.waiting ? `waiting: ${cast.waiting.message}` : cast.status;
  for (const text of [cast.castId, waits, cast.loadout, cast.request]) cell(row, text);
}

async function follow(cast) {
  following?.abort();
  following = new AbortController();
  title.textContent = `Events of ${cast.castId}`;
  events.textContent = "";
  const path = `/api/casts/${encodeURIComponent(cast.castId)}/stream?project=${encodeURIComponent(cast.project)}`;
  try {
    await read(path, following.signal, (kind, event) => {
      if (kind !== "journal") return;
      events.append(`${event.seq}  ${event.wallTime}  ${event.type}  ${event.nodeId ?? "-"}\n`);
    });
  } catch (error) {
    if (error.name !== "AbortError") events.append(`${error.message}\n`);
  }
}

async function watch() {
  for (;;) {
    try {
      const list = await ask("/api/casts");
      if (list.ok) for (const cast of (await list.json()).items.reverse()) show(cast);
      state.textContent = "Connected";
      await read("/api/stream", undefined, (kind, cast) => kind === "cast" && show(cast));
    } catch (error) {
      state.textContent = error.message;
    }
    await new Promise((again) => setTimeout(again, 2000));
  }
}

await signIn();
await watch();
