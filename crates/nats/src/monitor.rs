//! The monitor of a server: a small HTTP service that says how the server is set up.

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// How long a monitor may take to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(3);

/// The most bytes of an answer.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// Whether a server writes every message to its disk before it acknowledges it, as its monitor at `http://HOST:PORT`
/// says. The error says why that is not known. Blocks.
pub fn syncs_always(monitor: &str) -> Result<bool, String> {
    let host = monitor.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
    let host = host.ok_or_else(|| format!("`{monitor}` is no address like http://HOST:PORT"))?;
    let failed = |error: std::io::Error| format!("the monitor at `{monitor}`: {error}");
    let mut addresses = host.to_socket_addrs().map_err(failed)?;
    let address = addresses.next().ok_or_else(|| format!("`{monitor}` leads nowhere"))?;
    let mut stream = TcpStream::connect_timeout(&address, ANSWER_WITHIN).map_err(failed)?;
    stream.set_read_timeout(Some(ANSWER_WITHIN)).map_err(failed)?;
    write!(stream, "GET /varz HTTP/1.0\r\nHost: {host}\r\n\r\n").map_err(failed)?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer).map_err(failed)?;
    let answer = String::from_utf8_lossy(&answer);
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let body: serde_json::Value = serde_json::from_str(body).map_err(|error| {
        format!("the monitor at `{monitor}` answers with something else: {error}")
    })?;
    // The interval is reported as two minutes even where every message is synced.
    let always = body.pointer("/jetstream/config/sync_always").and_then(serde_json::Value::as_bool);
    Ok(always.unwrap_or(false))
}
