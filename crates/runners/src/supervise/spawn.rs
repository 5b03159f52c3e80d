//! Starts the child, or says in a sentence why that cannot be.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::io::Errno;

use super::protocol::Spec;
use crate::approved_files;

/// Why there is no child.
pub(super) struct NotStarted {
    pub(super) why: String,
    /// Whether a file is not as it was approved.
    pub(super) withheld: bool,
}

impl From<String> for NotStarted {
    fn from(why: String) -> Self {
        Self { why, withheld: false }
    }
}

/// Starts the child in its folder and in a group of its own, with three pipes. Never a shell.
pub(super) fn spawn(spec: &Spec) -> Result<Child, NotStarted> {
    let cwd = spec.cwd.path();
    if !cwd.is_dir() {
        return Err(format!("the folder `{}` to run it in does not exist", cwd.display()).into());
    }
    let Some((program, arguments)) = spec.argv.split_first() else {
        return Err("the command is empty".to_owned().into());
    };
    let mut command = Command::new(program);
    if spec.env_only {
        command.env_clear();
    }
    command
        .args(arguments)
        .current_dir(&cwd)
        .envs(spec.env.iter().map(|(name, value)| (name, value.os())))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    // As late as possible, so that the checked files are the ones that run.
    if let Some(why) = approved_files::changed(&spec.pinned) {
        return Err(NotStarted { why, withheld: true });
    }
    command.spawn().map_err(|error| explain(program, &cwd, &error).into())
}

fn explain(program: &str, cwd: &Path, error: &io::Error) -> String {
    let by_path = program.contains('/');
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) if !by_path => {
            format!("the program `{program}` was not found in any folder of PATH")
        }
        Some(Errno::NOENT) if cwd.join(program).exists() => format!(
            "the program `{program}` is there, but the interpreter that its first line names is not"
        ),
        Some(Errno::NOENT) => format!("the program `{program}` does not exist"),
        Some(Errno::ACCESS) if cwd.join(program).is_dir() => {
            format!("the program `{program}` is a folder")
        }
        Some(Errno::ACCESS | Errno::PERM) => {
            format!("the program `{program}` is not executable; `chmod +x` makes it so")
        }
        Some(Errno::NOEXEC) => format!(
            "the program `{program}` is nothing the system can run; a script needs a `#!` line"
        ),
        Some(Errno::TOOBIG) => {
            format!("the arguments of the program `{program}` are longer than the system allows")
        }
        Some(_) | None => format!("the program `{program}` could not be started: {error}"),
    }
}
