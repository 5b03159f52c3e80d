//! Whether a process that a turn started is calling, whose policy does not let it control casts.
//!
//! It is looked up for callers on this machine if the system supports that; otherwise the token decides.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;

use materia_engine::off_thread;
use tokio::sync::OnceCell;

use crate::http::access::User;

use materia_runners::Processes;

/// The other end of a connection, as far as the system can tell.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Peer {
    /// The caller's address, and ours.
    Tcp(SocketAddr, SocketAddr),
    /// The number of the process, and its user.
    Process(i32, User),
    Unknown,
}

/// The caller of a connection. Its process is looked up once, when it is first needed.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) peer: Peer,
    of_turn: Arc<OnceCell<bool>>,
}

impl Caller {
    pub(crate) fn new(peer: Peer) -> Self {
        Self { peer, of_turn: Arc::default() }
    }

    /// The user whose process it is, where the system says.
    pub(crate) async fn user(&self) -> User {
        match self.peer {
            Peer::Tcp(from, to) => {
                off_thread(move || entry_of(from, to).map(|entry| entry.user)).await
            }
            Peer::Process(_, user) => user,
            Peer::Unknown => None,
        }
    }

    /// Whether it is a process of a turn that may not control casts.
    pub(crate) async fn is_of_turn(&self) -> bool {
        let peer = self.peer;
        let look = move || match peer {
            Peer::Tcp(from, to) => calls_from_a_turn(from, to),
            Peer::Process(pid, _) => is_of_a_turn(pid),
            Peer::Unknown => false,
        };
        *self.of_turn.get_or_init(|| off_thread(look)).await
    }
}

/// Whether the process with this number belongs to a turn that may not control casts, or is gone.
pub(crate) fn is_of_a_turn(pid: i32) -> bool {
    // A process that exits right after it connects may have passed its connection to another.
    let gone = fs::metadata(format!("/proc/{pid}")).is_err() && fs::metadata("/proc/self").is_ok();
    gone || may_not(&mut Processes::default(), pid)
}

fn may_not(processes: &mut Processes, pid: i32) -> bool {
    processes.turn_of(pid).is_some_and(|turn| !turn.steers)
}

/// Whether such a process has the other end of a connection. `from` is the caller's address, `to` ours.
pub(crate) fn calls_from_a_turn(from: SocketAddr, to: SocketAddr) -> bool {
    let mut processes = Processes::default();
    let of_a_turn = |pid| may_not(&mut processes, pid);
    entry_of(from, to).is_some_and(|entry| holders(entry.inode).any(of_a_turn))
}

/// The processes that hold a socket.
fn holders(inode: u64) -> impl Iterator<Item = i32> {
    let wanted = format!("socket:[{inode}]");
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(move |pid: &i32| {
        let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        open.flatten().any(|entry| {
            fs::read_link(entry.path()).is_ok_and(|leads| leads.as_os_str() == wanted.as_str())
        })
    })
}

/// The caller's end of a connection in the system's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    user: u32,
    inode: u64,
}

fn entry_of(from: SocketAddr, to: SocketAddr) -> Option<Entry> {
    let table = if from.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
    fs::read_to_string(table).ok()?.lines().find_map(|line| entry(line, from, to))
}

/// Parses a line of the table if it is this connection.
fn entry(line: &str, local: SocketAddr, remote: SocketAddr) -> Option<Entry> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let port = |word: &str| u16::from_str_radix(word.rsplit(':').next()?, 16).ok();
    let (here, there) = (port(words.next()?)?, port(words.next()?)?);
    let (user, inode) = (words.nth(4)?.parse().ok()?, words.nth(1)?.parse().ok()?);
    let is_it = here == local.port() && there == remote.port() && inode != 0;
    is_it.then_some(Entry { user, inode })
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
        assert!(calls_from_a_turn(from, stream.local_addr().unwrap()));
        let entry = entry_of(from, stream.local_addr().unwrap()).unwrap();
        assert_eq!(entry.user, rustix::process::geteuid().as_raw());
        assert_eq!(holders(entry.inode).collect::<Vec<_>>(), [i32::try_from(child.id()).unwrap()]);
        drop(child.stdin.take());
        child.wait().unwrap();
        let own = TcpStream::connect(ear.local_addr().unwrap()).unwrap();
        let (stream, from) = ear.accept().unwrap();
        assert!(!calls_from_a_turn(from, stream.local_addr().unwrap()));
        drop(own);
    }
}
