//! Moves bytes: the input to the child, its output to materia.
//!
//! Two buffers are all the memory that output ever takes here. Where materia reads slowly the
//! child waits, as it would on any pipe.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};

use super::protocol::{CONTENT_BYTES_MAX, HEADER_BYTES, STDERR, STDOUT, Sink};

/// How long an open pipe may stay silent once the tree is empty.
const SILENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 300_000_000 };
/// How long an open pipe is read in all once the tree is empty.
const DRAIN: Duration = Duration::from_secs(5);

/// The threads that move output.
pub(super) struct Pumps {
    threads: Vec<JoinHandle<()>>,
    /// Dropping it tells the threads that the tree is empty.
    tree: OwnedFd,
}

/// Starts to move bytes.
pub(super) fn start(child: &mut Child, input: Vec<u8>, sink: &Arc<Sink>) -> io::Result<Pumps> {
    if let Some(mut stdin) = child.stdin.take() {
        // Nobody waits for this thread: a child that never reads its input is fine, and so is
        // one that closes it early.
        thread::Builder::new().spawn(move || drop(stdin.write_all(&input)))?;
    }
    let (empty, tree) = pipe_with(PipeFlags::CLOEXEC)?;
    let empty = Arc::new(empty);
    let streams = [
        (STDOUT, child.stdout.take().map(OwnedFd::from)),
        (STDERR, child.stderr.take().map(OwnedFd::from)),
    ];
    let mut threads = Vec::new();
    for (tag, stream) in streams {
        let Some(stream) = stream else { continue };
        let (sink, empty) = (Arc::clone(sink), Arc::clone(&empty));
        let work = move || forward(tag, File::from(stream), &empty, &sink);
        threads.push(thread::Builder::new().spawn(work)?);
    }
    Ok(Pumps { threads, tree })
}

impl Pumps {
    /// Moves what is left in the pipes, now that nobody of the tree can add to it.
    pub(super) fn finish(self) {
        drop(self.tree);
        for thread in self.threads {
            // A pump has nothing to say; if it panicked, the rest is still worth reporting.
            let _ = thread.join();
        }
    }
}

/// Forwards `stream` until it ends, or until the tree is `empty` and the stream falls silent:
/// then somebody outside the tree holds it open, and we do not wait for strangers.
fn forward(tag: u8, mut stream: File, empty: &OwnedFd, sink: &Sink) {
    let mut frame = vec![0; HEADER_BYTES + CONTENT_BYTES_MAX];
    let mut drained_by: Option<Instant> = None;
    loop {
        match wait(&stream, empty, drained_by.is_some()) {
            Wake::Output => {}
            Wake::TreeEmpty => {
                drained_by = Some(Instant::now() + DRAIN);
                continue;
            }
            Wake::Silence => return,
        }
        if drained_by.is_some_and(|end| Instant::now() > end) {
            return;
        }
        match stream.read(&mut frame[HEADER_BYTES..]) {
            Ok(0) => return,
            // If materia is gone the watch hears of it; until then the child must not block.
            Ok(count) => drop(sink.send(tag, &mut frame[..HEADER_BYTES + count])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// What ended a wait.
enum Wake {
    Output,
    TreeEmpty,
    Silence,
}

fn wait(stream: &File, empty: &OwnedFd, draining: bool) -> Wake {
    loop {
        let mut ends = [
            PollFd::from_borrowed_fd(stream.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(empty.as_fd(), PollFlags::IN),
        ];
        let (ends, limit) =
            if draining { (&mut ends[..1], Some(&SILENCE)) } else { (&mut ends[..], None) };
        match poll(ends, limit) {
            Ok(0) => return Wake::Silence,
            // Looked at first, or a flood would keep us from ever hearing of it.
            Ok(_) if ends.get(1).is_some_and(|end| !end.revents().is_empty()) => {
                return Wake::TreeEmpty;
            }
            // Whatever else the stream has to say, reading it tells.
            Ok(_) => return Wake::Output,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Wake::Silence,
        }
    }
}
