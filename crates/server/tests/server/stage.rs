//! A server in this process, and raw requests to it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use materia_app::Project;
use materia_compiler::Sources;
use materia_contract::api::ServerFile;
use materia_server::{Demo, Listen, Settings};
use serde_json::Value;

/// A server with a project of its own.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    pub(crate) server: ServerFile,
    stop: Box<dyn Fn() + Send + Sync>,
    thread: Option<std::thread::JoinHandle<()>>,
    demo: bool,
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Programs that do as little as can be: the shell says what they say.
pub(crate) const CONFIG: &str = r#"{
  "materia": {
    "Say": { "type": "utility", "command": ["sh", "-c", "echo '{\"satisfied\": true}'"] },
    "Slow": { "type": "utility", "command": ["sh", "-c", "sleep 0.3; echo '{\"satisfied\": true}'"] },
    "Talk": { "prompt": "Talk.", "multiTurn": true }
  },
  "loadouts": {
    "Quick": { "entry": "A", "sockets": {
      "A": { "materia": "Say", "parse": "json", "edges": [{ "when": "always", "to": "B" }] },
      "B": { "materia": "Say", "parse": "json" } } },
    "Asks": { "entry": "A", "sockets": {
      "A": { "materia": "Say", "parse": "json", "approval": "before" } } },
    "Long": { "entry": "A", "sockets": {
      "A": { "materia": "Slow", "parse": "json", "edges": [{ "when": "always", "to": "B" }] },
      "B": { "materia": "Slow", "parse": "json", "edges": [{ "when": "always", "to": "C" }] },
      "C": { "materia": "Slow", "parse": "json" } } }
  },
  "activeLoadout": "Quick"
}"#;

fn settings(folder: &Path) -> Settings {
    let (profile, state) = (folder.join("profile"), folder.join("state"));
    let kept = state.clone();
    let open = move |dir: &Path| {
        let sources = Sources {
            project_dir: dir.to_owned(),
            profile_dir: Some(profile.clone()),
            ..Sources::default()
        };
        Project::open(sources, Some(kept.clone()))
    };
    Settings {
        listen: Listen::parse("127.0.0.1:0").unwrap(),
        projects: vec![folder.join("project")],
        open: Arc::new(open),
        state_dir: state,
        supervisor: supervisor(),
        test_hooks: false,
        page_dir: None,
        demo: None,
        resume: true,
        version: "test".to_owned(),
    }
}

/// The program that looks after what turns start: the binary beside this test, which the workspace builds.
fn supervisor() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let target = own.ancestors().nth(2).unwrap();
    target.join("materia")
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::made(false)
    }

    /// A server whose project can be played as a demo.
    pub(crate) fn with_demo() -> Self {
        Self::made(true)
    }

    fn made(demo: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        fs::write(folder.path().join("project/materia.json"), CONFIG).unwrap();
        let mut stage = Self {
            folder,
            server: ServerFile {
                url: String::new(),
                pid: 0,
                token: String::new(),
                version: String::new(),
            },
            stop: Box::new(|| ()),
            thread: None,
            demo,
        };
        stage.begin();
        stage
    }

    /// Begins to serve, in a thread of its own.
    pub(crate) fn begin(&mut self) {
        let mut settings = settings(self.folder.path());
        if self.demo {
            let project = self.folder.path().join("project");
            let script = self.folder.path().join("script.json");
            fs::write(&script, "{}").unwrap();
            settings.demo = Some(Demo { project, script, request: "go".to_owned() });
        }
        let (told, hear) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let serving = materia_server::serve(settings).await.unwrap();
                let stop: Box<dyn Fn() + Send + Sync> = Box::new(serving.stopper());
                told.send(stop).unwrap();
                serving.run().await;
            });
        });
        self.stop = hear.recv().unwrap();
        self.thread = Some(thread);
        let said = fs::read(self.folder.path().join("state/server.json")).unwrap();
        self.server = serde_json::from_slice(&said).unwrap();
    }

    /// Ends the server in good order.
    pub(crate) fn end(&mut self) {
        (self.stop)();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().unwrap()
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(crate) fn host(&self) -> &str {
        self.server.url.strip_prefix("http://").unwrap()
    }

    pub(crate) fn port(&self) -> &str {
        self.host().rsplit(':').next().unwrap()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.host()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    /// Sends bytes as they are; gives the first answer.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that has heard enough may close before all is sent.
        let _ = stream.write_all(bytes);
        answer(&mut stream)
    }

    /// A request with these headers besides the usual ones.
    pub(crate) fn ask(&self, method: &str, path: &str, more: &str, body: &str) -> Answer {
        let (host, token, length) = (self.host(), &self.server.token, body.len());
        self.raw(
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n{more}\r\n{body}")
                .as_bytes(),
        )
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "", "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, "", &body.to_string())
    }

    /// The same under a key.
    pub(crate) fn post_as(&self, key: &str, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, &format!("Idempotency-Key: {key}\r\n"), &body.to_string())
    }

    /// A request of a person who has signed in.
    pub(crate) fn as_person(&self, method: &str, path: &str, body: &Value) -> Answer {
        let code = self.post("/api/codes", &serde_json::json!({})).json()["code"].clone();
        let host = self.host();
        let send = |method: &str, path: &str, more: &str, body: &str| {
            let length = body.len();
            self.raw(format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").as_bytes())
        };
        let code = serde_json::json!({ "code": code }).to_string();
        let signed_in = send("POST", "/api/session", "", &code);
        let mut lines = signed_in.head.lines();
        let cookie = lines.find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        let (cookie, key) = (cookie.split(';').next().unwrap(), signed_in.json());
        let key = key["key"].as_str().unwrap();
        let more = format!("Cookie: {cookie}\r\nX-Materia-Key: {key}\r\n");
        send(method, path, &more, &body.to_string())
    }

    /// Approves whatever waits for approval.
    pub(crate) fn trust(&self) {
        for item in self.get("/api/trust").json()["items"].as_array().unwrap() {
            let answer = self.post("/api/trust", &serde_json::json!({ "hash": item["hash"] }));
            assert_eq!(answer.status, 200, "{answer:?}");
        }
    }

    /// Waits until a cast stands so.
    pub(crate) fn until(&self, id: &str, status: &str) -> Value {
        for _ in 0..600 {
            let cast = self.get(&format!("/api/casts/{id}")).json();
            if cast["status"] == status {
                return cast;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{id} is not {status}: {:?}", self.get(&format!("/api/casts/{id}")));
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        (self.stop)();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Reads one answer.
pub(crate) fn answer(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text.as_str(), ""));
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}
