//! Client for a server of the same user on this machine.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use materia_contract::api::{
    AddProject, Alive, Code, Problem, ProjectItem, Projects, ServerFile, SessionKey,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::http::access::{is_same, prove, random_hex, verifier};
use crate::serve::running;
use crate::{single_instance, state_folder};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// The largest head of an answer.
const HEAD_BYTES_MAX: u64 = 64 << 10;
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
    /// The server of a state folder, if one runs, answers and proves that it is the one.
    pub fn of(state: &Path) -> Option<Self> {
        // A server that died may have left its file, and another program may use its port.
        if state_folder::check(state).is_err() || !single_instance::is_held(state) {
            return None;
        }
        let client = Self { server: running(state)? };
        let alive: Result<Alive, _> = client.get("/api/health");
        alive.is_ok().then_some(client)
    }

    /// Has one more folder served: on behalf of the person at the terminal, who signs in for it.
    pub fn add_project(&self, dir: &str) -> Result<ProjectItem, AskError> {
        let projects: Projects = self.get("/api/projects")?;
        if let Some(known) = projects.items.into_iter().find(|it| it.dir == dir) {
            return Ok(known);
        }
        let code: Code = self.post("/api/codes", &serde_json::json!({}))?;
        let body = serde_json::to_vec(&serde_json::json!({ "code": code.code }));
        let signed_in =
            self.exchange("POST", "/api/session", "", &body.map_err(io::Error::other)?)?;
        let SessionKey { key, .. } = signed_in.read()?;
        let cookie = signed_in.cookie.unwrap_or_default();
        let headers = format!("Cookie: {cookie}\r\nX-Materia-Key: {key}\r\n");
        let body = serde_json::to_vec(&AddProject { dir: dir.to_owned() });
        self.exchange("POST", "/api/projects", &headers, &body.map_err(io::Error::other)?)?.read()
    }

    /// Has a folder served no longer; `None` where it is not served.
    pub fn remove_project(&self, dir: &str) -> Result<Option<ProjectItem>, AskError> {
        let projects: Projects = self.get("/api/projects")?;
        let Some(known) = projects.items.into_iter().find(|it| it.dir == dir) else {
            return Ok(None);
        };
        self.ask("DELETE", &format!("/api/projects/{}", known.id), b"{}").map(Some)
    }

    /// Contents of the server file: address, process and token.
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

    fn connect(&self) -> io::Result<(BufReader<Box<dyn Wire>>, String)> {
        if let Some(path) = self.server.url.strip_prefix("unix:") {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            return Ok((BufReader::new(Box::new(stream)), "localhost".to_owned()));
        }
        let host = self.server.url.strip_prefix("http://").unwrap_or_default().to_owned();
        let stream = TcpStream::connect(&host)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok((BufReader::new(Box::new(stream)), host))
    }

    fn ask<T: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> Result<T, AskError> {
        let token = format!("Authorization: Bearer {}\r\n", self.server.token);
        self.exchange(method, path, &token, body)?.read()
    }

    /// Sends a request once the server has proved, over the same connection, that it knows the token.
    fn exchange(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: &[u8],
    ) -> Result<Answer, AskError> {
        let (mut wire, host) = self.connect()?;
        let nonce = random_hex::<16>()?;
        let asked = format!("GET /api/health?nonce={nonce} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        wire.get_mut().write_all(asked.as_bytes())?;
        let alive: Alive = answer(&mut wire)?.read()?;
        let port = host.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(0);
        let proof = prove(&verifier(&self.server.token), &nonce, port);
        if !alive.proof.is_some_and(|said| is_same(said.as_bytes(), proof.as_bytes())) {
            let what = "another program answers at its address; nothing was sent to it";
            return Err(io::Error::other(what).into());
        }
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        wire.get_mut().write_all(head.as_bytes())?;
        wire.get_mut().write_all(body)?;
        wire.get_mut().flush()?;
        Ok(answer(&mut wire)?)
    }
}

/// An answer.
struct Answer {
    status: u16,
    cookie: Option<String>,
    body: Vec<u8>,
}

impl Answer {
    /// Body of the response, or the refusal in it.
    fn read<T: DeserializeOwned>(&self) -> Result<T, AskError> {
        if (200..300).contains(&self.status) {
            return Ok(serde_json::from_slice(&self.body).map_err(io::Error::other)?);
        }
        let problem = serde_json::from_slice(&self.body).map_err(|_| {
            let status = self.status;
            io::Error::other(format!("it answered {status}, and not in the form of a refusal"))
        })?;
        Err(AskError::Refused(Box::new(problem)))
    }
}

/// Reads one answer.
fn answer(wire: &mut BufReader<Box<dyn Wire>>) -> io::Result<Answer> {
    let mut head = wire.take(HEAD_BYTES_MAX);
    let mut line = String::new();
    head.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
    let status = status.ok_or_else(|| io::Error::other("it does not speak HTTP"))?;
    let (mut length, mut cookie) = (None, None);
    loop {
        line.clear();
        head.read_line(&mut line)?;
        let header = line.trim_end();
        if header.is_empty() {
            break;
        }
        let Some((name, value)) = header.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse::<u64>().ok();
        }
        if name.eq_ignore_ascii_case("set-cookie") {
            cookie = value.split(';').next().map(|pair| pair.trim().to_owned());
        }
    }
    let length =
        length.ok_or_else(|| io::Error::other("it does not say how long its answer is"))?;
    if length > ANSWER_BYTES_MAX {
        return Err(io::Error::other(format!("its answer has {length} bytes")));
    }
    let mut body = Vec::new();
    wire.take(length).read_to_end(&mut body)?;
    Ok(Answer { status, cookie, body })
}
