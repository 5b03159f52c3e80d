//! Closes connections of clients that do not read.
//!
//! Responses wait in buffers. If a client reads nothing for too long, the connection is closed and its buffers are
//! freed.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// A connection that fails once a write has waited for so long.
pub(crate) struct SlowConnection<S, F> {
    stream: S,
    most: Duration,
    /// Runs while a write waits.
    waits: Option<Pin<Box<Sleep>>>,
    /// Called when the reader is given up.
    given_up: Option<F>,
}

impl<S, F: FnOnce()> SlowConnection<S, F> {
    pub(crate) fn new(stream: S, most: Duration, given_up: F) -> Self {
        Self { stream, most, waits: None, given_up: Some(given_up) }
    }

    /// The result of a write, or a timeout.
    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waits = None;
            return written;
        }
        let most = self.most;
        let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(most)));
        ready!(waits.as_mut().poll(context));
        // Later calls return the same.
        waits.as_mut().reset(Instant::now());
        if let Some(given_up) = self.given_up.take() {
            given_up();
        }
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin, F: Unpin> AsyncRead for SlowConnection<S, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin, F: FnOnce() + Unpin> AsyncWrite for SlowConnection<S, F> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watch(context, shut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    #[tokio::test]
    async fn a_reader_that_takes_nothing_is_given_up_and_one_that_takes_a_little_is_not() {
        let told = Arc::new(AtomicUsize::new(0));
        let given_up = |told: &Arc<AtomicUsize>| {
            let told = Arc::clone(told);
            move || {
                told.fetch_add(1, Ordering::Relaxed);
            }
        };
        let (ours, _theirs) = duplex(64);
        let mut ours = SlowConnection::new(ours, Duration::from_millis(50), given_up(&told));
        let error = ours.write_all(&[7; 1_000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(ours.write_all(&[7; 1_000]).await.is_err());
        assert_eq!(told.load(Ordering::Relaxed), 1);
        let (ours, mut theirs) = duplex(64);
        let mut ours = SlowConnection::new(ours, Duration::from_secs(3), given_up(&told));
        let slow = tokio::spawn(async move {
            let mut taken = [0; 50];
            for _ in 0..20 {
                tokio::time::sleep(Duration::from_millis(250)).await;
                theirs.read_exact(&mut taken).await.unwrap();
            }
        });
        ours.write_all(&[7; 1_000]).await.unwrap();
        slow.await.unwrap();
        assert_eq!(told.load(Ordering::Relaxed), 1);
    }
}
