//! NATS servers for tests: on 127.0.0.1, with temporary folders, ended by their process ids.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The version that `scripts/test` installs.
const VERSION: &str = "2.15.1";

/// How long a server may take to be ready.
const READY_WITHIN: Duration = Duration::from_mins(1);

/// Servers that know each other, or a single one.
pub(crate) struct Servers {
    servers: Vec<Server>,
    folder: tempfile::TempDir,
}

struct Server {
    port: u16,
    monitor: u16,
    config: PathBuf,
    child: Option<Child>,
}

/// The program. Tests that need it fail without it.
pub(crate) fn program() -> PathBuf {
    if let Some(named) = std::env::var_os("MATERIA_NATS_SERVER").filter(|it| !it.is_empty()) {
        return named.into();
    }
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or(home);
    let installed = cache
        .map(|cache| cache.join(format!("materia-tests/nats-server-{VERSION}/bin/nats-server")));
    installed.filter(|path| path.is_file()).unwrap_or_else(|| {
        panic!("nats-server is missing: run `scripts/test`, which installs it, or set MATERIA_NATS_SERVER to its path")
    })
}

/// A free port below the range that the system gives out by itself. Each test process has its own part of it, so that no
/// other process takes the port before the server has it.
fn free_port() -> u16 {
    const FIRST: u32 = 10_240;
    const PROCESSES: u32 = 1_000;
    const EACH: u32 = 22;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let base = FIRST + std::process::id() % PROCESSES * EACH;
    let ports = (0..EACH).filter_map(|_| {
        let port = base + NEXT.fetch_add(1, Ordering::Relaxed) % EACH;
        u16::try_from(port).ok()
    });
    let mut free = ports.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.next().expect("a free port")
}

impl Servers {
    /// Starts one server, or several as a cluster; `more` is added to the configuration of each.
    pub(crate) fn start(count: usize, more: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let routes: Vec<u16> = (0..count).map(|_| free_port()).collect();
        let all: Vec<String> =
            routes.iter().map(|port| format!("nats-route://127.0.0.1:{port}")).collect();
        let make = |(nth, route): (usize, &u16)| {
            let (port, monitor) = (free_port(), free_port());
            let store = folder.path().join(format!("store-{nth}"));
            let cluster = if count == 1 {
                String::new()
            } else {
                format!(
                    "cluster {{ name: c, listen: \"127.0.0.1:{route}\", routes: [{}] }}\n",
                    all.join(", ")
                )
            };
            let text = format!(
                "server_name: n{nth}\nlisten: \"127.0.0.1:{port}\"\nhttp: \"127.0.0.1:{monitor}\"\n\
                 jetstream {{ store_dir: \"{}\", sync_interval: always }}\n{cluster}{more}\n",
                store.display()
            );
            let config = folder.path().join(format!("{nth}.conf"));
            std::fs::write(&config, text).expect("a file");
            Server { port, monitor, config, child: None }
        };
        let servers = routes.iter().enumerate().map(make).collect();
        let mut all = Self { servers, folder };
        for nth in 0..count {
            all.begin(nth);
        }
        all
    }

    /// Starts a server that is not running, and waits until it accepts connections.
    pub(crate) fn begin(&mut self, nth: usize) {
        let server = &mut self.servers[nth];
        let log = self.folder.path().join(format!("{nth}.log"));
        let child = Command::new(program())
            .arg("-c")
            .arg(&server.config)
            .arg("-l")
            .arg(&log)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nats-server starts");
        server.child = Some(child);
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", server.port)).is_err() {
            let said = || std::fs::read_to_string(&log).unwrap_or_default();
            assert!(begun.elapsed() < READY_WITHIN, "nats-server does not answer: {}", said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills a server.
    pub(crate) fn kill(&mut self, nth: usize) {
        if let Some(mut child) = self.servers[nth].child.take() {
            child.kill().expect("it is ours");
            child.wait().expect("it ends");
        }
    }

    /// The address of all of them.
    pub(crate) fn url(&self) -> String {
        let urls: Vec<String> =
            self.servers.iter().map(|it| format!("nats://127.0.0.1:{}", it.port)).collect();
        urls.join(",")
    }

    /// Whether a stream was made on the first one.
    #[allow(dead_code, reason = "not every test needs it")]
    pub(crate) fn has_store(&self) -> bool {
        self.folder.path().join("store-0/jetstream/$G/streams").exists()
    }

    /// The port of one of them.
    #[allow(dead_code, reason = "not every test needs it")]
    pub(crate) fn port(&self, nth: usize) -> u16 {
        self.servers[nth].port
    }

    /// The address of the monitor of the first one.
    #[allow(dead_code, reason = "not every test needs it")]
    pub(crate) fn monitor(&self) -> String {
        format!("http://127.0.0.1:{}", self.servers[0].monitor)
    }

    /// Whether a server has caught up with the others.
    #[allow(dead_code, reason = "not every test needs it")]
    pub(crate) fn is_healthy(&self, nth: usize) -> bool {
        let ask = || {
            let mut asked = TcpStream::connect(("127.0.0.1", self.servers[nth].monitor))?;
            asked.set_read_timeout(Some(Duration::from_secs(5)))?;
            asked.write_all(b"GET /healthz HTTP/1.0\r\n\r\n")?;
            let mut said = String::new();
            asked.read_to_string(&mut said)?;
            std::io::Result::Ok(said)
        };
        ask().is_ok_and(|said| said.contains(" 200 "))
    }

    /// Calls `attempt` until it succeeds: a cluster needs some time to choose its leader.
    pub(crate) fn ready<T, E: std::fmt::Display>(attempt: impl Fn() -> Result<T, E>) -> T {
        let begun = Instant::now();
        loop {
            match attempt() {
                Ok(done) => return done,
                Err(error) => assert!(begun.elapsed() < READY_WITHIN, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for nth in 0..self.servers.len() {
            self.kill(nth);
        }
    }
}
