//! Candidates for a position on the command line.

use std::path::{Path, PathBuf};

use clap::{Arg, Command};
use materia_app::Project;
use materia_app::edit::templates::TEMPLATES;
use materia_app::views::names::{Name, Names};
use materia_compiler::shipped::SCRIPTS;

use super::position::{Kind, Place};

/// Opens the project of the present folder, with the configuration file that the line names.
pub type Open = dyn Fn(Option<PathBuf>) -> Option<Project>;

/// Candidates, and whether the shell also offers files.
#[derive(Debug, Default)]
pub(super) struct Offer {
    /// Names, in the order in which they are to be shown.
    pub(super) names: Vec<Name>,
    /// Files, which the shell knows best.
    pub(super) files: Files,
}

/// Which files are offered.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Files {
    /// None.
    #[default]
    No,
    /// Any.
    Any,
    /// Folders only.
    Folders,
}

/// Candidates for a position.
pub(super) fn offered(line: &Command, place: &Place, open: &Open) -> Offer {
    let command = place.path.iter().fold(line, |at, name| at.find_subcommand(name).unwrap_or(at));
    let names = |names| Offer { names, files: Files::No };
    match &place.kind {
        Kind::Behind => Offer::default(),
        Kind::Command => names(commands(command)),
        Kind::Option => names(options(command)),
        Kind::Value(id) => {
            let arg = command.get_arguments().find(|arg| arg.get_id() == id.as_str());
            arg.map(|arg| values(command, arg, place, open)).unwrap_or_default()
        }
        Kind::Positional => {
            let all: Vec<&Arg> =
                command.get_positionals().filter(|arg| !arg.is_last_set()).collect();
            // The last one takes all that is left, if it takes several.
            let several = |arg: &&&Arg| arg.get_num_args().is_some_and(|n| n.max_values() > 1);
            let last = all.last().filter(several);
            let arg = all.get(place.positionals.len()).or(last);
            arg.map(|arg| values(command, arg, place, open)).unwrap_or_default()
        }
    }
}

fn commands(command: &Command) -> Vec<Name> {
    let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
    shown
        .map(|one| Name {
            name: one.get_name().to_owned(),
            about: one.get_about().map(ToString::to_string).unwrap_or_default(),
        })
        .collect()
}

fn options(command: &Command) -> Vec<Name> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    shown
        .filter_map(|arg| {
            let name = match (arg.get_long(), arg.get_short()) {
                (Some(long), _) => format!("--{long}"),
                (None, Some(short)) => format!("-{short}"),
                (None, None) => return None,
            };
            let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
            Some(Name { name, about })
        })
        .collect()
}

/// The values of an argument. What they are is said by the name of its value in the help, which is the same word
/// everywhere, and where that is too little by the command.
fn values(command: &Command, arg: &Arg, place: &Place, open: &Open) -> Offer {
    let possible = arg.get_possible_values();
    if !possible.is_empty() {
        let shown = possible.iter().filter(|value| !value.is_hide_set());
        let names = shown.map(|value| Name {
            name: value.get_name().to_owned(),
            about: value.get_help().map(ToString::to_string).unwrap_or_default(),
        });
        return Offer { names: names.collect(), files: Files::No };
    }
    let word = arg.get_value_names().and_then(|all| all.first()).map_or("", |word| word.as_str());
    let files = match word {
        "DIR" => Files::Folders,
        "FILE" | "PATH" | "FILE|DIR" => Files::Any,
        _ => Files::No,
    };
    if files != Files::No {
        return Offer { names: Vec::new(), files };
    }
    let names = match (command.get_name(), arg.get_id().as_str(), word) {
        ("init", _, "TEMPLATE") => templates(),
        ("utility", _, "NAME") => utilities(),
        _ => of_project((command, arg, word), place, open).unwrap_or_default(),
    };
    Offer { names, files: Files::No }
}

fn of_project(
    (command, arg, word): (&Command, &Arg, &str),
    place: &Place,
    open: &Open,
) -> Option<Vec<Name>> {
    let project = project(place, open)?;
    let names = Names::of(&project);
    let cast = place.positionals.first();
    let sockets = || cast.map_or_else(|| names.sockets_of_loadouts(), |id| names.sockets(id));
    Some(match (command.get_name(), arg.get_id().as_str(), word) {
        (_, "provider", "NAME") => names.providers(),
        ("grid", "name", _) => [names.loadouts(), names.casts()].concat(),
        ("materia", "name" | "copy", _) => names.materia(),
        ("loadout", "name" | "show" | "copy", _) | (_, "loadout", _) => names.loadouts(),
        (_, _, "TARGET") => names.targets(place.current.contains(':')),
        (_, "cast_id" | "new_name", _) => return None,
        (_, _, "ID") => names.casts(),
        (_, _, "SOCKET" | "SOCKET[@VISIT]") => sockets(),
        // The first of the words may be a socket's.
        ("say", _, "TEXT") if place.positionals.len() == 1 => sockets(),
        _ => return None,
    })
}

/// The project that the line speaks of.
fn project(place: &Place, open: &Open) -> Option<Project> {
    let given = |id: &str| {
        let found = place.given.iter().rev().find(|(name, _)| name == id);
        found.map(|(_, value)| PathBuf::from(value))
    };
    let (directory, config) = (given("directory"), given("config"));
    let folder = directory.unwrap_or_else(|| PathBuf::from("."));
    // Files that are named on the line are named from that folder.
    if folder != Path::new(".") {
        std::env::set_current_dir(&folder).ok()?;
    }
    open(config)
}

fn templates() -> Vec<Name> {
    let name = |name: &str, about: &str| Name { name: name.to_owned(), about: about.to_owned() };
    TEMPLATES.iter().map(|one| name(one.name, one.about)).collect()
}

fn utilities() -> Vec<Name> {
    let stem = |name: &str| name.trim_end_matches(".mjs").to_owned();
    SCRIPTS.iter().map(|one| Name { name: stem(one.name), about: String::new() }).collect()
}
