//! A bad connection: it cuts, delays, and sends messages twice, at random.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How often something happens: once in so many messages.
#[derive(Clone, Copy)]
pub(crate) struct Mischief {
    pub(crate) cut: u64,
    pub(crate) delay: u64,
    pub(crate) double: u64,
}

/// Counts of the faults.
#[derive(Default)]
pub(crate) struct Happened {
    pub(crate) cuts: AtomicU64,
    pub(crate) doubles: AtomicU64,
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn one_in(&mut self, count: u64) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.is_multiple_of(count)
    }
}

/// Starts a connection to a port; returns its own port. Its threads end with the process.
pub(crate) fn start(to: u16, mischief: Mischief) -> (u16, Arc<Happened>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    let happened = Arc::new(Happened::default());
    let told = Arc::clone(&happened);
    std::thread::spawn(move || {
        for (client, nth) in listener.incoming().flatten().zip(1_u64..) {
            let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
            for (from, into, seed) in [(&client, &server, 2 * nth), (&server, &client, 2 * nth + 1)]
            {
                let (Ok(from), Ok(into)) = (from.try_clone(), into.try_clone()) else { continue };
                let dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
                let told = Arc::clone(&told);
                std::thread::spawn(move || pass(from, into, dice, mischief, &told));
            }
        }
    });
    (port, happened)
}

/// Passes on one frame of the protocol after the other.
fn pass(from: TcpStream, mut into: TcpStream, mut dice: Dice, mischief: Mischief, told: &Happened) {
    let other = from.try_clone();
    let mut reader = BufReader::new(from);
    while let Some((frame, is_published)) = frame(&mut reader) {
        if dice.one_in(mischief.delay) {
            std::thread::sleep(Duration::from_millis(15));
        }
        // A cut before a message loses it, a cut behind it loses the answer.
        let cut = is_published && dice.one_in(mischief.cut);
        if cut && dice.one_in(2) {
            told.cuts.fetch_add(1, Ordering::SeqCst);
            break;
        }
        if into.write_all(&frame).is_err() {
            break;
        }
        if is_published && dice.one_in(mischief.double) {
            told.doubles.fetch_add(1, Ordering::SeqCst);
            if into.write_all(&frame).is_err() {
                break;
            }
        }
        if cut {
            told.cuts.fetch_add(1, Ordering::SeqCst);
            break;
        }
    }
    let _ = into.shutdown(Shutdown::Both);
    if let Ok(other) = other {
        let _ = other.shutdown(Shutdown::Both);
    }
}

/// One line of the protocol with its payload, and whether it is a message that a client publishes.
fn frame(reader: &mut BufReader<TcpStream>) -> Option<(Vec<u8>, bool)> {
    let mut frame = Vec::new();
    if reader.read_until(b'\n', &mut frame).ok()? == 0 {
        return None;
    }
    let line = String::from_utf8_lossy(&frame).into_owned();
    let word = line.split(' ').next().unwrap_or_default();
    let published = ["PUB", "HPUB"].contains(&word);
    if published || ["MSG", "HMSG"].contains(&word) {
        let bytes: usize = line.trim_end().rsplit(' ').next()?.parse().ok()?;
        let mut payload = vec![0; bytes + 2];
        reader.read_exact(&mut payload).ok()?;
        frame.extend(payload);
    }
    Some((frame, published))
}

/// A connection that stands still once a client has published so many messages that are kept.
#[allow(dead_code, reason = "not every test needs it")]
pub(crate) struct Halting {
    pub(crate) port: u16,
    /// Messages that were passed on.
    pub(crate) passed: Arc<AtomicU64>,
    pub(crate) halted: Arc<AtomicBool>,
}

#[allow(dead_code, reason = "not every test needs it")]
impl Halting {
    /// Starts it. Its threads end with the process.
    pub(crate) fn start(to: u16, most: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("it is bound").port();
        let (passed, halted) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let told = (Arc::clone(&passed), Arc::clone(&halted));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                let back = (server.try_clone(), client.try_clone());
                if let (Ok(mut from), Ok(mut into)) = back {
                    std::thread::spawn(move || std::io::copy(&mut from, &mut into));
                }
                let told = (Arc::clone(&told.0), Arc::clone(&told.1));
                std::thread::spawn(move || pass_until(client, server, most, &told));
            }
        });
        Self { port, passed, halted }
    }
}

fn pass_until(
    from: TcpStream,
    mut into: TcpStream,
    most: u64,
    (passed, halted): &(Arc<AtomicU64>, Arc<AtomicBool>),
) {
    let mut reader = BufReader::new(from);
    while let Some((frame, is_published)) = frame(&mut reader) {
        let line = String::from_utf8_lossy(&frame);
        let subject = line.split(' ').nth(1).unwrap_or_default();
        // Requests change nothing.
        if is_published && !subject.starts_with("$JS.") {
            if passed.load(Ordering::SeqCst) >= most {
                halted.store(true, Ordering::SeqCst);
                break;
            }
            passed.fetch_add(1, Ordering::SeqCst);
        }
        if into.write_all(&frame).is_err() {
            return;
        }
    }
    // Neither side sees the end of the connection before the other one has ended.
    let _ = reader.read_to_end(&mut Vec::new());
    let _ = into.shutdown(Shutdown::Both);
}

/// A connection that loses the first messages that a client publishes on subjects with this beginning. Returns its
/// port and how many were lost. Its threads end with the process.
#[allow(dead_code, reason = "not every test needs it")]
pub(crate) fn dropping(to: u16, beginning: &'static str, most: u64) -> (u16, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    let dropped = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&dropped);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(mut server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
            if let (Ok(mut from), Ok(mut into)) = (server.try_clone(), client.try_clone()) {
                std::thread::spawn(move || std::io::copy(&mut from, &mut into));
            }
            let told = Arc::clone(&told);
            std::thread::spawn(move || {
                let mut reader = BufReader::new(client);
                while let Some((frame, is_published)) = frame(&mut reader) {
                    let line = String::from_utf8_lossy(&frame);
                    let subject = line.split(' ').nth(1).unwrap_or_default();
                    let is_meant = is_published && subject.starts_with(beginning);
                    if is_meant && told.load(Ordering::SeqCst) < most {
                        told.fetch_add(1, Ordering::SeqCst);
                    } else if server.write_all(&frame).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (port, dropped)
}
