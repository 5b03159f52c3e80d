//! Position of the cursor on the command line.

use clap::{Arg, Command};

/// The place of the word that is being typed.
#[derive(Debug)]
pub(super) struct Place {
    /// The names of the command and its subcommand, if it is there.
    pub(super) path: Vec<String>,
    /// The words behind them that are no options.
    pub(super) positionals: Vec<String>,
    /// Options that were given a value.
    pub(super) given: Vec<(String, String)>,
    /// Kind of the word.
    pub(super) kind: Kind,
    /// Fixed part in front of the completed part of the word: `--loadout=`.
    pub(super) before: String,
    /// Part of the word that is typed so far.
    pub(super) current: String,
}

/// Kind of a word.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The name of a command.
    Command,
    /// An option.
    Option,
    /// The value of an option, by the option's id.
    Value(String),
    /// One of the words that are no options.
    Positional,
    /// Words behind `--`.
    Behind,
}

/// Reads the words so far; the last one is being typed.
pub(super) fn place(line: &Command, words: &[String]) -> Place {
    let (current, before) =
        words.split_last().map_or(("", &[][..]), |(it, all)| (it.as_str(), all));
    let mut place = Place {
        path: Vec::new(),
        positionals: Vec::new(),
        given: Vec::new(),
        kind: Kind::Command,
        before: String::new(),
        current: current.to_owned(),
    };
    let mut command = line;
    // The option that the next word is the value of.
    let mut open: Option<&Arg> = None;
    let mut behind = false;
    for word in before {
        if let Some(arg) = open.take() {
            place.given.push((arg.get_id().to_string(), word.clone()));
        } else if behind {
            place.positionals.push(word.clone());
        } else if word == "--" {
            behind = true;
        } else if word.len() > 1 && word.starts_with('-') {
            match option(command, word) {
                Some((arg, Some(value))) => {
                    place.given.push((arg.get_id().to_string(), value.to_owned()));
                }
                Some((arg, None)) if takes_value(arg) => open = Some(arg),
                Some(_) | None => {}
            }
        } else if let Some(found) = command.find_subcommand(word)
            && place.positionals.is_empty()
        {
            place.path.push(found.get_name().to_owned());
            command = found;
        } else {
            place.positionals.push(word.clone());
        }
    }
    place.kind = match open {
        Some(arg) => Kind::Value(arg.get_id().to_string()),
        None if behind => Kind::Behind,
        None if current.starts_with("--") && current.contains('=') => {
            of_joined(command, &mut place)
        }
        None if current.starts_with('-') => Kind::Option,
        None if command.has_subcommands() && place.positionals.is_empty() => Kind::Command,
        None => Kind::Positional,
    };
    place
}

/// The kind of a word like `--loadout=Fu`.
fn of_joined(command: &Command, place: &mut Place) -> Kind {
    let word = place.current.clone();
    let Some((name, value)) = word.split_once('=') else { return Kind::Option };
    match option(command, name) {
        Some((arg, _)) if takes_value(arg) => {
            place.before = format!("{name}=");
            value.clone_into(&mut place.current);
            Kind::Value(arg.get_id().to_string())
        }
        Some(_) | None => Kind::Option,
    }
}

/// The option that a word names, with its value where the word has it.
fn option<'a, 'w>(command: &'a Command, word: &'w str) -> Option<(&'a Arg, Option<&'w str>)> {
    let mut args = command.get_arguments();
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
        let named = |arg: &&Arg| {
            arg.get_long() == Some(name)
                || arg.get_all_aliases().is_some_and(|all| all.contains(&name))
        };
        return Some((args.find(named)?, value));
    }
    let mut letters = word.strip_prefix('-')?.chars();
    let first = letters.next()?;
    let arg = args.find(|arg| arg.get_short() == Some(first))?;
    let rest = letters.as_str();
    // `-Cdir` has its value with it; `-qC` is two options, of which the last one counts.
    match (takes_value(arg), rest.is_empty()) {
        (true, false) => Some((arg, Some(rest.strip_prefix('=').unwrap_or(rest)))),
        (true | false, true) => Some((arg, None)),
        (false, false) => option(command, &word[1 + first.len_utf8()..]).or_else(|| {
            let last = rest.chars().next_back()?;
            let arg = command.get_arguments().find(|arg| arg.get_short() == Some(last))?;
            Some((arg, None))
        }),
    }
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command line with the same kinds of arguments as the program's.
    fn line() -> Command {
        let value = |id: &'static str| Arg::new(id).long(id).num_args(1);
        let words = |id: &'static str| Arg::new(id).num_args(0..);
        let flag = |id: &'static str, short| {
            Arg::new(id).short(short).long(id).action(clap::ArgAction::SetTrue).global(true)
        };
        Command::new("materia")
            .arg(value("directory").short('C').global(true))
            .arg(value("config").alias("materia-config").global(true))
            .arg(flag("json", 'j'))
            .arg(flag("quiet", 'q'))
            .subcommand(Command::new("show").arg(Arg::new("id")))
            .subcommand(Command::new("check").arg(Arg::new("file")))
            .subcommand(Command::new("why").arg(Arg::new("id")).arg(Arg::new("node")))
            .subcommand(Command::new("cast").arg(value("loadout")).arg(words("request")))
            .subcommand(Command::new("link").arg(words("targets")).arg(words("prompt").last(true)))
    }

    fn at(text: &str) -> Place {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let mut line = line();
        line.build();
        place(&line, &words)
    }

    #[test]
    fn a_place_is_found_among_commands_options_and_values() {
        assert_eq!(at("").kind, Kind::Command);
        assert_eq!(at("sho").kind, Kind::Command);
        assert_eq!((at("show ").kind, at("show ").path), (Kind::Positional, vec!["show".into()]));
        assert_eq!(at("why last So").positionals, ["last"]);
        assert_eq!(at("cast --lo").kind, Kind::Option);
        assert_eq!(at("cast --loadout ").kind, Kind::Value("loadout".into()));
        assert_eq!(at("-C /tmp cast --loadout Fu").given, [("directory".into(), "/tmp".into())]);
        assert_eq!(at("-q -C").kind, Kind::Option);
        assert_eq!(at("-C ").kind, Kind::Value("directory".into()));
        assert_eq!(at("-C/tmp show ").given, [("directory".into(), "/tmp".into())]);
        assert_eq!(at("link A B -- mend ").kind, Kind::Behind);
        // An alias of an option is one too; a flag takes no value.
        assert_eq!(at("check --materia-config ").kind, Kind::Value("config".into()));
        assert_eq!(at("show --json la").kind, Kind::Positional);
        let joined = at("cast --loadout=Fu");
        assert_eq!((joined.before.as_str(), joined.current.as_str()), ("--loadout=", "Fu"));
        assert_eq!(joined.kind, Kind::Value("loadout".into()));
        // A request may hold the name of a command.
        assert_eq!(at("cast show ").path, ["cast"]);
        assert_eq!(at("help ca").kind, Kind::Command);
    }
}
