//! Which loop is inside which.

use std::collections::HashMap;

use super::Region;
use crate::fault::{Fault, Faults};

/// The loops around each member, the outermost first.
///
/// Two loops have no member in common, or one is inside the other (D40). Going from the largest to the smallest, a
/// loop is sound exactly if all its members are in the same innermost loop so far and that one is larger.
pub(super) fn around<'a>(
    list: &[Region<'a>],
    readable: impl Fn(&Region<'a>) -> bool,
    faults: &mut Faults,
) -> HashMap<&'a str, Vec<usize>> {
    let mut around: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut by_size: Vec<usize> = (0..list.len()).filter(|at| readable(&list[*at])).collect();
    by_size.sort_by_key(|at| std::cmp::Reverse(list[*at].members.len()));
    for at in by_size {
        let region = &list[at];
        if let Some(other) = in_the_way(list, region, &around) {
            let (size, own) = (list[other].members.len(), region.members.len());
            let message = if size == own && list[other].members == region.members {
                format!("loops `{}` and `{}` have the same sockets", list[other].id, region.id)
            } else {
                format!(
                    "loops `{}` and `{}` overlap, and neither lies inside the other",
                    list[other].id, region.id
                )
            };
            let fault = Fault::error("loop::overlap", message);
            let help = "give them no socket in common, or list all sockets of the inner one and more in the outer one";
            faults.push(region.place.child("sockets").mark(fault).help(help));
            continue;
        }
        for member in &region.members {
            around.entry(member).or_default().push(at);
        }
    }
    around
}

/// A loop that shares members with this one without being around it.
fn in_the_way<'a>(
    list: &[Region<'a>],
    region: &Region<'a>,
    around: &HashMap<&'a str, Vec<usize>>,
) -> Option<usize> {
    let size = |at: usize| list[at].members.len();
    let mut innermost = region.members.iter().map(|member| around.get(member)?.last().copied());
    let first = innermost.next()?;
    if innermost.all(|other| other == first) {
        return first.filter(|at| size(*at) == region.members.len());
    }
    let found = region.members.iter().filter_map(|member| around.get(member)?.last().copied());
    found.min_by_key(|at| size(*at))
}
