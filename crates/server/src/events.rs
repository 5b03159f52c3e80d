//! Events of a cast: a range of them, filtered, from either end.

use axum::body::Body;
use axum::http::Response;
use materia_app::Failure;
use materia_app::shown::Shown;
use materia_contract::Record;
use materia_engine::{PAGE_BYTES, blocking};
use serde_json::Value;
use serde_json::value::RawValue;

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

/// Events as they are shown, without being taken apart again: [`materia_contract::api::EventsPage`].
#[derive(serde::Serialize)]
struct RawPage {
    items: Vec<Box<RawValue>>,
    next: Option<u64>,
}

impl RawPage {
    fn push(&mut self, text: String) {
        if let Ok(raw) = RawValue::from_string(text) {
            self.items.push(raw);
        }
    }
}

fn oldest_first(
    cast: &Cast,
    (first, last): (u64, u64),
    filter: &Filter,
    limit: usize,
) -> Result<RawPage, Refused> {
    let mut page = RawPage { items: Vec::new(), next: None };
    if first > last {
        return Ok(page);
    }
    let journal = cast.journal();
    let mut shown =
        Shown::behind(journal, &cast.id, cast.folders(), first - 1).map_err(Failure::from)?;
    loop {
        let read =
            blocking(journal).read(&cast.id, shown.seq(), PAGE_BYTES).map_err(Failure::from)?;
        for record in &read.records {
            if record.seq > last {
                return Ok(page);
            }
            if page.items.len() >= limit {
                page.next = Some(record.seq);
                return Ok(page);
            }
            if !filter.may_have(record) {
                shown.skip(record);
                continue;
            }
            let text = shown.json(record);
            if filter.has(&text) {
                page.push(text);
            }
        }
        if read.end {
            return Ok(page);
        }
    }
}

/// Events that are read at once when they are wanted from the end.
const STRETCH: u64 = 512;

fn newest_first(
    cast: &Cast,
    (first, last): (u64, u64),
    filter: &Filter,
    limit: usize,
) -> Result<RawPage, Refused> {
    let mut page = RawPage { items: Vec::new(), next: None };
    let mut end = last;
    while end >= first && end > 0 {
        let begin = first.max(end.saturating_sub(STRETCH - 1)).max(1);
        let found = oldest_first(cast, (begin, end), filter, usize::MAX)?;
        for raw in found.items.into_iter().rev() {
            if page.items.len() >= limit {
                let seq: Option<u64> = serde_json::from_str::<Value>(raw.get())
                    .ok()
                    .and_then(|event| event.get("seq")?.as_u64());
                page.next = seq;
                return Ok(page);
            }
            page.items.push(raw);
        }
        end = begin - 1;
    }
    Ok(page)
}
