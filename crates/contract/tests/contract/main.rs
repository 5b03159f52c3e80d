//! The types that are visible outside the process: as they are written, read and compared.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod amount;
mod answer;
mod blob;
mod canonical;
mod command;
mod cron;
mod decision;
mod excerpt;
mod id;
mod label;
mod number;
mod path;
mod path_tokens;
mod time;
