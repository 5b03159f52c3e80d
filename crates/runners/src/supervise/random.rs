//! Random bytes.

use std::io;

/// Random bytes from the system.
pub(crate) fn random<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    let filled =
        rustix::rand::getrandom(bytes.as_mut_slice(), rustix::rand::GetRandomFlags::empty())?;
    if filled < COUNT {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}
