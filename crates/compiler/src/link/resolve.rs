//! Resolves a target (L2, L3): a materia or a loadout, by its name after layering.

use std::borrow::Cow;

use materia_contract::{Loadout, Socket, TargetKind};

use super::remap;
use super::usage::unquoted;
use crate::fault::{Fault, Faults};
use crate::layers::Loaded;
use crate::suggest::{did_you_mean, nearest};

/// A target that was found.
pub(super) struct Target<'a> {
    pub(super) kind: TargetKind,
    pub(super) name: &'a str,
    /// Its graph; for a materia, one socket that runs it.
    pub(super) loadout: Cow<'a, Loadout>,
}

impl Target<'_> {
    pub(super) fn same(&self, other: &Self) -> bool {
        self.kind == other.kind && self.name == other.name
    }

    /// One of its sockets for people: by its loadout. A lone materia is its only socket.
    pub(super) fn socket(&self, id: &str) -> String {
        match self.kind {
            TargetKind::Materia => self.shown(),
            TargetKind::Loadout => format!("`{}.{id}`", self.name),
        }
    }

    /// The target for people.
    pub(super) fn shown(&self) -> String {
        format!("{} `{}`", self.kind.word(), self.name)
    }
}

/// Finds every target, and reports each that cannot be found, once.
pub(super) fn all<'a>(
    loaded: &'a Loaded,
    words: &[String],
    faults: &mut Faults,
) -> Vec<Option<Target<'a>>> {
    let mut reported: Vec<&str> = Vec::new();
    let found = words.iter().map(|word| unquoted(word)).map(|word| match one(loaded, word) {
        Ok(target) => Some(target),
        Err(_) if reported.contains(&word) => None,
        Err(fault) => {
            reported.push(word);
            faults.push(*fault);
            None
        }
    });
    found.collect()
}

fn one<'a>(loaded: &'a Loaded, word: &str) -> Result<Target<'a>, Box<Fault>> {
    let (kind, name) = split(word);
    if name.is_empty() {
        let fault =
            Fault::error("link::unknown-target", format!("the target `{word}` names nothing"));
        return Err(Box::new(fault.help("write NAME, `materia:NAME` or `loadout:NAME`")));
    }
    match kind {
        Some(kind) => find(loaded, kind, name).ok_or_else(|| Box::new(unknown(loaded, kind, name))),
        None => bare(loaded, name),
    }
}

/// A name without a prefix: exactly one thing may bear it.
fn bare<'a>(loaded: &'a Loaded, name: &str) -> Result<Target<'a>, Box<Fault>> {
    let spaces = [TargetKind::Materia, TargetKind::Loadout].map(|kind| find(loaded, kind, name));
    match spaces {
        [Some(one), None] | [None, Some(one)] => Ok(one),
        [Some(_), Some(_)] => {
            let message = format!(
                "`{name}` is both a materia and a loadout: write `materia:{name}` or `loadout:{name}`"
            );
            let fault = Fault::error("link::ambiguous-target", message);
            Err(Box::new(fault.help("put the word that is meant, and a colon, before the name")))
        }
        [None, None] => Err(Box::new(unknown_anywhere(loaded, name))),
    }
}

/// The space that a prefix names, and the name behind it.
fn split(word: &str) -> (Option<TargetKind>, &str) {
    for kind in [TargetKind::Materia, TargetKind::Loadout] {
        let rest = word.strip_prefix(kind.word()).and_then(|rest| rest.strip_prefix(':'));
        if let Some(name) = rest {
            return (Some(kind), unquoted(name));
        }
    }
    (None, word)
}

fn find<'a>(loaded: &'a Loaded, kind: TargetKind, name: &str) -> Option<Target<'a>> {
    match kind {
        TargetKind::Materia => {
            let (name, _) = loaded.config.materia.get_key_value(name)?;
            Some(Target { kind, name, loadout: Cow::Owned(fragment(name)) })
        }
        TargetKind::Loadout => {
            let (name, loadout) = loaded.config.loadouts.get_key_value(name)?;
            Some(Target { kind, name, loadout: Cow::Borrowed(loadout) })
        }
    }
}

/// A graph of one socket that runs a materia (L5).
fn fragment(materia: &str) -> Loadout {
    let id = remap::socket(1).to_string();
    let socket = Socket { materia: Some(materia.to_owned()), ..Socket::default() };
    let sockets = [(id.clone(), socket)].into_iter().collect();
    Loadout { entry: Some(id), sockets, ..Loadout::default() }
}

fn unknown(loaded: &Loaded, kind: TargetKind, name: &str) -> Fault {
    let (word, other) = match kind {
        TargetKind::Materia => ("materia", TargetKind::Loadout),
        TargetKind::Loadout => ("loadout", TargetKind::Materia),
    };
    let fault = Fault::error("link::unknown-target", format!("there is no {word} `{name}`"));
    if find(loaded, other, name).is_some() {
        let other = other.word();
        return fault.help(format!("there is a {other} of that name: write `{other}:{name}`"));
    }
    let things = if word == "materia" { "materia" } else { "loadouts" };
    fault.help(did_you_mean(name, names(loaded, kind), things))
}

fn unknown_anywhere(loaded: &Loaded, name: &str) -> Fault {
    let message = format!("there is no materia and no loadout `{name}`");
    let fault = Fault::error("link::unknown-target", message);
    let near = [TargetKind::Materia, TargetKind::Loadout].map(|kind| {
        nearest(name, names(loaded, kind)).map(|name| format!("`{}:{name}`", kind.word()))
    });
    let near: Vec<String> = near.into_iter().flatten().collect();
    if near.is_empty() {
        let help = "check the spelling; `materia materia` and `materia loadout` list what there is";
        return fault.help(help);
    }
    fault.help(format!("did you mean {}?", near.join(" or ")))
}

fn names(loaded: &Loaded, kind: TargetKind) -> Vec<&str> {
    match kind {
        TargetKind::Materia => loaded.config.materia.keys().map(String::as_str).collect(),
        TargetKind::Loadout => loaded.config.loadouts.keys().map(String::as_str).collect(),
    }
}
