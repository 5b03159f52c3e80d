//! Reading of long runs: verification of every event, and loading.
//!
//! The runs are driven in memory and then copied into the journal, a few thousand records a commit, which saves
//! minutes of syncs. The data is the same.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use materia_contract::{Folders, RunId};
use materia_engine::{Batch, Epoch, Journal, MemoryJournal, blocking, cast, load, replay, wait};
use materia_journal::{Options, SqliteJournal, Views};
use tokio::sync::mpsc;

use crate::meter::{cpu_since, cpu_time, median, number};
use crate::report::{Bound, Figure, Report};
use crate::{Outcome, Wanted, room, stage};

const SHORT_STEPS: u64 = 10_000;
const LONG_STEPS: u64 = 100_000;

/// Records that are copied in one commit.
const COPY_RECORDS: usize = 4_000;

const ROUNDS: usize = 7;

pub(crate) fn measure(report: &mut Report, _: &Wanted) -> Outcome<()> {
    let short = room::on_disk()?;
    prepare(&short, SHORT_STEPS, false)?;
    verified(report, &short)?;
    let ready = median(ready_rounds(&short)?);
    let figure = Figure::new("replay.ready-10k", ready, "s").limit(Bound::AtMost, 0.2);
    report.add(figure.note(format!(
        "open, claim, load, views looked after: a run of {SHORT_STEPS} steps without a snapshot"
    )));
    let long = room::on_disk()?;
    prepare(&long, LONG_STEPS, true)?;
    let ready = median(ready_rounds(&long)?);
    let figure = Figure::new("replay.ready-100k", ready, "s").limit(Bound::AtMost, 0.1);
    report.add(figure.note(format!("the same for {LONG_STEPS} steps, from a snapshot")));
    told(report, &long)?;
    as_of(report, &long)?;
    Ok(())
}

fn id() -> RunId {
    RunId::new("long")
}

/// Makes a run, its views and its journal.
fn prepare(root: &Path, steps: u64, with_snapshot: bool) -> Outcome<()> {
    let memory = Arc::new(MemoryJournal::default());
    let script = stage::script(steps);
    let views = Arc::new(Views::start(root, &Folders::default()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let world = stage::world(Arc::clone(&memory) as _, &script, Arc::clone(&views) as _);
    let created = stage::created(&script);
    let (_sender, mut asks) = mpsc::unbounded_channel();
    runtime.block_on(cast(&world, id(), created, materia_engine::Options::default(), &mut asks))?;
    views.flush()?;
    let journal = SqliteJournal::open(root, Options::default())?;
    let snapshots = if with_snapshot { memory.every_snapshot(&id()) } else { Vec::new() };
    let mut snapshots = snapshots.into_iter().peekable();
    let mut after = 0;
    loop {
        let mut records = blocking(&*memory).records(&id(), after, COPY_RECORDS)?;
        if records.len() == COPY_RECORDS
            && let Some(begun) = records.iter().rposition(|record| record.input.is_some())
        {
            // A decision is copied whole.
            records.truncate(begun);
        }
        let Some(last) = records.last().map(|record| record.seq) else { break };
        let due = snapshots.next_if(|snapshot| snapshot.seq <= last);
        if let (Some(due), Some(kept)) = (due, journal.snapshots()) {
            wait(kept.keep(&id(), due));
        }
        let (run, epoch, records) = (id(), Epoch::default(), records.into());
        let batch = Batch { run, epoch, after, records, receipt: None, verdict: None };
        wait(journal.append(batch))?;
        after = last;
    }
    Ok(())
}

/// How long it takes to tell the story of a long run.
fn told(report: &mut Report, root: &Path) -> Outcome<()> {
    let journal = SqliteJournal::open_existing(root)?.ok_or("the journal is not there")?;
    let mut rounds = Vec::new();
    let mut visits = 0;
    for _ in 0..ROUNDS {
        let since = Instant::now();
        visits = materia_engine::report(&journal, &id(), &Folders::default())?.visits.len();
        rounds.push(since.elapsed().as_secs_f64());
    }
    let figure = Figure::new("replay.report-100k", median(rounds), "s").limit(Bound::AtMost, 0.2);
    report.add(figure.note(format!("the report of the same run: {visits} visits")));
    Ok(())
}

/// Places in a run at which is asked what it was.
const PLACES: u64 = 16;

/// How long it takes at the most to tell what a run was at an event: among its first 100,000, and anywhere.
fn as_of(report: &mut Report, root: &Path) -> Outcome<()> {
    let journal = SqliteJournal::open_existing(root)?.ok_or("the journal is not there")?;
    let last = blocking(&journal).head(&id())?.map_or(0, |head| head.seq);
    for (name, events) in [("replay.at-100k", 100_000), ("replay.at-600k", last)] {
        let (mut worst, mut floor) = (0.0_f64, 0.0);
        for nth in 1..=PLACES {
            let at = (events.min(last) * nth / PLACES).saturating_sub(1).max(1);
            let mut rounds = Vec::new();
            for _ in 0..3 {
                let since = Instant::now();
                let told =
                    materia_engine::report_at(&journal, &id(), &Folders::default(), Some(at))?;
                std::hint::black_box(told);
                rounds.push(since.elapsed().as_secs_f64());
            }
            worst = worst.max(median(rounds));
        }
        let since = Instant::now();
        let mut read = 0;
        journal.for_each(&id(), 0, &mut |record| {
            read = record.seq;
            if read >= events {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        })?;
        floor += since.elapsed().as_secs_f64();
        let figure = Figure::new(name, worst, "s").floor(floor).limit(Bound::AtMost, 0.15);
        report.add(figure.note(format!(
            "the report as of an event, the worst of {PLACES} places; the floor reads {read} rows"
        )));
    }
    Ok(())
}

fn verified(report: &mut Report, root: &Path) -> Outcome<()> {
    let journal = SqliteJournal::open_existing(root)?.ok_or("the journal is not there")?;
    let (mut rates, mut floors, mut cpu) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (since, spent) = (Instant::now(), cpu_time());
        let replayed = replay(&journal, &id(), None)?;
        rates.push(number(replayed.events) / since.elapsed().as_secs_f64());
        cpu.push(cpu_since(spent).as_secs_f64() * 1e6 / number(replayed.events));
        let since = Instant::now();
        let mut bytes = 0;
        journal.for_each(&id(), 0, &mut |record| {
            bytes += record.data.len();
            std::ops::ControlFlow::Continue(())
        })?;
        std::hint::black_box(bytes);
        floors.push(number(replayed.events) / since.elapsed().as_secs_f64());
    }
    let note = format!(
        "every hash checked and every decision taken again; {:.2} µs of CPU an event; the floor only reads the rows",
        median(cpu)
    );
    report.add(
        Figure::new("replay.verified", median(rates), "events/s")
            .floor(median(floors))
            .limit(Bound::AtLeast, 200_000.0)
            .aim(500_000.0)
            .note(note),
    );
    Ok(())
}

fn ready_rounds(root: &Path) -> Outcome<Vec<f64>> {
    (0..ROUNDS).map(|_| ready(root).map(|took| took.as_secs_f64())).collect()
}

/// Everything that comes before a run can take its next step.
fn ready(root: &Path) -> Outcome<Duration> {
    let since = Instant::now();
    let journal = SqliteJournal::open(root, Options::default())?;
    let lease = blocking(&journal).claim(&id())?;
    let (run, head) = load(&journal, &id())?;
    let views = Views::start(root, &Folders::default());
    views.catch_up(&journal, &id())?;
    let took = since.elapsed();
    std::hint::black_box((run.seq(), head));
    drop(lease);
    Ok(took)
}
