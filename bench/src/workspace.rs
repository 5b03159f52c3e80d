//! W11: the time of a workspace snapshot, relative to `git status` in the same folder.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use materia_workspace::{Place, create, examine};

use crate::report::{Bound, Figure, Report};
use crate::{Outcome, Wanted, room};

const FILES: usize = 50_000;
const ROUNDS: usize = 15;
/// By how many milliseconds a look may take longer.
const MORE_MS_MAX: f64 = 60.0;

/// Something that happens between two looks.
type Act = fn(&Path, usize) -> Outcome<()>;

pub(crate) fn measure(report: &mut Report, _: &Wanted) -> Outcome<()> {
    let folder = room::on_disk()?.canonicalize()?;
    let project_dir = folder.join("project");
    for number in 0..FILES {
        let within = project_dir.join(format!("d{}/e{}", number / 1000, number / 50 % 20));
        if number % 50 == 0 {
            fs::create_dir_all(&within)?;
        }
        fs::write(within.join(format!("{number}.txt")), format!("{number}\n"))?;
    }
    git(&project_dir, &["init", "-q"])?;
    git(&project_dir, &["add", "-A"])?;
    git(&project_dir, &["commit", "-q", "-m", "first"])?;
    let state_dir = folder.join("state");
    let base = examine(&project_dir, &state_dir).map_err(|against| format!("{against:?}"))?;
    let place = Place { state_dir, project_dir, cast_id: "bench".to_owned() };
    let (made, took) = timed(|| Ok(create(&place, &base, false)?))?;
    let (workspace, first) = made;
    report.add(Figure::new("workspace.create", took, "ms").note(format!("{FILES} files")));
    // Files of the same second as the index are read again by git and by us.
    std::thread::sleep(Duration::from_millis(1_100));
    let files = place.checkout();
    git(&files, &["status", "--porcelain"])?;
    workspace.look()?;
    let acts: [(&'static str, Act); 3] = [
        ("workspace.look", |_, _| Ok(())),
        ("workspace.look.file", |files, round| {
            Ok(fs::write(files.join("d7/e7/7350.txt"), format!("round {round}\n"))?)
        }),
        ("workspace.look.commit", |files, round| {
            fs::write(files.join("d8/e7/8350.txt"), format!("round {round}\n"))?;
            git(files, &["commit", "-q", "-a", "-m", "more"])
        }),
    ];
    for (name, act) in acts {
        // The best of the rounds: neighbours can only add, and they add to programs that start many threads most.
        let (mut floor_ms, mut look_ms) = (f64::MAX, f64::MAX);
        for round in 0..ROUNDS {
            act(&files, round)?;
            let ((), floor) = timed(|| git(&files, &["status", "--porcelain"]))?;
            let (_, look) = timed(|| Ok(workspace.look()?))?;
            (floor_ms, look_ms) = (floor_ms.min(floor), look_ms.min(look));
        }
        let note =
            format!("more than `git status`, which takes {floor_ms:.0} ms, in {FILES} files");
        let figure = Figure::new(name, look_ms - floor_ms, "ms");
        report.add(figure.limit(Bound::AtMost, MORE_MS_MAX).note(note));
    }
    let ((), took) = timed(|| Ok(workspace.put_back(&first)?))?;
    report.add(Figure::new("workspace.put-back", took, "ms").note("two files and their commits"));
    Ok(())
}

/// Runs `work`; gives its result and the milliseconds that it took.
fn timed<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<(T, f64)> {
    let begun = Instant::now();
    let made = work()?;
    Ok((made, begun.elapsed().as_secs_f64() * 1e3))
}

/// Runs git as a person does.
fn git(folder: &Path, words: &[&str]) -> Outcome<()> {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"]).args(words);
    let ended = git.current_dir(folder).stdout(Stdio::null()).status()?;
    if ended.success() { Ok(()) } else { Err(format!("git {words:?} ended with {ended}").into()) }
}
