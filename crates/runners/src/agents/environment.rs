//! Environment variables that an agent gets.
//!
//! An allow list: an agent must not see the keys of another provider or of the user's other programs. The
//! configuration can add variables.

use std::ffi::OsString;

use materia_contract::search_path;

/// Variables that every agent and its commands need.
const COMMON: [&str; 46] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "TMPDIR",
    "EDITOR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_DIRS",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "PNPM_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "CI",
];

/// Whether a list of names lets a variable through; a final `*` stands for any rest.
pub fn allows(names: &[String], variable: &str) -> bool {
    names.iter().any(|name| match name.strip_suffix('*') {
        Some(start) => variable.starts_with(start),
        None => name == variable,
    })
}

/// The variables of ours that a list lets through; of `PATH` the absolute entries.
pub(crate) fn passed(names: &[String]) -> impl Iterator<Item = (String, OsString)> {
    std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok().filter(|name| allows(names, name))?;
        let value = if name == "PATH" { search_path(Some(&value)) } else { value };
        Some((name, value))
    })
}

/// The whole list of an agent: what all see, what is its own, and what the configuration adds.
pub(crate) fn names(own: &[&str], added: &[String]) -> Vec<String> {
    let known = COMMON.iter().chain(own).map(|name| (*name).to_owned());
    known.chain(added.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_rest_and_nothing_else_does() {
        let names = names(&["MINE"], &["EXTRA_*".to_owned()]);
        for yes in ["PATH", "LC_ALL", "MINE", "EXTRA_1"] {
            assert!(allows(&names, yes), "{yes}");
        }
        for no in ["PATHS", "MINE_TOO", "EXTRA", "AWS_SECRET_ACCESS_KEY", "path"] {
            assert!(!allows(&names, no), "{no}");
        }
    }
}
