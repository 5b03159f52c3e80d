//! Describes how a program ended.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use materia_contract::{ErrorCode, TurnOutput, end_of};

use super::link::Ending;
use crate::supervise::protocol::Verdict;

/// The longest command in a message, in characters.
const COMMAND_CHARS_MAX: usize = 200;
/// The longest excerpt of a stream in a message, in characters.
const EXCERPT_CHARS_MAX: usize = 600;
/// The most lines of a stream in a message.
const EXCERPT_LINES_MAX: usize = 5;

/// Whether the program exited by itself, with any exit code.
pub(super) fn exited(ending: &Ending) -> bool {
    matches!(ending, Ending::Reported(Verdict { exit_code: Some(_), spawn_error: None, .. }))
}

/// Error of an ending, if there is one.
pub(super) fn fault(
    name: &str,
    ending: &Ending,
    limit: Option<Duration>,
    output: &TurnOutput,
) -> Option<(ErrorCode, String)> {
    let (code, mut message) = match ending {
        Ending::Reported(Verdict { spawn_error: Some(why), .. }) => {
            (ErrorCode::UtilityFailed, format!("{name} was not run: {why}"))
        }
        Ending::Reported(Verdict { exit_code: Some(0), .. }) => return None,
        Ending::Reported(Verdict { exit_code: Some(code), .. }) => {
            (ErrorCode::UtilityFailed, format!("{name} exited with code {code}"))
        }
        Ending::Reported(Verdict { signal: Some(signal), .. }) => {
            (ErrorCode::UtilityFailed, format!("{name} was ended by {}", shown_signal(*signal)))
        }
        Ending::Reported(_) => {
            (ErrorCode::UtilityFailed, format!("{name} could not be ended after it had failed"))
        }
        Ending::TimedOut(_) => {
            let limit = limit.unwrap_or_default().as_millis();
            (
                ErrorCode::UtilityTimeout,
                format!(
                    "{name} took longer than its limit of {limit} ms and was ended, \
                     with everything it had started; `timeoutMs` on its socket or materia sets another limit"
                ),
            )
        }
        Ending::Stopped => (ErrorCode::UtilityFailed, format!("{name} was stopped")),
        Ending::Lost(how) => {
            (ErrorCode::Internal, format!("{name} has an unknown end: its supervisor {how}"))
        }
    };
    // The cause is usually at the end of the output.
    let said = [("stderr", &output.stderr), ("stdout", &output.output)];
    let mut said = said.into_iter().map(|(stream, text)| (stream, excerpt(text)));
    if let Some((stream, excerpt)) = said.find(|(_, excerpt)| !excerpt.is_empty()) {
        let _ = write!(message, "; {stream}: {excerpt}");
    }
    Some((code, message))
}

/// A command as a message names it: one line, bounded, with quotes where arguments need them. A file of the
/// project is named as seen from there, for the message is kept, and the project may be moved.
pub(super) fn shown_command(command: &[String], project: &Path) -> String {
    let mut shown = String::new();
    for argument in command {
        let inside = Path::new(argument).strip_prefix(project).ok().and_then(Path::to_str);
        let argument = inside.filter(|path| !path.is_empty()).unwrap_or(argument);
        let plain = !argument.is_empty()
            && argument.chars().all(|c| c.is_alphanumeric() || "-_./=:,@%+".contains(c));
        let separator = if shown.is_empty() { "" } else { " " };
        let _ = if plain {
            write!(shown, "{separator}{argument}")
        } else {
            write!(shown, "{separator}{argument:?}")
        };
        if shown.len() > 4 * COMMAND_CHARS_MAX {
            break;
        }
    }
    if shown.chars().count() > COMMAND_CHARS_MAX {
        shown = shown.chars().take(COMMAND_CHARS_MAX).chain(['…']).collect();
    }
    format!("`{shown}`")
}

fn shown_signal(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        other => return format!("signal {other}"),
    };
    format!("signal {signal} ({name})")
}

/// The last lines of a stream on one line, without anything a terminal would obey.
pub(crate) fn excerpt(stream: &str) -> String {
    let lines: Vec<String> = stream
        .lines()
        .rev()
        .map(clean)
        .filter(|line| !line.is_empty())
        .take(EXCERPT_LINES_MAX)
        .collect();
    let lines: Vec<&str> = lines.iter().rev().map(String::as_str).collect();
    end_of(&lines.join(" ⏎ "), EXCERPT_CHARS_MAX)
}

/// A line without escape sequences, control characters and space around it.
fn clean(line: &str) -> String {
    let mut cleaned = String::new();
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' && characters.next_if_eq(&'[').is_some() {
            // A control sequence goes up to its final byte.
            for inner in characters.by_ref() {
                if ('@'..='~').contains(&inner) {
                    break;
                }
            }
        } else if character == '\t' {
            cleaned.push(' ');
        } else if !character.is_control() && !is_direction(character) {
            cleaned.push(character);
        }
    }
    cleaned.trim().to_owned()
}

/// Whether a character turns the direction of text round and could so disguise it.
fn is_direction(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_by_the_end_of_standard_error_else_of_standard_output() {
        let failed = |stdout: &str, stderr: &str| {
            let verdict = Verdict { exit_code: Some(1), ..Verdict::default() };
            let (output, stderr) = (stdout.to_owned(), stderr.to_owned());
            let output = TurnOutput { output, stderr, ..TurnOutput::default() };
            fault("`t`", &Ending::Reported(verdict), None, &output).unwrap().1
        };
        assert_eq!(failed("out", "err"), "`t` exited with code 1; stderr: err");
        assert_eq!(failed("a\nout", " \n"), "`t` exited with code 1; stdout: a ⏎ out");
        assert_eq!(failed("", ""), "`t` exited with code 1");
    }

    #[test]
    fn an_excerpt_is_short_and_harmless() {
        assert_eq!(excerpt("a\n\u{1b}[31mred\u{1b}[0m\u{7}\n\n"), "a ⏎ red");
        assert_eq!(excerpt("1\n2\n3\n4\n5\n6\n7"), "3 ⏎ 4 ⏎ 5 ⏎ 6 ⏎ 7");
        let long = excerpt(&format!("{}end", "x".repeat(5000)));
        assert_eq!(long.chars().count(), EXCERPT_CHARS_MAX);
        assert!(long.starts_with('…') && long.ends_with("end"));
    }

    #[test]
    fn a_command_is_shown_with_quotes_where_it_needs_them() {
        let command = |parts: &[&str]| {
            let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
            shown_command(&parts, Path::new("/p"))
        };
        assert_eq!(command(&["sh", "-c", "a b\n"]), r#"`sh -c "a b\n"`"#);
        assert_eq!(command(&["echo", ""]), r#"`echo ""`"#);
        assert_eq!(command(&["sh", "/p/a/b.sh", "/p", "/pp"]), "`sh a/b.sh /p /pp`");
        assert!(command(&["x".repeat(1000).as_str()]).chars().count() < 210);
    }
}
