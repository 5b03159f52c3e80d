//! Checks the arguments of the command: are all parts there?

use materia_contract::{Finding, RunId};

use crate::fault::{Fault, Faults};

/// How the command is written.
const FORM: &str = "materia link [--from ID] TARGET… -- PROMPT";

/// A `link` as it was typed, taken apart and not yet understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// The cast it continues from.
    pub from: Option<String>,
    /// The words before the delimiter.
    pub targets: Vec<String>,
    /// Whether there was a delimiter.
    pub delimited: bool,
    /// The words behind it.
    pub prompt: Vec<String>,
}

impl Invocation {
    /// The request: the words, with one space between them.
    pub fn request(&self) -> String {
        self.prompt.join(" ")
    }

    /// The command as it would be typed.
    pub fn typed(&self) -> String {
        let mut words = vec!["materia link".to_owned()];
        words.extend(self.from.iter().map(|id| format!("--from {}", quoted(id))));
        words.extend(self.targets.iter().map(|target| quoted(unquoted(target))));
        words.push("--".to_owned());
        words.push(self.request());
        words.join(" ")
    }
}

/// Finding for an unknown cast in `--from`; `why` says where it was searched for.
pub fn unknown_cast(why: &str) -> Vec<Finding> {
    let help =
        "give the id of a cast of this project (`materia casts` lists them), or leave `--from` out";
    let mut faults = Faults::default();
    faults.push(Fault::error("link::unknown-cast", format!("`--from`: {why}")).help(help));
    faults.placeless()
}

/// A target without the literal quotes round it, which arrive where no shell took them away.
pub(super) fn unquoted(target: &str) -> &str {
    let inside = |quote: char| target.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inside('"').or_else(|| inside('\'')).unwrap_or(target).trim()
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Reports every part that is missing, and an id that can be none.
pub(super) fn check(asked: &Invocation, faults: &mut Faults) {
    if asked.targets.is_empty() {
        let message = "`link` needs at least one target: a materia or a loadout";
        let help = format!("name them before `--`: {FORM}");
        faults.push(Fault::error("link::no-target", message).help(help));
    }
    if !asked.delimited {
        let message = "`--` is missing: it stands between the targets and the request";
        faults.push(Fault::error("link::no-delimiter", message).help(format!("write {FORM}")));
    } else if asked.request().trim().is_empty() {
        let message = "nothing is asked for: there is no text behind `--`";
        let help = format!("say there what the cast is for: {FORM}");
        faults.push(Fault::error("link::no-prompt", message).help(help));
    }
    if let Some(id) = &asked.from {
        faults_of_id(id, faults);
    }
}

fn faults_of_id(id: &str, faults: &mut Faults) {
    let Err(error) = RunId::parse(id) else { return };
    let part = ["/", "\\", ".."].into_iter().find(|part| id.contains(part));
    let message = match part {
        Some(part) => {
            format!("`--from {id}` is a path and no cast id: an id has no `{part}` in it")
        }
        None => format!("`--from`: {error}"),
    };
    let help = "give the id alone; `materia casts` lists them";
    faults.push(Fault::error("link::bad-cast-id", message).help(help));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn quotes_round_a_target_are_taken_away_in_pairs() {
        assert_eq!(unquoted("\"loadout:Hojo Consult\""), "loadout:Hojo Consult");
        assert_eq!(unquoted("'Build'"), "Build");
        assert_eq!(unquoted("\"Build'"), "\"Build'");
        assert_eq!(unquoted("\""), "\"");
        assert_eq!(unquoted("a\"b"), "a\"b");
    }

    #[test]
    fn an_invocation_can_be_typed_again() {
        let asked = Invocation {
            from: Some("c1".into()),
            targets: words(&["\"loadout:Hojo Consult\"", "Build"]),
            delimited: true,
            prompt: words(&["go", "--", "on"]),
        };
        assert_eq!(
            asked.typed(),
            "materia link --from c1 'loadout:Hojo Consult' Build -- go -- on"
        );
        assert_eq!(asked.request(), "go -- on");
    }
}
