//! A text for a shell, taken apart far enough to see which programs and files it names.
//!
//! It is no shell: nothing is expanded. Ambiguous words are reported in both readings rather than left out.

/// The most words that are looked at.
pub(super) const WORDS_MAX: usize = 4_096;
/// How many commands of a text are looked at.
pub(super) const COMMANDS_MAX: usize = 512;
/// How many texts within a text are looked at: those of `$(…)` and of backticks.
const INNER_MAX: usize = 32;

/// The commands of a text, each with its words as a program would get them.
pub(super) fn commands(text: &str) -> Vec<Vec<String>> {
    let text = here(text);
    let mut found = split(&text);
    // In double quotes, too, these begin a command.
    let inner = text.match_indices("$(").map(|(at, mark)| at + mark.len());
    let inner = inner.chain(text.match_indices('`').map(|(at, mark)| at + mark.len()));
    for at in inner.take(INNER_MAX).collect::<Vec<_>>() {
        found.extend(split(&text[at..]));
    }
    found.truncate(COMMANDS_MAX);
    found
}

/// The text with the usual names of the present folder as `.`.
fn here(text: &str) -> String {
    ["${PWD}", "$PWD", "$(pwd)", "`pwd`"]
        .iter()
        .fold(text.to_owned(), |text, name| text.replace(name, "."))
}

fn split(text: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut written = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(letters.by_ref().take_while(|letter| *letter != '\''));
            }
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
                    let escaped =
                        letter == '\\' && letters.peek().is_some_and(|c| "\"\\$`".contains(*c));
                    word.extend(if escaped { letters.next() } else { Some(letter) });
                }
            }
            '\\' => match letters.next() {
                // A line that goes on.
                Some('\n') | None => {}
                Some(letter) => word.get_or_insert_default().push(letter),
            },
            '#' if word.is_none() => while letters.next_if(|letter| *letter != '\n').is_some() {},
            ' ' | '\t' | '\r' => end(&mut word, &mut words, &mut written),
            // What is read may be run, and is a word like others; what is written is none.
            '<' | '>' => {
                word = word.filter(|word| !word.chars().all(|letter| letter.is_ascii_digit()));
                end(&mut word, &mut words, &mut written);
                while letters.next_if(|letter| "<>&|".contains(*letter)).is_some() {}
                written = letter == '>';
            }
            '\n' | ';' | '&' | '|' | '(' | ')' | '`' => {
                end(&mut word, &mut words, &mut written);
                commands.push(std::mem::take(&mut words));
            }
            letter => word.get_or_insert_default().push(letter),
        }
    }
    end(&mut word, &mut words, &mut written);
    commands.push(words);
    commands.retain(|words| !words.is_empty());
    commands
}

/// A word has ended. One that names what is written is left out.
fn end(word: &mut Option<String>, words: &mut Vec<String>, written: &mut bool) {
    if let Some(word) = word.take()
        && !std::mem::take(written)
    {
        words.push(word);
    }
}

/// Whether a text runs what it reads somewhere: `eval`, `cat x | sh`, `$(…)` where a program is expected.
pub(super) fn runs_data(text: &str, commands: &[Vec<String>]) -> bool {
    let reads = |words: &Vec<String>| match words.as_slice() {
        [first, ..] if first == "eval" || first == "$" => true,
        [only] => super::tools::reads_text(only),
        _ => false,
    };
    text.contains('`') || commands.iter().any(reads)
}

/// The last part of a path.
pub(super) fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// `NAME=value`, as it may stand before a command.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = !name.is_empty() && name.chars().all(plain);
    (is_name && !name.starts_with(|c: char| c.is_ascii_digit())).then_some((name, value))
}

/// The words of a text that may be paths: the text itself, its parts as a shell or an option would see them, the
/// same without quotes, and what is glued to an option.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let between = |c: char| c.is_whitespace() || "=:;&|()<>'\"`,".contains(c);
    let parts = |text: &str| -> Vec<String> {
        text.split(between).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let mut words = vec![text.to_owned()];
    words.extend(parts(text));
    if text.contains(['\\', '"', '\'']) {
        words.extend(parts(&text.replace(['\\', '"', '\''], "")));
    }
    let glued = |word: &String| {
        let at = word.strip_prefix('-')?.find(['.', '/'])?;
        Some(word[at + 1..].to_owned())
    };
    let glued: Vec<String> = words.iter().filter_map(glued).collect();
    words.extend(glued);
    // One more than the limit, so that the caller detects the excess.
    words.truncate(WORDS_MAX + 1);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        commands(text).into_iter().map(|words| words.join("|")).collect()
    }

    #[test]
    fn a_text_is_taken_apart_as_a_shell_would() {
        assert_eq!(told("a b; c && d|e\nf"), ["a|b", "c", "d", "e", "f"]);
        assert_eq!(told(". './en'\"v\" # not this\nx"), [".|./env", "x"]);
        assert_eq!(told(r#"sh -c ". \"./e v\"" <in >out"#), ["sh|-c|. \"./e v\"|in"]);
        assert_eq!(told(r"./e\nv\ x"), ["./env x"]);
        assert_eq!(told("a 2>&1 >> ./log b >'x y' 3<c"), ["a|b|c"]);
        assert_eq!(told("PATH=$PWD/bin:$PATH t"), ["PATH=./bin:$PATH|t"]);
    }

    #[test]
    fn a_command_within_a_word_is_seen() {
        for text in ["eval \"$(cat ./x)\"", "eval \"`cat ./x`\"", "eval $(cat ./x)"] {
            let told = told(text);
            assert!(told.iter().any(|words| words.starts_with("cat|./x")), "{text}: {told:?}");
        }
    }
}
