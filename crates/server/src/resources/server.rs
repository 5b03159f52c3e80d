//! The server itself: its health, sessions of people, and its end.

use std::sync::Arc;

use axum::http::{HeaderValue, StatusCode, header};
use materia_contract::RefusalCode;
use materia_contract::api::{Alive, Code, SessionBody, SessionKey};

use crate::http::problem::{Answered, Refused};
use crate::request::{Request, json, json_as, text};
use crate::state::App;

fn alive(app: &App) -> Alive {
    Alive { status: "ok".to_owned(), version: app.settings.version.clone(), proof: None }
}

/// The longest text that a proof is asked for with.
const NONCE_CHARS_MAX: usize = 64;

/// `GET /api/health`.
pub(crate) fn health(app: &Arc<App>, asked: &Request) -> Answered {
    let Some(nonce) = asked.query("nonce") else { return Ok(json(&alive(app))) };
    let plain = nonce.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !plain || nonce.len() > NONCE_CHARS_MAX {
        return Err(Refused::usage("`nonce` has 1 to 64 letters and digits"));
    }
    Ok(json(&Alive { proof: Some(app.access.prove(nonce)), ..alive(app) }))
}

/// `POST /api/session`.
pub(crate) async fn session(app: Arc<App>, asked: &Request) -> Answered {
    let body: SessionBody = asked.json()?;
    let user = match &asked.caller {
        Some(caller) => caller.user().await,
        None => None,
    };
    let Some(session) = app.access.session(&body.code, user) else {
        return Err(Refused::new(
            StatusCode::UNAUTHORIZED,
            RefusalCode::Unauthorized,
            "this code was used, is older than a minute, or is none; `materia ui` prints another link",
        ));
    };
    let mut response = json(&SessionKey { key: session.key, verifier: session.verifier });
    if let Ok(cookie) = HeaderValue::from_str(&session.cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// `POST /api/session/codes`.
pub(crate) fn code(app: &Arc<App>, _: &Request) -> Answered {
    let code = app.access.code().map_err(|error| Refused::usage(error.to_string()))?;
    let url = format!("{}/#code={code}", app.url);
    Ok(json(&Code { code, url }))
}

/// `GET /api/openapi.json`.
#[expect(clippy::unnecessary_wraps, reason = "all handlers have one type")]
pub(crate) fn openapi(_: &Arc<App>, _: &Request) -> Answered {
    let schema = materia_compiler::schema("openapi.json").unwrap_or_default();
    Ok(text("application/json", schema.to_owned()))
}

/// `POST /api/stop`.
#[expect(clippy::unnecessary_wraps, reason = "all handlers have one type")]
pub(crate) fn stop(app: &Arc<App>, _: &Request) -> Answered {
    app.ending.send_replace(true);
    Ok(json_as(StatusCode::ACCEPTED, &alive(app)))
}
