//! Connections and what every request passes: limits, authentication, refusals, static files.

pub(crate) mod access;
pub(crate) mod guard;
pub(crate) mod limits;
pub(crate) mod listen;
pub(crate) mod page;
pub(crate) mod peer;
pub(crate) mod problem;
pub(crate) mod slow_connection;
pub(crate) mod sse;
pub(crate) mod strangers;
