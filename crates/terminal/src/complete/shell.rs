//! Protocol between the shells and `materia __complete`.
//!
//! The answer is lines. The first says whether the shell also offers files (`files`, `folders`) or
//! not (`names`); each further line is a name, for zsh and fish with a tab and a description. zsh
//! and fish quote the text that they insert; bash does not, so this module quotes it for bash.

use clap_complete::Shell;

use super::values::{Files, Offer};

/// Signs that mean nothing to a shell, besides letters and digits.
const PLAIN: &str = "_-./+,%@:=";

/// Which program the scripts ask: always the one that the user's PATH names, never one that is only called like it.
const BASH: &str = r#"# Completions of materia for bash. They ask `materia` itself, which runs and writes nothing for it.
_materia() {
    # Places in the line are counted in bytes.
    local LC_ALL=C line first=1
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -n $first ]]; then
            first=
            if [[ $line == files ]]; then
                compopt -o default 2>/dev/null
            elif [[ $line == folders ]]; then
                compopt -o dirnames 2>/dev/null
            fi
        else
            COMPREPLY+=("$line")
        fi
    done < <(command materia __complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
}
complete -o nosort -F _materia materia 2>/dev/null || complete -F _materia materia
"#;

const ZSH: &str = r#"#compdef materia
# Completions of materia for zsh. They ask `materia` itself, which runs and writes nothing for it.
_materia() {
    local -a said values shown
    local line
    said=("${(@f)$(command materia __complete zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    case "${said[1]}" in
        files) _files; return ;;
        folders) _files -/; return ;;
    esac
    for line in "${(@)said[2,-1]}"; do
        [[ -n "$line" ]] || continue
        values+=("${line%%$'\t'*}")
        shown+=("${line/$'\t'/  }")
    done
    (( ${#values} )) && compadd -l -V materia -d shown -a values
}
if [ "$funcstack[1]" = "_materia" ]; then
    _materia "$@"
else
    compdef _materia materia
fi
"#;

const FISH: &str = r#"# Completions of materia for fish. They ask `materia` itself, which runs and writes nothing for it.
function __materia_complete
    set -l before (commandline -opc)
    set -e before[1]
    set -l current (commandline -ct)
    set -l said (command materia __complete fish $before "$current" 2>/dev/null)
    switch "$said[1]"
        case files
            __fish_complete_path "$current"
        case folders
            __fish_complete_directories "$current"
        case '*'
            set -e said[1]
            set -q said[1]; and printf '%s\n' $said
    end
end
complete -c materia -f -a '(__materia_complete)'
"#;

/// The script that makes a shell ask, where there is one.
pub fn script(shell: Shell) -> Option<&'static str> {
    let scripts = [(Shell::Bash, BASH), (Shell::Zsh, ZSH), (Shell::Fish, FISH)];
    scripts.into_iter().find(|(of, _)| *of == shell).map(|(_, script)| script)
}

/// The words typed so far, and the shell that completes them.
pub(super) struct Typed {
    shell: Shell,
    /// The words behind the name of the program, as the program would get them; the last one is being typed.
    pub(super) words: Vec<String>,
    /// bash: the word that is being typed, letter by letter.
    raw: String,
    /// bash: what it takes for the end of a word besides blanks.
    breaks: String,
}

/// Reads what a shell says.
pub(super) fn typed(shell: Shell, said: &[String]) -> Option<Typed> {
    let words = |words: &[String]| {
        let unquoted = words.iter().map(|word| split(word).words.join(" "));
        unquoted.collect::<Vec<_>>()
    };
    let (words, raw, breaks) = match (shell, said) {
        (Shell::Bash, [line, breaks]) => {
            let Split { words, raw } = split(line);
            let assigns = |word: &&String| {
                word.split_once('=').is_some_and(|(name, _)| {
                    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                })
            };
            // In front of the program's name there may be variables for it.
            let before = words.iter().take_while(assigns).count() + 1;
            (words.get(before..)?.to_vec(), raw, breaks.clone())
        }
        (Shell::Zsh, words) => (words.to_vec(), String::new(), String::new()),
        (Shell::Fish, said) => (words(said), String::new(), String::new()),
        _ => return None,
    };
    Some(Typed { shell, words, raw, breaks })
}

impl Typed {
    /// The answer.
    pub(super) fn answer(&self, offer: &Offer) -> String {
        let mut lines = vec![match offer.files {
            Files::No => "names".to_owned(),
            Files::Any => "files".to_owned(),
            Files::Folders => "folders".to_owned(),
        }];
        for one in &offer.names {
            if self.shell == Shell::Bash {
                lines.extend(self.for_bash(&one.name));
            } else if one.about.is_empty() {
                lines.push(one.name.clone());
            } else {
                lines.push(format!("{}\t{}", one.name, one.about));
            }
        }
        lines.join("\n") + "\n"
    }

    /// A name as bash has to insert it: what stands before the last sign that ends words there is not repeated.
    fn for_bash(&self, name: &str) -> Option<String> {
        // Inside of quotes a quoted sign would mean something else.
        if self.raw.contains(['"', '\'']) {
            let plain = name.chars().all(|c| is_plain(c) || c == ' ');
            return plain.then(|| name.to_owned());
        }
        let quoted = quoted(name);
        match self.last_break() {
            Some(end) => quoted.strip_prefix(&self.raw[..end]).map(str::to_owned),
            None => Some(quoted),
        }
    }

    /// Where the last sign stands behind which bash begins a new word, though no blank is there.
    fn last_break(&self) -> Option<usize> {
        let mut is_quoted = false;
        let mut end = None;
        for (place, sign) in self.raw.char_indices() {
            if !is_quoted && self.breaks.contains(sign) {
                end = Some(place + sign.len_utf8());
            }
            is_quoted = !is_quoted && sign == '\\';
        }
        end
    }
}

fn is_plain(sign: char) -> bool {
    sign.is_alphanumeric() || PLAIN.contains(sign)
}

/// A word that bash takes for this name and nothing else.
fn quoted(name: &str) -> String {
    let mut word = String::new();
    for sign in name.chars() {
        if !is_plain(sign) {
            word.push('\\');
        }
        word.push(sign);
    }
    word
}

/// A line as a shell splits it.
struct Split {
    /// The words; the last one is what is being typed, and may be empty.
    words: Vec<String>,
    /// The last one, letter by letter.
    raw: String,
}

/// Splits a line at blanks, and takes quotes away. Nothing is expanded.
fn split(line: &str) -> Split {
    let mut words = Vec::new();
    let (mut word, mut raw) = (String::new(), String::new());
    let mut signs = line.chars();
    let mut quote: Option<char> = None;
    while let Some(sign) = signs.next() {
        if quote.is_none() && sign.is_whitespace() {
            if !raw.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            raw.clear();
            continue;
        }
        raw.push(sign);
        match (quote, sign) {
            (Some(open), _) if sign == open => quote = None,
            (None, '\'' | '"') => quote = Some(sign),
            (None | Some('"'), '\\') => {
                if let Some(next) = signs.next() {
                    raw.push(next);
                    if quote.is_some() && !matches!(next, '"' | '\\' | '$' | '`') {
                        word.push('\\');
                    }
                    word.push(next);
                }
            }
            (Some(_) | None, _) => word.push(sign),
        }
    }
    words.push(word);
    Split { words, raw }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_a_shell_does_it() {
        let words = |line: &str| split(line).words;
        assert_eq!(words("materia show "), ["materia", "show", ""]);
        assert_eq!(words("materia  show la"), ["materia", "show", "la"]);
        assert_eq!(words(r#"a 'b c' "d \" e\n" f\ g"#), ["a", "b c", "d \" e\\n", "f g"]);
        assert_eq!(words("a 'open word"), ["a", "open word"]);
        assert_eq!(words("a ''"), ["a", ""]);
        assert_eq!(split(r"a b\ c").raw, r"b\ c");
    }

    #[test]
    fn bash_gets_what_it_inserts_and_nothing_that_means_something() {
        let given = |line: &str, name: &str| {
            let said = [line.to_owned(), " \t\n\"'@><=;|&(:".to_owned()];
            typed(Shell::Bash, &said).unwrap().for_bash(name)
        };
        assert_eq!(given("materia show c", "c1").unwrap(), "c1");
        assert_eq!(given("materia x ", "$(touch x)`y`;z").unwrap(), r"\$\(touch\ x\)\`y\`\;z");
        assert_eq!(given("materia x ", "~root !x {a,b} *").unwrap(), r"\~root\ \!x\ \{a,b\}\ \*");
        // Of a word with a sign that ends one, only the rest is inserted.
        assert_eq!(given("materia x --a=Fu", "--a=Full Auto").unwrap(), r"Full\ Auto");
        assert_eq!(given("materia x b@", "b@1").unwrap(), "1");
        // A sign that is quoted ends nothing.
        assert_eq!(given(r"materia x Full\ A", "Full Auto").unwrap(), r"Full\ Auto");
        // Within quotes a backslash would be one.
        assert_eq!(given("materia x 'Fu", "Full Auto").unwrap(), "Full Auto");
        assert_eq!(given("materia x \"", "$(touch x)"), None);
        let words = typed(Shell::Bash, &["A=1 materia show la".to_owned(), String::new()]);
        assert_eq!(words.unwrap().words, ["show", "la"]);
    }
}
