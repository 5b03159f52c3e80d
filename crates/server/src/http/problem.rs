//! Error responses: `application/problem+json`, with the same codes as the command line.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use materia_app::Failure;
use materia_contract::api::{Problem, TrustItem};
use materia_contract::{Refusal, RefusalCode};
use serde_json::{Map, Value};

/// An answer, or why something was not done.
pub(crate) type Answered = Result<Response<Body>, Refused>;

/// Something that was not done, and how that is answered.
#[derive(Debug, Clone)]
pub(crate) struct Refused(pub(crate) Box<Problem>);

impl Refused {
    /// A refusal with a status of its own.
    pub(crate) fn new(status: StatusCode, code: RefusalCode, detail: impl Into<String>) -> Self {
        Self(Box::new(Problem {
            kind: "about:blank".to_owned(),
            title: status.canonical_reason().unwrap_or("Refused").to_owned(),
            status: status.as_u16(),
            code,
            detail: detail.into(),
            findings: Vec::new(),
            questions: Vec::new(),
            more: Map::new(),
        }))
    }

    /// 400: the request is not valid.
    pub(crate) fn usage(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, RefusalCode::Usage, detail)
    }

    /// 404: the named thing does not exist.
    pub(crate) fn unknown(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, RefusalCode::Resolution, detail)
    }

    /// It does not fit how things stand.
    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, RefusalCode::Resolution, detail)
    }

    /// The user must approve something first.
    pub(crate) fn trust(questions: Vec<TrustItem>) -> Self {
        let detail = "what would run is not approved; nothing ran. Look at it, then approve it by its hash (POST /api/trust)";
        let mut refused = Self::new(StatusCode::CONFLICT, RefusalCode::TrustRequired, detail);
        refused.0.questions = questions;
        refused
    }

    /// The same with more to it.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.more.insert(name.to_owned(), value.into());
        self
    }

    /// The same with the status that is usual for what starts something.
    pub(crate) fn unprocessable(mut self) -> Self {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        if self.0.code != RefusalCode::TrustRequired && self.0.status < 500 {
            self.0.status = status.as_u16();
            status.canonical_reason().unwrap_or_default().clone_into(&mut self.0.title);
        }
        self
    }

    /// The answer.
    pub(crate) fn response(&self) -> Response<Body> {
        let text = serde_json::to_vec(&self.0).unwrap_or_default();
        let mut response = Response::new(Body::from(text));
        *response.status_mut() =
            StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        if self.0.status == StatusCode::UNAUTHORIZED.as_u16() {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

/// The status of a code of the command line.
fn status(code: RefusalCode) -> StatusCode {
    match code {
        RefusalCode::Usage => StatusCode::BAD_REQUEST,
        RefusalCode::Configuration => StatusCode::UNPROCESSABLE_ENTITY,
        RefusalCode::Resolution | RefusalCode::Trust => StatusCode::CONFLICT,
        RefusalCode::TrustRequired
        | RefusalCode::Storage
        | RefusalCode::Forbidden
        | RefusalCode::Unauthorized
        | RefusalCode::Ambiguous
        | RefusalCode::Ending
        | RefusalCode::Limit
        | RefusalCode::Other => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(refused) => {
                let Refusal { code, message, findings } = refused.refusal;
                let told =
                    if code == RefusalCode::Trust { RefusalCode::TrustRequired } else { code };
                let mut refused = Self::new(status(code), told, message);
                refused.0.findings = findings;
                refused
            }
            Failure::Contradiction(_) => Self::usage(failure.to_string()),
            Failure::Broken(message) => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, RefusalCode::Storage, message)
            }
        }
    }
}
