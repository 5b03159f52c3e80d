//! Where output goes.

use std::fmt::Display;
use std::io::{self, BufRead as _, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::escape_filter::Fit;
use materia_app::text::sanitize;

/// The two streams: one for data, one for people.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about a stream")]
pub struct Terminal {
    /// Standard output: data.
    pub out: Box<dyn Write>,
    /// Standard error: words for people.
    pub err: People,
    /// Whether data is wanted as JSON.
    pub json: bool,
    /// Whether a person watches standard error.
    pub watched: bool,
    /// Whether a person can be asked: both ends are a terminal.
    pub can_ask: bool,
    /// Whether a person looks at the data.
    looked_at: bool,
}

impl Terminal {
    /// The streams of this process.
    pub fn of_process(json: bool, quiet: bool) -> Self {
        let watched = io::stderr().is_terminal();
        // Data goes out as it is: a stream that takes colours out would take parts of it for one.
        let out: Box<dyn Write> = if json {
            Box::new(io::BufWriter::new(io::stdout()))
        } else {
            Box::new(Fit::new(io::BufWriter::new(anstream::AutoStream::auto(io::stdout()))))
        };
        Self {
            out,
            err: People::new(Fit::new(anstream::AutoStream::auto(io::stderr())), quiet),
            json,
            watched: watched && !quiet,
            can_ask: watched && !quiet && io::stdin().is_terminal(),
            looked_at: io::stdout().is_terminal(),
        }
    }

    /// Asks a question that is answered with yes or no; anything but a yes is a no. Only where a person can be asked.
    pub fn confirms(&self, question: &str) -> bool {
        self.forget_typed();
        self.err.write(&format!("{question} [y/N] "));
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes" | "Yes" | "YES")
    }

    /// Drops what was typed before a question was shown: it is no answer to it.
    pub fn forget_typed(&self) {
        if self.can_ask {
            let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
        }
    }

    /// Prints one JSON value on a line of its own.
    pub fn data(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.json_line(&serde_json::to_string(value).map_err(io::Error::other)?)
    }

    /// The same for what is JSON already.
    pub fn json_line(&mut self, text: &str) -> io::Result<()> {
        if self.looked_at {
            return writeln!(self.out, "{}", sanitize::escaped(text));
        }
        writeln!(self.out, "{text}")
    }

    /// Prints text as data, word for word; where a person looks at it, nothing in it reaches the terminal
    /// raw.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        if !self.looked_at {
            return self.out.write_all(text.as_bytes());
        }
        for line in text.lines() {
            writeln!(self.out, "{}", sanitize::clean(line))?;
        }
        Ok(())
    }

    /// Does something, and says what it warns of.
    pub fn warned<T>(&self, act: impl FnOnce(&mut Vec<String>) -> T) -> T {
        let mut warnings = Vec::new();
        let done = act(&mut warnings);
        for warning in warnings {
            self.say(format_args!("warning: {warning}"));
        }
        done
    }

    /// Says something to people.
    pub fn say(&self, words: impl Display) {
        self.err.say(words);
    }
}

/// The stream for people, shared with whatever reports while a run is under way.
#[derive(Clone)]
pub struct People {
    stream: Arc<Mutex<Box<dyn Write + Send>>>,
    /// Whether only errors and warnings are said.
    quiet: bool,
}

impl People {
    fn new(stream: impl Write + Send + 'static, quiet: bool) -> Self {
        Self { stream: Arc::new(Mutex::new(Box::new(stream))), quiet }
    }

    fn stream(&self) -> MutexGuard<'_, Box<dyn Write + Send>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints one line. A closed stream is no reason to stop.
    pub fn say(&self, words: impl Display) {
        let words = words.to_string();
        if self.quiet && !words.starts_with("error") && !words.starts_with("warning") {
            return;
        }
        let _ = writeln!(self.stream(), "{words}");
    }

    /// Writes text as it is.
    pub fn write(&self, text: &str) {
        let mut stream = self.stream();
        let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    }
}
