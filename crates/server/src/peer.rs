//! Whether a process that a turn started is calling, whose policy does not let it control casts.
//!
//! It is looked up for callers on this machine where the system can tell; where it cannot, the token decides.

use std::fs;
use std::net::SocketAddr;

use materia_runners::Processes;

/// Whether the process with this number belongs to a turn that may not control casts, or is gone.
pub(crate) fn is_of_a_turn(pid: i32) -> bool {
    // Whoever leaves as soon as it is connected has left its connection to somebody else.
    let gone = fs::metadata(format!("/proc/{pid}")).is_err() && fs::metadata("/proc/self").is_ok();
    gone || may_not(&mut Processes::default(), pid)
}

fn may_not(processes: &mut Processes, pid: i32) -> bool {
    processes.turn_of(pid).is_some_and(|turn| !turn.steers)
}

/// Whether such a process has the other end of a connection. `from` is the caller's address, `to` ours.
pub(crate) fn calls_from_a_turn(from: SocketAddr, to: SocketAddr) -> bool {
    let table = if from.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
    let Ok(table) = fs::read_to_string(table) else { return false };
    let Some(inode) = table.lines().find_map(|line| inode_of(line, from, to)) else { return false };
    let wanted = format!("socket:[{inode}]");
    let Ok(entries) = fs::read_dir("/proc") else { return false };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut processes = Processes::default();
    // Few processes belong to turns; only those are looked into.
    pids.filter(|pid| may_not(&mut processes, *pid)).any(|pid: i32| {
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
        assert!(calls_from_a_turn(from, stream.local_addr().unwrap()));
        drop(child.stdin.take());
        child.wait().unwrap();
        let own = TcpStream::connect(ear.local_addr().unwrap()).unwrap();
        let (stream, from) = ear.accept().unwrap();
        assert!(!calls_from_a_turn(from, stream.local_addr().unwrap()));
        drop(own);
    }
}
