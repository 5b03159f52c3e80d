//! Delays and texts by chance.

use crate::dice::Dice;

/// A text that is kept apart from its event.
const HUGE_BYTES: usize = 70_000;

/// How long it is until something happens, in milliseconds.
pub(super) fn wait(dice: &mut Dice) -> u64 {
    *dice.pick(&[0, 0, 0, 1, 2, 7, 100, 1_000, 5_000, 61_000, 3_600_000])
}

/// A text that nobody asked for.
pub(super) fn odd(dice: &mut Dice) -> String {
    match dice.below(14) {
        0 => String::new(),
        1 => "x".repeat(HUGE_BYTES),
        2 => format!("{{\"satisfied\": true, \"context\": \"{}\"}}", "y".repeat(HUGE_BYTES)),
        3 => "[".repeat(2_000),
        4 => "{\"satisfied\": \"yes\"}".to_owned(),
        5 => "{\"satisfied\": null, \"context\": 3}".to_owned(),
        6 => "```json\n{\"satisfied\": false}\n```".to_owned(),
        7 => "{\"satisfied\": true} {\"satisfied\": false}".to_owned(),
        8 => "{\"workItems\": [1, null, {}], \"satisfied\": true}".to_owned(),
        9 => "{\"workItems\": {}, \"state\": []}".to_owned(),
        10 => "{\"state\": {\"a\": {\"b\": [1.5e300, -0.0]}}, \"satisfied\": true}".to_owned(),
        11 => "\u{202e}\u{0}\u{1b}[2Jtext\u{feff}".to_owned(),
        12 => "null".to_owned(),
        _ => "{\"satisfied\": true".to_owned(),
    }
}
