//! Live output of a turn, as text.
//!
//! The answer is passed on as it arrives. Each action of the agent gets a line that begins with [`DOES`], so that a
//! reader can tell the two apart.

use std::path::Path;

use materia_engine::Live;

use super::LiveEvent;
use crate::redact::{Redactor, Secrets};

/// How a line begins that says what an agent does.
pub const DOES: &str = "› ";

/// The most of one piece of news that is shown, in characters.
const NEWS_CHARS_MAX: usize = 200;

/// Formats live output of an agent as text for watchers.
pub(super) struct Voice {
    live: Live,
    secrets: Secrets,
    /// Redactor of the answer, which arrives in pieces: a secret may be split over two.
    words: Redactor,
    /// Whether the last thing said left its line open.
    open: bool,
}

impl Voice {
    /// Speaks on `live`, without those secrets.
    pub(super) fn new(live: Live, secrets: Secrets) -> Self {
        let words = Redactor::new(secrets.clone());
        Self { live, secrets, words, open: false }
    }

    /// Tells a piece of news; paths are shown relative to the project.
    pub(super) fn tell(&mut self, news: &LiveEvent, cwd: &Path) {
        match news {
            LiveEvent::Delta(text) => {
                let mut said = Vec::new();
                self.words.push(text.as_bytes(), &mut said);
                self.say_words(&said);
            }
            LiveEvent::Message(text) => {
                let text = format!("{}\n", self.secrets.remove(text));
                self.line(&text);
            }
            LiveEvent::Started { model: Some(model) } => self.does(&format!("model {model}")),
            LiveEvent::Tool { name, about } if about.is_empty() => self.does(name),
            LiveEvent::Tool { name, about } => self.does(&format!("{name}: {about}")),
            LiveEvent::Started { model: None } | LiveEvent::ToolDone { ok: true, .. } => {}
            LiveEvent::ToolDone { name, ok: false } => self.does(&format!("{name} failed")),
            LiveEvent::File(path) => {
                let path = path.strip_prefix(cwd).unwrap_or(path);
                self.does(&format!("wrote {}", path.display()));
            }
            LiveEvent::Retry(why) => self.does(&format!("tries again: {why}")),
            LiveEvent::Warning(what) => self.does(&format!("warning: {what}")),
        }
    }

    /// Says what the agent does, or what is done about it, on a line of its own.
    pub(super) fn does(&mut self, what: &str) {
        let what = self.secrets.remove(what.trim());
        let first = what.lines().next().unwrap_or_default();
        let line: String = match first.char_indices().nth(NEWS_CHARS_MAX) {
            Some((end, _)) => format!("{DOES}{}…\n", &first[..end]),
            None => format!("{DOES}{first}\n"),
        };
        self.line(&line);
    }

    fn say_words(&mut self, said: &[u8]) {
        if !said.is_empty() {
            self.open = !said.ends_with(b"\n");
            self.live.say(&String::from_utf8_lossy(said));
        }
    }

    /// Says what was held back because it might have been the beginning of a secret.
    fn say_rest(&mut self) {
        let mut said = Vec::new();
        self.words.finish(&mut said);
        self.say_words(&said);
    }

    fn line(&mut self, text: &str) {
        self.say_rest();
        if std::mem::take(&mut self.open) {
            self.live.say("\n");
        }
        self.live.say(text);
    }
}

impl Drop for Voice {
    fn drop(&mut self) {
        self.say_rest();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn words_flow_and_deeds_have_lines() {
        let heard = Arc::new(Mutex::new(String::new()));
        let ear = Arc::clone(&heard);
        let live = Live::new(move |text| ear.lock().unwrap().push_str(text));
        let mut voice = Voice::new(live, Secrets::of_variables([("A_KEY", "hushhush")]));
        let tool = |name: &str, about: &str| LiveEvent::Tool {
            name: name.to_owned(),
            about: about.to_owned(),
        };
        let news = [
            LiveEvent::Started { model: None },
            LiveEvent::Delta("I wi".to_owned()),
            LiveEvent::Delta("ll look. hush".to_owned()),
            LiveEvent::Delta("hush".to_owned()),
            tool("Bash", "echo hushhush\nsecond line"),
            LiveEvent::ToolDone { name: "Bash".to_owned(), ok: false },
            LiveEvent::File("/p/src/a.rs".into()),
            LiveEvent::Message("Done.".to_owned()),
            tool("Read", ""),
        ];
        for one in &news {
            voice.tell(one, Path::new("/p"));
        }
        assert_eq!(
            *heard.lock().unwrap(),
            "I will look. [redacted]\n› Bash: echo [redacted]\n› Bash failed\n› wrote src/a.rs\nDone.\n› Read\n"
        );
    }
}
