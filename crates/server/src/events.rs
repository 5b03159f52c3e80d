//! Events of a cast: a range of them, filtered, from either end.

use std::collections::VecDeque;

use axum::body::Body;
use axum::http::Response;
use materia_app::Failure;
use materia_app::shown::Shown;
use materia_contract::Record;
use materia_engine::{Journal as _, PAGE_BYTES, blocking};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::limits::PAGE_BYTES_MAX;
use crate::list::limit;
use crate::problem::Refused;
use crate::request::{Request, json};
use crate::rooms::Cast;
use crate::state::App;

/// `GET /api/casts/{id}/events`.
pub(crate) fn events(app: &App, asked: &Request) -> Result<Response<Body>, Refused> {
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
    let page = if backwards {
        newest_first(&cast, (first, last), &filter, limit)?
    } else {
        oldest_first(&cast, (first, last), &filter, limit)?
    };
    Ok(json(&page))
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

/// Events as they are shown, without being taken apart again: [`materia_contract::api::EventsPage`].
#[derive(Default, serde::Serialize)]
struct RawPage {
    items: VecDeque<Shape>,
    next: Option<u64>,
    #[serde(skip)]
    bytes: usize,
}

/// An event with its place.
#[derive(serde::Serialize)]
#[serde(transparent)]
struct Shape {
    text: Box<RawValue>,
    #[serde(skip)]
    seq: u64,
}

impl RawPage {
    fn push(&mut self, event: Shape) {
        self.bytes += event.text.get().len();
        self.items.push_back(event);
    }

    /// Whether an event of so many bytes has room.
    fn has_room(&self, bytes: usize, limit: usize) -> bool {
        self.items.len() < limit && (self.items.is_empty() || self.bytes + bytes <= PAGE_BYTES_MAX)
    }
}

/// Goes through the events of a range that are wanted, until `each` says that it is enough.
fn walk(
    cast: &Cast,
    (first, last): (u64, u64),
    filter: &Filter,
    mut each: impl FnMut(Shape) -> bool,
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
            let wanted = filter.has(&text);
            if wanted
                && let Ok(text) = RawValue::from_string(text)
                && !each(Shape { text, seq: record.seq })
            {
                return Ok(());
            }
        }
        if read.end {
            return Ok(());
        }
    }
}

fn oldest_first(
    cast: &Cast,
    range: (u64, u64),
    filter: &Filter,
    limit: usize,
) -> Result<RawPage, Refused> {
    let mut page = RawPage::default();
    walk(cast, range, filter, |event| {
        if page.has_room(event.text.get().len(), limit) {
            page.push(event);
            return true;
        }
        page.next = Some(event.seq);
        false
    })?;
    Ok(page)
}

/// Events that are looked through at once when they are wanted from the end.
const STRETCH: u64 = 512;

fn newest_first(
    cast: &Cast,
    (first, last): (u64, u64),
    filter: &Filter,
    limit: usize,
) -> Result<RawPage, Refused> {
    let mut page = RawPage::default();
    let mut end = last;
    while end >= first && end > 0 {
        let begin = first.max(end.saturating_sub(STRETCH - 1)).max(1);
        // Of a stretch as many of the newest are kept as can have room on the page.
        let mut newest: VecDeque<Shape> = VecDeque::new();
        let (mut bytes, mut passed) = (0, None);
        walk(cast, (begin, end), filter, |event| {
            bytes += event.text.get().len();
            newest.push_back(event);
            while newest.len() > limit || (newest.len() > 1 && bytes > PAGE_BYTES_MAX) {
                let oldest = newest.pop_front();
                bytes -= oldest.as_ref().map_or(0, |event| event.text.get().len());
                passed = oldest.map(|event| event.seq);
            }
            true
        })?;
        while let Some(event) = newest.pop_back() {
            if !page.has_room(event.text.get().len(), limit) {
                page.next = Some(event.seq);
                return Ok(page);
            }
            page.push(event);
        }
        if passed.is_some() {
            page.next = passed;
            return Ok(page);
        }
        end = begin - 1;
    }
    Ok(page)
}
