//! A materia: what runs, before it is placed anywhere.

use materia_contract::{Behavior, Materia, MateriaKind, Path, PromptDoc, Root};

use super::built::Built;
use super::paths::{assignments, path};
use super::prompt_text::{self, Words};
use super::{Place, TIMEOUT_MS_MAX, agent, program, script};
use crate::command::{is_program, resolve};
use crate::fault::{Fault, Faults};
use crate::layers::Loaded;

/// Builds one materia.
pub(super) fn build<'a>(
    loaded: &Loaded,
    name: &str,
    doc: &'a Materia,
    faults: &mut Faults,
) -> Built<'a> {
    let place = Place::of(loaded, "materia", name);
    let kind = doc.kind.unwrap_or_default();
    let behavior = if place.child("type").is_mended(loaded) {
        // Which fields it should have depends on a word that could not be read.
        None
    } else {
        match kind {
            MateriaKind::Agent => agent(loaded, name, doc, &place, faults),
            MateriaKind::Utility => utility(loaded, name, doc, &place, faults),
        }
    };
    timeout(doc.timeout_ms, &place, faults);
    let assign = assignments(&doc.assign, &place, loaded, faults);
    let requires = paths(name, &doc.requires, &place.child("requires"), loaded, faults);
    let reads = paths(name, &doc.reads, &place.child("reads"), loaded, faults);
    Built { doc, place, behavior, assign, requires, reads }
}

/// Reads the paths of what must be there before a materia is asked (D41), or is shown to it.
fn paths(
    name: &str,
    texts: &[String],
    owner: &Place,
    loaded: &Loaded,
    faults: &mut Faults,
) -> Vec<Path> {
    let mut read = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let place = owner.child(&index.to_string());
        let Some(path) = path(text, &place, loaded, faults) else { continue };
        if path.root == Root::Output {
            let message = format!("`$` is the output of `{name}`, which has not run yet here");
            let fault = Fault::warning("path::no-output", message);
            let help = "name what must be there before: state.…, item.… or lastJson.…";
            faults.push(place.mark(fault).help(help));
        }
        read.push(path);
    }
    read
}

fn agent(
    loaded: &Loaded,
    name: &str,
    doc: &Materia,
    place: &Place,
    faults: &mut Faults,
) -> Option<Behavior> {
    let executable = [("command", doc.command.is_some()), ("script", doc.script.is_some())];
    let mut runs = true;
    for (field, _) in executable.into_iter().filter(|(_, present)| *present) {
        let message = format!("materia `{name}` is an agent, but has a `{field}`");
        let fault = Fault::error("materia::command-on-agent", message);
        let help = "add `\"type\": \"utility\"` if it is a local program";
        faults.push(place.child(field).mark(fault).help(help));
        runs = false;
    }
    for (field, _) in program::utilities_only(doc).into_iter().filter(|(_, there)| *there && runs) {
        other_kind(name, "an agent", field, place, faults);
    }
    let empty = matches!(&doc.prompt, Some(PromptDoc::Text(text)) if text.trim().is_empty());
    if (doc.prompt.is_none() || empty) && runs && !place.is_mended(loaded) {
        let message = format!("materia `{name}` is an agent without a prompt");
        let fault = Fault::warning("materia::no-prompt", message);
        let help = "add `prompt`, or `\"type\": \"utility\"` and a `command`";
        faults.push(place.mark(fault).help(help));
    }
    agent::materia(loaded, name, doc, place, faults);
    let written = doc.prompt.as_ref();
    let words = match written {
        Some(doc) => prompt_text::of_materia(loaded, doc, &place.child("prompt"), faults)?,
        None => Words { text: String::new(), origin: place.child("prompt").shown(loaded) },
    };
    runs.then(|| Behavior::Agent {
        prompt: words.text,
        origin: words.origin,
        tools: doc.tools.clone(),
        model: doc.model.clone(),
        provider: doc.provider.clone(),
    })
}

fn utility(
    loaded: &Loaded,
    name: &str,
    doc: &Materia,
    place: &Place,
    faults: &mut Faults,
) -> Option<Behavior> {
    let agents_only = [
        ("prompt", doc.prompt.is_some()),
        ("tools", doc.tools.is_some()),
        ("model", doc.model.is_some()),
        ("provider", doc.provider.is_some()),
        ("multiTurn", doc.multi_turn == Some(false)),
        ("session", doc.session.is_some()),
        ("reads", !doc.reads.is_empty()),
    ];
    for (field, _) in agents_only.into_iter().filter(|(_, present)| *present) {
        other_kind(name, "a utility", field, place, faults);
    }
    if doc.multi_turn == Some(true) {
        let message = format!("materia `{name}` is a utility, and nobody can talk with one");
        let fault = Fault::error("materia::multi-turn", message);
        faults.push(place.child("multiTurn").mark(fault).help("only an agent takes instructions"));
    }
    program::check(name, doc, place, faults);
    let fault = match (&doc.command, &doc.script) {
        (Some(command), None) => {
            let command = argv(loaded, name, command, &place.child("command"), faults)?;
            let params = doc.params.clone().unwrap_or_default();
            return Some(Behavior::Utility { command, params });
        }
        (Some(_), Some(_)) => {
            let message = format!("utility `{name}` has both `command` and `script`");
            let fault = Fault::error("utility::command-and-script", message);
            place.child("script").mark(fault).help("keep one of them")
        }
        (None, Some(locator)) => {
            let command = script::argv(loaded, name, locator, &place.child("script"), faults)?;
            let params = doc.params.clone().unwrap_or_default();
            return Some(Behavior::Utility { command, params });
        }
        (None, None) => {
            if place.child("command").is_mended(loaded) || place.child("script").is_mended(loaded) {
                return None;
            }
            if let Some(fault) = script::alias(&doc.extra, place) {
                faults.push(fault);
                return None;
            }
            let message = format!("utility `{name}` has no `command`");
            let fault = Fault::error("utility::no-command", message);
            place.mark(fault).help("add `command`, a list of the program and its arguments")
        }
    };
    faults.push(fault);
    None
}

/// Checks and resolves a command.
fn argv(
    loaded: &Loaded,
    name: &str,
    command: &[String],
    place: &Place,
    faults: &mut Faults,
) -> Option<Vec<String>> {
    if place.is_mended(loaded) {
        return None;
    }
    let program = command.first().map_or("", String::as_str);
    let wrong = if program.is_empty() {
        Some("names no program")
    } else if command.iter().any(|word| word.contains('\0')) {
        Some("holds a NUL character, which no program can be given")
    } else {
        None
    };
    if let Some(wrong) = wrong {
        let fault = Fault::error(
            "utility::empty-command",
            format!("the command of utility `{name}` {wrong}"),
        );
        let help = "write the program first, then its arguments: [\"python3\", \"script.py\"]";
        faults.push(place.mark(fault).help(help));
        return None;
    }
    let folder = loaded.layers.get(place.layer).and_then(|layer| layer.dir());
    let Ok(command) = resolve(command, folder) else {
        let message =
            "the folder of this file has a name that is not UTF-8, so no script in it can be named";
        let fault = Fault::error("config::not-utf8", message);
        faults.push(place.mark(fault).help("rename the folder, or use an absolute path"));
        return None;
    };
    if !is_program(&command[0]) {
        let (program, shown) = (&command[0], place.child("0"));
        let message = format!("the program `{program}` of utility `{name}` was not found");
        let help = if program.contains('/') {
            "check the path and that the file may be executed"
        } else {
            "install it, or put its folder on PATH"
        };
        faults.push(shown.mark(Fault::warning("utility::program-missing", message)).help(help));
    }
    Some(command)
}

pub(super) fn other_kind(name: &str, kind: &str, field: &str, place: &Place, faults: &mut Faults) {
    let message = format!("materia `{name}` is {kind}, which has no use for `{field}`");
    let fault = Fault::warning("materia::other-kind", message);
    faults.push(place.child(field).mark(fault).help("remove it, or change `type`"));
}

/// Checks the upper bound of a time limit; the lower one is in the schema.
pub(super) fn timeout(limit: Option<u64>, place: &Place, faults: &mut Faults) {
    if limit.is_some_and(|limit| limit > TIMEOUT_MS_MAX) {
        let message = format!("`timeoutMs` must be at most {TIMEOUT_MS_MAX}, which is a week");
        let fault = Fault::error("document::out-of-range", message);
        let help = "it is in milliseconds; an agent without it has no limit";
        faults.push(place.child("timeoutMs").mark(fault).help(help));
    }
}
