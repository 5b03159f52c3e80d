//! The server from outside: what the guard lets through, and what is answered.

mod acts;
mod guard;
mod stage;
mod streams;
