use jiff::Timestamp;
use materia_contract::Cron;

fn cron(expression: &str, timezone: &str) -> Cron {
    Cron { expression: expression.to_owned(), timezone: timezone.to_owned() }
}

/// The first times behind an instant.
fn times(expression: &str, timezone: &str, from: &str, count: usize) -> Vec<String> {
    let schedule = cron(expression, timezone).schedule().unwrap();
    let mut at = from.parse::<Timestamp>().unwrap().as_microsecond();
    let mut told = Vec::new();
    for _ in 0..count {
        at = schedule.after(at).unwrap();
        told.push(Timestamp::from_microsecond(at).unwrap().to_string());
    }
    told
}

#[test]
fn fields_name_numbers() {
    assert_eq!(
        times("*/20 9-10 * * *", "UTC", "2026-11-16T09:25:30Z", 4),
        [
            "2026-11-16T09:40:00Z",
            "2026-11-16T10:00:00Z",
            "2026-11-16T10:20:00Z",
            "2026-11-16T10:40:00Z"
        ]
    );
    assert_eq!(
        times("0 0 1,15 Jan *", "UTC", "2026-11-16T00:00:00Z", 2),
        ["2027-01-01T00:00:00Z", "2027-01-15T00:00:00Z"]
    );
    assert_eq!(times("30 6 * * 7", "UTC", "2026-11-16T00:00:00Z", 1), ["2026-11-22T06:30:00Z"]);
    assert_eq!(
        times("5/25 0 * * *", "UTC", "2026-11-16T00:00:00Z", 2),
        ["2026-11-16T00:05:00Z", "2026-11-16T00:30:00Z"]
    );
    assert_eq!(times("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", 1), ["2104-02-29T00:00:00Z"]);
}

#[test]
fn where_both_days_are_restricted_either_suffices() {
    assert_eq!(
        times("0 0 13 * fri", "UTC", "2026-11-07T00:00:00Z", 3),
        ["2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z", "2026-11-27T00:00:00Z"]
    );
    assert_eq!(times("0 0 */2 * mon", "UTC", "2026-11-16T00:00:00Z", 1), ["2026-11-23T00:00:00Z"]);
}

#[test]
fn a_time_that_is_no_time_is_left_out() {
    // On 29 March 2026 the clock goes from 02:00 to 03:00 there.
    assert_eq!(
        times("30 2 * * *", "Europe/Zurich", "2026-03-28T00:00:00Z", 3),
        ["2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z", "2026-03-31T00:30:00Z"]
    );
}

#[test]
fn a_time_that_comes_twice_counts_once() {
    // On 25 October 2026 the clock goes from 03:00 back to 02:00 there.
    assert_eq!(
        times("30 2 * * *", "Europe/Zurich", "2026-10-24T12:00:00Z", 2),
        ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]
    );
    // Behind the first 02:30 comes 03:00, though the clock shows 02:00 before.
    assert_eq!(
        times("*/30 * * * *", "Europe/Zurich", "2026-10-25T00:30:00Z", 1),
        ["2026-10-25T02:00:00Z"]
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let told =
        |expression: &str, zone: &str| cron(expression, zone).schedule().unwrap_err().to_string();
    assert!(told("* * * *", "UTC").contains("4 fields"));
    assert!(told("60 * * * *", "UTC").contains("`60` is no minute: it goes from 0 to 59"));
    assert!(told("* 5-3 * * *", "UTC").contains("5 comes after 3"));
    assert!(told("*/0 * * * *", "UTC").contains("number above 0"));
    assert!(told("* * * * mo", "UTC").contains("no day of the week"));
    assert!(told("* * * * *", "Mars/Olympus").contains("no time zone `Mars/Olympus`"));
    assert!(told("0 0 30 2 *", "UTC").contains("never comes"));
}
