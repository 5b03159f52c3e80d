//! Server-sent events: how a piece of one is written, and how it reaches a reader who may be slow.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, header};
use futures_util::stream;
use tokio::sync::mpsc;

use crate::limits::READER_WAIT_MAX;

/// Pieces that wait for a reader at the most.
const AHEAD: usize = 16;

/// The end of a stream that a reader does not see.
pub(crate) struct Pen(mpsc::Sender<Bytes>);

/// Why a stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gone {
    /// The reader has gone.
    Left,
    /// The reader is too slow, and goes on from its last id.
    Slow,
}

impl Pen {
    /// Sends a piece; a reader who does not take it is cut off.
    pub(crate) async fn write(&self, text: String) -> Result<(), Gone> {
        match self.0.send_timeout(Bytes::from(text), READER_WAIT_MAX).await {
            Ok(()) => Ok(()),
            Err(mpsc::error::SendTimeoutError::Timeout(_)) => Err(Gone::Slow),
            Err(mpsc::error::SendTimeoutError::Closed(_)) => Err(Gone::Left),
        }
    }

    /// Resolves when the reader has gone.
    pub(crate) async fn left(&self) {
        self.0.closed().await;
    }
}

/// One event. A text of several lines stays one.
pub(crate) fn event(kind: &str, id: Option<&str>, data: &str) -> String {
    let mut text = format!("event: {kind}\n");
    if let Some(id) = id {
        text.push_str("id: ");
        text.push_str(id);
        text.push('\n');
    }
    for line in data.split(['\n', '\r']) {
        text.push_str("data: ");
        text.push_str(line);
        text.push('\n');
    }
    text.push('\n');
    text
}

/// A sign of life.
pub(crate) const PULSE: &str = ": \n\n";

/// A stream, and what writes to it.
pub(crate) fn stream() -> (Pen, Response<Body>) {
    let (sender, receiver) = mpsc::channel::<Bytes>(AHEAD);
    let pieces = stream::unfold(receiver, |mut receiver| async {
        let piece = receiver.recv().await?;
        Some((Ok::<_, Infallible>(piece), receiver))
    });
    let mut response = Response::new(Body::from_stream(pieces));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    (Pen(sender), response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_an_event_or_begins_another() {
        let text = event("journal", Some("7"), "{\"a\":1}");
        assert_eq!(text, "event: journal\nid: 7\ndata: {\"a\":1}\n\n");
        let hostile = event("live", None, "x\n\nevent: journal\rid: 9\ndata: y");
        assert!(hostile.lines().skip(1).all(|line| line.is_empty() || line.starts_with("data: ")));
        assert_eq!(hostile.matches("\n\n").count(), 1);
    }
}
