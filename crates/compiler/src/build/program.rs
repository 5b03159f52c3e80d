//! Settings of a utility's program: verdict, environment, folder, retries, and parameters that name sockets.

use std::path::{Component, Path};

use materia_contract::{Materia, Parse, Retries, RetriesDoc, Socket};
use serde_json::Value;

use super::Place;
use super::built::{Built, Scope};
use crate::fault::{Fault, Faults};

/// Fields that only a utility has a use for, and whether they are there.
pub(super) fn utilities_only(doc: &Materia) -> [(&'static str, bool); 6] {
    [
        ("params", doc.params.is_some()),
        ("socketParams", !doc.socket_params.is_empty()),
        ("verdict", doc.verdict.is_some()),
        ("env", !doc.env.is_empty()),
        ("cwd", doc.cwd.is_some()),
        ("retries", doc.retries.is_some()),
    ]
}

/// Checks the environment and the folder of a utility, and that its verdict has one source (D48).
pub(super) fn check(name: &str, doc: &Materia, place: &Place, faults: &mut Faults) {
    environment(&doc.env, &place.child("env"), faults);
    if let Some(folder) = &doc.cwd
        && !is_inside(folder)
    {
        let message = format!("`{folder}` does not lie inside the project");
        let fault = Fault::error("utility::outside", message);
        let help = "name a folder inside the project, relative to it and without `..`";
        faults.push(place.child("cwd").mark(fault).help(help));
    }
    if doc.verdict.is_none() {
        return;
    }
    if doc.parse == Some(Parse::Json) {
        faults.push(two_verdicts(name, &place.child("parse")));
    }
    if doc.generator == Some(true) {
        let message =
            format!("utility `{name}` gives its verdict by its exit code and can put out no items");
        let fault = Fault::error("utility::verdict", message);
        let help = "remove `verdict`, or let another materia be the generator";
        faults.push(place.child("generator").mark(fault).help(help));
    }
}

/// The exit code is the verdict, and the output is said to have one as well.
pub(super) fn two_verdicts(name: &str, place: &Place) -> Fault {
    let message = format!(
        "the exit code of utility `{name}` is its verdict, so its output is not read as JSON"
    );
    let fault = Fault::error("utility::verdict", message);
    place.mark(fault).help("remove `parse`, or remove `verdict` and put out `satisfied`")
}

/// Checks variables of an environment.
pub(super) fn environment(
    env: &indexmap::IndexMap<String, String>,
    place: &Place,
    faults: &mut Faults,
) {
    for (name, value) in env {
        let wrong = if name.is_empty() || name.contains(['=', '\0']) {
            format!("`{}` cannot name a variable of an environment", name.replace('\0', "\\0"))
        } else if value.contains('\0') {
            format!("the value of `{name}` holds a NUL character, which no program can be given")
        } else {
            continue;
        };
        let fault = Fault::error("utility::bad-env", wrong);
        let help = "a name has one character or more, and neither `=` nor NUL in it";
        faults.push(place.child(name).mark(fault).help(help));
    }
}

fn is_inside(folder: &str) -> bool {
    let parts = Path::new(folder).components();
    let inside = |part: Component<'_>| matches!(part, Component::CurDir | Component::Normal(_));
    !folder.is_empty() && !folder.contains('\0') && parts.into_iter().all(inside)
}

/// How a failed turn of a socket is tried again: as it says itself, else as its materia does.
pub(super) fn retries(doc: &Socket, built: &Built<'_>) -> Option<Retries> {
    let RetriesDoc { max, delay_ms, .. } = doc.retries.as_ref().or(built.doc.retries.as_ref())?;
    Some(Retries { max: *max, delay_ms: delay_ms.unwrap_or(0) })
}

/// Checks that parameters which hold ids of sockets name sockets of the loadout (D50). The socket's own parameters
/// override those of its materia (D64).
pub(super) fn check_socket_params(
    scope: &Scope<'_>,
    built: &Built<'_>,
    (socket, place): (&Socket, &Place),
    faults: &mut Faults,
) {
    for name in &built.doc.socket_params {
        let own = socket.params.as_ref().and_then(|params| params.get(name));
        let (value, owner) = match (own, built.doc.params.as_ref()) {
            (Some(value), _) => (value, place),
            (None, Some(params)) if params.contains_key(name) => (&params[name], &built.place),
            (None, Some(_) | None) => continue,
        };
        let place = owner.child("params").child(name);
        let ids: Vec<(Place, &Value)> = match value {
            Value::Array(list) => {
                let places = (0..list.len()).map(|nth| place.child(&nth.to_string()));
                places.zip(list).collect()
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => vec![(place, value)],
        };
        for (place, value) in ids {
            let known = |id: &str| scope.loadout.sockets.contains_key(id);
            let (message, help) = match value.as_str() {
                Some(id) if known(id) => continue,
                Some(id) => {
                    let message = format!(
                        "`{name}` holds ids of sockets, and loadout `{}` has no socket `{id}`",
                        scope.name
                    );
                    (message, scope.socket_help(id, None))
                }
                None => {
                    let message = format!("`{name}` holds ids of sockets, and this is none");
                    (message, "write one id in double quotes, or a list of them".to_owned())
                }
            };
            faults.push(place.mark(Fault::error("utility::unknown-socket", message)).help(help));
        }
    }
}
