//! Reads the frames that a supervisor sends.

use std::io;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStdout};
use tokio::time::timeout;

use crate::supervise::protocol::{
    CONTENT_BYTES_MAX, HEADER_BYTES, STDERR, STDOUT, Token, VERDICT, Verdict,
};

/// How long what a supervisor said before it went may take to be read.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// The next frame of a supervisor. After its exit there is none, also if another process holds its pipe open.
/// Cancel-safe.
pub(super) async fn next_frame<'a>(
    frames: &'a mut Frames,
    supervisor: &mut Child,
) -> io::Result<Frame<'a>> {
    while !frames.has_next()? {
        let gone = tokio::select! {
            biased;
            filled = frames.fill() => filled? == 0,
            _ = supervisor.wait() => {
                // What it said before is still in the pipe.
                let filled = timeout(LAST_WORDS, frames.fill()).await;
                !matches!(filled, Ok(Ok(1..)))
            }
        };
        if gone && !frames.has_next()? {
            return Ok(Frame::End);
        }
    }
    frames.next()
}

/// One thing a supervisor said.
pub(super) enum Frame<'a> {
    Stdout(&'a [u8]),
    Stderr(&'a [u8]),
    Last(Verdict),
    /// It will say no more.
    End,
}

/// Cuts the supervisor's output into frames. Safe to cancel between two reads.
pub(super) struct Frames {
    pipe: ChildStdout,
    token: Token,
    buffer: Vec<u8>,
    /// How much of the buffer has been handed out already.
    used: usize,
}

impl Frames {
    pub(super) fn new(pipe: ChildStdout, token: Token) -> Self {
        let buffer = Vec::with_capacity(2 * (HEADER_BYTES + CONTENT_BYTES_MAX));
        Self { pipe, token, buffer, used: 0 }
    }

    /// Resolves when something has come, or nothing ever will.
    pub(super) async fn ready(&mut self) {
        if self.buffer.len() == self.used {
            // What is wrong with the pipe shows again when the frame is read.
            let _ = self.fill().await;
        }
    }

    /// Reads more; 0 means that there is no more.
    async fn fill(&mut self) -> io::Result<usize> {
        self.buffer.drain(..self.used);
        self.used = 0;
        self.pipe.read_buf(&mut self.buffer).await
    }

    /// The tag and the length of the next frame, if it is there as a whole.
    fn header(&self) -> io::Result<Option<(u8, usize)>> {
        let rest = &self.buffer[self.used..];
        let Some((&[tag, a, b, c, d], content)) = rest.split_first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        if length > CONTENT_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok((content.len() >= length).then_some((tag, length)))
    }

    fn has_next(&self) -> io::Result<bool> {
        self.header().map(|header| header.is_some())
    }

    /// The next frame, which is there.
    fn next(&mut self) -> io::Result<Frame<'_>> {
        let Some((tag, length)) = self.header()? else { return Ok(Frame::End) };
        let start = self.used + HEADER_BYTES;
        self.used = start + length;
        let content = &self.buffer[start..self.used];
        match tag {
            STDOUT => Ok(Frame::Stdout(content)),
            STDERR => Ok(Frame::Stderr(content)),
            VERDICT => Ok(Frame::Last(Verdict::read(content, self.token)?)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}
