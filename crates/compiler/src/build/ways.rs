//! Conditions of a socket's edges: which edges are never taken, and whether all may fail.
//!
//! Deliberately absent: the targets of the edges. Documents and finished plans share this code.

use std::collections::HashSet;

use materia_contract::{Condition, Guard, Test};

/// Condition of an edge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way<'a> {
    pub(crate) when: Condition,
    pub(crate) guard: Option<&'a Guard>,
}

/// For each way, whether one before it matches whenever it would.
pub(crate) fn shadowed<'a>(ways: impl Iterator<Item = Way<'a>>) -> Vec<bool> {
    let mut before: HashSet<(&str, Option<String>)> = HashSet::new();
    let mut shadowed = Vec::new();
    for way in ways {
        let when = way.when.word();
        let always = Condition::Always.word();
        let guard = way.guard.map(|guard| render(guard, &guard.test));
        shadowed.push(
            [always, when].into_iter().any(|word| {
                before.contains(&(word, None)) || before.contains(&(word, guard.clone()))
            }),
        );
        before.insert((when, guard));
    }
    shadowed
}

/// Whether a result can match none of these ways. `asks` says that a verdict is asked for by
/// something else, too.
pub(crate) fn may_all_fail(ways: &[Way<'_>], asks: bool) -> bool {
    uncovered(ways, asks).next().is_some()
}

/// The verdicts with which a result can match none of these ways; `always` stands for none.
///
/// A guarded way obliges its socket to give a verdict, so that no third case is left.
pub(crate) fn uncovered<'w>(
    ways: &'w [Way<'w>],
    asks: bool,
) -> impl Iterator<Item = Condition> + 'w {
    let guarded = asks || ways.iter().any(|way| way.when != Condition::Always);
    let verdicts: &[Condition] = if guarded {
        &[Condition::Satisfied, Condition::NotSatisfied]
    } else {
        &[Condition::Always]
    };
    verdicts.iter().copied().filter(|verdict| !covers(ways, *verdict))
}

fn covers(ways: &[Way<'_>], verdict: Condition) -> bool {
    let mut opposites = HashSet::new();
    matching(ways, verdict).any(|way| match way.guard {
        None => true,
        Some(guard) => {
            let found = opposites.contains(&render(guard, &guard.test));
            opposites.insert(render(guard, &opposite(&guard.test)));
            found
        }
    })
}

/// The ways that a result with this verdict can match.
pub(crate) fn matching<'w>(
    ways: &'w [Way<'w>],
    verdict: Condition,
) -> impl Iterator<Item = &'w Way<'w>> {
    ways.iter().filter(move |way| way.when == Condition::Always || way.when == verdict)
}

/// The test that holds exactly where this one does not.
fn opposite(test: &Test) -> Test {
    match test {
        Test::Equals(value) => Test::NotEquals(value.clone()),
        Test::NotEquals(value) => Test::Equals(value.clone()),
        Test::Exists(there) => Test::Exists(!there),
    }
}

fn render(guard: &Guard, test: &Test) -> String {
    let path = &guard.path;
    match test {
        Test::Equals(value) => format!("{path} equals {value}"),
        Test::NotEquals(value) => format!("{path} notEquals {value}"),
        Test::Exists(there) => format!("{path} exists {there}"),
    }
}
