//! Events of a cast: a range of them, filtered, from either end.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use materia_app::Failure;
use materia_app::views::event_view::Shown;
use materia_contract::Record;
use materia_engine::{PAGE_BYTES, blocking};
use serde_json::Value;

use crate::http::limits::PAGE_BYTES_MAX;
use crate::http::problem::{Answered, Refused};
use crate::projects::Cast;
use crate::request::Request;
use crate::resources::casts::limit;
use crate::spill::Spool;
use crate::state::App;

/// `GET /api/casts/{id}/events`.
pub(crate) fn events(app: &Arc<App>, asked: &Request) -> Answered {
    let cast = asked.cast_here(app)?;
    let newest = blocking(cast.journal()).head(&cast.id).map_err(Failure::from)?;
    let newest = newest.map_or(0, |head| head.seq);
    let first = asked.number("from").unwrap_or(1).max(1);
    let last = asked.number("to").unwrap_or(newest).min(newest);
    let filter = Filter::of(asked);
    let limit = limit(asked);
    let backwards = match asked.query("order") {
        None | Some("asc") => false,
        Some("desc") => true,
        Some(_) => return Err(Refused::usage("`order` is asc or desc")),
    };
    let folder = &app.settings.state_dir;
    let page = Written { spool: Spool::new(folder), count: 0, bytes: 0, limit };
    if backwards {
        newest_first(&cast, (first, last), &filter, (folder, page))
    } else {
        oldest_first(&cast, (first, last), &filter, page)
    }
}

/// Which events are wanted.
struct Filter {
    kind: Option<String>,
    node: Option<String>,
    item: Option<String>,
    text: Option<String>,
}

impl Filter {
    fn of(asked: &Request) -> Self {
        let word = |name: &str| asked.query(name).map(str::to_owned);
        let text = word("text").map(|text| text.to_lowercase());
        Self { kind: word("type"), node: word("node"), item: word("item"), text }
    }

    /// Whether a record can be wanted, before it is shown.
    fn may_have(&self, record: &Record) -> bool {
        let kind = |wanted: &String| {
            record.kind.strip_prefix(wanted.as_str()).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with('.') || wanted.ends_with('.')
            })
        };
        let item = |wanted: &String| {
            let data: Result<Value, _> = serde_json::from_str(&record.data);
            data.is_ok_and(|data| data.get("item").and_then(Value::as_str) == Some(wanted))
        };
        self.kind.as_ref().is_none_or(kind)
            && self.node.as_ref().is_none_or(|wanted| record.node.as_ref() == Some(wanted))
            && self.item.as_ref().is_none_or(item)
    }

    fn has(&self, shown: &str) -> bool {
        self.text.as_ref().is_none_or(|text| shown.to_lowercase().contains(text))
    }
}

/// An event as the server shows it: long texts are named by their hash, and fetched alone.
pub(crate) fn shown(shown: &mut Shown, cast: &Cast, record: &Record) -> String {
    let blobs = cast.room.journal.blobs();
    shown.json_with_names(record, |hash| materia_engine::wait(blobs.get(hash)).is_ok())
}

/// An event as it is shown, with its place.
struct Shape {
    text: String,
    seq: u64,
}

/// A page of events while it is written: [`materia_contract::api::EventsPage`].
struct Written {
    spool: Spool,
    count: usize,
    bytes: usize,
    limit: usize,
}

impl Written {
    /// Writes an event where it has room; says whether it had.
    fn push(&mut self, text: &[u8]) -> Result<bool, Refused> {
        let bytes = self.bytes + text.len();
        if self.count >= self.limit || (self.count > 0 && bytes > PAGE_BYTES_MAX) {
            return Ok(false);
        }
        let before = if self.count == 0 { "{\"items\":[" } else { "," };
        self.write(before.as_bytes())?;
        self.write(text)?;
        (self.count, self.bytes) = (self.count + 1, bytes);
        Ok(true)
    }

    /// The page, and the event with which the next one begins.
    fn end(mut self, next: Option<u64>) -> Answered {
        if self.count == 0 {
            self.write(b"{\"items\":[")?;
        }
        self.write(format!("],\"next\":{}}}", serde_json::json!(next)).as_bytes())?;
        self.spool.answer("application/json").map_err(|error| unwritten(&error))
    }

    fn write(&mut self, text: &[u8]) -> Result<(), Refused> {
        self.spool.write(text).map_err(|error| unwritten(&error))
    }
}

fn unwritten(error: &io::Error) -> Refused {
    Failure::storage(format!("the answer cannot be kept for its reader: {error}")).into()
}

/// Goes through the events of a range that are wanted, until `each` says that it is enough.
fn walk(
    cast: &Cast,
    (first, last): (u64, u64),
    filter: &Filter,
    mut each: impl FnMut(Shape) -> Result<bool, Refused>,
) -> Result<(), Refused> {
    if first > last {
        return Ok(());
    }
    let journal = cast.journal();
    let mut showing =
        Shown::behind(journal, &cast.id, cast.folders(), first - 1).map_err(Failure::from)?;
    loop {
        let read =
            blocking(journal).read(&cast.id, showing.seq(), PAGE_BYTES).map_err(Failure::from)?;
        for record in &read.records {
            if record.seq > last {
                return Ok(());
            }
            if !filter.may_have(record) {
                showing.skip(record);
                continue;
            }
            let text = shown(&mut showing, cast, record);
            if filter.has(&text) && !each(Shape { text, seq: record.seq })? {
                return Ok(());
            }
        }
        if read.end {
            return Ok(());
        }
    }
}

fn oldest_first(cast: &Cast, range: (u64, u64), filter: &Filter, mut page: Written) -> Answered {
    let mut next = None;
    walk(cast, range, filter, |event| {
        let had_room = page.push(event.text.as_bytes())?;
        next = (!had_room).then_some(event.seq);
        Ok(had_room)
    })?;
    page.end(next)
}

/// Events that are looked through at once when they are wanted from the end.
const STRETCH: u64 = 512;

fn newest_first(
    cast: &Cast,
    (first, last): (u64, u64),
    filter: &Filter,
    (folder, mut page): (&Path, Written),
) -> Answered {
    let mut end = last;
    while end >= first && end > 0 {
        let begin = first.max(end.saturating_sub(STRETCH - 1)).max(1);
        let mut newest = Newest::new(folder, &page);
        walk(cast, (begin, end), filter, |event| newest.push(&event).map(|()| true))?;
        while let Some((seq, from, length)) = newest.events.pop_back() {
            if !page.push(&newest.spool.part(from, length).map_err(|error| unwritten(&error))?)? {
                return page.end(Some(seq));
            }
        }
        if newest.passed.is_some() {
            return page.end(newest.passed);
        }
        end = begin - 1;
    }
    page.end(None)
}

/// As many of the newest events of a stretch as can have room on a page.
struct Newest {
    spool: Spool,
    folder: PathBuf,
    /// Their places, and where they stand in the spool.
    events: VecDeque<(u64, u64, usize)>,
    /// Their bytes, with those that are on the page already.
    bytes: usize,
    count_max: usize,
    /// The newest that has no room.
    passed: Option<u64>,
}

impl Newest {
    fn new(folder: &Path, page: &Written) -> Self {
        let (spool, events) = (Spool::new(folder), VecDeque::new());
        let count_max = (page.limit - page.count).max(1);
        let folder = folder.to_owned();
        Self { spool, folder, events, bytes: page.bytes, count_max, passed: None }
    }

    fn push(&mut self, event: &Shape) -> Result<(), Refused> {
        self.events.push_back((event.seq, self.spool.length(), event.text.len()));
        self.spool.write(event.text.as_bytes()).map_err(|error| unwritten(&error))?;
        self.bytes += event.text.len();
        while self.events.len() > self.count_max
            || (self.events.len() > 1 && self.bytes > PAGE_BYTES_MAX)
        {
            let Some((seq, _, length)) = self.events.pop_front() else { break };
            self.bytes -= length;
            self.passed = Some(seq);
        }
        if self.spool.length() > 3 * PAGE_BYTES_MAX as u64 { self.tidy() } else { Ok(()) }
    }

    /// Leaves behind what has no room.
    fn tidy(&mut self) -> Result<(), Refused> {
        let mut spool = Spool::new(&self.folder);
        for (_, from, length) in &mut self.events {
            let text = self.spool.part(*from, *length).map_err(|error| unwritten(&error))?;
            *from = spool.length();
            spool.write(&text).map_err(|error| unwritten(&error))?;
        }
        self.spool = spool;
        Ok(())
    }
}
