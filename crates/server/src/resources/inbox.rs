//! Questions that wait for a person, over all casts.

use std::sync::Arc;

use materia_app::{Failure, views as view};
use materia_contract::CastStatus;
use materia_contract::api::{CastSummary, Inbox, InboxItem};
use materia_engine::blocking;
use tokio::runtime::Handle;

use crate::http::problem::{Answered, Refused};
use crate::projects::{Cast, Served, ServedProject};
use crate::request::{Request, json};
use crate::state::App;

/// `GET /api/inbox`.
pub(crate) fn inbox(app: &Arc<App>, asked: &Request) -> Answered {
    let mut items = Vec::new();
    let named = asked.query("project");
    for (served, room) in app.rooms.of_meant(named, &Handle::current())?.rooms {
        match waiting(app, &served, &room, &mut items) {
            Err(refused) if named.is_some() => return Err(refused),
            // `GET /api/projects` says what is wrong with it.
            Ok(()) | Err(_) => {}
        }
    }
    items.sort_by(|one: &InboxItem, other| other.since.cmp(&one.since));
    Ok(json(&Inbox { items }))
}

fn waiting(
    app: &App,
    served: &Arc<Served>,
    room: &Arc<ServedProject>,
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
        let made = cast.summary(line);
        let Ok((summary, run)) = made else { continue };
        match trust {
            Some(trust) => items.push(untrusted(summary, trust)),
            None => items.extend(view::inbox(cast.journal(), &summary, &run)),
        }
    }
    Ok(())
}

/// A cast that continues as soon as the user approves its programs.
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
