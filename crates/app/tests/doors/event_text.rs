use materia_app::text::event_text::duration;

#[test]
fn times_are_short() {
    assert_eq!(duration(-5), "0.000 s");
    assert_eq!(duration(1_234_567), "1.234 s");
    assert_eq!(duration(12_345_678), "12.3 s");
    assert_eq!(duration(125_000_000), "2 min 5 s");
    assert_eq!(duration(3_725_000_000), "1 h 2 min");
}
