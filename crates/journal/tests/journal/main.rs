//! Tests of the SQLite journal and its views on the real file system.

#![allow(clippy::unwrap_used, clippy::doc_markdown, reason = "these are tests")]

mod damage;
mod decisions;
mod followers;
mod full;
mod golden;
mod inbox;
mod inputs;
mod processes;
mod proof;
mod story;
mod threads;
mod views;
mod writer;
