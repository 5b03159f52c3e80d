//! Chooses the loadout when none is named.

use crate::layers::{LayerKind, Loaded};

/// Result of the choice over all layers.
pub(super) enum Choice<'a> {
    /// This one; that it exists has not been looked at.
    Named(&'a str),
    /// None of these.
    Open(Vec<&'a str>),
}

/// The loadout named by `activeLoadout`; else the user's only loadout; else the shipped choice. The shipped
/// `activeLoadout` does not win over the user's loadouts, unless one of them has its name.
pub(super) fn choose(loaded: &Loaded) -> Choice<'_> {
    let config = &loaded.config;
    let own: Vec<&str> =
        config.loadouts.keys().map(String::as_str).filter(|name| is_own(loaded, name)).collect();
    let origin = loaded.origins.of("/activeLoadout").and_then(|at| loaded.layers.get(at));
    let shipped = origin.is_none_or(|layer| layer.kind == LayerKind::Shipped);
    match (&config.active_loadout, own.as_slice()) {
        (Some(name), own) if !shipped || own.is_empty() || own.contains(&name.as_str()) => {
            Choice::Named(name)
        }
        (_, [one]) => Choice::Named(one),
        (_, _) => Choice::Open(own),
    }
}

fn is_own(loaded: &Loaded, name: &str) -> bool {
    loaded.loadout_layer(name).is_some_and(|layer| layer.kind != LayerKind::Shipped)
}

/// The loadout that is cast when none is named, if it is clear which; it need not exist.
pub fn active_loadout(loaded: &Loaded) -> Option<&str> {
    match choose(loaded) {
        Choice::Named(name) => Some(name),
        Choice::Open(_) => None,
    }
}
