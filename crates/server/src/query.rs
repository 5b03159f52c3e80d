//! Questions about casts, answered from their journals.

use std::path::Path;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use materia_app::compare::{self, Side};
use materia_app::shown::Shown;
use materia_app::{Failure, agents as fleets, health, view};
use materia_contract::api::{AddProject, CastSummary, Casts, Files, Inbox, InboxItem, Projects};
use materia_contract::{BlobHash, CastStatus, Record};
use materia_engine::{Cursor, Journal as _, PAGE_BYTES, WhyError, blocking, report_at};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::runtime::Handle;

use crate::limits::{PAGE_MAX, PAGE_USUAL};
use crate::problem::Refused;
use crate::request::{Request, json, json_as};
use crate::rooms::{Cast, Room, Served};
use crate::state::App;

/// `GET /api/projects`.
pub(crate) fn projects(app: &App) -> Response<Body> {
    let items = app.rooms.projects().iter().map(|served| served.item()).collect();
    json(&Projects { items })
}

/// `POST /api/projects`.
pub(crate) fn add_project(app: &App, asked: &Request) -> Result<Response<Body>, Refused> {
    let body: AddProject = asked.json()?;
    let dir = Path::new(&body.dir);
    if !dir.is_absolute() {
        return Err(Refused::usage("a project is named by its absolute path"));
    }
    if !dir.is_dir() {
        return Err(Refused::unknown("there is no such folder"));
    }
    let served = app.rooms.add((app.settings.open)(dir)?)?;
    Ok(json_as(StatusCode::CREATED, &served.item()))
}

/// How many of a list are wanted.
fn limit(asked: &Request) -> usize {
    let named = asked.number("limit").and_then(|limit| usize::try_from(limit).ok());
    named.unwrap_or(PAGE_USUAL).clamp(1, PAGE_MAX)
}

/// `GET /api/casts`.
pub(crate) fn casts(app: &App, asked: &Request) -> Result<Response<Body>, Refused> {
    let limit = limit(asked);
    let wanted = Wanted::of(asked)?;
    let (skip_project, skip_room, start) = place(asked.query("cursor"))?;
    let mut page = Casts { items: Vec::new(), next: None, unreadable: Vec::new() };
    let projects = app.rooms.meant(asked.query("project"))?;
    for (at_project, served) in projects.iter().enumerate().skip(skip_project) {
        let rooms = app.rooms.of(served, &Handle::current())?;
        for (at_room, room) in rooms.iter().enumerate() {
            let resumed = at_project == skip_project && at_room == skip_room;
            if at_project == skip_project && at_room < skip_room {
                continue;
            }
            let mut after = start.clone().filter(|_| resumed).map(Cursor);
            loop {
                let lines = materia_engine::wait(room.journal.runs(after.as_ref(), 1));
                let lines = lines.map_err(Failure::from)?;
                page.unreadable.extend(lines.unreadable);
                for line in lines.lines.into_iter().filter(|line| wanted.has(line)) {
                    let cast = Cast {
                        served: Arc::clone(served),
                        room: Arc::clone(room),
                        id: line.cast_id.clone(),
                    };
                    let made = view::summary(cast.journal(), line, &served.id, &cast.folders());
                    match made {
                        Ok((summary, _)) => page.items.push(summary),
                        Err(failure) => page.unreadable.push(failure.to_string()),
                    }
                }
                let Some(next) = lines.next else { break };
                if page.items.len() >= limit {
                    page.next = Some(format!("{at_project}.{at_room}.{}", next.0));
                    return Ok(json(&page));
                }
                after = Some(next);
            }
            let more_rooms = at_room + 1 < rooms.len() || at_project + 1 < projects.len();
            if page.items.len() >= limit && more_rooms {
                let (project, room) = if at_room + 1 < rooms.len() {
                    (at_project, at_room + 1)
                } else {
                    (at_project + 1, 0)
                };
                page.next = Some(format!("{project}.{room}."));
                return Ok(json(&page));
            }
        }
    }
    Ok(json(&page))
}

/// Where a list goes on: the project, its journal, and the place there.
fn place(cursor: Option<&str>) -> Result<(usize, usize, Option<String>), Refused> {
    let Some(cursor) = cursor else { return Ok((0, 0, None)) };
    let none = || Refused::usage("`cursor` is none that a list has named");
    let mut parts = cursor.splitn(3, '.');
    let mut number = || parts.next().and_then(|part| part.parse().ok()).ok_or_else(none);
    let (project, room) = (number()?, number()?);
    let rest = parts.next().ok_or_else(none)?;
    if !rest.is_empty() && rest.parse::<i64>().is_err() {
        return Err(none());
    }
    Ok((project, room, Some(rest.to_owned()).filter(|rest| !rest.is_empty())))
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

    fn has(&self, line: &materia_contract::CastLine) -> bool {
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

/// `GET /api/casts/{id}`.
pub(crate) fn cast(app: &App, asked: &Request) -> Result<Response<Body>, Refused> {
    let cast = asked.cast_here(app)?;
    let at = asked.number("at");
    let made = view::cast(cast.journal(), &cast.id, &cast.served.id, &cast.folders(), at);
    Ok(json(&made.map_err(|failure| gone(failure, at))?))
}

/// An event that is not there is nothing that could be found.
fn gone(failure: Failure, at: Option<u64>) -> Refused {
    let mut refused = Refused::from(failure);
    if at.is_some() && refused.0.code == "resolution" {
        refused = Refused::unknown(refused.0.detail.clone());
    }
    refused
}

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

/// `GET /api/casts/{id}/turns/{seq}`.
pub(crate) fn turn(app: &App, asked: &Request) -> Result<Response<Body>, Refused> {
    let cast = asked.cast_here(app)?;
    let seq =
        asked.part("seq").parse().map_err(|_| Refused::usage("a turn is named by a number"))?;
    let turn = view::turn(cast.journal(), &cast.id, &cast.folders(), seq);
    Ok(json(&turn.map_err(|failure| gone(failure, Some(seq)))?))
}

/// `GET /api/casts/{id}/nodes/{node}/why`.
pub(crate) fn why(app: &App, asked: &Request) -> Result<Response<Body>, Refused> {
    let cast = asked.cast_here(app)?;
    let node = asked.part("node");
    let why = materia_engine::why(cast.journal(), &cast.id, node, asked.number("at"));
    Ok(json(&why.map_err(|error| match error {
        WhyError::Load(error) => Failure::from(error).into(),
        WhyError::UnknownNode { .. } | WhyError::NoSuchEvent { .. } => {
            Refused::unknown(error.to_string())
        }
    })?))
}

/// `GET /api/casts/{id}/cost`.
pub(crate) fn cost(app: &App, asked: &Request) -> Result<Response<Body>, Refused> {
    let cast = asked.cast_here(app)?;
    let (report, run) =
        report_at(cast.journal(), &cast.id, &cast.folders(), None).map_err(Failure::from)?;
    Ok(json(&view::cost(&report, run.budget())))
}

/// `GET /api/casts/{id}/files`.
pub(crate) fn files(app: &App, asked: &Request) -> Result<Response<Body>, Refused> {
    let cast = asked.cast_here(app)?;
    Ok(json(&Files { items: view::files(&cast.folders()) }))
}

/// `GET /api/casts/{id}/files/{path}`.
pub(crate) fn file(app: &App, asked: &Request) -> Result<Response<Body>, Refused> {
    let cast = asked.cast_here(app)?;
    let bytes = view::file(&cast.folders(), asked.part("path"));
    Ok(raw(bytes.map_err(|failure| gone(failure, Some(0)))?))
}

/// `GET /api/blobs/{hash}`.
pub(crate) fn blob(app: &App, asked: &Request) -> Result<Response<Body>, Refused> {
    let hash = BlobHash::parse(asked.part("hash"))
        .ok_or_else(|| Refused::usage("a blob is named by its hash, in hexadecimal"))?;
    for served in app.rooms.meant(asked.query("project"))? {
        for room in app.rooms.of(&served, &Handle::current())? {
            let found = materia_engine::wait(room.journal.blobs().get(hash));
            if let Ok(bytes) = found {
                return Ok(raw(bytes));
            }
        }
    }
    Err(Refused::unknown("there is no such blob here"))
}

/// Bytes that came from elsewhere: no browser makes anything of them.
fn raw(bytes: Vec<u8>) -> Response<Body> {
    let kind = if std::str::from_utf8(&bytes).is_ok() {
        "text/plain; charset=utf-8"
    } else {
        "application/octet-stream"
    };
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// `GET /api/inbox`.
pub(crate) fn inbox(app: &App, asked: &Request) -> Result<Response<Body>, Refused> {
    let mut items = Vec::new();
    for served in app.rooms.meant(asked.query("project"))? {
        for room in app.rooms.of(&served, &Handle::current())? {
            waiting(app, &served, &room, &mut items)?;
        }
    }
    items.sort_by(|one: &InboxItem, other| other.since.cmp(&one.since));
    Ok(json(&Inbox { items }))
}

fn waiting(
    app: &App,
    served: &Arc<Served>,
    room: &Arc<Room>,
    items: &mut Vec<InboxItem>,
) -> Result<(), Refused> {
    let lines = blocking(&*room.journal).list().map_err(Failure::from)?.lines;
    for line in lines {
        let trust = app.pending.of_cast(&served.id, &line.cast_id);
        if line.status != CastStatus::Waiting && trust.is_none() {
            continue;
        }
        let id = line.cast_id.clone();
        let cast = Cast { served: Arc::clone(served), room: Arc::clone(room), id };
        let made = view::summary(cast.journal(), line, &served.id, &cast.folders());
        let Ok((summary, run)) = made else { continue };
        match trust {
            Some(trust) => items.push(untrusted(summary, trust)),
            None => items.extend(view::inbox(cast.journal(), &summary, &run)),
        }
    }
    Ok(())
}

/// A cast that would go on by itself, if somebody approved what it runs.
fn untrusted(summary: CastSummary, trust: materia_contract::api::TrustItem) -> InboxItem {
    InboxItem {
        project: summary.project,
        cast_id: summary.line.cast_id,
        loadout: summary.line.loadout,
        request: summary.line.request,
        reason: "trust".to_owned(),
        message: "what it runs has to be approved before it goes on".to_owned(),
        node: None,
        since: summary.updated_at,
        approval: None,
        said: None,
        trust: Some(trust),
        next: Vec::new(),
    }
}

/// `GET /api/agents`.
pub(crate) async fn agents(app: Arc<App>, asked: &Request) -> Result<Response<Body>, Refused> {
    let served = app.rooms.only(asked.query("project"))?;
    let (loaded, _) = materia_compiler::load(&served.project.sources);
    let mut warnings = Vec::new();
    let withheld = health::withheld(&served.project.gate(), &loaded, &mut warnings);
    let fleet = fleets::fleet(&loaded, None);
    let (health, _) = health::examine(&app.settings.supervisor, &fleet, &withheld).await;
    Ok(json(&health))
}

/// `GET /api/casts/{id}/compare/{other}`.
pub(crate) fn compare(app: &App, asked: &Request) -> Result<Response<Body>, Refused> {
    let project = asked.query("project");
    let [one, other] =
        ["id", "other"].map(|part| app.rooms.find(project, asked.part(part), &Handle::current()));
    let (one, other) = (one?, other?);
    let made = compare::compare(
        &Side { journal: one.journal(), id: &one.id, folders: one.folders() },
        &Side { journal: other.journal(), id: &other.id, folders: other.folders() },
    );
    Ok(json(&made?))
}
