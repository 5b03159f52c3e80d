//! Figures for a collector, in the text form of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use materia_contract::Amount;
use materia_engine::blocking;
use tokio::runtime::Handle;

use crate::http::limits::STREAMS_MAX;
use crate::http::problem::{Answered, Refused};
use crate::request::{Request, text};
use crate::state::App;

/// `GET /metrics`.
pub(crate) fn metrics(app: &Arc<App>, _: &Request) -> Answered {
    Ok(text("text/plain; version=0.0.4", write(app)?))
}

fn write(app: &App) -> Result<String, Refused> {
    let mut casts: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut turns, mut tokens, mut cost) = (0_u64, 0_u64, Amount::default());
    let (mut driven, mut waiting) = (0_u64, 0_u64);
    let (mut commits, mut commit_seconds, mut batches) = (0_u64, 0.0_f64, 0_u64);
    let opened = app.rooms.of_meant(None, &Handle::current())?;
    let broken = opened.broken.len() as u64;
    for (_, room) in opened.rooms {
        let journal = &*room.journal;
        driven += room.host.runs().len() as u64;
        let stats = journal.stats();
        commits += stats.commits;
        batches += stats.batches;
        commit_seconds += stats.commit_time.as_secs_f64();
        let Ok(list) = blocking(journal).list() else { continue };
        for line in list.lines {
            *casts.entry(line.status.word()).or_default() += 1;
        }
        for id in room.host.runs() {
            waiting += materia_engine::wait(materia_engine::Journal::commands(journal, &id))
                .map_or(0, |list| list.len() as u64);
            if let Ok((run, _)) = materia_engine::load(journal, &id) {
                let usage = run.usage();
                turns += usage.turns;
                tokens = tokens.saturating_add(usage.tokens);
                cost = cost.saturating_add(usage.cost.unwrap_or_default());
            }
        }
    }
    let mut text = String::new();
    head(&mut text, "materia_casts", "gauge", "Casts by status");
    for (status, count) in casts {
        let _ = writeln!(text, "materia_casts{{status=\"{status}\"}} {count}");
    }
    let open = STREAMS_MAX - app.streams.available_permits().min(STREAMS_MAX);
    let counts = &app.counts;
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    for (name, kind, says, value) in [
        ("materia_driven_casts", "gauge", "Casts that this server drives", driven),
        ("materia_driven_turns", "gauge", "Turns of the casts that this server drives", turns),
        ("materia_driven_tokens", "gauge", "Tokens of those casts, as reported", tokens),
        ("materia_commands_waiting", "gauge", "Commands that wait for those casts", waiting),
        ("materia_projects_unreadable", "gauge", "Projects that cannot be opened", broken),
        ("materia_streams", "gauge", "Streams that are open", open as u64),
        ("materia_requests_total", "counter", "Requests", count(&counts.requests)),
        (
            "materia_requests_refused_total",
            "counter",
            "Requests that the guard refused",
            count(&counts.refused),
        ),
        (
            "materia_readers_cut_off_total",
            "counter",
            "Readers that were too slow",
            count(&counts.cut_off),
        ),
        (
            "materia_casts_started_total",
            "counter",
            "Casts that were started here",
            count(&counts.started),
        ),
        ("materia_acts_total", "counter", "Acts of people and programs", count(&counts.acts)),
        ("materia_commits_total", "counter", "Commits of the journals", commits),
        ("materia_batches_total", "counter", "Decisions in those commits", batches),
    ] {
        head(&mut text, name, kind, says);
        let _ = writeln!(text, "{name} {value}");
    }
    head(
        &mut text,
        "materia_driven_cost",
        "gauge",
        "Cost of the casts that this server drives, as reported",
    );
    let _ = writeln!(text, "materia_driven_cost {}", serde_json::json!(cost));
    head(&mut text, "materia_commit_seconds_total", "counter", "Time spent in commits");
    let _ = writeln!(text, "materia_commit_seconds_total {commit_seconds}");
    Ok(text)
}

fn head(text: &mut String, name: &str, kind: &str, says: &str) {
    let _ = writeln!(text, "# HELP {name} {says}.\n# TYPE {name} {kind}");
}
