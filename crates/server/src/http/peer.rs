//! Whether a process that a turn started is calling, whose policy does not let it control casts.
//!
//! It is looked up for callers on this machine if the system supports that; otherwise the token decides.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use materia_engine::off_thread;
use tokio::sync::OnceCell;

use crate::http::access::User;
use crate::http::strangers::Stranger;

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
    stranger: Arc<Stranger>,
}

impl Caller {
    pub(crate) fn new(peer: Peer, stranger: Arc<Stranger>) -> Self {
        Self { peer, of_turn: Arc::default(), stranger }
    }

    /// The caller has authenticated.
    pub(crate) fn is_known(&self) {
        self.stranger.is_known();
    }

    /// Completes when the connection is to be closed.
    pub(crate) async fn is_closed(&self) {
        self.stranger.closed().await;
    }

    /// The user whose process it is, where the system says.
    pub(crate) async fn user(&self) -> User {
        match self.peer {
            Peer::Tcp(from, to) => off_thread(move || Some(entry_of(from, to).ok()??.user)).await,
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
    match entry_of(from, to) {
        Ok(Some(entry)) => is_held_by_a_turn(entry),
        // A caller on this machine has an entry for as long as it can read the answer.
        Ok(None) => from.ip().to_canonical().is_loopback(),
        Err(_) => false,
    }
}

/// Whether a process of such a turn holds a socket. A process can hide its open files: if nobody is seen to hold the
/// socket, each hidden process of its user counts.
fn is_held_by_a_turn(entry: Entry) -> bool {
    let mut processes = Processes::default();
    let (mut is_seen, mut hidden) = (false, Vec::new());
    for pid in processes_here() {
        match holds(pid, entry.inode) {
            Ok(true) if may_not(&mut processes, pid) => return true,
            Ok(holds) => is_seen |= holds,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => hidden.push(pid),
            Err(_) => {}
        }
    }
    !is_seen
        && hidden.into_iter().any(|pid| {
            user_of(pid) == Some(entry.user)
                && !processes.is_outer_supervisor(pid)
                && may_not(&mut processes, pid)
        })
}

fn processes_here() -> impl Iterator<Item = i32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Whether a process holds a socket.
fn holds(pid: i32, inode: u64) -> io::Result<bool> {
    let wanted = format!("socket:[{inode}]");
    let mut open = fs::read_dir(format!("/proc/{pid}/fd"))?.flatten();
    Ok(open.any(|entry| {
        fs::read_link(entry.path()).is_ok_and(|leads| leads.as_os_str() == wanted.as_str())
    }))
}

fn user_of(pid: i32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_ascii_whitespace().next()?.parse().ok()
}

/// The caller's end of a connection in the system's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    user: u32,
    inode: u64,
}

/// The caller's end. An IPv6 socket can have an IPv4 address, so both tables are read.
fn entry_of(from: SocketAddr, to: SocketAddr) -> io::Result<Option<Entry>> {
    let find = |table: String| table.lines().find_map(|line| entry(line, from, to));
    let found = find(fs::read_to_string("/proc/net/tcp")?);
    // Without IPv6 the second table is missing.
    Ok(found.or_else(|| find(fs::read_to_string("/proc/net/tcp6").ok()?)))
}

/// Parses a line of a table if it is this connection and its socket is open.
fn entry(line: &str, local: SocketAddr, remote: SocketAddr) -> Option<Entry> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let (here, there) = (address(words.next()?)?, address(words.next()?)?);
    let (user, inode) = (words.nth(4)?.parse().ok()?, words.nth(1)?.parse().ok()?);
    let plain = |it: SocketAddr| (it.ip().to_canonical(), it.port());
    let is_it = here == plain(local) && there == plain(remote) && inode != 0;
    is_it.then_some(Entry { user, inode })
}

/// Parses an address of a table: words of 32 bits in the machine's order of bytes.
fn address(word: &str) -> Option<(IpAddr, u16)> {
    let (ip, port) = word.split_once(':')?;
    let mut bytes = Vec::new();
    for at in (0..ip.len()).step_by(8) {
        let word = u32::from_str_radix(ip.get(at..at + 8)?, 16).ok()?;
        bytes.extend(word.to_ne_bytes());
    }
    let ip = match <[u8; 4]>::try_from(&*bytes) {
        Ok(four) => IpAddr::V4(Ipv4Addr::from(four)),
        Err(_) => Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_canonical(),
    };
    Some((ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_with_a_mark_is_found_by_its_connection() {
        let ear = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = ear.local_addr().unwrap().port();
        // Also over an IPv6 socket, and where the caller has closed its end.
        for host in ["127.0.0.1", "::ffff:127.0.0.1"] {
            let script = format!(
                "exec 3<>/dev/tcp/{host}/{port}; echo there; read -r _; exec 3>&-; echo left; read -r _"
            );
            let mut child = Command::new("bash")
                .args(["-c", &script])
                .env("MATERIA_TURN", "x.y.1.z")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let (stream, from) = ear.accept().unwrap();
            let to = stream.local_addr().unwrap();
            let (mut input, mut output) =
                (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            let mut said = [0; 6];
            output.read_exact(&mut said).unwrap();
            assert!(calls_from_a_turn(from, to), "{host}");
            let entry = entry_of(from, to).unwrap().unwrap();
            assert_eq!(entry.user, rustix::process::geteuid().as_raw());
            let id = i32::try_from(child.id()).unwrap();
            assert_eq!(user_of(id), Some(entry.user));
            let holders = processes_here().filter(|pid| holds(*pid, entry.inode).unwrap_or(false));
            assert_eq!(holders.collect::<Vec<_>>(), [id]);
            input.write_all(b"\n").unwrap();
            output.read_exact(&mut said[..5]).unwrap();
            assert_eq!(entry_of(from, to).unwrap(), None, "{host}");
            assert!(calls_from_a_turn(from, to), "{host}");
            drop(input);
            child.wait().unwrap();
        }
        let own = TcpStream::connect(ear.local_addr().unwrap()).unwrap();
        let (stream, from) = ear.accept().unwrap();
        assert!(!calls_from_a_turn(from, stream.local_addr().unwrap()));
        let elsewhere = SocketAddr::from(([127, 0, 0, 9], from.port()));
        assert_eq!(entry_of(elsewhere, stream.local_addr().unwrap()).unwrap(), None);
        let far = SocketAddr::from(([192, 0, 2, 1], from.port()));
        assert!(!calls_from_a_turn(far, stream.local_addr().unwrap()), "another machine");
        drop(own);
    }
}
