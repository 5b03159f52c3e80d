//! What casts have left in the user's repository.

use std::collections::BTreeSet;

use crate::fault::Fault;
use crate::git::LIST_BYTES_MAX;
use crate::place::check_id;
use crate::project::Project;

/// The ids of all casts that have a branch or other refs in the user's repository.
pub fn casts_with_refs(project: &Project) -> Result<BTreeSet<String>, Fault> {
    let words = ["for-each-ref", "--format=%(refname)", "refs/materia/", "refs/heads/materia/"];
    let names = project.git().call(words).most(LIST_BYTES_MAX).text()?;
    let id = |name: &str| {
        let rest = name.strip_prefix("refs/heads/materia/");
        let rest = rest.or_else(|| name.strip_prefix("refs/materia/"))?;
        let id = rest.split('/').next()?;
        check_id(id).is_ok().then(|| id.to_owned())
    };
    Ok(names.lines().filter_map(id).collect())
}
