//! Table of invisible characters.
//!
//! They hide text, reverse it, or carry a second text that no reader sees. The table follows Unicode 16:
//! `Default_Ignorable_Code_Point`, the categories Cf, Zl and Zp, and the C1 controls.

/// From and to, in order.
const SHAPELESS: &[(u32, u32)] = &[
    (0x80, 0x9f),
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x600, 0x605),
    (0x61c, 0x61c),
    (0x6dd, 0x6dd),
    (0x70f, 0x70f),
    (0x890, 0x891),
    (0x8e2, 0x8e2),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x2028, 0x202e),
    (0x2060, 0x206f),
    (0x3164, 0x3164),
    (0xfdd0, 0xfdef),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffb),
    (0x110bd, 0x110bd),
    (0x110cd, 0x110cd),
    (0x13430, 0x1343f),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0000, 0xe0fff),
];

/// Ranges of emoji, generously: arrows, symbols and pictographs.
const PICTURES: &[(u32, u32)] = &[
    (0xa9, 0xa9),
    (0xae, 0xae),
    (0x203c, 0x203c),
    (0x2049, 0x2049),
    (0x2122, 0x2122),
    (0x2139, 0x2139),
    (0x2190, 0x21ff),
    (0x2300, 0x23ff),
    (0x24c2, 0x24c2),
    (0x25a0, 0x27bf),
    (0x2900, 0x297f),
    (0x2b00, 0x2bff),
    (0x3030, 0x3030),
    (0x303d, 0x303d),
    (0x3297, 0x3297),
    (0x3299, 0x3299),
    (0x1f000, 0x1faff),
];

/// Joins two emoji into one.
const JOINER: char = '\u{200d}';
/// Asks for the coloured form of the character before it.
const COLOURED: char = '\u{fe0f}';
/// Puts the digit before it on a key.
const KEYCAP: char = '\u{20e3}';

fn is_in(table: &[(u32, u32)], character: char) -> bool {
    let code = u32::from(character);
    let at = table.partition_point(|(_, last)| *last < code);
    table.get(at).is_some_and(|(first, _)| *first <= code)
}

/// Whether a character has no shape, wherever it stands.
pub(super) fn is_shapeless(character: char) -> bool {
    // The last two of every plane are no characters at all.
    character >= '\u{80}'
        && (is_in(SHAPELESS, character) || u32::from(character) & 0xfffe == 0xfffe)
}

/// Whether it does its work in the middle of an emoji, between these two.
pub(super) fn joins(before: Option<char>, character: char, after: Option<char>) -> bool {
    let is_picture = |one: char| is_in(PICTURES, one);
    match character {
        JOINER => {
            before.is_some_and(|one| one == COLOURED || is_picture(one))
                && after.is_some_and(is_picture)
        }
        COLOURED => match before {
            Some('0'..='9' | '#' | '*') => after == Some(KEYCAP),
            Some(one) => is_picture(one),
            None => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_known_and_what_people_write_is_not() {
        // One of each kind, and the edges of the ranges.
        for code in [
            0x80,
            0x9f,
            0xad,
            0x34f,
            0x600,
            0x605,
            0x61c,
            0x6dd,
            0x70f,
            0x890,
            0x891,
            0x8e2,
            0x115f,
            0x1160,
            0x17b4,
            0x17b5,
            0x180b,
            0x180c,
            0x180d,
            0x180e,
            0x180f,
            0x200b,
            0x200c,
            0x200d,
            0x200e,
            0x200f,
            0x2028,
            0x2029,
            0x202a,
            0x202e,
            0x2060,
            0x2061,
            0x2064,
            0x2065,
            0x2066,
            0x2069,
            0x206a,
            0x206f,
            0x3164,
            0xfdd0,
            0xfe00,
            0xfe0f,
            0xfeff,
            0xffa0,
            0xfff0,
            0xfff8,
            0xfff9,
            0xfffa,
            0xfffb,
            0xffff,
            0x110bd,
            0x110cd,
            0x13430,
            0x1343f,
            0x1bca0,
            0x1bca3,
            0x1d173,
            0x1d17a,
            0x1fffe,
            0xe0000,
            0xe0001,
            0xe0020,
            0xe007f,
            0xe0100,
            0xe01ef,
            0xe0fff,
            0x0010_ffff,
        ] {
            assert!(is_shapeless(char::from_u32(code).unwrap()), "U+{code:04X}");
        }
        let seen = "azAZ09 \n\t~ä\u{a0}\u{ac}\u{ae}e\u{301}\u{200a}\u{2010}\u{2027}\u{202f}\u{205f}→…日本語한글\
                    ไทยहिन्दीעברית\u{5b0}العربية\u{610}🦀👩\u{1f3fb}\u{3000}\u{fe10}\u{fffc}\u{fffd}\u{dfffd}\u{e1000}";
        for character in seen.chars() {
            assert!(!is_shapeless(character), "U+{:04X}", u32::from(character));
        }
    }

    #[test]
    fn the_tables_are_in_order() {
        for table in [SHAPELESS, PICTURES] {
            assert!(table.iter().all(|(first, last)| first <= last));
            assert!(table.windows(2).all(|two| two[0].1 < two[1].0));
        }
    }
}
