//! Shell completion.
//!
//! The scripts that `materia completions` prints call `materia __complete SHELL …` at every key.
//! It reads the words so far and prints the candidates. It is fast, runs nothing and writes
//! nothing; an invalid configuration only means fewer names.
//!
//! Names come from the configuration. A name with a control character is not offered; characters
//! that are special in a shell are quoted, here or by the shell itself ([`shell`]).

mod position;
mod shell;
mod values;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::ValueEnum as _;
use clap_complete::Shell;

use materia_app::text::sanitize;
use position::Kind;
pub use shell::script;
use values::Offer;
pub use values::Open;

/// The first argument of a call that asks what may come next.
pub const ARGUMENT: &str = "__complete";

/// How many names are offered at once.
const OFFERED_MAX: usize = 500;
/// How much is said about a name.
const ABOUT_CHARS_MAX: usize = 60;

/// Answers one completion request. Faults are not shown: the result is empty then.
pub fn main(line: clap::Command, open: &Open) -> ExitCode {
    let words: Vec<String> =
        std::env::args_os().skip(2).filter_map(|word| OsString::into_string(word).ok()).collect();
    let Some((name, words)) = words.split_first() else { return ExitCode::SUCCESS };
    let Ok(shell) = Shell::from_str(name, false) else { return ExitCode::SUCCESS };
    let answer =
        shell::typed(shell, words).map(|typed| typed.answer(&offered(line, &typed.words, open)));
    let _ = std::io::stdout().write_all(answer.unwrap_or_default().as_bytes());
    ExitCode::SUCCESS
}

/// Candidates for the last word.
fn offered(mut line: clap::Command, words: &[String], open: &Open) -> Offer {
    line.build();
    let place = position::place(&line, words);
    let mut offer = values::offered(&line, &place, open);
    let is_named = !matches!(place.kind, Kind::Option | Kind::Command);
    // A name that looks like an option would be taken for one.
    let fits = |name: &str| can_be_shown(name) && !(is_named && name.starts_with('-'));
    offer.names.retain(|one| one.name.starts_with(&place.current) && fits(&one.name));
    offer.names.truncate(OFFERED_MAX);
    for one in &mut offer.names {
        one.name.insert_str(0, &place.before);
        one.about = sanitize::one_line(&one.about, ABOUT_CHARS_MAX);
    }
    offer
}

/// Whether a name is nothing but what it looks like.
fn can_be_shown(name: &str) -> bool {
    !name.is_empty() && name == sanitize::one_line(name, usize::MAX)
}
