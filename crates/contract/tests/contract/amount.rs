use materia_contract::{Amount, NoAmount};
use serde::Deserialize;
use serde_json::{Value, json};

fn amount(number: f64) -> Amount {
    number.try_into().unwrap()
}

#[test]
fn sums_do_not_drift() {
    assert_eq!(amount(0.7).saturating_add(amount(0.1)), amount(0.8));
    let tenths = (0..10).fold(Amount::default(), |sum, _| sum.saturating_add(amount(0.1)));
    assert_eq!(tenths, Amount::from(1_u64));
    let most = Amount::from(u64::MAX);
    assert_eq!(most.saturating_add(most), most);
    assert!(amount(0.1) < amount(0.100_001) && amount(-1.0) < Amount::default());
}

#[test]
fn an_amount_is_shown_as_a_plain_decimal() {
    for (millionths, shown) in [
        (800_000, "0.8"),
        (75_000_000, "75"),
        (1, "0.000001"),
        (-1_500_000, "-1.5"),
        (-1, "-0.000001"),
        (0, "0"),
        (100_000_000, "100"),
        (10_000_010, "10.00001"),
    ] {
        assert_eq!(Amount::from_millionths(millionths).to_string(), shown);
    }
    assert_eq!(Amount::from(u64::MAX).to_string(), u64::MAX.to_string());
}

#[test]
fn what_is_written_is_read_back() {
    let fine = [0, 1, -1, 3, 800_000, 1_234_567, 999_999_999_999_999, -999_999_999_999_997];
    let spread = (1..2_000).map(|step| step * 499_999_999_993);
    let counts = [u64::MAX, u64::MAX - 1, 1 << 53, (1 << 53) + 1].map(Amount::from);
    let least = [Amount::from(i64::MIN), Amount::from(-7_i64)];
    let amounts = fine.into_iter().chain(spread).map(Amount::from_millionths);
    for amount in amounts.chain(counts).chain(least) {
        let text = serde_json::to_string(&amount).unwrap();
        assert_eq!(serde_json::from_str::<Amount>(&text).unwrap(), amount, "{text}");
    }
    let wholes = [json!(5), json!(5.0), json!(-2), json!(0)];
    let read: Vec<Amount> =
        wholes.into_iter().map(|it| serde_json::from_value(it).unwrap()).collect();
    assert_eq!(serde_json::to_string(&read).unwrap(), "[5,5,-2,0]");
}

#[test]
fn numbers_are_taken_to_the_nearest_millionth_or_refused() {
    let read = |value: Value| serde_json::from_value::<Amount>(value).ok();
    assert_eq!(read(json!(0.1 + 0.2)), Some(amount(0.3)));
    assert_eq!(read(json!(4.964_670_416e-8)), Some(Amount::default()));
    assert_eq!(read(json!(0.000_000_6)), Some(Amount::from_millionths(1)));
    for none in [json!(1e30), json!(-1e30), json!("1"), json!(null), json!([1])] {
        assert_eq!(read(none.clone()), None, "{none}");
    }
    for none in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Amount::try_from(none), Err(NoAmount));
    }
}

#[test]
fn it_is_read_inside_flattened_and_untagged_types() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        cost: Option<Amount>,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer {
        #[serde(flatten)]
        inner: Inner,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(untagged)]
    enum Either {
        Amount(Amount),
        Text(String),
    }
    for (text, wanted) in [("1", 1.0), ("-1", -1.0), ("0.25", 0.25), ("2.0", 2.0)] {
        let outer: Outer = serde_json::from_str(&format!(r#"{{"cost":{text}}}"#)).unwrap();
        assert_eq!(outer.inner.cost, Some(amount(wanted)));
        let either: Either = serde_json::from_str(text).unwrap();
        assert_eq!(either, Either::Amount(amount(wanted)));
    }
    let text: Either = serde_json::from_str(r#""a""#).unwrap();
    assert_eq!(text, Either::Text("a".to_owned()));
}
