//! Limits of the server. Each has its own error when it is exceeded.

use std::time::Duration;

/// The largest body of a request.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;

/// The same where a configuration is sent.
pub(crate) const CONFIG_BYTES_MAX: usize = 4 << 20;

/// Connections that are open at once; further ones wait.
pub(crate) const CONNECTIONS_MAX: usize = 256;

/// Streams that are open at once.
pub(crate) const STREAMS_MAX: usize = 64;

/// How long a request may take to come in.
pub(crate) const REQUEST_WAIT_MAX: Duration = Duration::from_secs(30);

/// How many bytes the head of a request may have.
pub(crate) const HEAD_BYTES_MAX: usize = 64 << 10;

/// How long a reader may take nothing of what waits for it.
pub(crate) const READER_WAIT_MAX: Duration = Duration::from_secs(20);

/// How often a stream shows that it is alive.
pub(crate) const STREAM_PULSE: Duration = Duration::from_secs(15);

/// Timeout for the receipt of a command.
pub(crate) const ACT_WAIT_MAX: Duration = Duration::from_secs(20);

/// Default number of casts or events on a page.
pub(crate) const PAGE_USUAL: usize = 50;

/// The same at the most.
pub(crate) const PAGE_MAX: usize = 1_000;

/// Bytes of a page of events, behind one event at least.
pub(crate) const PAGE_BYTES_MAX: usize = 4 << 20;

/// Large answers that are made at once; further ones wait for room.
pub(crate) const LARGE_ANSWERS_MAX: usize = 2;

/// Explorations that run at once; further ones wait.
pub(crate) const EXPLORATIONS_MAX: usize = 2;

/// States that an exploration looks at.
pub(crate) const EXPLORED_STATES_MAX: usize = 20_000;

/// How long an exploration takes.
pub(crate) const EXPLORATION_MAX: Duration = Duration::from_secs(4);

/// Bytes of an answer that wait for its reader in memory; a longer one waits in a file.
pub(crate) const ANSWER_BYTES_MAX: u64 = 256 << 10;

/// Bytes of a piece of a stream, or of a large answer.
pub(crate) const PIECE_BYTES: usize = 64 << 10;

/// Pieces that wait for a reader of a stream. With the page of events that is read and what the HTTP library holds, that is
/// less than 1 MiB for a reader.
pub(crate) const PIECES_AHEAD: usize = 2;

/// Projects that are served at once.
pub(crate) const PROJECTS_MAX: usize = 64;

/// How often a cast may be driven when its server dies before it is no longer begun by itself.
pub(crate) const DEATHS_MAX: u32 = 3;
