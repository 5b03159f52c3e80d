//! The parts of a loop that need its sockets: whether it advances and how it exits, and what the plan says of it.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use materia_contract::{Condition, Exit as PlannedExit, Loop, NodeId, Parse, Root};

use super::region::{Exit, Region, Regions};
use super::socket::Draft;
use crate::fault::{Fault, Faults};

/// The cursor of a loop whose members name none.
const CURSOR_DEFAULT: &str = "workItemIndex";
/// Reports loops that do not move or are not left as written.
pub(super) fn check(regions: &Regions<'_>, sockets: &[Draft<'_>], faults: &mut Faults) {
    let all = movers(regions, sockets);
    for (region, movers) in regions.list.iter().zip(all).filter(|(region, _)| region.whole) {
        if region.consumes() {
            never_advances(region, &movers, faults);
            moved_twice(region, &movers, faults);
        } else {
            has_no_list(region, &movers, faults);
        }
        disagree(region, &movers, faults);
        if !movers.is_empty() {
            exits(region, &movers, faults);
        }
    }
}

fn never_advances(region: &Region<'_>, movers: &[&Draft<'_>], faults: &mut Faults) {
    if !movers.is_empty() {
        return;
    }
    let message = format!("nothing moves loop `{}` on: it stays at its first item", region.id);
    let fault = Fault::warning("loop::never-advances", message);
    let help = "add `\"advance\": {}` to the member that completes an item";
    faults.push(region.place.mark(fault).help(help));
}

/// The short form makes a member advance beside one that says so itself.
fn moved_twice(region: &Region<'_>, movers: &[&Draft<'_>], faults: &mut Faults) {
    let by_exit = |socket: &&&Draft<'_>| socket.advance.as_ref().is_some_and(|one| one.implied);
    let implied = movers.iter().find(by_exit);
    let own = movers.iter().find(|socket| !by_exit(socket));
    let (Some(implied), Some(own)) = (implied, own) else { return };
    let message = format!(
        "loop `{}` is moved on by `{}` and, because of its `exit`, by `{}` too",
        region.id, own.id, implied.id
    );
    let fault = Fault::warning("loop::moved-twice", message);
    let help = format!("if both run for one item, the next is skipped; leave from `{}`", own.id);
    faults.push(region.place.child("exit").mark(fault).help(help));
}

/// Neither `consumes` nor an `items` that can be a list.
fn has_no_list(region: &Region<'_>, movers: &[&Draft<'_>], faults: &mut Faults) {
    let advances = || movers.iter().filter_map(|socket| socket.advance.as_ref());
    let can_be_list = |root: Root| match root {
        Root::State | Root::LastJson => true,
        Root::Output | Root::Item | Root::LastOutput => false,
    };
    if advances().any(|one| one.unread || one.items.as_ref().is_some_and(|p| can_be_list(p.root))) {
        return;
    }
    let place = match (advances().next(), region.exits.first(), &region.doc.exit) {
        (Some(advance), _, _) => advance.place.clone(),
        (None, Some(exit), _) => exit.place.clone(),
        (None, None, Some(_)) => region.place.child("exit"),
        (None, None, None) => return,
    };
    let message = format!("loop `{}` has no list, so it is never exhausted", region.id);
    let fault = Fault::warning("loop::no-list", message);
    let help =
        "add `consumes` with its generator, or a list such as `state.list` as `advance.items`";
    faults.push(place.mark(fault).help(help));
}

/// A loop has one cursor and one list; the first that is named counts.
fn disagree(region: &Region<'_>, movers: &[&Draft<'_>], faults: &mut Faults) {
    let mut first: [Option<String>; 2] = [None, None];
    for advance in movers.iter().filter_map(|socket| socket.advance.as_ref()) {
        let items = advance.items.as_ref().filter(|_| !region.consumes());
        let named = [
            ("cursor", advance.cursor.map(str::to_owned)),
            ("items", items.map(ToString::to_string)),
        ];
        for ((field, name), first) in named.into_iter().zip(&mut first) {
            let Some(name) = name else { continue };
            match first {
                Some(first) if *first != name => {
                    let message = format!(
                        "loop `{}` walks with `{field}` `{first}`, so `{name}` has no effect here",
                        region.id
                    );
                    let fault = Fault::warning("loop::disagree", message);
                    let help = "write the same in all members that advance, or leave it out";
                    faults.push(advance.place.child(field).mark(fault).help(help));
                }
                Some(_) => {}
                None => *first = Some(name),
            }
        }
    }
}

/// Reports exits that cannot be taken: only the member that exhausts the loop leaves it (G14).
fn exits(region: &Region<'_>, movers: &[&Draft<'_>], faults: &mut Faults) {
    let movers: HashMap<&str, &Draft<'_>> = movers.iter().map(|one| (one.id, *one)).collect();
    let mut before: HashSet<(&str, &str)> = HashSet::new();
    for exit in &region.exits {
        let why = if before.insert((exit.from, exit.condition.word())) {
            cannot_leave(exit, movers.get(exit.from).copied())
        } else {
            Some("is never taken: one before it asks for the same".to_owned())
        };
        if let Some(why) = why {
            let message = format!("the exit `{}` of loop `{}` {why}", exit.id, region.id);
            let fault = Fault::warning("loop::unreachable-exit", message);
            let help = "leave from the member that advances, under a condition that can hold there";
            faults.push(exit.place.mark(fault).help(help));
        }
    }
}

fn cannot_leave(exit: &Exit<'_>, mover: Option<&Draft<'_>>) -> Option<String> {
    let from = exit.from;
    let Some((socket, advance)) = mover.and_then(|one| Some((one, one.advance.as_ref()?))) else {
        return Some(match exit.condition {
            // An empty loop takes it whichever member it names (D20).
            Condition::Always => {
                format!("is taken only for an empty list: `{from}` never advances")
            }
            Condition::Satisfied | Condition::NotSatisfied => {
                format!("is never taken: `{from}` never advances")
            }
        });
    };
    let guarded = exit.condition != Condition::Always;
    let asks = advance.when != Condition::Always;
    // Where `advance` itself asks for a verdict, its need of JSON has been reported.
    if guarded && !asks && socket.parse() == Parse::Text {
        return Some(format!("is never taken: the output of `{from}` is not parsed as JSON"));
    }
    (guarded && asks && advance.when != exit.condition)
        .then(|| format!("is never taken: `{from}` advances only when `{}`", advance.when.word()))
}

/// The socket drafts that move each loop, in the order of the loops.
fn movers<'d, 's>(regions: &Regions<'_>, sockets: &'d [Draft<'s>]) -> Vec<Vec<&'d Draft<'s>>> {
    let mut movers: Vec<Vec<&Draft<'_>>> = regions.list.iter().map(|_| Vec::new()).collect();
    for socket in sockets.iter().filter(|socket| socket.advance.is_some()) {
        if let Some(place) = regions.around(socket.id).last() {
            movers[*place].push(socket);
        }
    }
    movers
}

/// The loops of the plan; `None` if something in them could not be read.
pub(super) fn planned(
    regions: &Regions<'_>,
    sockets: &[Draft<'_>],
) -> Option<IndexMap<String, Loop>> {
    let movers = movers(regions, sockets);
    let planned = regions.list.iter().zip(movers).map(|(region, movers)| {
        let exits = region.exits.iter().map(|exit| planned_exit(region.id, exit));
        let mut advances = movers.iter().filter_map(|socket| socket.advance.as_ref());
        let cursor = advances.clone().find_map(|advance| advance.cursor);
        let planned = Loop {
            members: region.members.iter().map(NodeId::new).collect(),
            consumes: region.doc.consumes.as_ref().map(|one| NodeId::new(&one.from)),
            // The generator's list is what counts where there is one (D39).
            items: if region.consumes() {
                None
            } else {
                advances.find_map(|advance| advance.items.clone())
            },
            cursor: cursor.unwrap_or(CURSOR_DEFAULT).to_owned(),
            exits: exits.collect::<Option<_>>()?,
        };
        Some((region.id.to_owned(), planned))
    });
    planned.collect()
}

fn planned_exit(region: &str, exit: &Exit<'_>) -> Option<PlannedExit> {
    let (to, fails) = exit.to.planned()?;
    Some(PlannedExit {
        id: exit.id.clone(),
        edge_id: exit.edge_id(region),
        from: NodeId::new(exit.from),
        condition: exit.condition,
        to,
        fails,
    })
}
