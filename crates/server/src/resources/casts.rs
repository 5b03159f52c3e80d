//! The list of casts over all journals: newest first, page by page.

use std::sync::Arc;

use materia_app::Failure;
use materia_contract::api::Casts;
use materia_contract::{CastLine, CastStatus};
use materia_engine::Cursor;
use serde_json::Value;
use tokio::runtime::Handle;

use crate::http::limits::{PAGE_MAX, PAGE_USUAL};
use crate::http::problem::{Answered, Refused};
use crate::projects::{Broken, Cast, Served, ServedProject};
use crate::request::{Request, json};
use crate::state::App;

/// The word for a journal of which nothing is left.
const DONE: &str = "-";

/// How many of a list are wanted.
pub(crate) fn limit(asked: &Request) -> usize {
    let named = asked.number("limit").and_then(|limit| usize::try_from(limit).ok());
    named.unwrap_or(PAGE_USUAL).clamp(1, PAGE_MAX)
}

/// `GET /api/casts`.
pub(crate) fn casts(app: &Arc<App>, asked: &Request) -> Answered {
    let (limit, wanted) = (limit(asked), Wanted::of(asked)?);
    let mut page = Casts { items: Vec::new(), next: None, unreadable: Vec::new() };
    let opened = app.rooms.of_meant(asked.query("project"), &Handle::current())?;
    page.unreadable.extend(opened.broken.iter().map(Broken::line));
    let mut sources: Vec<Source> =
        opened.rooms.into_iter().map(|(served, room)| Source::new(served, room)).collect();
    go_on_from(&mut sources, asked.query("cursor"))?;
    for source in &mut sources {
        source.look(&wanted, &mut page.unreadable);
    }
    // Of what each journal has next, the newest comes first.
    while page.items.len() < limit {
        let began =
            |source: &&mut Source| source.next.as_ref().map(|it| it.line.started_at.clone());
        let newest = sources.iter_mut().filter(|source| source.next.is_some()).max_by_key(began);
        let Some(source) = newest else { break };
        if let Some(line) = source.take() {
            let id = line.cast_id.clone();
            let (served, room) = (Arc::clone(&source.served), Arc::clone(&source.room));
            let cast = Cast { served, room, id };
            match cast.summary(line) {
                Ok((summary, _)) => page.items.push(summary),
                Err(failure) => page.unreadable.push(failure.to_string()),
            }
        }
        source.look(&wanted, &mut page.unreadable);
    }
    if sources.iter().any(|source| source.next.is_some()) {
        page.next = Some(sources.iter().filter_map(Source::place).collect::<Vec<_>>().join(","));
    }
    Ok(json(&page))
}

/// A journal from which casts are listed.
struct Source {
    served: Arc<Served>,
    room: Arc<ServedProject>,
    /// Name of the journal in a cursor.
    key: String,
    /// Where it goes on behind what was taken.
    after: Option<Cursor>,
    /// Next cast of this journal.
    next: Option<Upcoming>,
    done: bool,
}

struct Upcoming {
    line: CastLine,
    /// Where it goes on behind this one.
    behind: Option<Cursor>,
}

impl Source {
    fn new(served: Arc<Served>, room: Arc<ServedProject>) -> Self {
        let key = blake3::hash(room.root.as_os_str().as_encoded_bytes()).to_hex()[..8].to_owned();
        Self { served, room, key, after: None, next: None, done: false }
    }

    /// Finds the next cast that is wanted. What is passed over on the way is taken.
    /// A journal that cannot be read any further is done, and that is said.
    fn look(&mut self, wanted: &Wanted, unreadable: &mut Vec<String>) {
        while self.next.is_none() && !self.done {
            let lines = materia_engine::wait(self.room.journal.runs(self.after.as_ref(), 1));
            let lines = match lines {
                Ok(lines) => lines,
                Err(error) => {
                    let dir = self.served.project.dir.display();
                    unreadable.push(format!("project `{dir}`: {}", Failure::from(error)));
                    self.done = true;
                    return;
                }
            };
            unreadable.extend(lines.unreadable);
            let behind = lines.next;
            match lines.lines.into_iter().next() {
                Some(line) if wanted.has(&line) => self.next = Some(Upcoming { line, behind }),
                Some(_) | None => self.move_to(behind),
            }
        }
    }

    fn take(&mut self) -> Option<CastLine> {
        let Upcoming { line, behind } = self.next.take()?;
        self.move_to(behind);
        Some(line)
    }

    fn move_to(&mut self, behind: Option<Cursor>) {
        self.done = behind.is_none();
        self.after = behind;
    }

    /// Where it goes on, for a cursor; absent where nothing was taken.
    fn place(&self) -> Option<String> {
        let at = match (&self.after, self.done) {
            (_, true) => DONE,
            (Some(after), false) => after.0.as_str(),
            (None, false) => return None,
        };
        Some(format!("{}:{at}", self.key))
    }
}

/// Goes on where a page before ended. A journal that came since begins with its newest.
fn go_on_from(sources: &mut [Source], cursor: Option<&str>) -> Result<(), Refused> {
    let none = || Refused::usage("`cursor` is none that a list has named");
    for part in cursor.into_iter().flat_map(|cursor| cursor.split(',')) {
        let (key, at) = part.split_once(':').ok_or_else(none)?;
        let number = at == DONE || at.parse::<i64>().is_ok();
        if !number || key.len() != 8 {
            return Err(none());
        }
        if let Some(source) = sources.iter_mut().find(|source| source.key == key) {
            source.move_to(Some(Cursor(at.to_owned())).filter(|_| at != DONE));
        }
    }
    Ok(())
}

/// Which casts are wanted.
struct Wanted {
    status: Option<CastStatus>,
    loadout: Option<String>,
    text: Option<String>,
}

impl Wanted {
    fn of(asked: &Request) -> Result<Self, Refused> {
        let status = asked.query("status").map(|word| {
            serde_json::from_value(Value::String(word.to_owned())).map_err(|_| {
                Refused::usage("`status` is running, waiting, completed, failed or aborted")
            })
        });
        Ok(Self {
            status: status.transpose()?,
            loadout: asked.query("loadout").map(str::to_owned),
            text: asked.query("text").map(str::to_lowercase),
        })
    }

    fn has(&self, line: &CastLine) -> bool {
        let text = |text: &String| {
            line.request.to_lowercase().contains(text)
                || line.cast_id.as_str().to_lowercase().contains(text)
                || line.loadout.to_lowercase().contains(text)
        };
        self.status.is_none_or(|status| line.status == status)
            && self.loadout.as_ref().is_none_or(|name| line.loadout == *name)
            && self.text.as_ref().is_none_or(text)
    }
}
