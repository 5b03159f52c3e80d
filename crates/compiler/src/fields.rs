//! Facts about fields beyond their type, such as which have no effect here.
//!
//! Types are named as in the schema (`Socket`, `EdgeDoc`, …).

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

/// Whether the field says where the editor draws things. Nothing else reads it.
pub(crate) fn is_drawing(of: &str, field: &str) -> bool {
    (of, field) == ("Loadout", "layout")
}

/// Whether the field belongs to the original system and means nothing here.
pub(crate) fn without_effect(of: &str, field: &str) -> bool {
    WITHOUT_EFFECT.contains(&(of, field))
}

/// How a socket names its materia; what that is stands in the configuration's own `materia`.
pub(crate) const OF_SOCKET: &str = r#""materia": "Build"; and beside `loadouts`: "materia": { "Build": { "prompt": "Build it." } }"#;

/// How a field is written whose form is often mistaken.
pub(crate) fn example(field: &str) -> Option<&'static str> {
    Some(match field {
        "edges" => r#""edges": [{ "to": "Review", "when": "satisfied" }, { "to": "end" }]"#,
        "sockets" => r#""sockets": { "build": { "materia": "Build" } }"#,
        "loadouts" => r#""loadouts": { "Main": { "entry": "build", "sockets": {} } }"#,
        "materia" => r#""materia": { "Build": { "prompt": "Build it." } }"#,
        "command" => r#""command": ["npm", "test"]"#,
        "dependsOn" => r#""dependsOn": ["build", "test"]"#,
        "assign" => r#""assign": { "version": "$.version" }"#,
        "exits" => {
            r#""exits": [{ "id": "done", "from": "check", "condition": "always", "targetSocketId": "report" }]"#
        }
        "exit" => r#""exit": { "from": "check", "when": "satisfied", "to": "report" }"#,
        "consumes" => r#""consumes": { "from": "plan", "output": "workItems" }"#,
        "budgets" => r#""budgets": { "turns": 10 }"#,
        "budget" => r#""budget": { "maxTurns": 50 }"#,
        "onFailure" => r#""onFailure": { "to": "fix", "maxTraversals": 2 }"#,
        "retries" => r#""retries": { "max": 3, "delayMs": 1000 }"#,
        _ => return None,
    })
}

/// Name of this type for authors.
pub(crate) fn thing(of: &str) -> &'static str {
    match of {
        "Config" => "a configuration",
        "Loadout" => "a loadout",
        "Socket" => "a socket",
        "EdgeDoc" => "an edge",
        "OnFailureDoc" => "`onFailure`",
        "RetriesDoc" => "`retries`",
        "WhereDoc" => "`where`",
        "TransformDoc" => "`transform`",
        "Materia" => "a materia",
        "PromptFile" => "a prompt's file",
        "SocketPromptForm" => "a socket's `prompt`",
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

    /// A line that names a field of ours would hide it.
    #[test]
    fn no_field_of_the_schema_is_called_one_without_effect() {
        let text = crate::schemas::schema("config.schema.json").unwrap();
        let schema: serde_json::Value = serde_json::from_str(text).unwrap();
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
}
