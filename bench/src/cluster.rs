//! Workers on a NATS server: decisions a second, against publishes with acknowledgement on the same server.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use async_nats::jetstream::{self, Context, stream::Config};
use serde_json::{Value, json};

use crate::meter::{median, number};
use crate::report::{Bound, Figure, Report, say};
use crate::{Outcome, Wanted, calm, room, start};

/// Casts that run at once, and so publishes in flight.
const CASTS: u64 = 24;
/// Casts where each worker has room for few, so that one worker alone is not the limit.
const FEW_CASTS: u64 = 8;
/// Room of such a worker.
const FEW_SLOTS: u64 = 2;
/// Turns of a cast, each answered by a script. It is long enough that its beginning counts for little.
const TURNS: u64 = 400;
/// Rounds of each number of workers, in turns; the median counts.
const ROUNDS: u64 = 3;
/// Ticks a second in which the system counts the time of processes.
const TICKS: f64 = 100.0;
/// The version of the server that `scripts/test` installs.
const SERVER: &str = "materia-tests/nats-server-2.15.1/bin/nats-server";
/// How long a start or a round may take.
const PATIENCE: Duration = Duration::from_mins(5);

pub(crate) fn measure(report: &mut Report, _: &Wanted) -> Outcome<()> {
    let (Some(materia), Some(program)) = (start::binary()?, program()) else {
        say("the binary `materia` is not beside this program, or nats-server is missing");
        return Ok(());
    };
    calm::wait(report)?;
    let folder = room::on_disk()?;
    let server = Server::start(&program, &folder)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let context = runtime.block_on(async {
        Ok::<_, Box<dyn std::error::Error>>(jetstream::new(async_nats::connect(&server.url).await?))
    })?;
    let mut found = NAMES.map(|_| Vec::new());
    let mut few = NAMES.map(|_| Vec::new());
    for nth in 0..ROUNDS {
        for ((workers, _), (found, few)) in NAMES.into_iter().zip(found.iter_mut().zip(&mut few)) {
            let round = |space| Round {
                materia: &materia,
                server: &server,
                context: &context,
                folder: &folder,
                space,
            };
            let space = format!("bench-{workers}-{nth}");
            let load = Load { casts: CASTS, workers, slots: CASTS.div_ceil(workers) };
            let driven = runtime.block_on(round(&space).drive(&load))?;
            let floor = runtime.block_on(floor(&context, &space, &driven))?;
            found.push((driven, floor));
            let load = Load { casts: FEW_CASTS, workers, slots: FEW_SLOTS };
            let space = format!("few-{workers}-{nth}");
            few.push(runtime.block_on(round(&space).drive(&load))?.rate);
        }
    }
    for ((_, name), found) in NAMES.into_iter().zip(found) {
        let middle = |of: fn(&(Driven, f64)) -> f64| median(found.iter().map(of));
        let bytes = found.first().map_or(0, |(driven, _)| driven.bytes);
        let note = format!(
            "{CASTS} casts of {TURNS} scripted turns; {:.0} decisions/s of {bytes} bytes against {:.0} publishes/s with \
             {CASTS} in flight, one replica, `sync_interval: always`; {:.0} decisions/s until all files were written; CPU of \
             a decision with its files: workers {:.0} us, server {:.0} us",
            middle(|(driven, _)| driven.rate),
            middle(|(_, floor)| *floor),
            middle(|(driven, _)| driven.rate_with_files),
            middle(|(driven, _)| driven.workers_us),
            middle(|(driven, _)| driven.server_us),
        );
        let ratio = middle(|(driven, floor)| driven.rate / floor);
        let figure = Figure::new(name, ratio, "of the broker's limit").floor(1.0);
        report.add(figure.limit(Bound::AtLeast, 0.3).aim(0.5).note(note));
    }
    let [one, two, four] = few.map(median);
    let note = format!(
        "{FEW_CASTS} casts, {FEW_SLOTS} on each worker at one time: {one:.0} decisions/s with one worker, {two:.0} with two, \
         {four:.0} with four"
    );
    for (name, rate, floor) in [("cluster.grows-2", two, 2.0), ("cluster.grows-4", four, 4.0)] {
        let figure = Figure::new(name, rate / one, "times one worker").floor(floor);
        report.add(figure.limit(Bound::AtLeast, 1.0).note(note.clone()));
    }
    Ok(())
}

/// Casts, and the workers that run them.
struct Load {
    casts: u64,
    workers: u64,
    slots: u64,
}

const NAMES: [(u64, &str); 3] =
    [(1, "cluster.1-worker"), (2, "cluster.2-workers"), (4, "cluster.4-workers")];

/// Work of the workers in one round.
struct Driven {
    /// Decisions a second, from the first to the last.
    rate: f64,
    /// The same until all files of the casts were written.
    rate_with_files: f64,
    /// The mean size of a decision on the server.
    bytes: u64,
    decisions: u64,
    /// CPU time of a decision, in microseconds.
    workers_us: f64,
    server_us: f64,
}

/// CPU time of a process in microseconds; 0 where the system does not say.
fn cpu_us(process: &Child) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap_or_default();
    // Behind the name of the program, which may have spaces.
    let fields = stat.rsplit_once(") ").map(|(_, rest)| rest.split(' ')).into_iter().flatten();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|it| it.parse::<f64>().ok()).sum();
    ticks / TICKS * 1e6
}

fn program() -> Option<PathBuf> {
    let named = std::env::var_os("MATERIA_NATS_SERVER").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or(home);
    named.or_else(|| Some(cache?.join(SERVER))).filter(|path| path.is_file())
}

/// A server of its own. Dropping it ends the process.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(program: &Path, folder: &Path) -> Outcome<Self> {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let config = folder.join("nats.conf");
        let store = folder.join("nats");
        let store = store.display();
        let text = format!(
            "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{store}\", sync_interval: always }}\n"
        );
        fs::write(&config, text)?;
        let process = Command::new(program)
            .arg("-c")
            .arg(&config)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let server = Self { process, url: format!("nats://127.0.0.1:{port}") };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begun.elapsed() > PATIENCE {
                return Err("nats-server does not answer".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Workers that end with the round.
struct Workers(Vec<Child>);

impl Drop for Workers {
    fn drop(&mut self) {
        for worker in &mut self.0 {
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}

struct Round<'a> {
    materia: &'a Path,
    server: &'a Server,
    context: &'a Context,
    folder: &'a Path,
    space: &'a str,
}

impl Round<'_> {
    fn command(&self, project: &Path) -> Command {
        let mut command = start::command(self.materia, project);
        command.env("MATERIA_JOURNAL", &self.server.url).env("MATERIA_SPACE", self.space);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Hands the casts over; nobody drives them yet.
    fn cast(&self, casts: u64) -> Outcome<PathBuf> {
        // The cycle of two agents that the other subjects have, too.
        let again = json!({"to": "build", "maxTraversals": TURNS});
        let config = json!({
            "materia": {"Build": {"prompt": "Build what was asked for."}, "Check": {"prompt": "Check what was built."}},
            "loadouts": {"L": {"entry": "build", "sockets": {
                "build": {"materia": "Build", "edges": [{"to": "check"}]},
                "check": {"materia": "Check", "parse": "json", "edges": [{"when": "satisfied", "to": "end"}, again]}
            }}},
            "activeLoadout": "L"
        });
        let visits = TURNS / 2;
        let built: Vec<Value> = (0..visits).map(|_| json!({"text": "done"})).collect();
        let checked = (1..=visits).map(|nth| json!({"json": {"satisfied": nth == visits}}));
        let answers = json!({"build": built, "check": checked.collect::<Vec<Value>>()});
        let project = start::project(self.folder, self.space, &config.to_string())?;
        fs::write(project.join("answers.json"), json!({"turns": answers}).to_string())?;
        for nth in 0..casts {
            let id = format!("c{nth}");
            let words =
                ["cast", "--trust", "--detach", "--script", "answers.json", "--cast-id", &id, "go"];
            let status = self.command(&project).args(words).status()?;
            if !status.success() {
                return Err(format!("cast {id} was not handed over: {status}").into());
            }
        }
        Ok(project)
    }

    /// Has workers drive casts.
    async fn drive(&self, load: &Load) -> Outcome<Driven> {
        let project = self.cast(load.casts)?;
        let mut stream = self.context.get_stream(format!("materia-{}", self.space)).await?;
        let mut todo = self.context.get_stream(format!("KV_materia-{}-todo", self.space)).await?;
        let before = stream.info().await?.state.clone();
        let slots = load.slots.to_string();
        let mut running = Workers(Vec::new());
        for _ in 0..load.workers {
            let words = ["worker", "--trust-space", self.space, "--slots", &slots];
            running.0.push(self.command(&project).args(words).spawn()?);
        }
        let (begun, before_us) = (Instant::now(), cpu_us(&self.server.process));
        while todo.info().await?.state.messages > 0 {
            if begun.elapsed() > PATIENCE {
                return Err("the casts do not end".into());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let filed =
            (0..load.casts).map(|nth| project.join(format!(".materia/c{nth}/manifest.json")));
        let mut unfiled: Vec<PathBuf> = filed.collect();
        loop {
            unfiled.retain(|file| !ended(file));
            if unfiled.is_empty() {
                break;
            }
            if begun.elapsed() > PATIENCE {
                return Err("the files of the casts are not written".into());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let files_at = SystemTime::now();
        let after = stream.info().await?.state.clone();
        let server_us = cpu_us(&self.server.process) - before_us;
        let workers_us: f64 = running.0.iter().map(cpu_us).sum();
        drop(running);
        let first = stream.get_raw_message(before.last_sequence + 1).await?.time;
        let last = stream.get_raw_message(after.last_sequence).await?.time;
        let seconds = (last - first).as_seconds_f64();
        let since = files_at.duration_since(SystemTime::from(first)).unwrap_or_default();
        let decisions = after.messages - before.messages;
        let bytes = (after.bytes - before.bytes) / decisions.max(1);
        if decisions < load.casts * TURNS {
            return Err(format!("the casts ended after {decisions} decisions").into());
        }
        let (rate, each) = (number(decisions) / seconds, 1.0 / number(decisions));
        let (workers_us, server_us) = (workers_us * each, server_us * each);
        let rate_with_files = number(decisions) / since.as_secs_f64();
        Ok(Driven { rate, rate_with_files, bytes, decisions, workers_us, server_us })
    }
}

/// Whether a manifest says that its cast has ended. It is written after the other files.
fn ended(manifest: &Path) -> bool {
    let text = fs::read(manifest).unwrap_or_default();
    serde_json::from_slice::<Value>(&text).is_ok_and(|it| it["status"] == "completed")
}

/// Publishes a second to a stream like that of the casts: as many messages, of the same size, as many in flight as casts.
async fn floor(context: &Context, space: &str, driven: &Driven) -> Outcome<f64> {
    let subject = format!("floor-{space}");
    let like = context.get_stream(format!("materia-{space}")).await?.cached_info().config.clone();
    let config = Config { name: subject.clone(), subjects: vec![format!("{subject}.>")], ..like };
    context.create_stream(config).await?;
    let (payload, count) = (vec![b'x'; usize::try_from(driven.bytes)?], driven.decisions);
    let begun = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..CASTS {
        let (context, payload) = (context.clone(), payload.clone());
        let subject = format!("{subject}.{task}");
        tasks.spawn(async move {
            for _ in 0..count.div_ceil(CASTS) {
                let sent = context.publish(subject.clone(), payload.clone().into()).await;
                sent.map_err(|error| error.to_string())?
                    .await
                    .map_err(|error| error.to_string())?;
            }
            Ok::<_, String>(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(number(count.div_ceil(CASTS) * CASTS) / begun.elapsed().as_secs_f64())
}
