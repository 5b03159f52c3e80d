//! What is known about fields beyond their type: which have no effect, now or ever.
//!
//! Types are named as in the schema (`Socket`, `EdgeDoc`, …).

use serde_json::Value;

/// A field that is read and checked, but that this version does not act on.
pub(crate) struct NotYet {
    of: &'static str,
    field: &'static str,
    /// The words that do act, or are what happens anyway. Empty: no value acts.
    acts: &'static [&'static str],
}

#[expect(dead_code, reason = "no field is waiting at present")]
const fn never(of: &'static str, field: &'static str) -> NotYet {
    NotYet { of, field, acts: &[] }
}

#[expect(dead_code, reason = "no field is waiting at present")]
const fn only(of: &'static str, field: &'static str, acts: &'static [&'static str]) -> NotYet {
    NotYet { of, field, acts }
}

/// The fields to come. Whoever makes one act removes its line.
///
/// `script` is not here: a materia that needs it cannot run at all and is refused.
const NOT_YET: &[NotYet] = &[];

/// Fields of the original system that have no meaning here. They are mentioned once a file.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("Config", "ui"),
    ("Config", "layout"),
    ("Config", "webui"),
    ("Config", "compaction"),
    ("Config", "defaultSaveTarget"),
    ("Config", "eventing"),
    ("Config", "parallelism"),
    ("BudgetDoc", "stopAtLimit"),
    ("Loadout", "id"),
    ("Loadout", "name"),
    ("Loadout", "label"),
    ("Loadout", "source"),
    ("Loadout", "layout"),
    ("Loadout", "ui"),
    ("Loadout", "lockState"),
    ("Socket", "socketKind"),
    ("Socket", "type"),
    ("Socket", "layout"),
    ("Socket", "position"),
    ("Socket", "label"),
    ("Socket", "empty"),
    ("Socket", "ui"),
    ("EdgeDoc", "layout"),
    ("EdgeDoc", "label"),
    ("EdgeDoc", "ui"),
    ("Materia", "layout"),
    ("Materia", "ui"),
    ("Materia", "thinking"),
    ("Materia", "generates"),
    ("Materia", "promptIntent"),
    ("Materia", "parallelPlanner"),
    ("Materia", "parallelSafe"),
    ("AdvanceDoc", "done"),
    ("ForeachDoc", "done"),
    ("ConsumesDoc", "as"),
    ("ConsumesDoc", "cursor"),
    ("ConsumesDoc", "done"),
    ("LoopDoc", "done"),
    ("LoopDoc", "parallel"),
    ("LoopDoc", "label"),
    ("LoopDoc", "iterator"),
    ("LoopDoc", "layout"),
    ("LoopDoc", "ui"),
];

/// What to say of a field that this version does not act on; `None` if it acts or says nothing.
pub(crate) fn not_yet(of: &str, field: &str, value: &Value) -> Option<String> {
    let entry = NOT_YET.iter().find(|entry| entry.of == of && entry.field == field)?;
    let word = value.as_str().filter(|_| !entry.acts.is_empty());
    match word {
        Some(word) if entry.acts.contains(&word) => None,
        Some(word) => Some(format!("`{field}: \"{word}\"` has no effect in this version")),
        None if says_nothing(value) => None,
        None => Some(format!("`{field}` has no effect in this version")),
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(set) => !set,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.values().all(Value::is_null),
        Value::Number(_) | Value::String(_) => false,
    }
}

/// Whether the field belongs to the original system and means nothing here.
pub(crate) fn without_effect(of: &str, field: &str) -> bool {
    WITHOUT_EFFECT.contains(&(of, field))
}

/// What authors call a thing of this type.
pub(crate) fn thing(of: &str) -> &'static str {
    match of {
        "Config" => "a configuration",
        "Loadout" => "a loadout",
        "Socket" => "a socket",
        "EdgeDoc" => "an edge",
        "WhereDoc" => "`where`",
        "TransformDoc" => "`transform`",
        "Materia" => "a materia",
        "ScriptLocator" => "`script`",
        "LoopDoc" => "a loop",
        "ConsumesDoc" => "`consumes`",
        "ExitDoc" => "a loop's exit",
        "ExitShorthandDoc" => "`exit`",
        "AdvanceDoc" => "`advance`",
        "ForeachDoc" => "`foreach`",
        "LimitsDoc" => "`limits`",
        "BudgetDoc" => "`budget`",
        "NodeBudgetsDoc" => "`budgets`",
        "PolicyDoc" => "`policy`",
        "AgentDoc" => "an agent",
        "PricesDoc" => "`prices`",
        "PriceDoc" => "a price",
        _ => "this object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that names a field wrongly would never fire.
    #[test]
    fn every_line_of_the_table_names_a_field_of_the_schema() {
        let schema = schemars::schema_for!(materia_contract::Config).to_value();
        for NotYet { of, field, .. } in NOT_YET {
            let object = if *of == "Config" { &schema } else { &schema["$defs"][of] };
            assert!(object["properties"].get(field).is_some(), "{of}.{field}");
        }
        for (of, field) in WITHOUT_EFFECT {
            let object = if *of == "Config" { &schema } else { &schema["$defs"][of] };
            assert!(object["properties"].is_object(), "{of}");
            assert!(object["properties"].get(field).is_none(), "{of}.{field} has a meaning");
        }
        for of in schema["$defs"].as_object().unwrap().keys() {
            if schema["$defs"][of]["properties"].is_object() {
                assert_ne!(thing(of), "this object", "{of} needs a name for people");
            }
        }
    }

    #[test]
    fn a_value_that_changes_nothing_is_not_mentioned() {
        assert_eq!(not_yet("EdgeDoc", "deliveryMode", &"queue".into()), None);
        assert_eq!(not_yet("Socket", "dependsOn", &serde_json::json!([])), None);
        assert_eq!(not_yet("Socket", "budgets", &serde_json::json!({})), None);
        assert_eq!(not_yet("EdgeDoc", "deliveryMode", &"latest".into()), None, "it acts");
        assert_eq!(not_yet("Materia", "tools", &"coding".into()), None, "the runner gets it");
        assert_eq!(not_yet("Materia", "generator", &true.into()), None, "it acts");
    }
}
