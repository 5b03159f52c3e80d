//! Questions about a run. Nothing here changes the state.

pub(crate) mod agent_request;
pub(crate) mod approval;
pub(crate) mod budget;
pub(crate) mod canonical;
mod content;
pub(crate) mod fits;
pub(crate) mod forwarded;
pub(crate) mod gates;
pub(crate) mod insight;
pub(crate) mod items;
pub(crate) mod output;
pub(crate) mod owed;
pub(crate) mod repeats;
pub(crate) mod route;
pub(crate) mod scope;
pub(crate) mod sent;
pub(crate) mod skipping;
pub(crate) mod taking;
pub(crate) mod utility_input;
pub(crate) mod waits;
pub(crate) mod work;
