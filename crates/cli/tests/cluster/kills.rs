//! Workers and servers that are killed at random under load (M6, M13). `scripts/test --long` kills 120 workers and 36
//! servers while 200 casts run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use futures_util::TryStreamExt as _;
use serde_json::{Value, json};

use crate::bench::{Bench, until_within};
use crate::on;
use crate::server::Servers;
use crate::workers::Worker;

/// The stream with the leases.
const LEASES: &str = "KV_materia-tests-leases";

/// How long anything may take: the machine may be slow.
const PATIENCE: Duration = Duration::from_hours(1);

struct Load {
    casts: usize,
    slots: usize,
    workers: usize,
    /// The kills before which all casts are driven again. The others follow at once.
    calm_kills: usize,
    worker_kills: usize,
    /// Servers that are killed together with a worker, evenly among these kills.
    server_kills: usize,
    lease: u32,
}

fn load() -> Load {
    if std::env::var_os("MATERIA_LONG").is_some() {
        // The usual lease: a takeover takes 20 seconds at most on an idle machine, where two workers have room for all
        // casts. It is measured and not asserted: a busy machine takes longer.
        let (worker_kills, server_kills) = (120, 36);
        Load {
            casts: 200,
            slots: 100,
            workers: 3,
            calm_kills: 100,
            worker_kills,
            server_kills,
            lease: 15,
        }
    } else {
        let (worker_kills, server_kills) = (3, 1);
        Load { casts: 6, slots: 6, workers: 2, calm_kills: 1, worker_kills, server_kills, lease: 3 }
    }
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// Turns note that they began. The last one waits until there are no more kills.
fn bench(load: &Load) -> Bench {
    let turn = |name: &str, rest: &str| {
        let text = format!(
            "echo $$ >> ran-$MATERIA_CAST_ID-{name}; {rest}; echo '{{\"state\": {{\"{name}\": 1}}}}'"
        );
        json!({"type": "utility", "command": ["sh", "-c", text], "parse": "json", "timeoutMs": 3_600_000})
    };
    let bench = Bench::with(&json!({
        "materia": {
            "A": turn("a", "sleep 1"),
            "B": turn("b", "sleep 1"),
            "C": turn("c", "while [ ! -e finish ]; do sleep 1; done"),
        },
        "loadouts": {"L": {"entry": "a", "sockets": {
            "a": {"materia": "A", "edges": [{"to": "b"}]},
            "b": {"materia": "B", "edges": [{"to": "c"}]},
            "c": {"materia": "C"}
        }}},
        "activeLoadout": "L"
    }));
    std::fs::create_dir_all(bench.profile()).unwrap();
    let profile = json!({"leaseSeconds": load.lease, "replicas": 3}).to_string();
    std::fs::write(bench.profile().join("materia.json"), profile).unwrap();
    bench
}

fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs_f64()
}

/// The casts that a worker drives, as its log says.
fn driven(log: &str) -> Vec<String> {
    let mut runs = Vec::new();
    for line in log.lines() {
        let Some((_, rest)) = line.split_once("cast `") else { continue };
        let Some((id, said)) = rest.split_once('`') else { continue };
        runs.retain(|run| run != id);
        if said.starts_with(": runs here") {
            runs.push(id.to_owned());
        }
    }
    runs
}

/// The casts that a process held when it died, by their leases, which outlive it. It may have claimed more than it said.
fn held_by(servers: &Servers, pid: u32) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let url = servers.url();
    let look = || {
        runtime.block_on(async {
            let client = async_nats::connect(url.split(',').collect::<Vec<_>>()).await?;
            let stream = async_nats::jetstream::new(client).get_stream(LEASES).await?;
            let keys = stream.info_with_subjects(">").await?;
            let keys: Vec<(String, usize)> = keys.try_collect().await?;
            let mut held = Vec::new();
            for (key, _) in keys {
                // It may lapse meanwhile.
                let Ok(last) = stream.get_last_raw_message_by_subject(&key).await else { continue };
                let holder = serde_json::from_slice::<Value>(&last.payload).unwrap_or_default();
                if holder["pid"] == pid {
                    held.extend(key.rsplit('.').next().map(str::to_owned));
                }
            }
            Ok::<_, async_nats::Error>(held)
        })
    };
    Servers::ready(look)
}

/// M6, M13: every cast ends as it does undisturbed, and no turn that had reported its end runs again.
#[test]
fn casts_outlive_random_kills() {
    let load = load();
    let mut servers = Servers::start(3, "");
    let bench = bench(&load);
    let id = |nth: usize| format!("k{nth:03}");
    Servers::ready(|| {
        let ran = on(&bench, &servers, &["cast", "--detach", "--cast-id", &id(0), "go"]);
        if ran.exit == 0 { Ok(()) } else { Err(ran.err) }
    });
    for nth in 1..load.casts {
        on(&bench, &servers, &["cast", "--detach", "--cast-id", &id(nth), "go"]).exits(0);
    }
    let slots = load.slots.to_string();
    let start = |servers: &Servers| Worker::start(&bench, servers, &["--slots", &slots]);
    let mut workers: Vec<Worker> = (0..load.workers).map(|_| start(&servers)).collect();
    let mut dice = Dice(7);
    let mut killed: Vec<Killed> = Vec::new();
    let mut down: Option<usize> = None;
    for kill in 0..load.worker_kills {
        // Any of those that drive a cast.
        let (from, mut found) = (dice.roll(workers.len()), None);
        until_within(PATIENCE, "a worker drives a cast", || {
            let mut order = (0..workers.len()).map(|it| (from + it) % workers.len());
            found = order.find(|it| !driven(&workers[*it].said()).is_empty());
            found.is_some()
        });
        let nth = found.unwrap();
        let of_server = |kills: usize| kills * load.server_kills / load.worker_kills;
        let with_server = of_server(kill) != of_server(kill + 1);
        let how = match (kill < load.calm_kills, with_server) {
            (true, false) => How::Alone,
            (true, true) => How::WithServer,
            (false, _) => How::Hurried,
        };
        if how != How::Hurried {
            until_within(PATIENCE, "all casts are driven", || {
                workers.iter().map(|worker| driven(&worker.said()).len()).sum::<usize>()
                    >= load.casts
            });
        }
        let pause = u64::try_from(dice.roll(1_500)).unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        if with_server {
            let server = dice.roll(3);
            servers.kill(server);
            down = Some(server);
        }
        let at = now();
        workers[nth].child.kill().unwrap();
        workers[nth].child.wait().unwrap();
        let held = held_by(&servers, workers[nth].child.id());
        killed.extend(held.into_iter().map(|run| Killed { run, at, how }));
        if let Some(server) = down.take() {
            servers.begin(server);
            // Another one may go only when this one has caught up.
            until_within(PATIENCE, "the server has caught up", || servers.is_healthy(server));
        }
        // A worker does not start before the servers have chosen a leader.
        until_within(PATIENCE, "the servers answer", || {
            on(&bench, &servers, &["workers"]).exit == 0
        });
        workers[nth] = start(&servers);
    }
    bench.write("finish", "");
    let begun = Instant::now();
    let mut takeovers: BTreeMap<How, Vec<f64>> = BTreeMap::new();
    for nth in 0..load.casts {
        let id = id(nth);
        let show = || on(&bench, &servers, &["show", &id, "--json"]);
        until_within(PATIENCE, "the cast is completed", || {
            let shown = show();
            assert!(!shown.out.contains("\"status\":\"failed\""), "{shown:?}");
            shown.exit == 0 && shown.json()["status"] == "completed"
        });
        assert_eq!(show().json()["state"], json!({"a": 1, "b": 1, "c": 1}), "{id}");
        let events = on(&bench, &servers, &["events", &id, "--json"]).exits(0).lines();
        check(&bench, &id, &events);
        on(&bench, &servers, &["replay", &id]).exits(0);
        let mut kills = killed.iter().filter(|kill| kill.run == id).peekable();
        while let Some(kill) = kills.next() {
            let seconds = |event: &Value| event["ts"].as_f64().unwrap() / 1e6;
            let taken = |event: &&Value| event["type"] == "run.resumed" && seconds(event) > kill.at;
            let next = kills.peek().map_or(f64::MAX, |kill| kill.at);
            let taken = events.iter().find(taken).map(seconds).filter(|taken| *taken < next);
            takeovers.entry(kill.how).or_default().extend(taken.map(|taken| taken - kill.at));
        }
    }
    let (kills, casts, rest) = (load.worker_kills, load.casts, begun.elapsed().as_secs());
    let promised = f64::from(load.lease) + 5.0;
    #[expect(clippy::print_stderr, reason = "the measured figures are the result of the long form")]
    {
        eprintln!(
            "{casts} casts, {kills} workers and {} servers killed; {rest} s until all had ended",
            load.server_kills
        );
        for (how, takeovers) in &mut takeovers {
            eprintln!("{how:?}: {}", told(takeovers, promised));
        }
    }
    assert!(!takeovers[&How::Alone].is_empty(), "a cast was taken over");
}

/// A cast whose worker was killed.
struct Killed {
    run: String,
    at: f64,
    how: How,
}

/// How a worker was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    /// When all casts were driven.
    Alone,
    /// When all casts were driven, together with a server.
    WithServer,
    /// Soon after another one.
    Hurried,
}

/// Says how long takeovers took.
fn told(takeovers: &mut [f64], promised: f64) -> String {
    takeovers.sort_by(f64::total_cmp);
    let in_time = takeovers.iter().filter(|taken| **taken <= promised).count();
    // In percent of all, in order.
    let at = |part: usize| {
        takeovers.get(takeovers.len().saturating_sub(1) * part / 100).copied().unwrap_or_default()
    };
    format!(
        "{} takeovers, {in_time} of them within {promised} s: median {:.1} s, 95 % {:.1} s, longest {:.1} s",
        takeovers.len(),
        at(50),
        at(95),
        at(100)
    )
}

/// Each turn reported its end once, and was not started again after it; its program ran at most once a start.
fn check(bench: &Bench, id: &str, events: &[Value]) {
    let (mut started, mut ended) = (BTreeMap::new(), BTreeMap::new());
    for event in events {
        let socket = event["nodeId"].as_str().unwrap_or_default().to_owned();
        match event["type"].as_str().unwrap() {
            "turn.started" => {
                assert!(!ended.contains_key(&socket), "{id}: {socket} ran again after its end");
                *started.entry(socket).or_insert(0) += 1;
            }
            "turn.completed" => *ended.entry(socket).or_insert(0) += 1,
            "turn.failed" | "run.failed" => panic!("{id}: {event}"),
            _ => {}
        }
    }
    let once: BTreeMap<String, i32> = ["a", "b", "c"].map(|it| (it.to_owned(), 1)).into();
    assert_eq!(ended, once, "{id}");
    for (socket, starts) in started {
        let ran = bench.read(&format!("ran-{id}-{socket}")).lines().count();
        assert!((1..=starts).contains(&ran), "{id}: {socket} ran {ran} times in {starts} starts");
    }
}
