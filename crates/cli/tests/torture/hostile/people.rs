//! Users who attack: the one who runs the tests, and an ordinary user where that one is root.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Stage;

/// The user and the group that own nothing.
const NOBODY: &str = "65534";
/// Runs a program as that user.
const AS_NOBODY: [&str; 6] = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"];
/// The folders of programs that every user may run.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The user who runs the commands of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// The user who runs the tests.
    Me,
    /// An ordinary user.
    Nobody,
}

/// All users a test can be. Where it cannot become an ordinary user, that is counted as skipped.
pub(crate) fn people() -> Vec<Who> {
    if !rustix::process::geteuid().is_root() {
        return vec![Who::Me];
    }
    let tried = Command::new(AS_NOBODY[0]).args(&AS_NOBODY[1..]).arg("true").status();
    if tried.is_ok_and(|status| status.success()) {
        return vec![Who::Me, Who::Nobody];
    }
    skipped("attacks as an ordinary user need `setpriv`");
    vec![Who::Me]
}

/// Whether a user has a program. Where not, that is counted as skipped.
pub(crate) fn finds(who: Who, program: &str) -> bool {
    let own = std::env::var("PATH").unwrap_or_default();
    let path = if who == Who::Me { own.as_str() } else { PATH };
    let found = path.split(':').any(|folder| Path::new(folder).join(program).exists());
    if !found {
        skipped(&format!("{program} is not there for {who:?}"));
    }
    found
}

/// Prints that something could not be tested, and counts it.
pub(crate) fn skipped(why: &str) {
    let current = std::thread::current();
    let name = current.name().unwrap_or("a test");
    eprintln!("skipped: {name}: {why}");
    if let Some(list) = std::env::var_os("MATERIA_SKIPPED") {
        let mut list = fs::File::options().create(true).append(true).open(list).unwrap();
        writeln!(list, "{name}: {why}").unwrap();
    }
}

impl Who {
    pub(crate) fn is_root(self) -> bool {
        self == Self::Me && rustix::process::geteuid().is_root()
    }

    /// A command of this user.
    pub(crate) fn command(self, words: &[&str]) -> Command {
        if self == Self::Me {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]);
            return command;
        }
        // By its path: the command may get another `PATH`.
        let mut paths = PATH.split(':').map(|folder| Path::new(folder).join(AS_NOBODY[0]));
        let mut command = Command::new(paths.find(|path| path.exists()).unwrap());
        command.args(&AS_NOBODY[1..]).args(words);
        command
    }

    /// Gives these to an ordinary user, with everything in them, if that is who this is.
    pub(super) fn own<P: AsRef<Path>>(self, paths: impl IntoIterator<Item = P>) {
        if self == Self::Nobody {
            let mut chown = Command::new("chown");
            chown.args(["-R", "-h", &format!("{NOBODY}:{NOBODY}")]);
            chown.args(paths.into_iter().map(|path| path.as_ref().to_owned()));
            assert!(chown.status().unwrap().success());
        }
    }
}

impl Stage {
    /// This stage, with commands run by another user.
    pub(crate) fn of(mut self, who: Who) -> Self {
        self.who = who;
        eprintln!("as {who:?}");
        if who == Who::Nobody {
            let (built, program) = (env!("CARGO_BIN_EXE_materia"), self.materia());
            // A link is cheaper; it is not possible on another file system.
            if fs::hard_link(built, &program).is_err() {
                fs::copy(built, &program).unwrap();
            }
            let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(self.path(""), open).unwrap();
        }
        self
    }

    /// The path of `materia`: on the stage for an ordinary user, who may not reach the folder where it was built.
    pub(crate) fn materia(&self) -> PathBuf {
        match self.who {
            Who::Me => env!("CARGO_BIN_EXE_materia").into(),
            Who::Nobody => self.path("materia"),
        }
    }

    /// A command that runs `materia`, started by `program` if that is not empty.
    pub(crate) fn command(&self, program: &[&str]) -> Command {
        let materia = self.materia();
        let mut command = self.who.command(&[program, &[materia.to_str().unwrap()]].concat());
        self.dress(&mut command);
        if self.who == Who::Nobody {
            self.who
                .own(["project", "profile", "state", "home", "outside"].map(|it| self.path(it)));
            command.env("PATH", PATH);
        }
        command
    }
}
