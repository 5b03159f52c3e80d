//! The live view: one line a socket, redrawn ten times a second.

use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use materia_contract::{Event, EventBody, NodeId, Plan, Record, RunId};
use materia_engine::Observer;

use crate::say;

/// How often the elapsed time is drawn anew.
const REFRESH: Duration = Duration::from_millis(100);
/// How many sockets have a line of their own.
const LINES_MAX: usize = 24;

/// Draws a run.
pub(crate) struct Screen {
    bars: MultiProgress,
    picture: Mutex<Picture>,
}

struct Picture {
    sockets: IndexMap<NodeId, Socket>,
    lines: Vec<ProgressBar>,
    /// Counts changes, so that it is known what changed last.
    changes: u64,
}

/// What is known of one socket.
struct Socket {
    state: State,
    visits: u32,
    attempt: u32,
    item: Option<String>,
    changed: u64,
}

enum State {
    Waiting,
    Running(Instant),
    Ended(&'static str, Duration),
}

impl Screen {
    /// A view of a run of `plan`, with nothing drawn yet.
    pub(crate) fn new(plan: &Plan) -> Self {
        let bars = MultiProgress::new();
        let style = ProgressStyle::with_template("{msg}").unwrap_or(ProgressStyle::default_bar());
        let lines = plan.nodes.keys().take(LINES_MAX).map(|_| {
            let bar = bars.add(ProgressBar::new_spinner());
            bar.set_style(style.clone());
            bar
        });
        let lines = lines.collect();
        let sockets = plan.nodes.keys().map(|id| (id.clone(), Socket::new())).collect();
        Self { bars, picture: Mutex::new(Picture { sockets, lines, changes: 0 }) }
    }

    /// Draws again and again, so that the time can be seen to pass. Never ends by itself.
    pub(crate) async fn keep_drawing(&self) {
        loop {
            self.picture().draw();
            tokio::time::sleep(REFRESH).await;
        }
    }

    /// Takes the view away; what it showed last stays.
    pub(crate) fn finish(&self) {
        let picture = self.picture();
        picture.draw();
        for line in &picture.lines {
            line.abandon();
        }
    }

    /// Says something above the view.
    pub(crate) fn say(&self, words: &str) {
        // The terminal is gone: there is nobody to tell.
        let _ = self.bars.println(words);
    }

    fn picture(&self) -> MutexGuard<'_, Picture> {
        self.picture.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Screen {
    fn committed(&self, _run: &RunId, _records: &[Record], events: &[Event]) {
        let mut picture = self.picture();
        for event in events {
            picture.note(event);
        }
    }
}

impl Socket {
    fn new() -> Self {
        Self { state: State::Waiting, visits: 0, attempt: 1, item: None, changed: 0 }
    }

    fn end(&mut self, word: &'static str) {
        let took = match self.state {
            State::Running(since) => since.elapsed(),
            State::Waiting | State::Ended(..) => Duration::ZERO,
        };
        self.state = State::Ended(word, took);
    }

    fn line(&self, name: &NodeId, width: usize) -> String {
        let (word, time) = match self.state {
            State::Waiting => ("waiting", None),
            State::Running(since) => ("running", Some(since.elapsed())),
            State::Ended(word, took) => (word, Some(took)),
        };
        let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        let mut line = format!("{name:width$}  {word:<11}");
        if let Some(time) = time {
            let _ = write!(line, " {:>8}", say::duration(micros(time)));
        }
        if self.visits > 1 {
            let _ = write!(line, "  visit {}", self.visits);
        }
        if self.attempt > 1 {
            let _ = write!(line, "  attempt {}", self.attempt);
        }
        if let Some(item) = &self.item {
            let _ = write!(line, "  {item}");
        }
        line
    }
}

impl Picture {
    fn note(&mut self, event: &Event) {
        let Some(socket) = event.node.as_ref().and_then(|node| self.sockets.get_mut(node)) else {
            return;
        };
        match &event.body {
            EventBody::TurnStarted(data) => {
                socket.state = State::Running(Instant::now());
                (socket.visits, socket.attempt) = (data.visit, data.attempt);
                socket.item.clone_from(&data.item);
            }
            EventBody::TurnCompleted(_) => socket.end("done"),
            EventBody::TurnFailed(_) => socket.end("failed"),
            EventBody::TurnInterrupted(_) => socket.end("interrupted"),
            EventBody::RunCreated(_)
            | EventBody::RunResumed(_)
            | EventBody::RunWaiting(_)
            | EventBody::RunCompleted(_)
            | EventBody::RunFailed(_)
            | EventBody::RunAborted(_)
            | EventBody::RouteSelected(_)
            | EventBody::HandoffSent(_)
            | EventBody::PayloadDelivered(_)
            | EventBody::PayloadConsumed(_)
            | EventBody::StatePatched(_)
            | EventBody::OutputFieldsIgnored(_)
            | EventBody::CursorAdvanced(_) => return,
        }
        self.changes += 1;
        socket.changed = self.changes;
    }

    /// Where there are more sockets than lines, those that run and those that changed last are
    /// shown; always in the order of the plan.
    fn draw(&self) {
        let width = self.sockets.keys().map(|id| id.as_str().len()).max().unwrap_or(0);
        let mut shown: Vec<usize> = (0..self.sockets.len()).collect();
        if shown.len() > self.lines.len() {
            shown.sort_by_key(|index| {
                let socket = &self.sockets[*index];
                (!matches!(socket.state, State::Running(_)), u64::MAX - socket.changed)
            });
            shown.truncate(self.lines.len());
            shown.sort_unstable();
        }
        for (line, index) in self.lines.iter().zip(shown) {
            if let Some((id, socket)) = self.sockets.get_index(index) {
                let text = socket.line(id, width);
                if line.message() != text {
                    line.set_message(text);
                }
            }
        }
    }
}
