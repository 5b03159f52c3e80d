//! The server's API: one table of endpoints, from which the routes, the description (`openapi.json`) and the page's
//! types are made.
//!
//! Most answers are a [`body`](crate::body) that a command prints with `--json`, or a shape of [`shapes`] around one.

mod endpoint;
mod name;
pub mod shapes;
mod table;

pub use endpoint::{Access, Answer, Endpoint, Method, Param, Shape};
pub use name::Name;
pub use shapes::*;
pub use table::ENDPOINTS;
