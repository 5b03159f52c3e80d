//! The server as its page meets it: the first list, the first cast, and a server with nothing to do.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::meter::median;
use crate::report::{Bound, Figure, Report, say};
use crate::{Outcome, Wanted, lists, room, start};

/// Casts of the project.
const CASTS: u64 = 1_000;

/// Requests of each kind.
const ROUNDS: usize = 21;

/// How long the server is left alone.
const IDLE: Duration = Duration::from_secs(10);

/// Within this time the server must have started.
const START: Duration = Duration::from_secs(30);

pub(crate) fn measure(report: &mut Report, _: &Wanted) -> Outcome<()> {
    let Some(materia) = start::binary()? else {
        say("the binary `materia` is not beside this program");
        return Ok(());
    };
    let folder = room::on_disk()?;
    let project = lists::project(&folder, "served", CASTS)?;
    let server = Server::start(&materia, &project)?;
    let asked =
        [("server.first-list", "/api/casts?limit=50"), ("server.first-cast", "/api/casts/run-0")];
    for (name, path) in asked {
        let times: Outcome<Vec<f64>> = (0..ROUNDS).map(|_| server.get(path)).collect();
        let note = format!("`GET {path}` on a new connection, {CASTS} casts; median of {ROUNDS}");
        let figure = Figure::new(name, median(times?), "ms");
        report.add(figure.limit(Bound::AtMost, 15.0).note(note));
    }
    let before = server.cpu()?;
    std::thread::sleep(IDLE);
    let spent = server.cpu()?.saturating_sub(before).as_secs_f64() / IDLE.as_secs_f64() * 1e3;
    let note = format!("CPU time of a server that nobody asks, over {} s", IDLE.as_secs());
    let figure = Figure::new("server.idle-cpu", spent, "ms/s").limit(Bound::AtMost, 5.0);
    report.add(figure.note(note));
    let figure = Figure::new("server.idle-memory", server.memory_mb()?, "MB");
    report.add(figure.limit(Bound::AtMost, 40.0).note("resident memory of the same server"));
    Ok(())
}

/// A running server. Dropping it ends the process.
pub(crate) struct Server {
    process: Child,
    pub(crate) host: String,
    pub(crate) token: String,
}

impl Server {
    pub(crate) fn start(materia: &Path, project: &Path) -> Outcome<Self> {
        let mut command = start::command(materia, project);
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut server =
            Self { process: command.spawn()?, host: String::new(), token: String::new() };
        let since = Instant::now();
        loop {
            let noted = fs::read_to_string(project.join("state/server.json")).unwrap_or_default();
            let noted: Value = serde_json::from_str(&noted).unwrap_or_default();
            if let (Some(url), Some(token)) = (noted["url"].as_str(), noted["token"].as_str()) {
                url.trim_start_matches("http://").clone_into(&mut server.host);
                token.clone_into(&mut server.token);
                return Ok(server);
            }
            if since.elapsed() > START {
                return Err("the server did not start".into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Milliseconds until a whole answer is there.
    fn get(&self, path: &str) -> Outcome<f64> {
        let since = Instant::now();
        let mut connection = TcpStream::connect(&self.host)?;
        let (host, token) = (&self.host, &self.token);
        write!(
            connection,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer)?;
        if answer.starts_with("HTTP/1.1 200") {
            return Ok(since.elapsed().as_secs_f64() * 1e3);
        }
        Err(format!("`{path}`: {}", answer.lines().next().unwrap_or("no answer")).into())
    }

    /// CPU time of the process so far.
    fn cpu(&self) -> Outcome<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks = after_name.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        let ticks: u64 = ticks.sum::<Result<u64, _>>()?;
        // The kernel counts in hundredths of a second.
        Ok(Duration::from_millis(ticks * 10))
    }

    fn memory_mb(&self) -> Outcome<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: f64 =
            line.and_then(|it| it.split_whitespace().next()).ok_or("no VmRSS")?.parse()?;
        Ok(kib * 1024.0 / 1e6)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
