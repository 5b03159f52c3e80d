//! Large answers wait for their readers in a file, not in memory.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read, Seek as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::{HeaderValue, Response, header};
use futures_util::stream;
use materia_engine::off_thread;

use crate::http::limits::{ANSWER_BYTES_MAX, PIECE_BYTES};
use crate::http::problem::{Answered, Refused};
use crate::request;

/// A text that is made piece by piece: in memory while it is short, then in a file without a name. Where no file can be
/// written (the disk is full), it stays in memory.
pub(crate) struct Spool {
    folder: PathBuf,
    memory: Vec<u8>,
    file: Option<File>,
    length: u64,
    /// Whether a file could not be written.
    failed: bool,
}

impl Spool {
    pub(crate) fn new(folder: &Path) -> Self {
        let folder = folder.to_owned();
        Self { folder, memory: Vec::new(), file: None, length: 0, failed: false }
    }

    /// Writes a piece. It waits for the disk.
    pub(crate) fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            match file.write_all(piece) {
                Ok(()) => {
                    self.length += piece.len() as u64;
                    return Ok(());
                }
                Err(error) => self.back_to_memory(&error)?,
            }
        }
        self.memory.extend_from_slice(piece);
        self.length += piece.len() as u64;
        if self.length > ANSWER_BYTES_MAX && !self.failed {
            match to_file(&self.folder, &self.memory) {
                Ok(file) => (self.file, self.memory) = (Some(file), Vec::new()),
                Err(error) => self.fail(&error),
            }
        }
        Ok(())
    }

    /// How long it is.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// A part of it. It waits for the disk.
    pub(crate) fn part(&self, from: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut part = vec![0; length];
        if let Some(file) = &self.file {
            file.read_exact_at(&mut part, from)?;
        } else {
            let mut memory = io::Cursor::new(&self.memory);
            memory.set_position(from);
            memory.read_exact(&mut part)?;
        }
        Ok(part)
    }

    fn back_to_memory(&mut self, error: &io::Error) -> io::Result<()> {
        self.fail(error);
        if let Some(mut file) = self.file.take() {
            file.rewind()?;
            file.take(self.length).read_to_end(&mut self.memory)?;
        }
        Ok(())
    }

    fn fail(&mut self, error: &io::Error) {
        self.failed = true;
        tracing::warn!(%error, "an answer stays in memory: the state folder cannot be written");
    }

    /// The whole text as an answer of a kind.
    pub(crate) fn answer(self, kind: &'static str) -> io::Result<Response<Body>> {
        let (body, length) = match self.file {
            Some(mut file) => {
                file.rewind()?;
                (from_file(file), HeaderValue::from(self.length))
            }
            None => (Body::from(self.memory), HeaderValue::from(self.length)),
        };
        let mut response = request::text(kind, String::new());
        *response.body_mut() = body;
        response.headers_mut().insert(header::CONTENT_LENGTH, length);
        Ok(response)
    }
}

/// A file without a name that begins with these bytes.
fn to_file(folder: &Path, bytes: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile_in(folder)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// An answer that holds at most [`ANSWER_BYTES_MAX`] in memory while its reader takes it. `room` is kept as long as all
/// of it is in memory.
pub(crate) async fn spilled<T: Send + 'static>(
    answer: Response<Body>,
    folder: &Path,
    room: T,
) -> Answered {
    // A stream does not know its length, and has bounds of its own.
    let length = answer.body().size_hint().exact().unwrap_or(0);
    if length <= ANSWER_BYTES_MAX {
        return Ok(answer);
    }
    let (mut head, body) = answer.into_parts();
    let read = axum::body::to_bytes(body, usize::MAX).await;
    let bytes = read.map_err(|error| Refused::usage(error.to_string()))?;
    head.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    let (folder, kept) = (folder.to_owned(), bytes.clone());
    let written = off_thread(move || {
        let mut file = to_file(&folder, &kept)?;
        file.rewind()?;
        Ok::<_, io::Error>(file)
    });
    let body = match written.await {
        Ok(file) => from_file(file),
        Err(_) => from_memory(bytes, room),
    };
    Ok(Response::from_parts(head, body))
}

/// How often memory is given back.
const GIVE_BACK: Duration = Duration::from_secs(5);

/// Returns memory to the system at intervals. The allocator returns freed memory only when a large block is freed,
/// which does not happen in an idle server.
pub(crate) async fn give_memory_back() {
    loop {
        tokio::time::sleep(GIVE_BACK).await;
        drop(std::hint::black_box(Vec::<u8>::with_capacity(1 << 20)));
    }
}

fn from_file(file: File) -> Body {
    Body::from_stream(stream::unfold(Some(file), |file| async {
        let file = file?;
        let read = off_thread(move || {
            let mut piece = Vec::with_capacity(PIECE_BYTES);
            Read::take(&file, PIECE_BYTES as u64).read_to_end(&mut piece)?;
            Ok::<_, io::Error>((piece, file))
        });
        match read.await {
            Ok((piece, _)) if piece.is_empty() => None,
            Ok((piece, file)) => Some((Ok(Bytes::from(piece)), Some(file))),
            Err(error) => Some((Err(error), None)),
        }
    }))
}

fn from_memory<T: Send + 'static>(bytes: Bytes, room: T) -> Body {
    Body::from_stream(stream::unfold((bytes, room), |(mut rest, room)| async move {
        let piece = rest.split_to(rest.len().min(PIECE_BYTES));
        (!piece.is_empty()).then_some((Ok::<_, Infallible>(piece), (rest, room)))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn text(answer: Response<Body>) -> Vec<u8> {
        axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap().to_vec()
    }

    /// A text of so many pieces of 10,000 bytes, and what it should be.
    fn filled(folder: &Path, pieces: u8) -> (Spool, Vec<u8>) {
        let (mut spool, mut whole) = (Spool::new(folder), Vec::new());
        for piece in 0..pieces {
            let piece = vec![piece; 10_000];
            spool.write(&piece).unwrap();
            whole.extend(piece);
        }
        (spool, whole)
    }

    #[tokio::test]
    async fn a_long_text_is_in_a_file_and_a_short_one_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        for pieces in [0, 3, 200] {
            let (spool, whole) = filled(folder.path(), pieces);
            assert_eq!(spool.file.is_some(), pieces == 200);
            assert!(spool.memory.len() as u64 <= ANSWER_BYTES_MAX);
            if pieces > 0 {
                assert!(spool.part(9_999, 10_002).unwrap() == whole[9_999..20_001]);
            }
            assert!(spool.part(spool.length(), 1).is_err());
            let answer = spool.answer("text/plain").unwrap();
            assert_eq!(answer.headers()[header::CONTENT_LENGTH], whole.len().to_string());
            let answer = spilled(answer, folder.path(), ()).await.unwrap();
            assert!(text(answer).await == whole);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_long_text_stays_in_memory_where_no_file_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let (spool, whole) = filled(&folder.path().join("none"), 200);
        assert!(spool.file.is_none() && spool.failed);
        let answer = spool.answer("text/plain").unwrap();
        let answer = spilled(answer, &folder.path().join("none"), ()).await.unwrap();
        assert!(text(answer).await == whole);
        // The disk is full in the middle.
        let (mut spool, mut whole) = filled(folder.path(), 200);
        spool.back_to_memory(&io::ErrorKind::StorageFull.into()).unwrap();
        spool.write(b"more").unwrap();
        whole.extend(b"more");
        assert!(text(spool.answer("text/plain").unwrap()).await == whole);
    }
}
