//! System calls that would escape a confined turn, or reach other processes.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::UdpSocket;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::Stage;
use super::people::{Who, finds, people, skipped};
use super::turns::{code, confines, project};

/// Makes the calls that its arguments name, `name,number,argument…`, and says for each how it ended.
const CALL: &str = r"
import ctypes, errno, os, sys, tempfile
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
memory = ctypes.create_string_buffer(4096)
file = tempfile.TemporaryFile()
places = {'memory': ctypes.addressof(memory), 'parent': os.getppid(), 'null': os.open('/dev/null', os.O_RDONLY), 'file': file.fileno()}
for word in sys.argv[1:]:
    name, number, *arguments = word.split(',')
    arguments = [ctypes.c_ulong(places[a] if a in places else int(a, 0)) for a in arguments]
    ctypes.set_errno(0)
    got = libc.syscall(ctypes.c_long(int(number)), *arguments)
    if got == 0 and 'clone' in name:
        os._exit(0)
    print(name, 'allowed' if got != -1 else errno.errorcode[ctypes.get_errno()], flush=True)
";

/// A call, its number, its arguments. They are such that an ordinary user without a filter would be told something else
/// than EPERM by the kernel, wherever there are such arguments.
const REFUSED: &[(&str, i64, &str)] = &[
    ("mount", libc::SYS_mount, "memory,memory,memory,0,0"),
    ("umount2", libc::SYS_umount2, "memory,0"),
    ("pivot_root", libc::SYS_pivot_root, "memory,memory"),
    ("chroot", libc::SYS_chroot, "memory"),
    ("fsopen", libc::SYS_fsopen, "memory,0"),
    ("fsconfig", libc::SYS_fsconfig, "null,0,memory,memory,0"),
    ("fsmount", libc::SYS_fsmount, "null,0,0"),
    ("fspick", libc::SYS_fspick, "0,memory,0"),
    ("open_tree", libc::SYS_open_tree, "0,memory,0"),
    ("open_tree_attr", 467, "0,memory,0,0,0"),
    ("move_mount", libc::SYS_move_mount, "0,memory,0,memory,0"),
    ("mount_setattr", libc::SYS_mount_setattr, "0,memory,0,memory,32"),
    ("swapon", libc::SYS_swapon, "memory,0"),
    ("unshare of users", libc::SYS_unshare, "0x10000000"),
    ("unshare of mounts", libc::SYS_unshare, "0x00020000"),
    ("setns", libc::SYS_setns, "null,0"),
    ("clone of users", libc::SYS_clone, "0x10000011,0,0,0,0"),
    ("clone of a network", libc::SYS_clone, "0x50000011,0,0,0,0"),
    ("clone of users, with bits that nobody reads", libc::SYS_clone, "0xffffffff10000011,0,0,0,0"),
    ("ptrace", libc::SYS_ptrace, "0,0,0,0"),
    ("process_vm_readv", libc::SYS_process_vm_readv, "parent,memory,0,memory,0,0"),
    ("process_vm_writev", libc::SYS_process_vm_writev, "parent,memory,0,memory,0,0"),
    ("process_madvise", libc::SYS_process_madvise, "null,memory,0,0,0"),
    ("pidfd_getfd", libc::SYS_pidfd_getfd, "null,0,0"),
    ("kcmp", libc::SYS_kcmp, "parent,parent,0,0,0"),
    ("io_uring_setup", libc::SYS_io_uring_setup, "4,memory"),
    ("io_uring_enter", libc::SYS_io_uring_enter, "null,1,0,0,0,0"),
    ("io_uring_register", libc::SYS_io_uring_register, "null,0,0,0"),
    ("bpf", libc::SYS_bpf, "0,memory,64"),
    ("perf_event_open", libc::SYS_perf_event_open, "0,0,0,0,0"),
    ("userfaultfd", libc::SYS_userfaultfd, "1"),
    ("fanotify_init", libc::SYS_fanotify_init, "0,0"),
    ("add_key", libc::SYS_add_key, "memory,memory,memory,1,0xfffffffffffffffd"),
    ("request_key", libc::SYS_request_key, "memory,memory,0,0"),
    ("keyctl", libc::SYS_keyctl, "0,0xfffffffffffffffd,0,0,0"),
    ("open_by_handle_at", libc::SYS_open_by_handle_at, "0,memory,0"),
    ("init_module", libc::SYS_init_module, "memory,0,memory"),
    ("finit_module", libc::SYS_finit_module, "null,memory,0"),
    ("delete_module", libc::SYS_delete_module, "memory,0"),
    ("kexec_load", libc::SYS_kexec_load, "0,0,0,0"),
    ("reboot", libc::SYS_reboot, "0,0,0,0"),
    ("quotactl", libc::SYS_quotactl, "0,0,0,0"),
    ("acct", libc::SYS_acct, "0"),
    ("settimeofday", libc::SYS_settimeofday, "0,0"),
    ("limits of others", libc::SYS_prlimit64, "parent,4,memory,0"),
    (
        "limits of others, with bits that nobody reads",
        libc::SYS_prlimit64,
        "0xffffffff00000001,4,memory,0",
    ),
    ("the priority of others", libc::SYS_setpriority, "0,parent,0"),
    ("the priority of all", libc::SYS_setpriority, "2,0,0"),
    ("the turn of others at the disk", libc::SYS_ioprio_set, "1,parent,0"),
    ("the scheduler of others", libc::SYS_sched_setscheduler, "parent,5,memory"),
    ("TIOCSTI", libc::SYS_ioctl, "null,0x5412,memory"),
    ("TIOCLINUX", libc::SYS_ioctl, "null,0x541c,memory"),
    ("TIOCSTI, with bits that nobody reads", libc::SYS_ioctl, "null,0xffffffff00005412,memory"),
];

/// The same for turns that may not write everywhere.
const BOUNDED: &[(&str, i64, &str)] = &[
    ("setxattr", libc::SYS_setxattr, "memory,memory,memory,1,0"),
    ("file_setattr", 469, "0,memory,memory,0,0"),
    ("shmget", libc::SYS_shmget, "0,4096,0o1600"),
    ("msgget", libc::SYS_msgget, "0,0o1600"),
    ("semget", libc::SYS_semget, "0,1,0o1600"),
    ("mq_unlink", libc::SYS_mq_unlink, "memory"),
    ("FS_IOC_SETFLAGS", libc::SYS_ioctl, "null,0x40086602,memory"),
    ("FS_IOC_FSSETXATTR", libc::SYS_ioctl, "null,0x401c5820,memory"),
    ("FIFREEZE", libc::SYS_ioctl, "null,0xc0045877,0"),
    ("FS_IOC_ENABLE_VERITY", libc::SYS_ioctl, "null,0x40806685,memory"),
    ("BTRFS_IOC_SNAP_DESTROY", libc::SYS_ioctl, "null,0x5000940f,memory"),
    ("fchmod with set-user-id", libc::SYS_fchmod, "file,0o4755"),
];

/// The same for turns without the network. The third argument of a socket may be MPTCP, or anything.
const OFFLINE: &[(&str, i64, &str)] = &[
    ("TCP", libc::SYS_socket, "2,1,0"),
    ("TCP over IPv6", libc::SYS_socket, "10,1,0"),
    ("MPTCP", libc::SYS_socket, "2,1,262"),
    ("UDP", libc::SYS_socket, "2,2,0"),
    ("ICMP", libc::SYS_socket, "2,2,1"),
    ("SCTP", libc::SYS_socket, "2,5,132"),
    ("netlink", libc::SYS_socket, "16,3,0"),
    ("AF_ALG", libc::SYS_socket, "38,5,0"),
    ("vsock", libc::SYS_socket, "40,1,0"),
    ("packets", libc::SYS_socket, "17,3,0"),
    ("TCP, with bits that nobody reads", libc::SYS_socket, "0xffffffff00000002,1,0"),
    ("a pair of TIPC", libc::SYS_socketpair, "30,1,0,memory"),
];

/// System calls that must work everywhere.
const ALLOWED: &[(&str, i64, &str)] = &[
    ("own limits", libc::SYS_prlimit64, "0,7,0,memory"),
    ("own priority", libc::SYS_setpriority, "0,0,1"),
    ("a local socket", libc::SYS_socket, "1,1,0"),
    ("a pair of local sockets", libc::SYS_socketpair, "1,1,0,memory"),
    ("a clone", libc::SYS_clone, "0x11,0,0,0,0"),
    ("a read of /dev/null", libc::SYS_read, "null,memory,1"),
];

type Calls = [(&'static str, i64, &'static str)];

/// Has a turn make calls; says what became of each.
fn made(who: Who, mode: &Mode, calls: &[&Calls]) -> Vec<(String, String)> {
    let stage = project("", &json!({})).of(who);
    stage.write("project/call.py", CALL);
    let words = calls.iter().copied().flatten();
    let words: Vec<String> = words
        .map(|(name, number, arguments)| format!("{name},{number},{arguments}").replace(", ", "; "))
        .collect();
    let mut command = vec!["python3".to_owned(), "call.py".to_owned()];
    command.extend(words);
    let said = turn(&stage, mode, &json!(command));
    let lines = said.lines().map(|line| line.rsplit_once(' ').unwrap());
    lines.map(|(name, became)| (name.to_owned(), became.to_owned())).collect()
}

/// How a turn is confined.
struct Mode {
    name: &'static str,
    policy: Value,
    planning: bool,
}

fn planning() -> Mode {
    Mode { name: "Planning", policy: json!({}), planning: true }
}

fn offline() -> Mode {
    Mode { name: "offline", policy: json!({ "network": false }), planning: false }
}

fn modes() -> [Mode; 3] {
    let bounded = Mode { name: "bounded", policy: json!({ "write": ["out"] }), planning: false };
    [planning(), bounded, offline()]
}

/// Runs a command as a turn that must end well; gives what it said.
fn turn(stage: &Stage, mode: &Mode, command: &Value) -> String {
    let config = json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": {
            "a": { "materia": "M", "edges": [{ "to": "end" }], "policy": mode.policy },
        } } },
        "materia": { "M": { "type": "utility", "command": command } },
    });
    stage.write("project/materia.json", config.to_string());
    let mut args = vec!["cast", "--trust", "--cast-id", "c1", "go"];
    if mode.planning {
        args.insert(1, "--planning");
    }
    let ran = stage.run(&args);
    assert_eq!(ran.exit, 0, "{} as {:?}: {ran:?}", mode.name, stage.who);
    fs::read_to_string(stage.path("project/.materia/c1/sockets/a/1-1.stdout")).unwrap_or_default()
}

#[test]
fn calls_that_lead_around_the_bounds_are_refused_in_every_confined_turn() {
    if !confines() {
        return;
    }
    for who in people() {
        if !finds(who, "python3") {
            continue;
        }
        for mode in modes() {
            let mut refused: Vec<&Calls> = vec![REFUSED];
            refused.push(if mode.name == "offline" { OFFLINE } else { BOUNDED });
            for (name, became) in made(who, &mode, &refused) {
                assert_eq!(became, "EPERM", "{name} in {} as {who:?}", mode.name);
            }
            for (name, became) in made(who, &mode, &[ALLOWED]) {
                assert_eq!(became, "allowed", "{name} in {} as {who:?}", mode.name);
            }
            let unseen: &Calls =
                &[("clone3", libc::SYS_clone3, "0,0"), ("one of the future", 600, "0")];
            for (name, became) in made(who, &mode, &[unseen]) {
                assert_eq!(became, "ENOSYS", "{name} in {} as {who:?}", mode.name);
            }
        }
    }
}

#[test]
fn calls_by_another_table_end_the_process() {
    for who in people() {
        if !confines() || !finds(Who::Me, "python3") {
            return;
        }
        if !cfg!(target_arch = "x86_64") {
            skipped("other tables are those of x86-64");
            return;
        }
        // `getpid` by the 32-bit table in machine code, and by that of x32.
        let program = r"
import ctypes, mmap, os, signal
def by_32_bits():
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b'\xb8\x14\x00\x00\x00\xcd\x80\xc3')
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
def by_x32():
    ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 + 39))
for call in by_32_bits, by_x32:
    child = os.fork()
    if child == 0:
        call()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    print(call.__name__, os.WIFSIGNALED(status) and signal.Signals(os.WTERMSIG(status)).name)
";
        for mode in modes() {
            let stage = project("", &json!({})).of(who);
            let said = turn(&stage, &mode, &json!(["python3", "-c", program]));
            assert_eq!(said, "by_32_bits SIGSYS\nby_x32 SIGSYS\n", "{}", mode.name);
        }
    }
}

/// Mounts an overlay whose upper layer is the hooks of git and whose work folder is the code, and has a file copied up.
const OVERLAY: &str = r"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
here, temporary = os.getcwd(), os.environ['TMPDIR']
if os.getuid():
    print('unshare', libc.unshare(0x10020000))
os.mkdir(temporary + '/lower')
with open(temporary + '/lower/post-commit', 'w') as hook:
    hook.write('#!/bin/sh\n')
settings = {'lowerdir': temporary + '/lower', 'upperdir': here + '/.git/hooks', 'workdir': here + '/src'}
overlay = libc.syscall(430, b'overlay', 0)
for name, value in settings.items():
    libc.syscall(431, overlay, 1, name.encode(), value.encode(), 0)
libc.syscall(431, overlay, 6, None, None, 0)
mounted = libc.syscall(432, overlay, 0, 0)
print('new', overlay, mounted)
try:
    os.chmod('post-commit', 0o755, dir_fd=mounted)
except OSError as error:
    print(error)
os.mkdir(temporary + '/merged')
options = ','.join(name + '=' + value for name, value in settings.items())
print('old', libc.mount(b'overlay', (temporary + '/merged').encode(), b'overlay', 0, options.encode()))
try:
    os.chmod(temporary + '/merged/post-commit', 0o755)
except OSError as error:
    print(error)
";

#[test]
fn no_mount_carries_a_file_out_of_planning() {
    if !confines() {
        return;
    }
    for who in people() {
        if !finds(who, "python3") {
            continue;
        }
        let stage = project("", &json!({})).of(who);
        fs::create_dir_all(stage.path("project/.git/hooks")).unwrap();
        let said = turn(&stage, &planning(), &json!(["python3", "-c", OVERLAY]));
        assert!(said.contains("new -1 -1") && said.contains("old -1"), "{who:?}: {said}");
        assert_eq!(code(&stage), "precious\n", "{who:?}: {said}");
        assert_eq!(fs::read_dir(stage.path("project/.git/hooks")).unwrap().count(), 0, "{said}");
    }
}

#[test]
fn nothing_leaves_a_turn_without_the_network() {
    for who in people() {
        if !confines() || !finds(Who::Me, "python3") {
            return;
        }
        let listener = UdpSocket::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let program = format!(
            "import socket
for family, kind, protocol in ((2, 2, 0), (2, 1, 262), (2, 1, 0)):
    try:
        other = socket.socket(family, kind, protocol)
        other.sendto(b'out', 0x20000000 if kind == 1 else 0, ('127.0.0.1', {port}))
        print('sent')
    except OSError as error:
        print(error.errno)
one, two = socket.socketpair()
one.send(b'in')
print(two.recv(2).decode())"
        );
        let stage = project("", &json!({})).of(who);
        let said = turn(&stage, &offline(), &json!(["python3", "-c", program]));
        assert_eq!(said, "1\n1\n1\nin\n");
        assert!(listener.recv(&mut [0; 8]).is_err(), "something arrived");
    }
}

/// A terminal that belongs to whoever runs the test: says its name, and when it is told to what was typed there.
const TERMINAL: &str = r"
import fcntl, os, pty, sys, tty
leader, follower = pty.openpty()
tty.setraw(follower)
os.chmod(os.ttyname(follower), 0o666)
print(os.ttyname(follower), flush=True)
sys.stdin.readline()
os.set_blocking(follower, False)
try:
    print(os.read(follower, 100), flush=True)
except BlockingIOError:
    print('nothing', flush=True)
";

#[test]
fn nothing_is_typed_into_another_terminal() {
    if !confines() || !finds(Who::Me, "python3") {
        return;
    }
    for who in people() {
        let mut terminal = Command::new("python3");
        terminal.args(["-c", TERMINAL]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut terminal = terminal.spawn().unwrap();
        let mut lines = BufReader::new(terminal.stdout.take().unwrap()).lines();
        let name = lines.next().unwrap().unwrap();
        let program = format!(
            "import fcntl, os, pty
for mode in os.O_RDONLY, os.O_RDWR, os.O_WRONLY:
    for request in 0x5412, 0x541c, 0x5413, 0x540e:
        try:
            fcntl.ioctl(os.open('{name}', mode | os.O_NOCTTY), request, b'x' * 64)
            print('could', request)
        except OSError:
            pass
try:
    pty.openpty()
    print('has a terminal')
except OSError:
    pass
with open('/dev/null', 'r+b', 0) as null:
    null.write(b'x')
    print(null.read())"
        );
        let stage = project("", &json!({})).of(who);
        let said = turn(&stage, &planning(), &json!(["python3", "-c", program]));
        terminal.stdin.take().unwrap().write_all(b"\n").unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), "nothing", "{who:?}");
        terminal.wait().unwrap();
        assert_eq!(said, "b''\n", "{who:?}");
    }
}

#[test]
fn a_confined_turn_does_not_end_others_by_their_limits() {
    if !confines() {
        return;
    }
    for who in people() {
        if !finds(who, "prlimit") {
            continue;
        }
        for mode in modes() {
            // Its supervisor, whoever started that, and somebody who has nothing to do with it.
            let mut other = Command::new("sleep").arg("60").spawn().unwrap();
            let script = format!(
                "for p in $PPID $(awk '/^PPid/{{print $2}}' /proc/$PPID/status) {}; do
  prlimit --pid $p --fsize=0 2>/dev/null && echo could $p
done; ulimit -n 100 && ulimit -n",
                other.id()
            );
            let stage = project("", &json!({})).of(who);
            let said = turn(&stage, &mode, &json!(["sh", "-c", script]));
            let limits = fs::read_to_string(format!("/proc/{}/limits", other.id())).unwrap();
            other.kill().unwrap();
            other.wait().unwrap();
            assert_eq!(said, "100\n", "{} as {who:?}", mode.name);
            assert!(!limits.contains("Max file size             0"), "{limits}");
        }
    }
}
