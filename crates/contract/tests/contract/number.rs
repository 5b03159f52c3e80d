use materia_contract::number::too_wide;
use serde_json::Value;

#[test]
fn floats_read_back_as_they_were_written() {
    let sum = 0.1 + 0.2;
    for float in [4.964_670_416_023_219e-8, sum, 0.7, 1e-7, 5e-324, f64::MAX, 1.0 / 3.0] {
        let text = Value::from(float).to_string();
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read, Value::from(float), "{text}");
    }
}

#[test]
fn only_integers_of_more_than_64_bits_are_too_wide() {
    for held in [
        "{}",
        "[18446744073709551615, -9223372036854775808, 0, -0]",
        r#"{"18446744073709551616": "18446744073709551616 \" 99999999999999999999"}"#,
        "[1e30, 99999999999999999999.0, 99999999999999999999E1, 1e-99999999999999999999]",
        r#""\\", "99999999999999999999"#,
    ] {
        assert_eq!(too_wide(held), None, "{held}");
    }
    for (text, digits) in [
        ("[18446744073709551616]", "18446744073709551616"),
        (r#"{"a\\": -9223372036854775809}"#, "-9223372036854775809"),
        (r#"{"ü": [1, 2.5, 99999999999999999999], "b": 0}"#, "99999999999999999999"),
    ] {
        let found = too_wide(text).unwrap();
        assert_eq!(found.digits, digits);
        assert!(text[found.offset..].starts_with(digits), "{text}");
    }
}

#[test]
fn a_message_shows_the_digits_and_no_more_than_a_line_of_them() {
    let told = |text: &str| too_wide(text).unwrap().to_string();
    assert_eq!(
        told("18446744073709551616"),
        "the integer 18446744073709551616 has more than 64 bits"
    );
    let long = "7".repeat(400);
    let short = format!("the integer {}… has more than 64 bits", "7".repeat(24));
    assert_eq!(told(&long), short);
}
