//! Who attacks: whoever runs the tests, and where that is root an ordinary user as well.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use super::Stage;
use crate::bench::Ran;

/// The user and the group that own nothing.
const NOBODY: &str = "65534";
/// Where the programs of a system are that everybody may run.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Who runs a command on a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// Whoever runs the tests.
    Me,
    /// An ordinary user.
    Nobody,
}

/// Everybody whom a test can be. Says so where it cannot be an ordinary user.
pub(crate) fn people() -> Vec<Who> {
    if !rustix::process::geteuid().is_root() {
        return vec![Who::Me];
    }
    let words = ["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "true"];
    if Command::new("setpriv").args(words).status().is_ok_and(|status| status.success()) {
        return vec![Who::Me, Who::Nobody];
    }
    skipped("attacks as an ordinary user need `setpriv`");
    vec![Who::Me]
}

/// Whether somebody finds a program; says so where not.
pub(crate) fn finds(who: Who, program: &str) -> bool {
    let own = std::env::var("PATH").unwrap_or_default();
    let path = if who == Who::Me { own.as_str() } else { PATH };
    let found = path.split(':').any(|folder| Path::new(folder).join(program).exists());
    if !found {
        skipped(&format!("{program} is not there for {who:?}"));
    }
    found
}

/// Says aloud that something could not be looked at.
pub(crate) fn skipped(why: &str) {
    let current = std::thread::current();
    let name = current.name().unwrap_or("a test");
    eprintln!("skipped: {name}: {why}");
    if let Some(list) = std::env::var_os("MATERIA_SKIPPED") {
        let mut list = fs::File::options().create(true).append(true).open(list).unwrap();
        writeln!(list, "{name}: {why}").unwrap();
    }
}

impl Stage {
    /// Runs `materia` as somebody, to whom everything on the stage belongs then.
    pub(crate) fn run_as(&self, who: Who, args: &[&str]) -> Ran {
        if who == Who::Me {
            return self.run(args);
        }
        let program = self.path("materia");
        let own = env!("CARGO_BIN_EXE_materia");
        if !program.exists() && fs::hard_link(own, &program).is_err() {
            // On another file system.
            fs::copy(own, &program).unwrap();
        }
        let owner = format!("{NOBODY}:{NOBODY}");
        for folder in ["project", "profile", "state", "home", "outside"] {
            let given =
                Command::new("chown").args(["-R", "-h", &owner]).arg(self.path(folder)).status();
            assert!(given.unwrap().success());
        }
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(self.path(""), open).unwrap();
        let mut command = Command::new("setpriv");
        command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]);
        command.arg(&program).args(args);
        self.dress(&mut command).env("PATH", PATH).output().unwrap().into()
    }
}
