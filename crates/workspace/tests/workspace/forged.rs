//! Snapshots with ids from a forged journal.

use crate::common::House;
use crate::publish::request;

/// A journal may name anything as a tree, a commit or a list of refs.
#[test]
fn looks_that_are_no_object_ids_are_refused_before_git_sees_them() {
    let house = House::new();
    let (workspace, look) = house.make("one");
    let (_, base) = house.make("two");
    let words = ["--output=/tmp/x", "HEAD", "refs/heads/main", "", "../x", "x\nHEAD", "-h"];
    let short = &look.head[..12];
    for word in words.into_iter().chain([short]) {
        let bad = |which: usize| {
            let mut forged = look.clone();
            let fields = [&mut forged.tree, &mut forged.head, &mut forged.refs];
            word.clone_into(fields.into_iter().nth(which).unwrap());
            forged
        };
        for which in 0..3 {
            let forged = bad(which);
            let refused = [
                workspace.put_back(&forged).unwrap_err().to_string(),
                workspace.make_checkout(&forged).unwrap_err().to_string(),
                workspace.publish(&request(&forged, &[])).unwrap_err().to_string(),
                workspace.publish(&request(&look, &[&forged])).unwrap_err().to_string(),
                workspace.has_base_as_ancestor(&forged).unwrap_err().to_string(),
            ];
            for told in refused {
                assert!(told.contains("is no id of a git object"), "{word:?}: {told}");
            }
        }
        let options = materia_workspace::DiffOptions::default();
        assert!(workspace.diff(word, &look.tree, options).is_err(), "{word:?}");
        assert!(workspace.diff(&look.tree, word, options).is_err(), "{word:?}");
    }
    assert_eq!(workspace.look().unwrap(), look, "nothing was changed");
    assert_eq!(base.tree, look.tree);
}
