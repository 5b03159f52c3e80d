//! Protocol between materia and the supervisor.
//!
//! To the supervisor: the length of the spec (four bytes, little endian), the spec as JSON, the child's input, and
//! later at most one [`POLITE`] and any number of [`RENEWED`]; with a dialogue also any number of [`INPUT`] and one [`NO_MORE`]. From it: frames of
//! a tag byte, a length (four bytes, little endian) and that many bytes; the last one has the tag [`VERDICT`] and
//! begins with the [`Token`] of the spec. Only materia and the supervisor know the token, so another process with the
//! pipe cannot forge the result.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::PlanningSupport;
use super::mark::VARIABLE;
use super::random::random;
use crate::approved_files::Pin;
use crate::raw_path::RawPath;

/// Asks the supervisor to end the tree, politely first.
pub(crate) const POLITE: u8 = b'T';
/// Announces that the lease of the run was renewed: the milliseconds that are left (four bytes, little endian).
pub(crate) const RENEWED: u8 = b'R';
/// Announces more input for the child: a length (four bytes, little endian) and that many bytes.
pub(crate) const INPUT: u8 = b'I';
/// Closes the child's input.
pub(crate) const NO_MORE: u8 = b'C';
/// The tag of bytes the child wrote to its standard output.
pub(crate) const STDOUT: u8 = b'O';
/// The tag of bytes the child wrote to its standard error.
pub(crate) const STDERR: u8 = b'E';
/// The tag of the last frame, a [`Verdict`] as JSON.
pub(crate) const VERDICT: u8 = b'X';

/// Bytes before the content of a frame.
pub(crate) const HEADER_BYTES: usize = 5;
/// The longest content of a frame.
pub(crate) const CONTENT_BYTES_MAX: usize = 64 * 1024;
/// The longest spec that is believed; the system's own limit on arguments is far lower.
const SPEC_BYTES_MAX: u32 = 64 * 1024 * 1024;

/// Program to run, and its settings.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// The program and its arguments.
    pub(crate) argv: Vec<String>,
    /// Where it runs.
    pub(crate) cwd: RawPath,
    /// Variables to add to the environment, or the whole environment.
    pub(crate) env: Vec<(String, RawPath)>,
    /// Whether `env` is the whole environment.
    #[serde(default)]
    pub(crate) env_only: bool,
    /// How many bytes of input follow the spec.
    pub(crate) input_bytes: usize,
    /// How long a polite end may take.
    pub(crate) grace_ms: u64,
    /// Write access, if it is restricted.
    pub(crate) writable: Option<Writable>,
    /// Whether a polite end is SIGINT instead of SIGTERM.
    #[serde(default)]
    pub(crate) interrupt: bool,
    /// Whether output is read from the child at once, also while materia does not read it.
    #[serde(default)]
    pub(crate) eager: bool,
    /// Whether the child's input stays open for more.
    #[serde(default)]
    pub(crate) dialogue: bool,
    /// A file that is locked as long as a process of the tree lives.
    #[serde(default)]
    pub(crate) lock: Option<RawPath>,
    /// The milliseconds that the tree may live without [`RENEWED`]; absent means for ever.
    #[serde(default)]
    pub(crate) term_ms: Option<u32>,
    /// Files that must be as they were approved when the program starts.
    #[serde(default)]
    pub(crate) pinned: Vec<Pin>,
    /// Token that the last frame must begin with.
    #[serde(default)]
    pub(crate) token: Token,
}

/// Random bytes that only materia and one supervisor know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Token([u8; TOKEN_BYTES]);

/// How long a token is.
const TOKEN_BYTES: usize = 16;

impl Token {
    /// A new one.
    pub(crate) fn new() -> io::Result<Self> {
        random().map(Self)
    }
}

/// Write and network access of a confined program.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Writable {
    /// Here anything may be made that is no device.
    pub(crate) folders: Vec<RawPath>,
    /// Whether connections are refused.
    #[serde(default)]
    pub(crate) offline: bool,
    /// The only programs that may be run, or folders of them, where not all may.
    #[serde(default)]
    pub(crate) only_runs: Option<Vec<RawPath>>,
}

impl Spec {
    /// How long a polite end may take.
    pub(crate) fn grace(&self) -> Duration {
        Duration::from_millis(self.grace_ms)
    }

    /// How long the tree may live before it is renewed.
    pub(crate) fn term(&self) -> Option<Duration> {
        self.term_ms.map(|left| Duration::from_millis(left.into()))
    }

    /// The mark that the child carries; empty where it has none.
    pub(crate) fn mark(&self) -> String {
        let mark = self.env.iter().rev().find(|(name, _)| name == VARIABLE);
        mark.map(|(_, mark)| mark.os().to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The signal of a polite end.
    pub(crate) fn polite(&self) -> Signal {
        if self.interrupt { Signal::INT } else { Signal::TERM }
    }

    /// Renders the spec as it goes over the pipe, without the input.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let json = serde_json::to_vec(self).expect("a spec is data and always renders");
        let length = u32::try_from(json.len()).unwrap_or(u32::MAX);
        [length.to_le_bytes().as_slice(), &json].concat()
    }

    /// Reads a spec and the child's input.
    pub(crate) fn read(pipe: &mut impl Read) -> io::Result<(Self, Vec<u8>)> {
        let mut length = [0; 4];
        pipe.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length);
        if length > SPEC_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut json = vec![0; length as usize];
        pipe.read_exact(&mut json)?;
        let spec: Self = serde_json::from_slice(&json)?;
        let mut input = vec![0; spec.input_bytes];
        pipe.read_exact(&mut input)?;
        Ok((spec, input))
    }
}

/// How it went.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Verdict {
    /// The child's exit code.
    pub(crate) exit_code: Option<i32>,
    /// The signal that ended the child.
    pub(crate) signal: Option<i32>,
    /// Why there was no child.
    pub(crate) spawn_error: Option<String>,
    /// Whether that is because another tree holds the lock.
    #[serde(default)]
    pub(crate) locked: bool,
    /// Whether that is because a file is not as it was approved.
    #[serde(default)]
    pub(crate) withheld: bool,
    /// Processes that even SIGKILL did not end in time.
    pub(crate) survivors: u32,
    /// In Planning mode: how far the kernel enforces it.
    pub(crate) sandbox: Option<PlanningSupport>,
}

/// Where frames go. Both pumps and the main thread write to it, one frame at a time.
pub(crate) struct Sink(Mutex<File>, Token);

impl Sink {
    /// Wraps the supervisor's standard output; `token` says that the last frame is true.
    pub(crate) fn new(pipe: File, token: Token) -> Self {
        Self(Mutex::new(pipe), token)
    }

    /// Sends one frame; `frame` begins with room for the header.
    pub(crate) fn send(&self, tag: u8, frame: &mut [u8]) -> io::Result<()> {
        let length = u32::try_from(frame.len() - HEADER_BYTES).expect("frames are short");
        frame[0] = tag;
        frame[1..HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(frame)
    }

    /// Sends the last frame.
    pub(crate) fn verdict(&self, verdict: &Verdict) -> io::Result<()> {
        let mut frame = vec![0; HEADER_BYTES];
        frame.extend_from_slice(&self.1.0);
        serde_json::to_writer(&mut frame, verdict)?;
        self.send(VERDICT, &mut frame)
    }
}

impl Verdict {
    /// Reads the content of a last frame; fails if another process than the supervisor wrote it.
    pub(crate) fn read(content: &[u8], token: Token) -> io::Result<Self> {
        match content.split_first_chunk::<TOKEN_BYTES>() {
            Some((written, verdict)) if *written == token.0 => Ok(serde_json::from_slice(verdict)?),
            Some(_) | None => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;

    #[test]
    fn a_spec_survives_the_pipe_with_paths_that_are_no_utf8() {
        let odd = OsString::from_vec(b"/tmp/\xff\xfe".to_vec());
        let spec = Spec {
            argv: vec!["echo".into(), "ä".into()],
            cwd: RawPath::from(&odd),
            env: vec![("TMPDIR".into(), RawPath::from("/x"))],
            input_bytes: 3,
            grace_ms: 5,
            writable: Some(Writable {
                folders: vec![RawPath::from(&odd)],
                offline: true,
                only_runs: None,
            }),
            ..Spec::default()
        };
        let mut bytes = spec.encode();
        bytes.extend_from_slice(b"abcT");
        let mut pipe = bytes.as_slice();
        let (read, input) = Spec::read(&mut pipe).unwrap();
        assert_eq!((read, input.as_slice(), pipe), (spec, &b"abc"[..], &b"T"[..]));
    }

    #[test]
    fn a_last_frame_of_somebody_else_is_not_believed() {
        let (token, other) = (Token::new().unwrap(), Token::new().unwrap());
        assert_ne!(token, other);
        let verdict =
            br#"{"exit_code":0,"signal":null,"spawn_error":null,"survivors":0,"sandbox":null}"#;
        let true_one = [token.0.as_slice(), verdict].concat();
        assert_eq!(Verdict::read(&true_one, token).unwrap().exit_code, Some(0));
        for forged in [true_one.as_slice(), verdict, b"", &token.0[..8]] {
            assert!(Verdict::read(forged, other).is_err());
        }
    }
}
