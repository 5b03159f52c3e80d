//! A long run: whether its last steps cost the same as its first ones, and its disk usage.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use materia_contract::{Event, EventBody, Record};
use materia_engine::{BoxFuture, Committed, Observer};
use materia_journal::{Options, Views};

use crate::meter::{cpu_time, median, number};
use crate::report::{Bound, Figure, Report};
use crate::stage::Stage;
use crate::{Outcome, Wanted, calm, room};

const STEPS_DEFAULT: u64 = 20_000;
const STEPS_FULL: u64 = 100_000;

/// Steps of one window, and windows that make the first or the last thousand.
const WINDOW_STEPS: u64 = 100;
const WINDOWS_COMPARED: usize = 10;

/// Windows at the beginning that warm things up: pools fill, files are opened.
const WINDOWS_SKIPPED: usize = 2;

pub(crate) fn measure(report: &mut Report, wanted: &Wanted) -> Outcome<()> {
    let steps = if wanted.full { STEPS_FULL } else { STEPS_DEFAULT };
    calm::wait(report)?;
    let folder = room::on_disk()?;
    let root = folder.join("root");
    let windows = {
        let stage = Stage::open(&root, Options::default())?;
        let windows = Arc::new(Windows::new(Arc::clone(&stage.views)));
        stage.one_watched("long", steps, Arc::clone(&windows) as _)?;
        windows.taken()
    };
    compare(report, steps, &windows);
    // The journal is closed by now, so that its log is moved into the file.
    let texts = windows.iter().map(|window| window.texts).sum();
    weigh(report, steps, texts, &root)
}

fn compare(report: &mut Report, steps: u64, windows: &[Window]) {
    let first = &windows[WINDOWS_SKIPPED..WINDOWS_SKIPPED + WINDOWS_COMPARED];
    let last = &windows[windows.len() - WINDOWS_COMPARED..];
    let ratio = |of: fn(&Window) -> f64| median(last.iter().map(of)) / median(first.iter().map(of));
    let how = format!(
        "a run of {steps} steps, fully synced; medians of the windows of {WINDOW_STEPS} steps in its last \
         thousand and in the thousand after the first {}",
        WINDOWS_SKIPPED as u64 * WINDOW_STEPS
    );
    let cpu = Figure::new("growth.cpu", ratio(|it| it.cpu.as_secs_f64()), "last/first");
    report.add(cpu.floor(1.0).limit(Bound::AtMost, 1.15).note(how));
    let bytes = Figure::new("growth.bytes", ratio(|it| number(it.bytes)), "last/first");
    report.add(bytes.floor(1.0).limit(Bound::AtMost, 1.15).note("text and hashes of the records"));
    let wall = Figure::new("growth.wall", ratio(|it| it.wall.as_secs_f64()), "last/first");
    report.add(wall.note("mostly the disk, which is not the same at both ends; without a limit"));
    let total: f64 = windows.iter().map(|it| it.wall.as_secs_f64()).sum();
    report.add(Figure::new("growth.rate", number(steps) / total, "steps/s"));
}

/// Disk usage by kind of file.
#[derive(Debug, Default)]
struct Weight {
    journal: u64,
    lines: u64,
    turn_ends: u64,
    rest: u64,
    /// Prompts and outputs as files.
    texts: u64,
    /// Room that the file system takes for all but the texts.
    allocated: u64,
}

impl Weight {
    fn of(root: &Path) -> Outcome<Self> {
        let mut weight = Self::default();
        for path in room::files(root)? {
            let found = std::fs::metadata(&path)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let kind = match name.as_str() {
                name if name.starts_with("journal.db") => &mut weight.journal,
                "events.jsonl" => &mut weight.lines,
                name if name.ends_with(".meta.json") => &mut weight.turn_ends,
                name if name.ends_with(".prompt.txt") || name.contains(".output.") => {
                    &mut weight.texts
                }
                _ => &mut weight.rest,
            };
            *kind += found.len();
            if !name.ends_with(".prompt.txt") && !name.contains(".output.") {
                weight.allocated += found.blocks() * 512;
            }
        }
        Ok(weight)
    }
}

/// `texts` is what prompts and outputs take once; the journal and `events.jsonl` have both.
fn weigh(report: &mut Report, steps: u64, texts: u64, root: &Path) -> Outcome<()> {
    let weight = Weight::of(root)?;
    let a_step = |bytes: u64| number(bytes) / number(steps);
    let all = weight.journal + weight.lines + weight.turn_ends + weight.rest;
    let note = format!(
        "journal {:.0} bytes, events.jsonl {:.0}, meta.json {:.0}, less twice {:.0} of prompts and outputs; \
         their own files ({:.0}) are left out",
        a_step(weight.journal),
        a_step(weight.lines),
        a_step(weight.turn_ends),
        a_step(texts),
        a_step(weight.texts),
    );
    let figure = Figure::new("growth.disk", a_step(all - 2 * texts) / 1e3, "KB/step");
    report.add(figure.limit(Bound::AtMost, 3.4).aim(3.0).note(note));
    let blocks = Figure::new("growth.disk-blocks", a_step(weight.allocated) / 1e3, "KB/step");
    report.add(blocks.note("the same files in whole blocks of the file system, nothing taken off"));
    Ok(())
}

/// Cost of a number of steps.
#[derive(Debug, Clone, Copy)]
struct Window {
    wall: Duration,
    cpu: Duration,
    bytes: u64,
    /// Of these, prompts and outputs.
    texts: u64,
}

/// Stands between the run and its views and looks at the clock now and then.
struct Windows {
    views: Arc<Views>,
    state: Mutex<State>,
}

struct State {
    /// Steps in the window under way. The creation of the run is none.
    steps: u64,
    bytes: u64,
    texts: u64,
    since: Instant,
    cpu: Duration,
    taken: Vec<Window>,
}

impl Windows {
    fn new(views: Arc<Views>) -> Self {
        let (since, cpu) = (Instant::now(), cpu_time());
        Self {
            views,
            state: Mutex::new(State {
                steps: 0,
                bytes: 0,
                texts: 0,
                since,
                cpu,
                taken: Vec::new(),
            }),
        }
    }

    fn taken(&self) -> Vec<Window> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).taken.clone()
    }
}

impl Observer for Windows {
    fn committed(&self, news: &Committed) {
        self.views.committed(news);
        let Committed { records, events, .. } = news;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if records.first().is_some_and(|record| record.seq == 1) {
            (state.since, state.cpu) = (Instant::now(), cpu_time());
            return;
        }
        state.steps += 1;
        state.bytes += records.iter().map(size).sum::<u64>();
        state.texts += events.iter().map(text).sum::<u64>();
        if state.steps == WINDOW_STEPS {
            let (now, cpu) = (Instant::now(), cpu_time());
            let State { bytes, texts, since, .. } = *state;
            let window =
                Window { wall: now - since, cpu: cpu.saturating_sub(state.cpu), bytes, texts };
            state.taken.push(window);
            (state.steps, state.bytes, state.texts) = (0, 0, 0);
            (state.since, state.cpu) = (now, cpu);
        }
    }

    fn room(&self) -> Option<BoxFuture<'static, ()>> {
        self.views.room()
    }
}

fn size(record: &Record) -> u64 {
    let node = record.node.as_ref().map_or(0, String::len);
    (record.kind.len() + node + record.data.len() + record.hash.0.len()) as u64
}

/// The size of a text to or from an agent in an event, as JSON text.
fn text(event: &Event) -> u64 {
    let text = if let EventBody::TurnStarted(data) = &event.body {
        data.prompt.as_ref()
    } else if let EventBody::TurnCompleted(data) = &event.body {
        Some(&data.report.output)
    } else if let EventBody::HandoffSent(data) = &event.body {
        // A preview is a piece of an output.
        Some(&data.preview)
    } else {
        None
    };
    let quoted = text.and_then(|text| serde_json::to_string(text).ok());
    quoted.map_or(0, |quoted| quoted.len() as u64)
}
