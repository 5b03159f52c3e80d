//! Where a server listens: loopback addresses and Unix sockets, nothing else.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::PathBuf;

use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// Where to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// A loopback address; port 0 stands for any free one.
    Tcp(SocketAddr),
    /// A socket in a folder, for its owner alone.
    Unix(PathBuf),
}

/// Why the server cannot listen there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListenError {
    /// It is no address.
    #[error(
        "`{0}` is no address to listen on: one is `127.0.0.1:PORT`, `[::1]:PORT` or `unix:PATH`"
    )]
    NoAddress(String),
    /// Others could reach it.
    #[error(
        "`{0}` can be reached from other machines, and the server listens on loopback addresses and Unix sockets only. From another machine use an SSH tunnel with the same port at both ends: `ssh -L PORT:127.0.0.1:PORT HOST`"
    )]
    Reachable(String),
}

impl Listen {
    /// Reads what a person typed.
    pub fn parse(text: &str) -> Result<Self, ListenError> {
        if let Some(path) = text.strip_prefix("unix:") {
            if path.is_empty() {
                return Err(ListenError::NoAddress(text.to_owned()));
            }
            return Ok(Self::Unix(PathBuf::from(path)));
        }
        let named = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        let address: SocketAddr = named
            .as_deref()
            .unwrap_or(text)
            .parse()
            .map_err(|_| ListenError::NoAddress(text.to_owned()))?;
        // Every other address of 127.0.0.0/8 is loopback too, but no browser would call it by a name the guard knows.
        let is_known = address.ip() == std::net::Ipv4Addr::LOCALHOST
            || address.ip() == std::net::Ipv6Addr::LOCALHOST;
        if is_known { Ok(Self::Tcp(address)) } else { Err(ListenError::Reachable(text.to_owned())) }
    }
}

/// A place that is listened on.
pub(crate) enum Listening {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// An accepted connection.
pub(crate) enum Called {
    Tcp(TcpStream, SocketAddr),
    Unix(UnixStream),
}

impl Listening {
    /// Begins to listen.
    pub(crate) async fn open(listen: &Listen) -> io::Result<Self> {
        match listen {
            Listen::Tcp(address) => Ok(Self::Tcp(TcpListener::bind(address).await?)),
            Listen::Unix(path) => {
                // One that its server left behind; anything else stays where it is.
                if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
                    fs::remove_file(path)?;
                }
                let ear = UnixListener::bind(path)?;
                fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
                Ok(Self::Unix(ear))
            }
        }
    }

    /// The address under which it can be reached, and its port.
    pub(crate) fn address(&self) -> io::Result<(String, Option<u16>)> {
        match self {
            Self::Tcp(ear) => {
                let address = ear.local_addr()?;
                Ok((format!("http://{address}"), Some(address.port())))
            }
            Self::Unix(ear) => {
                let path = ear.local_addr()?;
                let path = path.as_pathname().map(|path| path.to_string_lossy().into_owned());
                Ok((format!("unix:{}", path.unwrap_or_default()), None))
            }
        }
    }

    /// The next caller.
    pub(crate) async fn next(&self) -> io::Result<Called> {
        match self {
            Self::Tcp(ear) => {
                let (stream, from) = ear.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Called::Tcp(stream, from))
            }
            Self::Unix(ear) => Ok(Called::Unix(ear.accept().await?.0)),
        }
    }
}
