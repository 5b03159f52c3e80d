//! The live view: one line a socket, redrawn ten times a second.

use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use materia_app::text::event_importance::{Importance, news};
use materia_app::text::live_line::LiveLine;
use materia_contract::{CastReport, Event, EventBody, NodeId, Outcome, Plan, RunId, UsageTotals};
use materia_engine::views::TurnEnd;
use materia_engine::{Committed, Observer};

use materia_app::text::event_text;
use materia_app::text::narrator::Narrator;
use materia_app::text::sanitize::one_line;

/// How often the elapsed time is drawn anew.
const REFRESH: Duration = Duration::from_millis(100);
/// How many sockets have a line of their own, where the terminal has room for them.
const LINES_MAX: usize = 16;
/// Other lines on the screen: the total, and the line of the cursor.
const OTHER_LINES: usize = 2;
/// How many lines are left behind at the end.
const LEFT_LINES_MAX: usize = 40;
/// How wide the names of socket and materia may be together: what an agent says needs the room.
const TITLE_CHARS_MAX: usize = 24;
/// How much of a materia's name is shown.
const MATERIA_CHARS_MAX: usize = 24;
/// How much of an item is shown beside what a turn says.
const SPOKEN_ITEM_CHARS_MAX: usize = 12;

/// Draws a run.
pub struct Screen {
    bars: MultiProgress,
    picture: Mutex<Picture>,
}

struct Picture {
    bars: MultiProgress,
    style: ProgressStyle,
    sockets: IndexMap<NodeId, Socket>,
    lines: Vec<ProgressBar>,
    /// The line below them: what the cast has taken so far.
    total: ProgressBar,
    began: Instant,
    spent: UsageTotals,
    /// Whether the view was taken away.
    done: bool,
    story: Narrator,
    /// Counts changes, so that it is known what changed last.
    changes: u64,
}

/// State of one socket.
struct Socket {
    /// The name of what runs there.
    materia: String,
    /// Whether it waits for a person after each answer.
    talks: bool,
    state: State,
    visits: u32,
    attempt: u32,
    item: Option<String>,
    speech: LiveLine,
    changed: u64,
}

enum State {
    NotYet,
    /// A person has to do something.
    NeedsYou,
    Running(Instant),
    Ended(&'static str, Duration),
}

impl Screen {
    /// A view of a run of `plan`, with nothing drawn yet, going on from the story so far.
    pub fn new(plan: &Plan, story: Narrator) -> Self {
        let bars = MultiProgress::new();
        // A wide message is cut at the edge of the terminal.
        let style =
            ProgressStyle::with_template("{wide_msg}").unwrap_or(ProgressStyle::default_bar());
        let nodes = plan.nodes.iter();
        let sockets = nodes
            .map(|(id, node)| (id.clone(), Socket::new(&node.materia, node.multi_turn)))
            .collect();
        let total = bars.add(ProgressBar::new_spinner());
        total.set_style(style.clone());
        let picture = Picture {
            bars: bars.clone(),
            style,
            sockets,
            lines: Vec::new(),
            total,
            began: Instant::now(),
            spent: UsageTotals::default(),
            done: false,
            story,
            changes: 0,
        };
        Self { bars, picture: Mutex::new(picture) }
    }

    /// Shows the events from before the run was resumed.
    pub fn past(&self, report: &CastReport) {
        let mut picture = self.picture();
        picture.spent = report.usage;
        for visit in &report.visits {
            if let Some(socket) = picture.sockets.get_mut(&visit.socket) {
                let took = Duration::from_millis(visit.duration_ms.unwrap_or(0));
                (socket.visits, socket.attempt) = (visit.visit, visit.attempt);
                socket.item = visit.item_label.clone().or_else(|| visit.item.clone());
                let word = match visit.outcome {
                    Outcome::Completed => "done",
                    Outcome::Rejected | Outcome::Failed => "failed",
                    Outcome::Interrupted | Outcome::Running => "stopped",
                };
                socket.state = State::Ended(word, took);
            }
        }
    }

    /// Draws again and again, so that the time can be seen to pass. Never ends by itself.
    pub async fn keep_drawing(&self) {
        loop {
            self.picture().draw(height());
            tokio::time::sleep(REFRESH).await;
        }
    }

    /// Removes the view and prints a line for each socket that has run or waits for the user, so that no row looks as
    /// if it still ran.
    pub fn finish(&self) {
        let mut picture = self.picture();
        picture.done = true;
        for line in &picture.lines {
            line.finish_and_clear();
        }
        picture.total.finish_and_clear();
        let width = picture.title_width();
        let told: Vec<String> = picture
            .sockets
            .iter()
            .filter(|(_, socket)| !matches!(socket.state, State::NotYet))
            .map(|(id, socket)| socket.line(id, width))
            .collect();
        let more = told.len().saturating_sub(LEFT_LINES_MAX);
        for line in &told[more..] {
            let _ = self.bars.println(line);
        }
        if more > 0 {
            let _ = self.bars.println(format!("… and {more} more sockets"));
        }
    }

    /// Says something above the view.
    pub fn say(&self, words: &str) {
        // An error means that the terminal is gone.
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
    fn new(materia: &str, talks: bool) -> Self {
        Self {
            materia: one_line(materia, MATERIA_CHARS_MAX),
            talks,
            state: State::NotYet,
            visits: 0,
            attempt: 1,
            item: None,
            speech: LiveLine::default(),
            changed: 0,
        }
    }

    /// Title at the start of the line: node and materia.
    fn title(&self, name: &NodeId) -> String {
        let name = name.as_str();
        let title =
            if name == self.materia { name.to_owned() } else { format!("{name} {}", self.materia) };
        one_line(&title, TITLE_CHARS_MAX)
    }

    fn end(&mut self, word: &'static str) {
        let took = match self.state {
            State::Running(since) => since.elapsed(),
            State::NotYet | State::NeedsYou | State::Ended(..) => Duration::ZERO,
        };
        self.state = State::Ended(word, took);
    }

    fn line(&self, name: &NodeId, width: usize) -> String {
        let (word, time) = match self.state {
            State::NotYet => ("not yet", None),
            State::NeedsYou => ("needs you", None),
            State::Running(since) => ("running", Some(since.elapsed())),
            State::Ended(word, took) => (word, Some(took)),
        };
        let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        let mut line = format!("{:width$}  {word:<9}", self.title(name));
        if let Some(time) = time {
            let _ = write!(line, " {:>8}", event_text::duration(micros(time)));
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
        if let Importance::Worth = news {
            let socket = event.node.as_ref().and_then(|node| self.sockets.get_mut(node));
            if let (Some(socket), EventBody::ApprovalRequested(_)) = (socket, &event.body) {
                socket.state = State::NeedsYou;
            }
            let title = |node| format!("{}: ", self.story.who(node));
            let whose = event.node.as_ref().map(title).unwrap_or_default();
            return Some(format!("{whose}{}", event_text::event(event, &self.story)));
        }
        let socket = self.sockets.get_mut(event.node.as_ref()?)?;
        if let Some(end) = TurnEnd::of(&event.body) {
            self.spent.tokens = self.spent.tokens.saturating_add(end.tokens().unwrap_or(0));
            if let Some(cost) = end.cost() {
                let before = self.spent.cost.unwrap_or_default();
                self.spent.cost = Some(before.saturating_add(cost));
            }
        }
        match (news, &event.body) {
            (Importance::Started, EventBody::TurnStarted(data)) => {
                self.spent.turns += 1;
                socket.state = State::Running(Instant::now());
                (socket.visits, socket.attempt) = (data.visit, data.attempt);
                socket.item = self.story.item_of(event.node.as_ref(), data);
                socket.speech.clear();
            }
            (Importance::Ended(_, "done"), _) if socket.talks => socket.state = State::NeedsYou,
            (Importance::Ended(_, "interrupted"), _) => socket.end("stopped"),
            (Importance::Ended(_, word), _) => socket.end(word),
            (Importance::Started | Importance::Worth | Importance::Detail, _) => return None,
        }
        self.changes += 1;
        socket.changed = self.changes;
        None
    }

    fn title_width(&self) -> usize {
        let titles = self.sockets.iter().map(|(id, socket)| socket.title(id));
        titles.map(|title| title.chars().count()).max().unwrap_or(0)
    }

    /// Usage of the cast so far, on one line.
    fn sum(&self) -> String {
        let micros = i64::try_from(self.began.elapsed().as_micros()).unwrap_or(i64::MAX);
        let turns = if self.spent.turns == 1 { "turn" } else { "turns" };
        let mut sum = format!("{} · {} {turns}", event_text::duration(micros), self.spent.turns);
        if self.spent.tokens > 0 {
            let _ = write!(sum, " · {} tokens", self.spent.tokens);
        }
        if let Some(cost) = self.spent.cost {
            let _ = write!(sum, " · cost {cost}");
        }
        sum
    }

    /// Where there are more sockets than lines, those that run and those that changed last are
    /// shown; always in the order of the plan. It never gets taller than the terminal: what has scrolled away cannot be
    /// drawn anew.
    fn draw(&mut self, height: Option<usize>) {
        if self.done {
            return;
        }
        self.fit(height);
        let width = self.title_width();
        let (shown, hidden) = self.shown();
        for (line, index) in self.lines.iter().zip(shown) {
            if let Some((id, socket)) = self.sockets.get_index(index) {
                let text = socket.line(id, width);
                if line.message() != text {
                    line.set_message(text);
                }
            }
        }
        let mut sum = self.sum();
        if hidden > 0 {
            let _ = write!(sum, " · {hidden} more at work");
        }
        self.total.set_message(sum);
    }

    /// Has as many lines as there are sockets and room.
    fn fit(&mut self, height: Option<usize>) {
        let room = height.map_or(LINES_MAX, |height| height.saturating_sub(OTHER_LINES));
        let wanted = self.sockets.len().min(LINES_MAX).min(room);
        while self.lines.len() > wanted
            && let Some(line) = self.lines.pop()
        {
            self.bars.remove(&line);
        }
        while self.lines.len() < wanted {
            let line = self.bars.insert_before(&self.total, ProgressBar::new_spinner());
            line.set_style(self.style.clone());
            self.lines.push(line);
        }
    }

    /// The sockets that have a line, and how many are at work without one.
    fn shown(&self) -> (Vec<usize>, usize) {
        let mut shown: Vec<usize> = (0..self.sockets.len()).collect();
        if shown.len() <= self.lines.len() {
            return (shown, 0);
        }
        let rests = |socket: &Socket| !matches!(socket.state, State::Running(_) | State::NeedsYou);
        shown.sort_by_key(|index| {
            let socket = &self.sockets[*index];
            (rests(socket), u64::MAX - socket.changed)
        });
        let left = shown.split_off(self.lines.len());
        shown.sort_unstable();
        (shown, left.into_iter().filter(|index| !rests(&self.sockets[*index])).count())
    }
}

/// How many rows the terminal has, if it says so.
fn height() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok()?;
    Some(usize::from(size.ws_row)).filter(|rows| *rows > 0)
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
            tree: None,
            head: None,
            refs: None,
            put_back: false,
        }
    }

    #[test]
    fn what_a_turn_says_is_on_its_line_while_it_runs() {
        let screen = Screen::new(&plan(), Narrator::default());
        assert_eq!(line(&screen), "a Build   not yet  ");
        tell(&screen, 1, started());
        screen.streamed(&RunId::new("c1"), &NodeId::new("a"), "one\ntw\x1b[2J");
        screen.streamed(&RunId::new("c1"), &NodeId::new("a"), "o\n");
        screen.streamed(&RunId::new("c1"), &NodeId::new("nobody"), "lost");
        assert!(line(&screen).ends_with("WI-1  │ tw␛[2Jo"), "{}", line(&screen));
        let reason = InterruptReason::Stopped;
        tell(
            &screen,
            2,
            TurnInterrupted { turn: 1, visit: 1, attempt: 1, reason, files: None, put_back: None },
        );
        assert!(line(&screen).ends_with("WI-1"), "{}", line(&screen));
        tell(&screen, 3, started());
        assert!(line(&screen).ends_with("WI-1"), "a new turn has said nothing: {}", line(&screen));
    }
}
