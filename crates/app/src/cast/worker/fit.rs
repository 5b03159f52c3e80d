//! Whether a worker can drive a run, by the entry of the run alone.

use materia_contract::body::WorkerBody;
use materia_nats::{InTodo, Todo};

use crate::text::sanitize::one_line;

/// Why a worker does not take a run; `None` if it does.
#[must_use]
pub fn misfit(todo: &Todo, worker: &WorkerBody) -> Option<String> {
    let missing: Vec<&str> = todo
        .labels
        .iter()
        .filter(|label| !worker.labels.contains(label))
        .map(String::as_str)
        .collect();
    if !missing.is_empty() {
        return Some(format!(
            "it needs a worker with the labels {}",
            one_line(&missing.join(", "), 200)
        ));
    }
    if todo.rules > worker.rules {
        return Some(format!(
            "it has rules {}, and this version knows rules up to {}; update Materia here",
            todo.rules, worker.rules
        ));
    }
    if todo.workspace.is_none() && (&todo.host, &todo.folder) != (&worker.host, &worker.folder) {
        return Some(format!(
            "its files are in `{}` on `{}`, and only a worker that was started there runs it",
            one_line(&todo.folder, 300),
            one_line(&todo.host, 100)
        ));
    }
    None
}

/// The same for an entry that may not be readable.
pub(super) fn unfit(entry: &InTodo, worker: &WorkerBody) -> Option<String> {
    match &entry.todo {
        None => Some("this version cannot read its entry on the list".to_owned()),
        Some(todo) => misfit(todo, worker),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use materia_contract::{Actor, CommandId, Do, GoOnFrom};

    use super::*;

    fn worker() -> WorkerBody {
        WorkerBody {
            name: "w".to_owned(),
            host: "h".to_owned(),
            pid: 1,
            folder: "/p".to_owned(),
            version: "1".to_owned(),
            rules: 5,
            slots: 1,
            labels: vec!["gpu".to_owned(), "big".to_owned()],
            runs: Vec::new(),
            left_alone: Vec::new(),
            ends: false,
            seen_at: String::new(),
        }
    }

    fn todo() -> Todo {
        Todo {
            what: Do::Resume { pace: None },
            command: CommandId::kept("c"),
            actor: Actor::PERSON,
            go_on: GoOnFrom::Usual,
            labels: vec!["gpu".to_owned()],
            host: "h".to_owned(),
            folder: "/p".to_owned(),
            workspace: None,
            rules: 5,
            provider: None,
            script: None,
            approved: BTreeMap::new(),
            by: None,
            files: BTreeMap::new(),
            utilities: BTreeMap::new(),
        }
    }

    /// M9, M10: labels, rules and the folder decide.
    #[test]
    fn a_worker_takes_what_it_can_drive() {
        assert_eq!(misfit(&todo(), &worker()), None);
        assert_eq!(misfit(&Todo { rules: 4, labels: Vec::new(), ..todo() }, &worker()), None);
        let workspace = Some(String::new());
        let stored =
            Todo { host: "other".to_owned(), folder: "/q".to_owned(), workspace, ..todo() };
        assert_eq!(misfit(&stored, &worker()), None);
        let labels = vec!["arm".to_owned(), "gpu".to_owned()];
        for (todo, word) in [
            (Todo { labels, ..todo() }, "labels arm"),
            (Todo { rules: 6, ..todo() }, "rules 6"),
            (Todo { host: "other".to_owned(), ..todo() }, "on `other`"),
            (Todo { folder: "/q".to_owned(), ..todo() }, "`/q`"),
        ] {
            let why = misfit(&todo, &worker()).unwrap();
            assert!(why.contains(word), "{why}");
        }
    }
}
