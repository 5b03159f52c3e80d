//! Events of a cast as a reader sees them, and the rules for their growth.

use serde_json::Value;

use crate::bench::Bench;

/// The events of a cast, as `materia events --json` prints them.
#[derive(Clone, Default)]
pub(crate) struct Log {
    pub(crate) lines: Vec<String>,
    pub(crate) events: Vec<Value>,
}

impl Log {
    /// Reads them; `None` if there is no such cast.
    pub(crate) fn read(bench: &Bench, id: &str) -> Option<Self> {
        let ran = bench.run(&["events", id, "--json"]);
        match ran.exit {
            0 => Some(Self::parse(&ran.out)),
            2 if ran.err.contains("there is no cast") || ran.err.contains("no journal.db") => None,
            _ => panic!("the events of {id} cannot be read: {ran:?}"),
        }
    }

    /// Reads lines; a last one that was never finished does not count.
    pub(crate) fn parse(text: &str) -> Self {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines: Vec<String> = whole.lines().map(str::to_owned).collect();
        let events = lines.iter().map(|line| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line:?}"))
        });
        Self { events: events.collect(), lines }
    }

    /// Panics unless everything here is at the same place, unchanged, in `later`.
    pub(crate) fn is_kept_in(&self, later: &Self, what: &str) {
        for (index, line) in self.lines.iter().enumerate() {
            match later.lines.get(index) {
                Some(same) if same == line => {}
                Some(other) => panic!("{what}: shown as\n  {line}\nand later as\n  {other}"),
                None => panic!(
                    "{what}: shown and then lost (there are {} events):\n  {line}",
                    later.lines.len()
                ),
            }
        }
    }

    /// Events of a type.
    pub(crate) fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter(move |event| event["type"] == kind)
    }

    /// How many of a type there are for a socket and a visit.
    pub(crate) fn count(&self, kind: &str, socket: &str, visit: &Value) -> usize {
        self.of(kind)
            .filter(|event| event["nodeId"] == socket && event["data"]["visit"] == *visit)
            .count()
    }

    /// Panics unless every line that a cast has printed about a turn is in here.
    pub(crate) fn holds_what_was_said(&self, said: &str, what: &str) {
        let mut shown = Vec::new();
        for line in said.lines() {
            let Some((socket, words)) = line.split_once(": ") else { continue };
            let kind = match words.split([' ', ',']).next() {
                Some("started") => "turn.started",
                Some("completed") => "turn.completed",
                _ => continue,
            };
            // Behind the socket stands what runs there.
            let socket = socket.split(' ').next().unwrap_or(socket);
            shown.push((socket.to_owned(), kind));
        }
        for (socket, kind) in &shown {
            let said = shown.iter().filter(|one| *one == &(socket.clone(), *kind)).count();
            let kept = self.of(kind).filter(|event| event["nodeId"] == *socket).count();
            assert!(said <= kept, "{what}: `{socket}` {kind} said {said} times, {kept} recorded");
        }
    }
}
