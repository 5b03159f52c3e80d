//! Hostile neighbours: programs that take a dead server's port, other users, turns that have the
//! token, unreadable folders.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use materia_server::client::Client;
use serde_json::{Value, json};

use crate::stage::{Answer, CONFIG, Stage};

/// Answer of an impostor to a nonce.
type Proof = Box<dyn Fn(&str) -> String + Send>;

/// Takes somebody else's place at an address: keeps what it is sent, and answers by `proof`.
fn impostor(proof: impl Fn(&str) -> String + Send + 'static) -> (u16, Arc<Mutex<String>>) {
    let ear = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = ear.local_addr().unwrap().port();
    let heard = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&heard);
    std::thread::spawn(move || {
        for stream in ear.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|count| count > 0) {
                kept.lock().unwrap().push_str(&line);
                if let Some(asked) = line.strip_prefix("GET /api/health") {
                    let nonce = asked.split(['=', ' ']).nth(1).unwrap_or_default();
                    let body = json!({ "status": "ok", "version": "x", "proof": proof(nonce) });
                    let (body, stream) = (body.to_string(), reader.get_mut());
                    let _ = write!(
                        stream,
                        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
                        body.len()
                    );
                }
                line.clear();
            }
        }
    });
    (port, heard)
}

/// Server file with another port.
fn at_port(stage: &Stage, port: u16) -> String {
    let url = format!("http://127.0.0.1:{port}");
    let server = &stage.server;
    json!({ "url": url, "pid": server.pid, "token": server.token, "version": "test" }).to_string()
}

#[test]
fn nobody_gets_the_token_who_does_not_know_it() {
    let mut stage = Stage::new();
    assert!(Client::of(&stage.state()).is_some(), "the server itself is known");
    let file = stage.state().join("server.json");
    let relay = {
        let host = stage.host().to_owned();
        move |nonce: &str| {
            // The real server's proof, for the real server's port.
            let mut stream = std::net::TcpStream::connect(&host).unwrap();
            let asked = format!(
                "GET /api/health?nonce={nonce} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
            );
            stream.write_all(asked.as_bytes()).unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            let body: Value = serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap();
            body["proof"].as_str().unwrap().to_owned()
        }
    };
    let said = fs::read_to_string(&file).unwrap();
    let impostors: [Proof; 3] =
        [Box::new(|_| String::new()), Box::new(|_| "0".repeat(64)), Box::new(relay)];
    for (number, proof) in impostors.into_iter().enumerate() {
        let (port, heard) = impostor(proof);
        fs::write(&file, at_port(&stage, port)).unwrap();
        assert!(Client::of(&stage.state()).is_none(), "{number}");
        let heard = heard.lock().unwrap().clone();
        assert!(heard.contains("nonce="), "{number}: it was asked: {heard}");
        assert!(!heard.contains(&stage.server.token), "{number}: {heard}");
    }
    fs::write(&file, said).unwrap();
    stage.end();
    // Nobody has the lock any more: whoever listens is not even asked.
    let (port, heard) = impostor(|_| String::new());
    fs::write(&file, at_port(&stage, port)).unwrap();
    assert!(Client::of(&stage.state()).is_none());
    assert_eq!(*heard.lock().unwrap(), "");
    fs::remove_file(&file).unwrap();
}

/// A project beside the other, with what lies where its journal should be.
fn broken(stage: &Stage, name: &str, lay: impl FnOnce(&Path)) -> String {
    let dir = stage.project().parent().unwrap().join(name);
    fs::create_dir_all(dir.join(".materia")).unwrap();
    fs::write(dir.join("materia.json"), CONFIG).unwrap();
    lay(&dir.join(".materia"));
    let added = stage.as_person("POST", "/api/projects", &json!({ "dir": dir }));
    assert_eq!(added.status, 201, "{added:?}");
    added.json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_project_that_cannot_be_opened_harms_no_other() {
    let stage = Stage::new();
    stage.trust();
    let first = stage.get("/api/projects").json()["items"][0]["id"].as_str().unwrap().to_owned();
    stage.post("/api/casts", &json!({ "loadout": "Asks", "castId": "good" }));
    stage.until("good", "waiting");
    let ids = [
        broken(&stage, "garbage", |folder| {
            fs::write(folder.join("journal.db"), "no journal ".repeat(1_000)).unwrap();
        }),
        broken(&stage, "fifo", |folder| {
            let made = Command::new("mkfifo").arg(folder.join("journal.db")).status().unwrap();
            assert!(made.success());
        }),
        broken(&stage, "link", |folder| {
            fs::remove_dir(folder).unwrap();
            std::os::unix::fs::symlink("/etc", folder).unwrap();
        }),
        broken(&stage, "folder", |folder| fs::create_dir(folder.join("journal.db")).unwrap()),
    ];
    let good = |answer: Answer| -> Value {
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    let casts = good(stage.get("/api/casts"));
    assert_eq!(casts["items"][0]["castId"], "good");
    assert_eq!(good(stage.get("/api/inbox"))["items"][0]["castId"], "good");
    assert_eq!(stage.get("/metrics").status, 200);
    good(stage.get("/api/casts/good"));
    let said =
        stage.post("/api/casts/good/commands", &json!({ "do": "say", "node": "A", "text": "x" }));
    assert_eq!(said.status, 200, "{said:?}");
    let projects = good(stage.get("/api/projects"))["items"].as_array().unwrap().clone();
    for project in &projects {
        let is_broken = project["id"] != first.as_str();
        assert_eq!(project["problem"].is_string(), is_broken, "{project}");
        let dir = project["dir"].as_str().unwrap();
        let told = casts["unreadable"].to_string().contains(dir);
        assert_eq!(told, is_broken, "{dir}: {casts}");
    }
    for id in &ids {
        let removed = stage.ask("DELETE", &format!("/api/projects/{id}"), "", "{}");
        assert_eq!(removed.status, 200, "{removed:?}");
    }
    assert_eq!(good(stage.get("/api/projects"))["items"].as_array().unwrap().len(), 1);
    assert_eq!(good(stage.get("/api/casts"))["unreadable"], Value::Null);
    let none = stage.ask("DELETE", &format!("/api/projects/{}", ids[0]), "", "{}");
    assert_eq!(none.status, 404, "{none:?}");
    assert!(
        stage.project().join("../garbage/.materia/journal.db").exists(),
        "nothing in it changes"
    );
}

#[test]
fn a_project_whose_casts_are_under_way_stays() {
    let stage = Stage::new();
    stage.trust();
    stage.post("/api/casts", &json!({ "loadout": "Long", "castId": "long" }));
    let id = stage.get("/api/projects").json()["items"][0]["id"].as_str().unwrap().to_owned();
    let refused = stage.ask("DELETE", &format!("/api/projects/{id}"), "", "{}");
    assert_eq!(refused.status, 409, "{refused:?}");
    stage.until("long", "completed");
}

/// Sends a request from a process with this environment, as this user.
fn from_process(stage: &Stage, before: &[&str], mark: bool, request: &str) -> String {
    let (host, port) = ("127.0.0.1", stage.port());
    let script = format!("exec 3<>/dev/tcp/{host}/{port}; printf %s \"$REQUEST\" >&3; cat <&3");
    let mut command = match before {
        [] => Command::new("bash"),
        [program, rest @ ..] => {
            let mut command = Command::new(program);
            command.args(rest).arg("bash");
            command
        }
    };
    command.args(["-c", &script]).env("REQUEST", request).env_remove("MATERIA_TURN");
    if mark {
        command.env("MATERIA_TURN", "0123456789abcdef.0123456789abcdef.3.0");
    }
    String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
}

fn request(stage: &Stage, method: &str, path: &str, token: bool, body: &Value) -> String {
    let body = body.to_string();
    let token = if token {
        format!("Authorization: Bearer {}\r\n", stage.server.token)
    } else {
        String::new()
    };
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\n{token}Content-Type: application/json\r\nIf-Match: 0\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        stage.host(),
        body.len()
    )
}

#[test]
fn a_turn_that_has_the_token_changes_nothing() {
    let stage = Stage::new();
    stage.trust();
    stage.post("/api/casts", &json!({ "loadout": "Asks", "castId": "asks" }));
    stage.until("asks", "waiting");
    for endpoint in materia_contract::api::ENDPOINTS {
        if !endpoint.method.changes() || endpoint.access == materia_contract::api::Access::Open {
            continue;
        }
        let path = endpoint.path.replace("{id}", "asks").replace("{layer}", "project");
        let path = path.replace("{*file}", "materia.json").replace("{project}", "x");
        let asked = request(&stage, endpoint.method.word(), &path, true, &json!({ "dir": "/etc" }));
        let answer = from_process(&stage, &[], true, &asked);
        assert!(answer.starts_with("HTTP/1.1 403 "), "{path}: {answer}");
    }
    let folder = json!({ "dir": "/etc" });
    let refused = stage.post("/api/projects", &folder);
    assert_eq!(refused.status, 403, "the token adds no folder, whoever has it: {refused:?}");
    assert_eq!(stage.get("/api/projects").json()["items"].as_array().unwrap().len(), 1);
    let other = json!({ "project": "/etc" });
    assert_eq!(stage.post("/api/casts/asks/drive", &other).status, 404, "nor does a handing over");
    let own =
        from_process(&stage, &[], false, &request(&stage, "GET", "/api/casts", true, &json!(1)));
    assert!(own.starts_with("HTTP/1.1 413 "), "a process of nobody's turn is heard: {own}");
}

#[test]
#[expect(clippy::print_stderr, reason = "whoever looks should know that it was skipped")]
fn wrong_codes_of_another_user_keep_nobody_from_signing_in() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: without root there is no other user");
        return;
    }
    let stage = Stage::new();
    let other = ["setpriv", "--reuid", "65534", "--clear-groups"];
    let wrong = request(&stage, "POST", "/api/session", false, &json!({ "code": "wrong" }));
    // On one connection, as quickly as they are answered.
    let last = wrong.clone();
    let many = wrong.replace("Connection: close\r\n", "").repeat(150) + &last;
    let answers = from_process(&stage, &other, false, &many);
    assert_eq!(answers.matches("HTTP/1.1 401 ").count(), 151, "{answers}");
    let code = stage.post("/api/codes", &json!({})).json()["code"].clone();
    let mine = request(&stage, "POST", "/api/session", false, &json!({ "code": code }));
    let theirs = from_process(&stage, &other, false, &mine);
    assert!(theirs.starts_with("HTTP/1.1 401 "), "that user is heard no more: {theirs}");
    let answer = stage.raw(mine.as_bytes());
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn a_configuration_is_not_written_through_a_link() {
    let stage = Stage::new();
    let outside = stage.project().join("../outside.json");
    let project = stage.project();
    fs::rename(project.join("materia.json"), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, project.join("materia.json")).unwrap();
    let folder = stage.project().join("../outside");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("materia.json"), "{}").unwrap();
    std::os::unix::fs::symlink(&folder, project.join(".materia")).unwrap();
    let config = stage.get("/api/config").json();
    let mut tried = 0;
    for file in config["items"].as_array().unwrap() {
        if file["layer"] != "project" {
            continue;
        }
        tried += 1;
        let path = format!("/api/config/project/{}", file["file"].as_str().unwrap());
        let hash = format!("If-Match: {}\r\n", file["hash"].as_str().unwrap());
        let refused = stage.ask("PUT", &path, &hash, &json!({ "text": "{ }" }).to_string());
        assert!(refused.status >= 400, "{path}: {refused:?}");
        assert!(refused.body.contains("link"), "{path}: {refused:?}");
    }
    assert_eq!(tried, 2, "{config}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), CONFIG);
    assert_eq!(fs::read_to_string(folder.join("materia.json")).unwrap(), "{}");
}
