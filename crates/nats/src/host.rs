//! This machine.

/// The name of this machine.
#[must_use]
pub fn host_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}
