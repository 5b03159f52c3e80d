//! Whether a turn's process is calling: everything that a turn starts has a mark in its environment.
//!
//! A model must not steer the casts it runs in. It is looked up for callers on this machine where the system can tell;
//! where it cannot, the token decides.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;

use materia_engine::off_thread;
use tokio::sync::OnceCell;

/// The variable that holds the mark of a turn.
const MARK: &[u8] = b"MATERIA_TURN=";

/// The other end of a connection, as far as the system can tell.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Peer {
    /// The caller's address, and ours.
    Tcp(SocketAddr, SocketAddr),
    /// The number of the process.
    Process(i32),
    Unknown,
}

/// Who is calling. Its process is looked for once a connection, and only where somebody wants to know.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) peer: Peer,
    of_turn: Arc<OnceCell<bool>>,
}

impl Caller {
    pub(crate) fn new(peer: Peer) -> Self {
        Self { peer, of_turn: Arc::default() }
    }

    /// Whether it is a process that a turn started.
    pub(crate) async fn is_of_turn(&self) -> bool {
        let peer = self.peer;
        let look = move || match peer {
            Peer::Tcp(from, to) => is_marked_caller(from, to),
            Peer::Process(pid) => is_marked(pid),
            Peer::Unknown => false,
        };
        *self.of_turn.get_or_init(|| off_thread(look)).await
    }
}

/// Whether the process with this number bears a mark.
pub(crate) fn is_marked(pid: i32) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(MARK))
}

/// Whether a process that bears a mark has the other end of a connection. `from` is the caller's address, `to` ours.
pub(crate) fn is_marked_caller(from: SocketAddr, to: SocketAddr) -> bool {
    let table = if from.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
    let Ok(table) = fs::read_to_string(table) else { return false };
    let Some(inode) = table.lines().find_map(|line| inode_of(line, from, to)) else { return false };
    let wanted = format!("socket:[{inode}]");
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    // Few processes bear a mark; only those are looked into.
    pids.filter(|pid| is_marked(*pid)).any(|pid| {
        let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        open.flatten().any(|entry| {
            fs::read_link(entry.path()).is_ok_and(|leads| leads.to_str() == Some(&wanted))
        })
    })
}

/// The number of the socket that a line of the system's table is about, if it is that of this connection.
fn inode_of(line: &str, local: SocketAddr, remote: SocketAddr) -> Option<u64> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let port = |word: &str| u16::from_str_radix(word.rsplit(':').next()?, 16).ok();
    let (here, there) = (port(words.next()?)?, port(words.next()?)?);
    let inode = words.nth(6)?.parse().ok()?;
    (here == local.port() && there == remote.port() && inode != 0).then_some(inode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::net::{TcpListener, TcpStream};
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_with_a_mark_is_found_by_its_connection() {
        let ear = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = ear.local_addr().unwrap().port();
        let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; echo there; read -r _");
        let mut child = Command::new("bash")
            .args(["-c", &script])
            .env("MATERIA_TURN", "x.y.1.z")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (stream, from) = ear.accept().unwrap();
        let mut said = [0; 6];
        child.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
        assert!(is_marked_caller(from, stream.local_addr().unwrap()));
        drop(child.stdin.take());
        child.wait().unwrap();
        let own = TcpStream::connect(ear.local_addr().unwrap()).unwrap();
        let (stream, from) = ear.accept().unwrap();
        assert!(!is_marked_caller(from, stream.local_addr().unwrap()));
        drop(own);
    }
}
