//! Server-sent events: how a piece of one is written, and how it reaches a reader who may be slow.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, header};
use futures_util::stream;
use tokio::sync::mpsc;

use crate::http::limits::{PIECE_BYTES, PIECES_AHEAD};

/// The end of a stream that a reader does not see.
pub(crate) struct SseWriter(mpsc::Sender<Bytes>);

/// The reader has gone, or was given up because it took nothing ([`crate::http::slow_connection`]): it goes on from its last id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gone;

impl SseWriter {
    /// Sends pieces of a text as the reader takes them.
    pub(crate) async fn write(&self, pieces: Vec<Bytes>) -> Result<(), Gone> {
        for piece in pieces {
            self.0.send(piece).await.map_err(|_| Gone)?;
        }
        Ok(())
    }

    /// Resolves when the reader has gone.
    pub(crate) async fn left(&self) {
        self.0.closed().await;
    }
}

/// A text in pieces. Each is a copy: a slice would keep the whole text until its last piece is taken.
pub(crate) fn pieces(text: &str) -> Vec<Bytes> {
    text.as_bytes().chunks(PIECE_BYTES).map(Bytes::copy_from_slice).collect()
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
pub(crate) fn stream() -> (SseWriter, Response<Body>) {
    let (sender, receiver) = mpsc::channel::<Bytes>(PIECES_AHEAD);
    let pieces = stream::unfold(receiver, |mut receiver| async {
        let piece = receiver.recv().await?;
        Some((Ok::<_, Infallible>(piece), receiver))
    });
    let mut response = Response::new(Body::from_stream(pieces));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    (SseWriter(sender), response)
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
