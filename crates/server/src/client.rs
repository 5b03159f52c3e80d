//! The other side: asking a server of this user that runs on this machine.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use materia_contract::api::{Problem, ServerFile};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::serve::running;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// The largest answer.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// A server that runs.
#[derive(Debug, Clone)]
pub struct Client {
    server: ServerFile,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The server cannot be reached.
    #[error("the server cannot be reached: {0}")]
    Unreached(#[from] io::Error),
    /// It refused.
    #[error("{}", .0.detail)]
    Refused(Box<Problem>),
}

trait Wire: Read + Write {}
impl<T: Read + Write> Wire for T {}

impl Client {
    /// The server of a state folder, if one runs and answers.
    #[must_use]
    pub fn of(state: &Path) -> Option<Self> {
        let client = Self { server: running(state)? };
        let alive: Result<materia_contract::api::Alive, _> = client.get("/api/health");
        alive.is_ok().then_some(client)
    }

    /// What it says about itself.
    #[must_use]
    pub fn server(&self) -> &ServerFile {
        &self.server
    }

    /// Looks at something.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, AskError> {
        self.ask("GET", path, b"")
    }

    /// Does something.
    pub fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, AskError> {
        self.ask("POST", path, &serde_json::to_vec(body).map_err(io::Error::other)?)
    }

    fn connect(&self) -> io::Result<(Box<dyn Wire>, String)> {
        if let Some(path) = self.server.url.strip_prefix("unix:") {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            return Ok((Box::new(stream), "localhost".to_owned()));
        }
        let host = self.server.url.strip_prefix("http://").unwrap_or_default().to_owned();
        let stream = TcpStream::connect(&host)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok((Box::new(stream), host))
    }

    fn ask<T: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> Result<T, AskError> {
        let (mut wire, host) = self.connect()?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.server.token,
            body.len()
        );
        wire.write_all(head.as_bytes())?;
        wire.write_all(body)?;
        wire.flush()?;
        let (status, answer) = answer(wire)?;
        if (200..300).contains(&status) {
            return Ok(serde_json::from_slice(&answer).map_err(io::Error::other)?);
        }
        let problem = serde_json::from_slice(&answer).map_err(|_| {
            io::Error::other(format!("it answered {status}, and not in the form of a refusal"))
        })?;
        Err(AskError::Refused(Box::new(problem)))
    }
}

/// The status and the body of an answer.
fn answer(wire: Box<dyn Wire>) -> io::Result<(u16, Vec<u8>)> {
    let mut reader = BufReader::new(wire.take(ANSWER_BYTES_MAX));
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
    let status = status.ok_or_else(|| io::Error::other("it does not speak HTTP"))?;
    let mut length = None;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let header = line.trim_end();
        if header.is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let mut body = Vec::new();
    match length {
        Some(length) => reader.take(length).read_to_end(&mut body)?,
        None => reader.read_to_end(&mut body)?,
    };
    Ok((status, body))
}
