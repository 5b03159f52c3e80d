//! `materia serve` with its journal on NATS: lists, streams and commands over HTTP (M5, M7, M11).

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command};
use std::time::Duration;

use materia_contract::api::ServerFile;
use materia_server::client::Client;
use serde_json::{Value, json};

use crate::bench::{Bench, Ran, until};
use crate::server::Servers;
use crate::workers::{Worker, events, status, workers};
use crate::{ANSWERS, bench, config, on};

/// A server of a project, of the space `tests`. It is killed with its value.
struct Served {
    child: Child,
    file: ServerFile,
}

fn serve(bench: &Bench, servers: &Servers) -> Command {
    let mut command = bench.command(&["serve", "--listen", "127.0.0.1:0", "--test-hooks"]);
    command.env("MATERIA_JOURNAL", servers.url()).env("MATERIA_SPACE", "tests");
    command
}

impl Served {
    fn start(bench: &Bench, servers: &Servers) -> Self {
        let mut command = serve(bench, servers);
        let child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
        let mut found = None;
        until("the server is there", || {
            found = Client::of(&bench.state());
            found.is_some()
        });
        Self { child, file: found.unwrap().server().clone() }
    }

    fn request(&self, method: &str, path: &str, more: &str, body: &str) -> TcpStream {
        let host = self.file.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n{more}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.file.token,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    /// The status and the body of an answer.
    fn ask(&self, method: &str, path: &str, more: &str, body: &str) -> (u16, Value) {
        let mut text = String::new();
        self.request(method, path, more, body).read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {text}")))
    }

    fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, "", "");
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    /// A command under a key.
    fn act(&self, id: &str, key: &str, body: &Value) -> (u16, Value) {
        let (path, more) =
            (format!("/api/casts/{id}/commands"), format!("Idempotency-Key: {key}\r\n"));
        self.ask("POST", &path, &more, &body.to_string())
    }

    /// Reads the stream of a cast until an event of this type; returns the types of all events, with their places.
    fn stream_until(&self, id: &str, last: &str) -> Vec<(u64, String)> {
        let stream = self.request("GET", &format!("/api/casts/{id}/stream"), "", "");
        let mut found = Vec::new();
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap();
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let event: Value = serde_json::from_str(data).unwrap();
            let Some(seq) = event["seq"].as_u64() else { continue };
            let kind = event["type"].as_str().unwrap().to_owned();
            let ends = kind == last;
            found.push((seq, kind));
            if ends {
                return found;
            }
        }
        panic!("the stream ended after {found:?}");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A cast whose second turn lasts until the file `go` is there, and whose last turn asks a person.
fn asking_bench() -> Bench {
    let mut config = config();
    let command = "echo x >> begun; while [ ! -e go ]; do sleep 0.05; done; echo '{}'";
    config["materia"]["Own"]["command"] = json!(["sh", "-c", command]);
    config["loadouts"]["L"]["sockets"]["last"]["approval"] = json!("before");
    let bench = Bench::with(&config);
    bench.write("answers.json", ANSWERS);
    bench
}

fn detached(id: &str) -> [&str; 7] {
    ["cast", "--detach", "--script", "answers.json", "--cast-id", id, "go"]
}

/// M11: a server lists, streams and steers casts that a worker in another folder drives, and says which worker.
#[test]
fn a_server_shows_casts_of_other_machines() {
    let servers = Servers::start(1, "");
    // The server's own folder has nothing of these casts.
    let (here, there) = (bench(), asking_bench());
    let worker = Worker::start(&there, &servers, &[]);
    let served = Served::start(&here, &servers);
    assert_eq!(served.get("/api/projects")["items"][0]["space"], "tests");
    on(&there, &servers, &detached("c1")).exits(0);
    there.wait_for("begun");
    let name = workers(&there, &servers)[0]["name"].clone();
    let list = served.get("/api/casts");
    assert_eq!((&list["items"][0]["castId"], &list["items"][0]["worker"]), (&json!("c1"), &name));
    let cast = served.get("/api/casts/c1");
    assert_eq!((&cast["worker"], &cast["driven"]), (&name, &json!(true)), "{cast}");
    let spaces = served.get("/api/workers");
    let space = &spaces["items"][0];
    assert_eq!((&space["space"], &space["workers"][0]["name"]), (&json!("tests"), &name));
    until("it says what it runs", || {
        served.get("/api/workers")["items"][0]["workers"][0]["runs"] == json!(["c1"])
    });
    // Said once under its key, to the worker that drives the cast.
    let say = json!({"do": "say", "node": "last", "text": "be brief"});
    let (code, said) = served.act("c1", "k1", &say);
    assert_eq!(code, 200, "{said}");
    assert_eq!(served.act("c1", "k1", &say), (200, said));
    // The stream is open while the worker goes on.
    let streamed = std::thread::scope(|scope| {
        let reading = scope.spawn(|| served.stream_until("c1", "approval.requested"));
        there.write("go", "");
        reading.join().unwrap()
    });
    let places: Vec<u64> = streamed.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(places, (1..=u64::try_from(places.len()).unwrap()).collect::<Vec<_>>());
    until("the cast waits", || status(&there, &servers, "c1") == "waiting");
    until("nobody drives it", || served.get("/api/casts/c1")["driven"] == json!(false));
    assert_eq!(served.get("/api/casts/c1").get("worker"), None);
    let why = served.get("/api/casts/c1/nodes/last/why");
    assert!(why.to_string().contains("approval"), "{why}");
    let inbox = served.get("/api/inbox");
    assert_eq!(inbox["items"][0]["castId"], "c1", "{inbox}");
    let all = events(&there, &servers, "c1");
    assert_eq!(all.iter().filter(|it| it.starts_with("message.")).count(), 1, "{all:?}");
    // Aborted while its worker drives it.
    std::fs::remove_file(there.project().join("go")).unwrap();
    on(&there, &servers, &detached("c2")).exits(0);
    until("its second turn runs", || there.read("begun") == "x\nx\n");
    let (code, done) = served.act("c2", "k2", &json!({"do": "abort"}));
    assert_eq!(code, 200, "{done}");
    assert_eq!(status(&there, &servers, "c2"), "aborted");
    until("it has left the list", || worker.said().contains("cast `c2`: rests (aborted)"));
}

/// M5, M7, M11: a cast that is started over HTTP waits for a worker; what a person decides there is carried on by one.
#[test]
fn a_server_hands_casts_to_workers() {
    let servers = Servers::start(1, "");
    let bench = asking_bench();
    bench.write("go", "");
    // Approves what the cast runs.
    on(&bench, &servers, &["cast", "--script", "answers.json", "--cast-id", "c0", "go"]).exits(3);
    let served = Served::start(&bench, &servers);
    let start = json!({"loadout": "L", "request": "go", "castId": "c1", "script": "answers.json"});
    let key = "Idempotency-Key: s1\r\n";
    let (code, begun) = served.ask("POST", "/api/casts", key, &start.to_string());
    assert_eq!((code, &begun["waitsForWorker"]), (201, &json!(true)), "{begun}");
    assert_eq!(served.get("/api/workers")["items"][0]["waiting"], json!(["c1"]));
    let begun = ["run.created", "payload.delivered"];
    assert_eq!(events(&bench, &servers, "c1"), begun, "nothing has started");
    let worker = Worker::start(&bench, &servers, &[]);
    until("it rests", || worker.said().contains("cast `c1`: rests (waiting)"));
    let approve = json!({"do": "approve", "node": "last"});
    let (code, done) = served.act("c1", "k1", &approve);
    assert_eq!(code, 200, "{done}");
    until("the cast is completed", || status(&bench, &servers, "c1") == "completed");
    assert_eq!(served.act("c1", "k1", &approve), (200, done));
    let granted = on(&bench, &servers, &["events", "c1", "--json"]).exits(0).lines();
    let granted: Vec<&Value> = granted.iter().filter(|it| it["type"] == "approval.given").collect();
    assert_eq!(granted.len(), 1, "{granted:?}");
    on(&bench, &servers, &["replay", "c1"]).exits(0);
}

/// M7, M11: two commands to a cast that nobody drives wait for a worker, and both act.
#[test]
fn commands_wait_for_a_worker() {
    let servers = Servers::start(1, "");
    let bench = asking_bench();
    bench.write("go", "");
    on(&bench, &servers, &["cast", "--script", "answers.json", "--cast-id", "c1", "go"]).exits(3);
    let served = Served::start(&bench, &servers);
    let (code, said) = served.act("c1", "k1", &json!({"do": "approve", "node": "last"}));
    assert_eq!((code, &said["waits"]), (202, &json!(true)), "{said}");
    assert!(said["message"].as_str().unwrap().contains("no worker is there"), "{said}");
    let (code, said) = served.act("c1", "k2", &json!({"do": "say", "node": "last", "text": "hi"}));
    assert!(code == 200 || code == 202, "{said}");
    let worker = Worker::start(&bench, &servers, &[]);
    until("it rests", || worker.said().contains("cast `c1`: rests"));
    for key in ["k1", "k2"] {
        let body = if key == "k1" {
            json!({"do": "approve", "node": "last"})
        } else {
            json!({"do": "say", "node": "last", "text": "hi"})
        };
        let (code, done) = served.act("c1", key, &body);
        assert_eq!(code, 200, "{key}: {done}");
    }
    on(&bench, &servers, &["replay", "c1"]).exits(0);
}

/// M1: `serve` refuses to start where the NATS server does not answer.
#[test]
fn a_server_needs_its_journal_at_the_start() {
    let mut servers = Servers::start(1, "");
    servers.kill(0);
    let ran: Ran = serve(&bench(), &servers).output().unwrap().into();
    let ran = ran.exits(2);
    assert!(ran.err.contains("no NATS server answers at"), "{ran:?}");
}
