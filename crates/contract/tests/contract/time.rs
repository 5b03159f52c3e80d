use materia_contract::time::{VIRTUAL_EPOCH, wall_time};

#[test]
fn wall_time_has_three_decimals_and_a_zone() {
    assert_eq!(wall_time(VIRTUAL_EPOCH), "2000-01-01T00:00:00.000Z");
    assert_eq!(wall_time(VIRTUAL_EPOCH + 1_234_567), "2000-01-01T00:00:01.234Z");
    assert_eq!(wall_time(-1), "1969-12-31T23:59:59.999Z");
}
