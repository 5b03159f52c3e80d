//! Bad connections, processes that stand still, servers that go away (M1, M2, M3).

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

use materia_contract::{ChainHash, Record, RunId};
use materia_engine::{AppendError, Batch, Epoch, Journal, Lease, journal_contract::sample_records};
use materia_nats::{NatsJournal, Options, Space};
use rustix::process::{Pid, Signal, kill_process};

use crate::proxy::{self, Mischief};
use crate::server::Servers;
use crate::{open, options};

/// Whether the full counts are wanted (`scripts/test --long`).
fn is_long() -> bool {
    std::env::var_os("MATERIA_LONG").is_some()
}

fn batch(run: &RunId, epoch: Epoch, after: u64, records: &[Record]) -> Batch {
    let records = records.to_vec().into();
    Batch { run: run.clone(), epoch, after, records, receipt: None, verdict: None }
}

#[tokio::test]
async fn nothing_is_lost_or_doubled_through_a_bad_connection() {
    let servers = Servers::start(1, "");
    let honest = open(&servers, "bad", 1);
    let mischief = Mischief { cut: 60, delay: 25, double: 8 };
    let (port, happened) = proxy::start(servers.port(0), mischief);
    let url = format!("nats://127.0.0.1:{port}");
    let wanted = Options::new(&url, Space::parse("bad").expect("a space")).expect("an address");
    let journal = Servers::ready(|| NatsJournal::open(wanted.clone()));
    let each: u64 = if is_long() { 2_500 } else { 60 };
    let write = async |name: &str| {
        let run = RunId::new(name);
        let lease = journal.claim(&run).await.expect("claim");
        let (mut told, mut head) = (Vec::new(), ChainHash::origin(&run));
        for after in 0..each {
            let records = sample_records(&run, after, 1, head);
            head = records[0].hash;
            let appended = journal.append(batch(&run, lease.epoch(), after, &records)).await;
            appended.unwrap_or_else(|error| panic!("event {} of {run}: {error}", after + 1));
            told.extend(records);
        }
        (run, told)
    };
    let all = tokio::join!(write("a"), write("b"), write("c"), write("d"));
    let client = async_nats::connect(servers.url()).await.expect("a connection");
    let context = async_nats::jetstream::new(client);
    let stream = context.get_stream("materia-bad").await.expect("the stream");
    let messages = stream.cached_info().state.messages;
    assert_eq!(messages, 4 * (each + 1), "one message an append, and a mark a run");
    for (run, told) in <[_; 4]>::from(all) {
        assert_eq!(honest.read(&run, 0, usize::MAX).await.expect("read").records, told, "{run}");
    }
    let (cuts, doubles) = (&happened.cuts, &happened.doubles);
    let (cuts, doubles) = (cuts.load(Ordering::SeqCst), doubles.load(Ordering::SeqCst));
    assert!(cuts > 0 && doubles > 0, "{cuts} cuts, {doubles} messages sent twice");
}

const HELD: u64 = 100;

fn held(nth: u64) -> RunId {
    RunId::new(format!("held-{nth}"))
}

/// Not a test of its own: the process that holds leases and is stopped by the test below.
#[test]
fn holder() {
    let Ok(url) = std::env::var("MATERIA_TEST_HOLDER") else { return };
    let space = Space::parse("held").expect("a space");
    let journal = NatsJournal::open(Options::new(&url, space).expect("an address")).expect("open");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let leases: Vec<Lease> = runtime.expect("a runtime").block_on(async {
        let mut leases = Vec::new();
        for nth in 0..HELD {
            leases.push(journal.claim(&held(nth)).await.expect("claim"));
        }
        leases
    });
    writeln!(std::io::stdout(), "\nholds").expect("the test reads");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("the test writes");
    for (nth, lease) in (0..HELD).zip(&leases) {
        let run = held(nth);
        let records = sample_records(&run, 0, 1, ChainHash::origin(&run));
        let appended =
            materia_engine::wait(journal.append(batch(&run, lease.epoch(), 0, &records)));
        let word = match appended {
            Err(AppendError::Fenced { .. }) => "fenced".to_owned(),
            other => format!("{other:?}"),
        };
        writeln!(std::io::stdout(), "\nappend {word}").expect("the test reads");
    }
    // The leases were lost; there is nothing to give up.
    std::process::exit(0);
}

#[tokio::test]
async fn an_old_holder_that_wakes_cannot_append() {
    let servers = Servers::start(1, "");
    let lease = Duration::from_secs(2);
    let wanted = Options { lease, ..options(&servers, "held", 1) };
    let journal = Servers::ready(|| NatsJournal::open(wanted.clone()));
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "faults::holder", "--nocapture"])
        .env("MATERIA_TEST_HOLDER", servers.url())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = |wanted: &str| {
        let line = lines.by_ref().map_while(Result::ok).find(|line| line.starts_with(wanted));
        line.unwrap_or_else(|| panic!("it does not say `{wanted}`"))
    };
    next("holds");
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::STOP).expect("it is ours");
    // Its leases lapse, and another takes its runs. Nobody writes to them.
    let mut taken = Vec::new();
    for nth in 0..HELD {
        let run = held(nth);
        while journal.is_driven(&run).await.expect("look") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        taken.push(journal.claim(&run).await.expect("claim"));
    }
    kill_process(pid, Signal::CONT).expect("it is ours");
    writeln!(child.stdin.take().expect("a pipe"), "go").expect("it reads");
    for nth in 0..HELD {
        assert_eq!(next("append "), "append fenced", "{nth}");
        assert!(journal.head(&held(nth)).await.expect("head").is_none());
    }
    child.wait().expect("it ends");
}

#[tokio::test]
async fn a_lost_server_is_waited_for() {
    let mut servers = Servers::start(1, "");
    let patience = Duration::from_secs(30);
    let wanted = Options { patience, ..options(&servers, "lost", 1) };
    let journal = Servers::ready(|| NatsJournal::open(wanted.clone()));
    let run = RunId::new("r");
    let first = sample_records(&run, 0, 1, ChainHash::origin(&run));
    let second = sample_records(&run, 1, 1, first[0].hash);
    journal.append(batch(&run, Epoch::default(), 0, &first)).await.expect("append");
    servers.kill(0);
    let append = journal.append(batch(&run, Epoch::default(), 1, &second));
    let restart = tokio::task::spawn_blocking(move || {
        servers.begin(0);
        servers
    });
    let (appended, servers) = tokio::join!(append, restart);
    appended.expect("it was waited for");
    let servers = servers.expect("it starts");
    let reader = open(&servers, "lost", 1);
    let told = [first, second].concat();
    assert_eq!(reader.read(&run, 0, usize::MAX).await.expect("read").records, told);
}

#[tokio::test]
async fn a_server_that_stays_away_is_given_up() {
    let mut servers = Servers::start(1, "");
    let patience = Duration::from_millis(300);
    let wanted = Options { patience, ..options(&servers, "away", 1) };
    let journal = Servers::ready(|| NatsJournal::open(wanted.clone()));
    let run = RunId::new("r");
    let records = sample_records(&run, 0, 1, ChainHash::origin(&run));
    servers.kill(0);
    let error = journal.append(batch(&run, Epoch::default(), 0, &records)).await;
    let error = error.expect_err("nobody answers").to_string();
    assert!(error.contains("the NATS server was lost"), "{error}");
}
