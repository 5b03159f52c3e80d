//! The server's doors: one table of endpoints, from which come the routes, the description (`openapi.json`) and
//! the page's types.
//!
//! What is answered is mostly a [`body`](crate::body) that a command prints with `--json`, or a shape of [`shapes`] around
//! one.

mod endpoint;
pub mod shapes;
mod table;

pub use endpoint::{Access, Answer, Endpoint, Method, Param, Shape};
pub use shapes::*;
pub use table::{ENDPOINTS, Name};
