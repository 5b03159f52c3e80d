//! Copies bytes: the input to the child, its output to materia.
//!
//! Output takes two buffers of memory here. If materia reads slowly, the child waits, as on any pipe. Some programs
//! drop output instead of waiting; their output is read *eagerly*: through a larger pipe into a bounded queue.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

use super::protocol::{CONTENT_BYTES_MAX, HEADER_BYTES, STDERR, STDOUT, Sink, Spec};

/// The size of an eager pipe: the system's default limit for unprivileged users.
pub(crate) const PIPE_BYTES: usize = 1024 * 1024;
/// How many frames an eager queue holds, each of at most [`CONTENT_BYTES_MAX`].
const QUEUE_FRAMES_MAX: usize = 256;

/// How long an open pipe may stay silent once the tree is empty.
const SILENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 300_000_000 };
/// How long an open pipe is read in all once the tree is empty.
const DRAIN: Duration = Duration::from_secs(5);

/// The threads that move output.
pub(super) struct Pumps {
    threads: Vec<JoinHandle<()>>,
    /// Empties the eager queue; ends when the threads above have ended.
    queue: Option<JoinHandle<()>>,
    /// Dropping it signals to the threads that the tree is empty.
    tree: OwnedFd,
}

/// Starts to move bytes. Where the child's input stays open, what is sent goes there.
pub(super) fn start(
    child: &mut Child,
    input: Vec<u8>,
    spec: &Spec,
    sink: &Arc<Sink>,
) -> io::Result<(Pumps, Option<Sender<Vec<u8>>>)> {
    let (more, given) = channel();
    if let Some(stdin) = child.stdin.take() {
        // This thread is not joined: a child may never read its input, or close it early.
        thread::Builder::new().spawn(move || feed(stdin, &input, &given))?;
    }
    let (empty, tree) = pipe_with(PipeFlags::CLOEXEC)?;
    let empty = Arc::new(empty);
    let (outlet, queue) = Outlet::new(spec.eager, sink)?;
    let streams = [
        (STDOUT, child.stdout.take().map(OwnedFd::from)),
        (STDERR, child.stderr.take().map(OwnedFd::from)),
    ];
    let mut threads = Vec::new();
    for (tag, stream) in streams {
        let Some(stream) = stream else { continue };
        if spec.eager {
            // Where the system refuses, the queue alone has to do.
            let _ = fcntl_setpipe_size(&stream, PIPE_BYTES);
        }
        let (outlet, empty) = (outlet.clone(), Arc::clone(&empty));
        let work = move || forward(tag, File::from(stream), &empty, &outlet);
        threads.push(thread::Builder::new().spawn(work)?);
    }
    Ok((Pumps { threads, queue, tree }, spec.dialogue.then_some(more)))
}

/// Writes the input and all later input; closes the pipe at the end, or if the child no longer reads.
fn feed(mut stdin: impl Write, input: &[u8], given: &Receiver<Vec<u8>>) {
    let mut written = stdin.write_all(input);
    while written.is_ok() {
        let Ok(bytes) = given.recv() else { return };
        written = stdin.write_all(&bytes);
    }
}

/// Where output goes: to materia, at once or through a queue.
#[derive(Clone)]
enum Outlet {
    Direct(Arc<Sink>),
    Queued(SyncSender<(u8, Vec<u8>)>),
}

impl Outlet {
    fn new(eager: bool, sink: &Arc<Sink>) -> io::Result<(Self, Option<JoinHandle<()>>)> {
        if !eager {
            return Ok((Self::Direct(Arc::clone(sink)), None));
        }
        let (queue, queued) = sync_channel::<(u8, Vec<u8>)>(QUEUE_FRAMES_MAX);
        let sink = Arc::clone(sink);
        let work = move || {
            for (tag, mut frame) in queued {
                // If materia is gone the watch detects it; until then the child must not block.
                let _ = sink.send(tag, &mut frame);
            }
        };
        Ok((Self::Queued(queue), Some(thread::Builder::new().spawn(work)?)))
    }

    /// Sends a frame, which begins with room for its header.
    fn send(&self, tag: u8, frame: &mut [u8]) {
        match self {
            // If materia is gone the watch detects it; until then the child must not block.
            Self::Direct(sink) => drop(sink.send(tag, frame)),
            Self::Queued(queue) => drop(queue.send((tag, frame.to_vec()))),
        }
    }
}

impl Pumps {
    /// Forwards the rest in the pipes, now that no process of the tree can write to them.
    pub(super) fn finish(self) {
        drop(self.tree);
        for thread in self.threads.into_iter().chain(self.queue) {
            // A pump has nothing to say; if it panicked, the rest is still worth reporting.
            let _ = thread.join();
        }
    }
}

/// Forwards `stream` until it ends, or until the tree is `empty` and the stream falls silent: then a process outside
/// the tree holds it open, which is not waited for.
fn forward(tag: u8, mut stream: File, empty: &OwnedFd, outlet: &Outlet) {
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
            Ok(count) => outlet.send(tag, &mut frame[..HEADER_BYTES + count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Reason for the end of a wait.
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
            // Checked first, or a flood of output would hide it.
            Ok(_) if ends.get(1).is_some_and(|end| !end.revents().is_empty()) => {
                return Wake::TreeEmpty;
            }
            // Any other state of the stream shows when it is read.
            Ok(_) => return Wake::Output,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Wake::Silence,
        }
    }
}
