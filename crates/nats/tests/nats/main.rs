//! The journal on NATS against real servers.

mod contract;
mod faults;
mod hostile;
mod proxy;
mod server;
mod settings;

use materia_nats::{NatsJournal, Options, Space};

use server::Servers;

/// The options for a space on these servers.
fn options(servers: &Servers, space: &str, replicas: usize) -> Options {
    let space = Space::parse(space).expect("a space");
    let options = Options::new(&servers.url(), space).expect("an address");
    Options { replicas, ..options }
}

/// A journal in a space on these servers.
fn open(servers: &Servers, space: &str, replicas: usize) -> NatsJournal {
    Servers::ready(|| NatsJournal::open(options(servers, space, replicas)))
}
