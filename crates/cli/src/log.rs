//! Debug log of the program. Off by default.
//!
//! It contains only names and numbers: never a prompt, an output, an environment or a command line.

use std::str::FromStr;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// The variable that says what is wanted.
const VARIABLE: &str = "MATERIA_LOG";

/// Begins to log to standard error what the environment asks for, if it does.
pub(crate) fn begin() {
    let Some(wanted) = std::env::var_os(VARIABLE).filter(|wanted| !wanted.is_empty()) else {
        return;
    };
    let Some(Ok(targets)) = wanted.to_str().map(wanted_targets) else {
        let example = "`debug`, or `info,materia_journal=trace`";
        let shown = materia_app::text::sanitize::one_line(&wanted.to_string_lossy(), 80);
        let words =
            format!("warning: {VARIABLE} is `{shown}`, which is no filter; {example} is one\n");
        // stderr may be closed.
        let _ = std::io::Write::write_all(&mut std::io::stderr(), words.as_bytes());
        return;
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    // It fails only if a subscriber is already set.
    let _ = tracing_subscriber::registry().with(targets).with(lines).try_init();
}

/// Parses a filter for our own crates only: `level` for all of them, `target=level` for one.
fn wanted_targets(text: &str) -> Result<Targets, tracing_subscriber::filter::ParseError> {
    let asked = Targets::from_str(text)?;
    let all = asked.default_level().unwrap_or(LevelFilter::OFF);
    let own = |target: &str| target.starts_with("materia");
    let named: Vec<_> = asked.iter().filter(|(target, _)| own(target)).collect();
    let named = named.into_iter().map(|(target, level)| (target.to_owned(), level));
    Ok(Targets::new().with_target("materia", all).with_targets(named))
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::wanted_targets;

    #[test]
    fn a_filter_is_about_our_own_crates() {
        let targets = wanted_targets("info,materia_journal=trace,other=trace").unwrap();
        assert!(targets.would_enable("materia_engine::drive", &Level::INFO));
        assert!(!targets.would_enable("materia_engine::drive", &Level::DEBUG));
        assert!(targets.would_enable("materia_journal::sqlite", &Level::TRACE));
        assert!(!targets.would_enable("other", &Level::ERROR));
        assert!(
            !wanted_targets("materia_runners=debug")
                .unwrap()
                .would_enable("materia_engine", &Level::ERROR)
        );
        assert!(wanted_targets("a=b=c").is_err());
    }
}
