//! The demo: a project that the program itself has made, with agents that are answered by a script.

use std::sync::Arc;

use materia_contract::StartKey;
use materia_contract::api::{DemoView, StartBody};

use crate::http::problem::{Answered, Refused};
use crate::request::{Request, json};
use crate::resources::begin;
use crate::state::{App, Demo};

/// `GET /api/demo`.
#[expect(clippy::unnecessary_wraps, reason = "all handlers have one type")]
pub(crate) fn available(app: &Arc<App>, _: &Request) -> Answered {
    Ok(json(&DemoView { available: app.settings.demo.is_some() }))
}

/// `POST /api/demo`.
pub(crate) async fn start(app: Arc<App>, asked: &Request) -> Answered {
    let Some(Demo { project, script, request }) = app.settings.demo.clone() else {
        return Err(Refused::unknown("this server has no demo; `materia demo --ui` starts one"));
    };
    let body = StartBody {
        project: Some(project.to_string_lossy().into_owned()),
        script: Some(script.to_string_lossy().into_owned()),
        request,
        ..StartBody::default()
    };
    let key = StartKey { key: asked.key()?, body: asked.body_hash()? };
    begin::begin_once(app, body, key).await
}
