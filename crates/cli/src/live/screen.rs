//! The live view: one line a socket, redrawn ten times a second.

use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use materia_app::news::{News, news};
use materia_app::speech::Speech;
use materia_contract::{Event, EventBody, NodeId, Plan, RunId};
use materia_engine::{Committed, Observer};

use crate::clean::one_line;
use crate::say;
use crate::story::Story;

/// How often the elapsed time is drawn anew.
const REFRESH: Duration = Duration::from_millis(100);
/// How many sockets have a line of their own.
const LINES_MAX: usize = 24;
/// How much of a materia's name is shown.
const MATERIA_CHARS_MAX: usize = 24;
/// How much of an item is shown beside what a turn says.
const SPOKEN_ITEM_CHARS_MAX: usize = 16;

/// Draws a run.
pub(crate) struct Screen {
    bars: MultiProgress,
    picture: Mutex<Picture>,
}

struct Picture {
    sockets: IndexMap<NodeId, Socket>,
    lines: Vec<ProgressBar>,
    story: Story,
    /// Counts changes, so that it is known what changed last.
    changes: u64,
}

/// What is known of one socket.
struct Socket {
    /// The name of what runs there.
    materia: String,
    state: State,
    visits: u32,
    attempt: u32,
    item: Option<String>,
    speech: Speech,
    changed: u64,
}

enum State {
    Waiting,
    Running(Instant),
    Ended(&'static str, Duration),
}

impl Screen {
    /// A view of a run of `plan`, with nothing drawn yet, going on from the story so far.
    pub(crate) fn new(plan: &Plan, story: Story) -> Self {
        let bars = MultiProgress::new();
        // A wide message is cut at the edge of the terminal.
        let style =
            ProgressStyle::with_template("{wide_msg}").unwrap_or(ProgressStyle::default_bar());
        let lines = plan.nodes.keys().take(LINES_MAX).map(|_| {
            let bar = bars.add(ProgressBar::new_spinner());
            bar.set_style(style.clone());
            bar
        });
        let lines = lines.collect();
        let nodes = plan.nodes.iter();
        let sockets = nodes.map(|(id, node)| (id.clone(), Socket::new(&node.materia))).collect();
        Self { bars, picture: Mutex::new(Picture { sockets, lines, story, changes: 0 }) }
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
    fn committed(&self, news: &Committed) {
        let mut worth = Vec::new();
        {
            let mut picture = self.picture();
            for event in &*news.events {
                worth.extend(picture.note(event));
            }
        }
        for words in worth {
            self.say(&words);
        }
    }

    fn streamed(&self, _run: &RunId, node: &NodeId, text: &str) {
        if let Some(socket) = self.picture().sockets.get_mut(node) {
            socket.speech.hear(text);
        }
    }
}

impl Socket {
    fn new(materia: &str) -> Self {
        Self {
            materia: one_line(materia, MATERIA_CHARS_MAX),
            state: State::Waiting,
            visits: 0,
            attempt: 1,
            item: None,
            speech: Speech::default(),
            changed: 0,
        }
    }

    /// What stands first on its line: where, and what.
    fn title(&self, name: &NodeId) -> String {
        format!("{name} {}", self.materia)
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
        let mut line = format!("{:width$}  {word:<11}", self.title(name));
        if let Some(time) = time {
            let _ = write!(line, " {:>8}", say::duration(micros(time)));
        }
        if self.visits > 1 {
            let _ = write!(line, "  visit {}", self.visits);
        }
        if self.attempt > 1 {
            let _ = write!(line, "  attempt {}", self.attempt);
        }
        let speaks = self.speech.line().filter(|_| matches!(self.state, State::Running(_)));
        if let Some(item) = &self.item {
            // Who speaks needs the room.
            let chars = if speaks.is_some() { SPOKEN_ITEM_CHARS_MAX } else { usize::MAX };
            let _ = write!(line, "  {}", one_line(item, chars));
        }
        if let Some(words) = speaks {
            let _ = write!(line, "  │ {words}");
        }
        line
    }
}

impl Picture {
    /// Takes an event in; gives back what is worth a line above the view.
    fn note(&mut self, event: &Event) -> Option<String> {
        self.story.note(event);
        let news = news(event);
        if let News::Worth = news {
            let title = |node| format!("{}: ", self.story.who(node));
            let whose = event.node.as_ref().map(title).unwrap_or_default();
            return Some(format!("{whose}{}", say::event(event, &self.story)));
        }
        let socket = self.sockets.get_mut(event.node.as_ref()?)?;
        match (news, &event.body) {
            (News::Started, EventBody::TurnStarted(data)) => {
                socket.state = State::Running(Instant::now());
                (socket.visits, socket.attempt) = (data.visit, data.attempt);
                socket.item = self.story.item_of(event.node.as_ref(), data);
                socket.speech.clear();
            }
            (News::Ended(_, word), _) => socket.end(word),
            (News::Started | News::Worth | News::Detail, _) => return None,
        }
        self.changes += 1;
        socket.changed = self.changes;
        None
    }

    /// Where there are more sockets than lines, those that run and those that changed last are
    /// shown; always in the order of the plan.
    fn draw(&self) {
        let titles = self.sockets.iter().map(|(id, socket)| socket.title(id));
        let width = titles.map(|title| title.chars().count()).max().unwrap_or(0);
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

#[cfg(test)]
mod tests {
    use materia_contract::{
        Behavior, Budget, Cause, InterruptReason, Limits, Node, TurnInterrupted, TurnStarted,
    };

    use super::*;

    fn plan() -> Plan {
        let behavior =
            Behavior::Utility { command: vec!["true".into()], params: serde_json::Map::new() };
        Plan {
            loadout: "L".into(),
            entry: NodeId::new("a"),
            nodes: [(NodeId::new("a"), Node::new("Build", behavior))].into_iter().collect(),
            loops: IndexMap::new(),
            limits: Limits::default(),
            budget: Budget::default(),
            doc_root: "docs".into(),
        }
    }

    fn line(screen: &Screen) -> String {
        let picture = screen.picture();
        let (name, socket) = picture.sockets.first().unwrap();
        socket.line(name, 8)
    }

    fn tell(screen: &Screen, seq: u64, body: impl Into<EventBody>) {
        let node = Some(NodeId::new("a"));
        let event = Event { seq, ts: 1, wall: 1, node, body: body.into() };
        let news = Committed { run: RunId::new("c1"), records: [].into(), events: [event].into() };
        screen.committed(&news);
    }

    fn started() -> TurnStarted {
        TurnStarted {
            visit: 1,
            attempt: 1,
            item: Some("WI-1".into()),
            item_label: None,
            cause: Cause::Input,
            consumed: Vec::new(),
            prompt: None,
            input: None,
            layers: Vec::new(),
            session: None,
            script: None,
            global_mode: None,
            provider: None,
            program_version: None,
            model: None,
            tools: None,
            schema: None,
            approved: None,
        }
    }

    #[test]
    fn what_a_turn_says_is_on_its_line_while_it_runs() {
        let screen = Screen::new(&plan(), Story::default());
        assert_eq!(line(&screen), "a Build   waiting    ");
        tell(&screen, 1, started());
        screen.streamed(&RunId::new("c1"), &NodeId::new("a"), "one\ntw\x1b[2J");
        screen.streamed(&RunId::new("c1"), &NodeId::new("a"), "o\n");
        screen.streamed(&RunId::new("c1"), &NodeId::new("nobody"), "lost");
        assert!(line(&screen).ends_with("WI-1  │ tw␛[2Jo"), "{}", line(&screen));
        let reason = InterruptReason::Stopped;
        tell(&screen, 2, TurnInterrupted { turn: 1, visit: 1, attempt: 1, reason });
        assert!(line(&screen).ends_with("WI-1"), "{}", line(&screen));
        tell(&screen, 3, started());
        assert!(line(&screen).ends_with("WI-1"), "a new turn has said nothing: {}", line(&screen));
    }
}
