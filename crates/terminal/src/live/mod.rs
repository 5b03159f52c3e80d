//! Live view of a run: one line a socket on a terminal, plain lines elsewhere.

mod plain;
mod screen;

use std::sync::Arc;

use materia_contract::{NodeId, Plan, RunId};
use materia_engine::{BoxFuture, Committed, Observer};

use crate::{People, Terminal};
use materia_app::text::narrator::Narrator;

pub use plain::Plain;
pub use screen::Screen;

/// Several who listen, as one.
pub struct Observers(pub Vec<Arc<dyn Observer>>);

impl Observer for Observers {
    fn committed(&self, news: &Committed) {
        for observer in &self.0 {
            observer.committed(news);
        }
    }

    fn room(&self) -> Option<BoxFuture<'static, ()>> {
        self.0.iter().find_map(|observer| observer.room())
    }

    fn on_file(&self) -> Option<BoxFuture<'static, ()>> {
        self.0.iter().find_map(|observer| observer.on_file())
    }

    fn streamed(&self, run: &RunId, node: &NodeId, text: &str) {
        for observer in &self.0 {
            observer.streamed(run, node, text);
        }
    }
}

/// View of a run in progress.
#[derive(Clone)]
pub enum Live {
    /// Lines, and where they go.
    Plain(Arc<Plain>, People),
    /// The live view.
    Screen(Arc<Screen>),
}

impl Live {
    /// The live view where a person watches, lines elsewhere; it goes on from the story so far.
    pub fn new(terminal: &Terminal, plan: &Plan, story: Narrator) -> Self {
        if terminal.watched && !terminal.json {
            Self::Screen(Arc::new(Screen::new(plan, story)))
        } else {
            Self::Plain(Arc::new(Plain::new(terminal.err.clone(), story)), terminal.err.clone())
        }
    }

    /// The observer of the run.
    pub fn observer(&self) -> Arc<dyn Observer> {
        match self {
            Self::Plain(plain, _) => plain.clone(),
            Self::Screen(screen) => screen.clone(),
        }
    }

    /// Says something beside it.
    pub fn say(&self, words: &str) {
        match self {
            Self::Plain(_, err) => err.say(words),
            Self::Screen(screen) => screen.say(words),
        }
    }

    /// Takes the live view away.
    pub fn finish(&self) {
        match self {
            Self::Plain(..) => {}
            Self::Screen(screen) => screen.finish(),
        }
    }
}

/// A run that another process drives, shown as if it ran here.
pub struct Watching {
    live: Live,
    drawing: Option<tokio::runtime::Runtime>,
}

impl Watching {
    /// Begins with the story so far.
    pub fn new(terminal: &Terminal, plan: &Plan, story: Narrator) -> Self {
        let live = Live::new(terminal, plan, story);
        let mut drawing = None;
        if let Live::Screen(screen) = &live {
            let builder =
                tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
            if let Ok(runtime) = builder {
                let screen = screen.clone();
                runtime.spawn(async move { screen.keep_drawing().await });
                drawing = Some(runtime);
            }
        }
        Self { live, drawing }
    }

    /// These events are durable.
    pub fn committed(&self, news: &Committed) {
        self.live.observer().committed(news);
    }

    /// A turn says something.
    pub fn streamed(&self, run: &RunId, node: &NodeId, text: &str) {
        self.live.observer().streamed(run, node, text);
    }

    /// Nothing more is shown.
    pub fn finish(self) {
        self.live.finish();
        if let Some(drawing) = self.drawing {
            drawing.shutdown_background();
        }
    }
}
