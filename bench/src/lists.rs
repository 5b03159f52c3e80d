//! Commands in a project with many casts.

use std::path::Path;
use std::sync::Arc;

use materia_engine::NoObserver;
use materia_journal::Options;

use crate::report::{Bound, Figure, Report, say};
use crate::stage::Stage;
use crate::{Outcome, Wanted, room, start};

/// Casts of the large project, and of the small one.
const MANY: u64 = 10_000;
const FEW: u64 = 100;

/// Casts that are run at once to make them.
const AT_ONCE: u64 = 500;

pub(crate) fn measure(report: &mut Report, _: &Wanted) -> Outcome<()> {
    let Some(materia) = start::binary()? else {
        say("the binary `materia` is not beside this program");
        return Ok(());
    };
    let folder = room::on_disk()?;
    let few = project(&folder, "few", FEW)?;
    let many = project(&folder, "many", MANY)?;
    let time = |project: &Path, words: &[&str]| {
        start::over_nothing(start::command(&materia, project).args(words)).map(|(over, _)| over)
    };
    let (casts, show) = (["casts", "--limit", "50"], ["show", "last"]);
    for (name, words) in [("lists.casts-10k", &casts[..]), ("lists.show-10k", &show[..])] {
        let (over, small) = (time(&many, words)?, time(&few, words)?);
        let note = format!(
            "`materia {}` with {MANY} casts; the floor is that with {FEW}",
            words.join(" ")
        );
        let figure = Figure::new(name, over, "ms more than `true`").floor(small);
        report.add(figure.limit(Bound::AtMost, 20.0).aim(5.0).note(note));
    }
    Ok(())
}

/// A project with so many casts in its journal, without the files beside it.
pub(crate) fn project(folder: &Path, name: &str, casts: u64) -> Outcome<std::path::PathBuf> {
    let project = start::project(folder, name, start::SCRIPTED)?;
    let options = Options { state: Some(project.join("state")), ..Options::default() };
    let stage = Stage::open(&project.join(".materia"), options)?;
    let mut from = 0;
    while from < casts {
        let to = casts.min(from + AT_ONCE);
        stage.many_watched(from..to, 2, Arc::new(NoObserver))?;
        from = to;
    }
    Ok(project)
}
