//! Project files that a program uses, found in its arguments, parameters and environment.
//!
//! The result has two parts: the named files, which are approved by content, and whether the program may run more.
//! Every program may, except those known to run nothing and a script that names no other file. [`super::tools`] lists
//! the known names.

use std::path::{Path, PathBuf};

use materia_compiler::Program;
use serde_json::Value;

use super::program_file::{beginning, looks_like_a_program};
use super::shell::{self, WORDS_MAX, assignment, base, pieces};
use super::tools;

/// Text for a command line that is too long to analyse.
const UNSEEN: &str = "more words than Materia reads";
/// How deep commands within commands are looked at.
const DEPTH_MAX: usize = 6;
/// How many folders files are looked for in.
const FOLDERS_MAX: usize = 16;
/// How many entries of a folder of programs are looked at.
const ENTRIES_MAX: usize = 1_000;

/// Project files that a program uses.
#[derive(Debug, Default)]
pub(super) struct Takes {
    /// The files that are named, each once.
    pub(super) files: Vec<PathBuf>,
    /// Programs, scripts and variables by which it may run more than these.
    pub(super) more: Vec<String>,
}

/// Project files that a program uses; `home` is the project.
pub(super) fn takes(home: &Path, program: &Program) -> Takes {
    let cwd = program.cwd.as_ref().map(|cwd| home.join(cwd));
    let folders = cwd.into_iter().chain([home.to_owned()]).collect();
    let mut look = Look { home, folders, left: WORDS_MAX, takes: Takes::default() };
    let mut texts: Vec<&str> = program.command.iter().map(String::as_str).collect();
    texts.extend(program.env.iter().map(|(_, value)| value.as_str()));
    program.params.values().for_each(|value| strings(value, &mut texts));
    for text in texts {
        look.enter_folders(text);
    }
    look.command(&program.command);
    for (name, value) in &program.env {
        look.variable(name, value, 0);
    }
    for (name, value) in &program.params {
        look.given(name, value);
    }
    look.takes
}

struct Look<'a> {
    home: &'a Path,
    /// The folders that a relative path may refer to: the working folder of the program first.
    folders: Vec<PathBuf>,
    /// How many more words are looked at.
    left: usize,
    takes: Takes,
}

impl Look<'_> {
    /// A folder that a word names is one that the program may work in: `make -C sub`, `cd sub`.
    fn enter_folders(&mut self, text: &str) {
        for word in pieces(text) {
            if self.folders.len() < FOLDERS_MAX
                && let Some(folder) = self.folder(&word)
                && !self.folders.contains(&folder)
            {
                self.folders.push(folder);
            }
        }
    }

    fn command(&mut self, words: &[String]) {
        self.invoked(words, 0);
        for word in words {
            for piece in &pieces(word) {
                self.named(piece, false);
            }
        }
    }

    /// A text that a shell would read.
    fn text(&mut self, text: &str, depth: usize) {
        let commands = shell::commands(text);
        if commands.len() == shell::COMMANDS_MAX {
            self.more(UNSEEN);
        }
        let runs_data = shell::runs_data(text, &commands);
        for words in commands {
            for word in &words {
                self.named(word, runs_data);
            }
            self.invoked(&words, depth);
        }
    }

    /// A parameter: its words, and what it is if it is a command.
    fn given(&mut self, name: &str, value: &Value) {
        match value {
            Value::String(text) => {
                for piece in &pieces(text) {
                    self.named(piece, false);
                }
                let first = text.split_whitespace().next().unwrap_or_default();
                if tools::is_for_commands(name) || tools::is_known(base(first)) {
                    self.text(text, 1);
                }
            }
            Value::Array(list) => {
                let words: Option<Vec<String>> =
                    list.iter().map(|one| one.as_str().map(str::to_owned)).collect();
                let Some(words) = words else {
                    return list.iter().for_each(|one| self.given(name, one));
                };
                let known = words.first().is_some_and(|first| tools::is_known(base(first)));
                if known || tools::is_for_commands(name) {
                    return self.command(&words);
                }
                for word in &words {
                    for piece in &pieces(word) {
                        self.named(piece, false);
                    }
                }
            }
            Value::Object(fields) => fields.iter().for_each(|(name, one)| self.given(name, one)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A variable of the environment. A program that reads it may load any file that it names.
    fn variable(&mut self, name: &str, value: &str, depth: usize) {
        for piece in pieces(value) {
            self.named(&piece, true);
            self.programs_of(name, &piece);
        }
        // An empty entry of a path is the present folder.
        if tools::is_path(name) && value.split(':').any(str::is_empty) {
            self.programs_of(name, ".");
        }
        let first = value.split_whitespace().next().unwrap_or_default();
        if tools::is_known(base(first)) {
            self.text(value, depth + 1);
        }
    }

    /// The programs in a folder that a variable names.
    fn programs_of(&mut self, variable: &str, word: &str) {
        let Some(folder) = self.folder(word) else { return };
        self.more(variable);
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.take(ENTRIES_MAX).map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths.into_iter().filter(|path| path.is_file() && looks_like_a_program(path)) {
            self.take(path);
        }
    }

    /// Analyses the command that these words start.
    fn invoked(&mut self, words: &[String], depth: usize) {
        if depth > DEPTH_MAX {
            return self.more(words.first().map_or("", |word| base(word)));
        }
        let mut rest = words;
        let (first, behind) = loop {
            let Some((first, behind)) = rest.split_first() else { return };
            if let Some((name, value)) = assignment(first) {
                self.variable(name, value, depth);
                rest = behind;
            } else if tools::PREFIXES.contains(&base(first)) {
                let is_of_prefix = |word: &&String| {
                    word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit())
                };
                let own = behind.iter().take_while(is_of_prefix).count();
                let texts = behind.iter().filter(|word| word.contains(char::is_whitespace));
                texts.for_each(|text| self.text(text, depth + 1));
                rest = &behind[own..];
            } else {
                break (first, behind);
            }
        };
        let name = base(first);
        let own = first.contains('/').then(|| self.file(first)).flatten();
        if let Some(path) = own {
            self.take(path);
            return self.read_unasked(name, behind);
        }
        if tools::RUNS_NOTHING.contains(&name) {
            return;
        }
        match name {
            "." | "source" => match behind.first().and_then(|word| self.file(word)) {
                Some(path) => self.take(path),
                None => self.more(behind.first().unwrap_or(first)),
            },
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                for (name, value) in behind.iter().filter_map(|word| assignment(word)) {
                    self.variable(name, value, depth);
                }
            }
            "eval" | "trap" => {
                self.text(&behind.join(" "), depth + 1);
                self.more(name);
            }
            _ if tools::SHELLS.contains(&name) => self.shell(name, behind, depth),
            _ if tools::is_interpreter(name) => {
                self.read_unasked(name, behind);
                self.interpreter(name, behind, depth);
            }
            _ => {
                self.more(name);
                self.first_file(behind);
                self.read_unasked(name, behind);
                // `poetry run pytest`, `find -exec make`: the program that counts stands further on.
                let inner = (0..behind.len()).find(|at| tools::is_known(base(&behind[*at])));
                if let Some(at) = inner {
                    self.invoked(&behind[at..], depth + 1);
                }
            }
        }
    }

    fn shell(&mut self, name: &str, words: &[String], depth: usize) {
        let is_option = |word: &str| word.starts_with(['-', '+']);
        let gives_text =
            |word: &String| is_option(word) && !word.starts_with("--") && word.contains('c');
        if let Some(at) = words.iter().position(gives_text) {
            match words[at + 1..].iter().find(|word| !is_option(word)) {
                Some(text) => self.text(text, depth + 1),
                None => self.more(name),
            }
        } else if !self.first_file(words) {
            self.more(name);
        }
    }

    /// An interpreter and its words: the script, or a module, a folder or a text in its place.
    fn interpreter(&mut self, name: &str, words: &[String], depth: usize) {
        let mut left = words.iter().enumerate();
        while let Some((at, word)) = left.next() {
            let next = words.get(at + 1);
            if let Some(module) = tools::module(name, word, next) {
                self.module(module);
                self.more(name);
                let arguments = words.get(at + 1..).unwrap_or_default();
                if tools::is_known(module) {
                    self.invoked(arguments, depth + 1);
                }
                return;
            } else if tools::LOADS.contains(&word.as_str()) {
                left.next();
                if let Some(loaded) = next {
                    self.named(loaded, true);
                }
            } else if let Some((option, loaded)) = word.split_once('=')
                && tools::LOADS.contains(&option)
            {
                self.named(loaded, true);
            } else if tools::TEXTS.contains(&word.as_str()) {
                left.next();
                self.more(name);
            } else if word.starts_with('-') {
                // What is glued to an option: `-r./pre`.
                let glued = pieces(word).into_iter().skip(1);
                glued.filter(|one| one.starts_with('.')).for_each(|one| self.named(&one, true));
            } else if tools::runs_by_word(name, word) {
                // A word that says what to do with the next one: `deno run x.ts`.
            } else if let Some(path) = self.file(word) {
                return self.take(path);
            } else if word.contains('/') && self.loaded(word) {
                return;
            } else if self.folder(word).is_some() {
                self.more(name);
                return self.folder_module(word);
            } else if materia_compiler::shipped::script(base(word)).is_some() {
                // What is shipped is no part of the project.
                return;
            } else {
                break;
            }
        }
        self.more(name);
    }

    /// Files that some well-known programs read by default.
    fn read_unasked(&mut self, name: &str, words: &[String]) {
        let read = tools::READ_UNASKED.iter().find(|(known, _)| *known == name);
        let Some((_, read)) = read else { return };
        self.more(name);
        let folders = self.folders.clone();
        for path in folders.iter().flat_map(|folder| read.iter().map(|name| folder.join(name))) {
            if path.is_file() {
                self.take(path);
            }
        }
        for word in words.iter().filter(|word| !word.contains('/')) {
            let installed = self.file(&format!("node_modules/.bin/{word}"));
            if let Some(path) = installed {
                self.take(path);
            }
        }
    }

    /// The files of a module of Python: `pkg.sub` is `pkg/sub.py`, or a folder.
    fn module(&mut self, module: &str) {
        let mut way = String::new();
        for step in module.split('.') {
            way = if way.is_empty() { step.to_owned() } else { format!("{way}/{step}") };
            for name in [".py", "/__init__.py", "/__main__.py"] {
                if let Some(path) = self.file(&format!("{way}{name}")) {
                    self.take(path);
                }
            }
        }
    }

    /// The files by which a folder is run: `node .`, `python3 tool`.
    fn folder_module(&mut self, word: &str) {
        for name in
            ["package.json", "index.js", "index.mjs", "index.cjs", "index.ts", "__main__.py"]
        {
            if let Some(path) = self.file(&format!("{word}/{name}")) {
                self.take(path);
            }
        }
        let manifest = self.file(&format!("{word}/package.json"));
        let manifest = manifest.and_then(|path| std::fs::read(path).ok());
        let manifest: Option<Value> =
            manifest.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if let Some(main) = manifest.as_ref().and_then(|it| it["main"].as_str()) {
            self.named(&format!("{word}/{main}"), true);
        }
    }

    /// The first argument that is a file counts, whatever it looks like.
    fn first_file(&mut self, words: &[String]) -> bool {
        let found = words.iter().find_map(|word| self.file(word));
        let any = found.is_some();
        if let Some(path) = found {
            self.take(path);
        }
        any
    }

    /// A word that may name a file. It counts if it looks like a program, or if whatever stands there is loaded.
    fn named(&mut self, word: &str, loaded: bool) {
        let Some(left) = self.left.checked_sub(1) else { return self.more(UNSEEN) };
        self.left = left;
        if let Some(path) = self.file(word) {
            if loaded || looks_like_a_program(&path) {
                self.take(path);
            }
        } else if loaded {
            self.loaded(word);
        }
    }

    /// A name that is loaded as it is, or with what usually stands behind it. Whether anything was found.
    fn loaded(&mut self, word: &str) -> bool {
        let endings = tools::LOADED_AS.iter().filter(|_| !word.is_empty());
        let paths = endings.filter_map(|ending| self.file(&format!("{word}{ending}")));
        let paths: Vec<PathBuf> = paths.collect();
        let any = !paths.is_empty();
        for path in paths {
            self.take(path);
        }
        any
    }

    fn file(&self, word: &str) -> Option<PathBuf> {
        let mut paths = self.folders.iter().map(|folder| folder.join(word));
        paths.find(|path| !word.is_empty() && path.is_file())
    }

    /// A folder of the project that a word names.
    fn folder(&self, word: &str) -> Option<PathBuf> {
        let mut paths = self.folders.iter().map(|folder| folder.join(word));
        let found = paths.find(|path| !word.is_empty() && path.is_dir())?;
        let real = found.canonicalize().ok()?;
        real.starts_with(self.home).then_some(real)
    }

    fn take(&mut self, path: PathBuf) {
        if !self.takes.files.contains(&path) {
            self.takes.files.push(path);
        }
    }

    fn more(&mut self, by: &str) {
        if !by.is_empty() && !self.takes.more.iter().any(|known| known == by) {
            self.takes.more.push(by.to_owned());
        }
    }
}

impl Takes {
    /// Names the scripts among the files that name further files or programs: these are not looked at.
    pub(super) fn look_into_scripts(&mut self, home: &Path) {
        let loads = |path: &&PathBuf| loads_more(home, path);
        let names: Vec<String> =
            self.files.iter().filter(loads).map(|path| shown(home, path)).collect();
        self.more.extend(names);
    }
}

/// Whether a script names another file of the project, or a program that runs such files.
fn loads_more(home: &Path, path: &Path) -> bool {
    let Ok(text) = beginning(path) else { return false };
    let folder = path.parent().unwrap_or(home);
    let own = path.canonicalize().ok();
    // The first line names what runs the script itself.
    let rest =
        if text.starts_with("#!") { text.split_once('\n').map_or("", |it| it.1) } else { &text };
    let is_other = |word: &str, ending: &str| {
        let mut paths =
            [folder, home].into_iter().map(|folder| folder.join(format!("{word}{ending}")));
        paths.any(|path| path.is_file() && path.canonicalize().ok() != own)
    };
    let mut words = pieces(rest).into_iter().skip(1).take(WORDS_MAX);
    words.any(|word| {
        let by_path = word.starts_with("./") || word.starts_with("../");
        let endings: &[&str] = if by_path { &tools::LOADED_AS } else { &[".py"] };
        tools::is_known(base(&word))
            || is_other(&word, "")
            || endings.iter().any(|ending| is_other(&word, ending))
    })
}

/// A path in the project as people know it.
fn shown(home: &Path, path: &Path) -> String {
    path.strip_prefix(home).unwrap_or(path).to_string_lossy().into_owned()
}

/// Every text in a value.
fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(list) => list.iter().for_each(|one| strings(one, found)),
        Value::Object(fields) => fields.values().for_each(|one| strings(one, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
