//! One cast, answered from its journal.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use materia_app::project::place::Work;
use materia_app::views::compare::{self, Side};
use materia_app::{Failure, views as view};
use materia_contract::api::{CastView, Files};
use materia_contract::{BlobHash, NodeId, RefusalCode};
use materia_engine::{WhyError, report_at};
use tokio::runtime::Handle;

use crate::http::problem::{Answered, Refused};
use crate::request::{Request, json};
use crate::state::App;

/// `GET /api/casts/{id}`.
pub(crate) fn cast(app: &Arc<App>, asked: &Request) -> Answered {
    let cast = asked.cast_here(app)?;
    let at = asked.number("at");
    let made = view::cast(cast.journal(), &cast.id, &cast.served.id, &cast.folders(), at);
    let made = made.map_err(|failure| gone(failure, at))?;
    let Work { worker, waits } = cast.room.work(&cast.id, made.report.status);
    Ok(json(&CastView { worker, waits_for_worker: waits, ..made }))
}

/// An event that is not there is nothing that could be found.
fn gone(failure: Failure, at: Option<u64>) -> Refused {
    let mut refused = Refused::from(failure);
    if at.is_some() && refused.0.code == RefusalCode::Resolution {
        refused = Refused::unknown(refused.0.detail.clone());
    }
    refused
}

/// `GET /api/casts/{id}/turns/{seq}`.
pub(crate) fn turn(app: &Arc<App>, asked: &Request) -> Answered {
    let cast = asked.cast_here(app)?;
    let seq =
        asked.part("seq").parse().map_err(|_| Refused::usage("a turn is named by a number"))?;
    let turn = view::turn(cast.journal(), &cast.id, &cast.folders(), seq);
    Ok(json(&turn.map_err(|failure| gone(failure, Some(seq)))?))
}

/// `GET /api/casts/{id}/nodes/{node}/why`.
pub(crate) fn why(app: &Arc<App>, asked: &Request) -> Answered {
    let cast = asked.cast_here(app)?;
    let node = asked.part("node");
    let why = materia_engine::why(cast.journal(), &cast.id, node, asked.number("at"));
    Ok(json(&why.map_err(|error| match error {
        WhyError::Load(error) => Failure::from(error).into(),
        WhyError::UnknownNode { .. } | WhyError::NoSuchEvent(_) => {
            Refused::unknown(error.to_string())
        }
    })?))
}

/// `GET /api/casts/{id}/nodes/{node}/given`.
pub(crate) fn given(app: &Arc<App>, asked: &Request) -> Answered {
    let cast = asked.cast_here(app)?;
    let node = NodeId::new(asked.part("node"));
    Ok(json(&view::given(cast.journal(), &cast.id, &cast.folders(), &node)?))
}

/// `GET /api/casts/{id}/payloads/{seq}`.
pub(crate) fn sent(app: &Arc<App>, asked: &Request) -> Answered {
    let cast = asked.cast_here(app)?;
    let seq = asked
        .part("seq")
        .parse()
        .map_err(|_| Refused::usage("a payload is named by the number of its event"))?;
    let found = view::sent(cast.journal(), &cast.id, seq);
    Ok(json(&found.map_err(|failure| gone(failure, Some(seq)))?))
}

/// `GET /api/casts/{id}/cost`.
pub(crate) fn cost(app: &Arc<App>, asked: &Request) -> Answered {
    let cast = asked.cast_here(app)?;
    let (report, run) =
        report_at(cast.journal(), &cast.id, &cast.folders(), None).map_err(Failure::from)?;
    Ok(json(&view::cost(&report, run.budget())))
}

/// `GET /api/casts/{id}/files`.
pub(crate) fn files(app: &Arc<App>, asked: &Request) -> Answered {
    let cast = asked.cast_here(app)?;
    Ok(json(&Files { items: view::files(&cast.folders()) }))
}

/// `GET /api/casts/{id}/files/{path}`.
pub(crate) fn file(app: &Arc<App>, asked: &Request) -> Answered {
    let cast = asked.cast_here(app)?;
    let bytes = view::file(&cast.folders(), asked.part("path"));
    Ok(raw(bytes.map_err(|failure| gone(failure, Some(0)))?))
}

/// `GET /api/blobs/{hash}`.
pub(crate) fn blob(app: &Arc<App>, asked: &Request) -> Answered {
    let hash = BlobHash::parse(asked.part("hash"))
        .ok_or_else(|| Refused::usage("a blob is named by its hash, in hexadecimal"))?;
    for (_, room) in app.rooms.of_meant(asked.query("project"), &Handle::current())?.rooms {
        let found = materia_engine::wait(room.journal.blobs().get(hash));
        if let Ok(bytes) = found {
            return Ok(raw(bytes));
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

/// `GET /api/casts/{id}/compare/{other}`.
pub(crate) fn compare(app: &Arc<App>, asked: &Request) -> Answered {
    let project = asked.query("project");
    let find = |project, part| app.rooms.find(project, asked.part(part), &Handle::current());
    let one = find(project, "id")?;
    let other = find(asked.query("otherProject").or(project), "other")?;
    let made = compare::compare(
        &Side { journal: one.journal(), id: &one.id, folders: one.folders() },
        &Side { journal: other.journal(), id: &other.id, folders: other.folders() },
    );
    Ok(json(&made?))
}
