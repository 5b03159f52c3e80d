//! The binary `materia`: arguments, terminal, exit codes.
//!
//! Each command is one file under [`commands`]: its arguments, whose doc comments are the help, and a function. All
//! output goes through the [`Terminal`](terminal::Terminal): data to standard output, text for people to standard
//! error.
//!
//! Deliberately absent: rules. The kernel decides what a run does, the compiler what a document means.

mod answer;
mod args;
mod background;
mod begin;
mod catalog;
mod commands;
mod continuation;
mod demo;
mod detach;
mod failure;
mod findings;
mod interactive;
mod journals;
mod limits;
mod log;
mod next_command;
mod notice;
mod project;
mod request_text;
mod run;
mod trust;
mod typed_path;

use materia_terminal as terminal;
use materia_terminal::{complete, live};

use std::process::ExitCode;

use materia_app::{
    edit::config_writer, project::cast_id, project::profile, text::event_text, text::grid,
    text::narrator, text::sanitize, views::next_steps,
};

/// Memory that one thread allocates is often freed by another; most system allocators are slow at that (see
/// `docs/performance.md`).
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    // Before anything else: the supervisor of a utility must start as fast as can be.
    if std::env::args_os().nth(1).is_some_and(|word| word == materia_runners::supervise::ARGUMENT) {
        return materia_runners::supervise::main();
    }
    materia_runners::shield();
    if std::env::args_os().nth(1).is_some_and(|word| word == complete::ARGUMENT) {
        let open = |config| project::quietly(config);
        return complete::main(commands::line::command(), &open);
    }
    log::begin();
    commands::main()
}
