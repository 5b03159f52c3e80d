use materia_contract::end_of;

#[test]
fn the_end_has_as_many_characters_as_there_is_room_for() {
    assert_eq!(end_of("äbc", 3), "äbc");
    assert_eq!(end_of("äbcd", 3), "…cd");
}
