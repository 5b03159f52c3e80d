use materia_contract::{
    Actor, Answer, BadCommandId, Budget, COMMAND_ID_BYTES_MAX, Command, CommandId, Do, NodeId,
};
use serde_json::{Value, json};

fn read(value: &Value) -> Result<Command, String> {
    Command::read(&value.to_string())
}

#[test]
fn a_command_is_one_flat_object() {
    let said = json!({"id": "k-1", "actor": "person", "expectedSeq": 7, "do": "say", "node": "A", "text": "hi"});
    let command = read(&said).unwrap();
    let (node, text) = (Some(NodeId::new("A")), "hi".to_owned());
    assert_eq!(command.what, Do::Say { node, text });
    assert_eq!(command.expected_seq, Some(7));
    assert_eq!(serde_json::to_value(&command).unwrap(), said);
    let short = read(&json!({"do": "pause"})).unwrap();
    assert_eq!(short, Command::person(Do::Pause));
}

#[test]
fn what_is_not_understood_is_named() {
    for (value, said) in [
        (json!({"do": "fly"}), "fly"),
        (json!({"do": "say"}), "text"),
        (json!({"do": "say", "text": "x", "nod": "A"}), "`say` takes no field `nod`"),
        (json!({"do": "pause", "id": ""}), "id of a command"),
        (json!({"do": "pause", "id": "#x"}), "id of a command"),
        (json!({"do": "pause", "id": "a b"}), "id of a command"),
        (json!({}), "do"),
        (json!([]), "map"),
    ] {
        let error = read(&value).unwrap_err();
        assert!(error.contains(said), "{value}: {error}");
    }
}

#[test]
fn an_id_is_shown_as_it_was_given() {
    assert_eq!(CommandId::parse("k-1").unwrap().to_string(), "k-1");
    assert_eq!(CommandId::numbered(7).to_string(), "#7");
    let longest = "x".repeat(COMMAND_ID_BYTES_MAX);
    assert_eq!(CommandId::parse(&longest).unwrap().as_str(), longest);
    assert_eq!(CommandId::parse(&format!("{longest}x")), Err(BadCommandId));
}

#[test]
fn the_body_is_all_but_the_id() {
    let budget = Budget { max_turns: Some(3), ..Budget::default() };
    let command = Command::person(Do::Budget { budget });
    let named = Command { id: CommandId::parse("x").ok(), ..command.clone() };
    assert_eq!(command.body_hash(), named.body_hash());
    for other in [
        Command { expected_seq: Some(1), ..command.clone() },
        Command { actor: Actor::named("page"), ..command.clone() },
        Command::person(Do::Pause),
    ] {
        assert_ne!(command.body_hash(), other.body_hash());
    }
}

#[test]
fn an_answer_names_its_events_or_why_not() {
    for (answer, shown) in [
        (Answer::Done { first: 3, last: 5 }, json!({"events": [3, 5]})),
        (Answer::Done { first: 1, last: 0 }, json!({"events": []})),
        (Answer::Refused { reason: "no".into() }, json!({"refused": "no"})),
    ] {
        assert_eq!(serde_json::to_value(&answer).unwrap(), shown);
        assert_eq!(serde_json::from_value::<Answer>(shown).unwrap(), answer);
    }
    assert!(serde_json::from_value::<Answer>(json!({"events": [1]})).is_err());
}
