//! Other users of the machine, beside a server and its command line.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::people::{Who, finds, people};
use crate::bench::{Bench, until};
use crate::serving::ask;

/// A project with a server of this user; `None` where there is no other user.
fn served() -> Option<(Bench, Child)> {
    if !people().contains(&Who::Nobody) {
        return None;
    }
    let bench = Bench::with(&json!({
        "materia": { "Say": { "type": "utility", "command": ["true"] } },
        "loadouts": { "L": { "entry": "A", "sockets": { "A": { "materia": "Say" } } } },
        "activeLoadout": "L"
    }));
    let server = bench.start(&["serve", "--listen", "127.0.0.1:0"]);
    until("the server answers", || {
        ask(&bench, "GET", "/api/projects", "x", &Value::Null).is_some()
    });
    Some((bench, server))
}

fn said_of(bench: &Bench) -> Value {
    serde_json::from_slice(&fs::read(bench.state().join("server.json")).unwrap()).unwrap()
}

/// Listens at a port, says where it writes what it hears, and answers everything.
const LISTENER: &str = r#"
import socket, sys, threading
ear = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listens", flush=True)
def hear(it):
    while True:
        heard = it.recv(65536)
        if not heard: return
        print(heard, flush=True)
        it.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}')
while True:
    it, _ = ear.accept()
    print("called", flush=True)
    threading.Thread(target=hear, args=(it,), daemon=True).start()
"#;

#[test]
fn another_user_at_the_port_of_a_dead_server_gets_no_token() {
    let Some((bench, mut server)) = served() else { return };
    if !finds(Who::Nobody, "python3") {
        return;
    }
    server.kill().unwrap();
    server.wait().unwrap();
    let said = said_of(&bench);
    let port = said["url"].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
    let heard = bench.project().join("../heard");
    let mut other = Who::Nobody
        .command(&["python3", "-c", LISTENER, &port])
        .current_dir("/")
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .stdout(Stdio::from(fs::File::create(&heard).unwrap()))
        .spawn()
        .unwrap();
    let told = || fs::read_to_string(&heard).unwrap();
    until("another user listens there", || told().contains("listens"));
    // Whatever asks the server: nobody holds its lock, so there is none.
    let _ = bench.run(&["stop"]);
    let _ = bench.run(&["attach", "c"]);
    let ran = bench.run(&["cast", "--detach", "--no-request", "--cast-id", "c"]);
    ran.exits(0);
    assert_ne!(said_of(&bench)["url"], said["url"], "another server, at another port");
    let told = told();
    assert!(!told.contains(said["token"].as_str().unwrap()), "{told}");
    assert!(!told.contains("called"), "nobody even asks there: {told}");
    other.kill().unwrap();
    other.wait().unwrap();
    bench.run(&["stop"]).exits(0);
}

#[test]
fn another_user_sees_no_code_while_the_browser_opens() {
    let Some((bench, mut server)) = served() else { return };
    let (bin, seen) = (bench.project().join("../bin"), bench.project().join("../seen"));
    fs::create_dir(&bin).unwrap();
    let bin = bin.canonicalize().unwrap();
    // While it runs, another user reads the arguments of all processes, and tries to read the file.
    let script = format!(
        "#!/bin/sh\nsetpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'cat /proc/[0-9]*/cmdline; cat \"$0\"' \"$1\" > {0}.new 2>&1\nmv {0}.new {0}\n",
        seen.display()
    );
    fs::write(bin.join("xdg-open"), script).unwrap();
    fs::set_permissions(bin.join("xdg-open"), fs::Permissions::from_mode(0o755)).unwrap();
    // The file alone keeps the other user out.
    for folder in [bench.project().join(".."), bench.state()] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let ran = bench.command(&["ui"]).env("PATH", path).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    let code = said.trim().split("#code=").nth(1).unwrap_or_else(|| panic!("{said}"));
    until("the browser was opened", || seen.exists());
    let told = String::from_utf8_lossy(&fs::read(&seen).unwrap()).into_owned();
    assert!(told.contains("xdg-open") && told.contains("open.html"), "{told}");
    assert!(told.contains("Permission denied"), "{told}");
    assert!(!told.contains(code), "{told}");
    let mode = fs::metadata(bench.state().join("open.html")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    bench.run(&["stop"]).exits(0);
    server.wait().unwrap();
}

#[test]
fn a_state_folder_of_another_user_is_refused() {
    let Some((bench, mut server)) = served() else { return };
    bench.run(&["stop"]).exits(0);
    server.wait().unwrap();
    let state = bench.state();
    let chown = |path: &std::path::Path, user| {
        std::os::unix::fs::chown(path, Some(user), None).unwrap();
    };
    let token = state.join("server.token");
    for path in [&state, &token] {
        chown(path, 65_534);
        for words in [&["serve", "--listen", "127.0.0.1:0"][..], &["ui", "--no-open"]] {
            let ran = bench.run(words);
            assert_ne!(ran.exit, 0, "{words:?}: {ran:?}");
            assert!(ran.err.contains("belongs to user 65534"), "{words:?}: {ran:?}");
        }
        chown(path, 0);
    }
}

#[test]
fn a_journal_of_another_state_folder_is_followed_while_its_owner_writes() {
    let bench = Bench::with(&json!({
        "materia": { "Say": { "type": "utility", "command": ["true"] } },
        "loadouts": { "L": { "entry": "A", "sockets": {
            "A": { "materia": "Say", "approval": "before" } } } },
        "activeLoadout": "L"
    }));
    let elsewhere = bench.project().join("../elsewhere");
    let there = |words: &[&str]| {
        let ran = bench.command(words).env("MATERIA_STATE_DIR", &elsewhere).output().unwrap();
        crate::bench::Ran::from(ran)
    };
    there(&["cast", "--no-request", "--cast-id", "c"]).exits(3);
    let server = bench.start(&["serve", "--listen", "127.0.0.1:0"]);
    let get = |path: &str| ask(&bench, "GET", path, "x", &Value::Null).map(|it| it.1);
    until("the server answers", || get("/api/projects").is_some());
    let seen = || get("/api/casts/c/events?limit=1000").unwrap()["items"].clone();
    let before = u64::try_from(seen().as_array().unwrap().len()).unwrap();
    assert!(before > 1);
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            // The stream ends when the journal has changed, and its reader goes on from its last id.
            let mut all = Vec::new();
            until("what the other process writes is told", || {
                let last = all.last().copied().unwrap_or(before);
                all.extend(crate::serving::read(&bench, "c", last, 1).unwrap().0);
                all.len() >= 2
            });
            all
        });
        there(&["say", "c", "A", "hello"]).exits(0);
        assert_eq!(reading.join().unwrap()[..2], [before + 1, before + 2]);
    });
    until("so it is in the list of events", || seen().to_string().contains("message.received"));
    bench.run(&["stop"]).exits(0);
    crate::bench::finish(server).exits(0);
}
