//! The scripts of the shipped utilities.

/// Interpreter of the scripts.
pub const RUNTIME: &str = "node";

/// A script that is part of the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Script {
    /// Its file name, without any folder.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

impl Script {
    /// The blake3 hash of its bytes, in hexadecimal.
    pub fn hash(&self) -> String {
        crate::files::hash(self.text.as_bytes())
    }
}

/// All of them.
pub const SCRIPTS: &[Script] = &[
    Script {
        name: "ignore-artifacts.mjs",
        text: include_str!("../../../../utilities/ignore-artifacts.mjs"),
    },
    Script { name: "detect-vcs.mjs", text: include_str!("../../../../utilities/detect-vcs.mjs") },
    Script {
        name: "blackbelt-bootstrap.mjs",
        text: include_str!("../../../../utilities/blackbelt-bootstrap.mjs"),
    },
    Script {
        name: "blackbelt-maintain.mjs",
        text: include_str!("../../../../utilities/blackbelt-maintain.mjs"),
    },
    Script {
        name: "commit-sigil.mjs",
        text: include_str!("../../../../utilities/commit-sigil.mjs"),
    },
    Script { name: "join.mjs", text: include_str!("../../../../utilities/join.mjs") },
    Script { name: "verify.mjs", text: include_str!("../../../../utilities/verify.mjs") },
];

/// Whether the runtime can be started, as far as one can see.
pub fn has_runtime() -> bool {
    crate::command::is_program(RUNTIME)
}

/// The script of that file name.
pub fn script(name: &str) -> Option<&'static Script> {
    SCRIPTS.iter().find(|script| script.name == name)
}
