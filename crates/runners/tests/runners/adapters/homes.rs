//! `docs/reference/security.md` lists exactly the files that each agent gets in a confined turn.

use std::fmt::Write as _;
use std::path::Path;

use materia_runners::agents::native;

#[test]
fn the_page_says_what_each_agent_gets_of_its_home() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/security.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut expected = String::from(
        "| agent | its variable | gets a copy of | may only read | given back: the session | given back: new values of |\n\
         |---|---|---|---|---|---|\n",
    );
    for adapter in native() {
        let home = adapter.home().expect("each adapter that we ship names its folder");
        let quoted = |names: Vec<String>| {
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let beside = home.beside.iter().map(|name| format!("~/{name}"));
        let changed = home.changed.iter().map(|changed| changed.file.to_owned());
        let copied = home.copied.iter().map(|name| (*name).to_owned());
        let logins = home.logins.iter().map(|login| login.file.to_owned());
        let all = beside.chain(changed).chain(copied).chain(logins).collect();
        let linked = home.linked.iter().map(|name| (*name).to_owned()).collect();
        let sessions = home.sessions.iter().map(|name| (*name).to_owned()).collect();
        let fields = home.logins.iter().flat_map(|login| {
            login.fields.iter().map(move |field| format!("{}: {field}", login.file))
        });
        writeln!(
            expected,
            "| {} (`~/{}`) | `{}` | {} | {} | {} | {} |",
            adapter.capabilities().label,
            home.usual,
            home.variable,
            quoted(all),
            quoted(linked),
            quoted(sessions),
            quoted(fields.collect()),
        )
        .unwrap();
    }
    assert!(page.contains(&expected), "docs/reference/security.md lacks this table:\n{expected}");
}

#[test]
fn nothing_that_names_a_command_is_given_back() {
    for adapter in native() {
        let home = adapter.home().unwrap();
        let given = home.sessions.iter().copied().chain(home.logins.iter().map(|login| login.file));
        for path in given {
            assert!(!home.copied.contains(&path) && !home.linked.contains(&path), "{path}");
            let named = ["settings", "config", "hooks", "plugins", "skills", "commands", "mcp"];
            assert!(!named.iter().any(|name| path.contains(name)), "{path}");
        }
        let paths = home.copied.iter().chain(home.linked).chain(home.beside);
        for path in paths.chain(home.sessions).chain(&[home.usual]) {
            assert!(!path.starts_with('/') && !path.contains(".."), "{path}");
        }
    }
}
