//! Reads the layers of a configuration and merges them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use materia_contract::{Config, Finding};
use serde_json::{Map, Value, json};

use crate::fault::{Fault, Faults, Source};
pub use crate::files::LayerKind;
use crate::files::{self, Candidate, Sources};
use crate::merge::{Merge, Origins};
use crate::original;
use crate::part::Part;
use crate::read;
use crate::shipped::{self, ScriptStore};
use crate::structure::{Mended, Shape};

/// Path shown for the shipped configuration.
const SHIPPED_PATH: &str = "(shipped)";

/// One file of configuration.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Where it comes from.
    pub kind: LayerKind,
    /// Its absolute path; for what is shipped, a word.
    pub path: PathBuf,
    /// Its path for people: relative to the project if it is inside it.
    pub shown: String,
    content: LayerContent,
    /// The places that did not fit the schema and were replaced.
    mended: Mended,
}

#[derive(Debug, Clone)]
enum LayerContent {
    /// The text of a file without a byte order mark, empty if it could not be read, and the hash of its bytes.
    File(Arc<str>, String),
    /// The shipped documents as one text, which is made when it is asked for.
    Shipped,
}

impl Source for Layer {
    fn shown(&self) -> &str {
        &self.shown
    }

    fn text(&self) -> &str {
        self.text()
    }
}

impl Layer {
    /// Its text without a byte order mark; empty if it could not be read.
    pub fn text(&self) -> &str {
        match &self.content {
            LayerContent::File(text, _) => text,
            LayerContent::Shipped => shipped::text(),
        }
    }

    /// The blake3 hash of its bytes, in hexadecimal.
    pub fn hash(&self) -> String {
        match &self.content {
            LayerContent::File(_, hash) => hash.clone(),
            LayerContent::Shipped => files::hash(shipped::text().as_bytes()),
        }
    }

    /// The command that its `notify` names, if that is a list of words.
    pub fn notify(&self) -> Option<Vec<String>> {
        self.field("notify")
    }

    /// A field of the document, where it can be read.
    pub fn field<T: serde::de::DeserializeOwned>(&self, name: &str) -> Option<T> {
        let document = crate::read::document(self.text(), 0, &mut Faults::default())?;
        serde_json::from_value(document.get(name)?.clone()).ok()
    }

    /// The folder that relative script paths start from; nothing shipped has one.
    pub(crate) fn dir(&self) -> Option<&Path> {
        match self.kind {
            LayerKind::Shipped => None,
            LayerKind::Profile | LayerKind::Project | LayerKind::Environment | LayerKind::Flag => {
                self.path.parent()
            }
        }
    }

    /// Whether the value at `pointer` itself did not fit the schema.
    pub(crate) fn is_replaced(&self, pointer: &str) -> bool {
        self.mended.contains(pointer)
    }

    /// Whether the value at `pointer`, a part of it or something around it did not fit.
    pub(crate) fn is_mended(&self, pointer: &str) -> bool {
        let mut around = pointer.match_indices('/').map(|(end, _)| &pointer[..end]);
        if around.any(|outer| self.mended.contains(outer)) {
            return true;
        }
        let inside = |place: &String| {
            place.strip_prefix(pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let from = self.mended.range(pointer.to_owned()..);
        from.take_while(|place| place.starts_with(pointer)).any(inside)
    }
}

/// All layers, read and merged.
#[derive(Debug)]
pub struct Loaded {
    /// The layers, the weakest first; also those that could not be read.
    pub layers: Vec<Layer>,
    /// The merged configuration.
    pub config: Config,
    /// The same without what it defines by name, as a document.
    pub(crate) settings: Value,
    pub(crate) origins: Origins,
    pub(crate) project_dir: PathBuf,
    pub(crate) profile_dir: Option<PathBuf>,
    pub(crate) original_profile_dir: Option<PathBuf>,
    /// How many errors there were while loading.
    pub(crate) errors: usize,
    /// Files of words, each read once: what a person approves is what is asked.
    pub(crate) words: WordFiles,
    /// The names of what the lowest layer defines.
    pub(crate) lowest: Arc<Names>,
    /// The parts of the project's own files, found once.
    pub(crate) parts: OnceLock<Vec<Part>>,
}

/// Names of materia and loadouts, with the object that they stand in.
pub(crate) type Names = BTreeSet<(&'static str, String)>;

/// Contents of prompt files, by folder and name.
#[derive(Debug, Default)]
pub(crate) struct WordFiles(Mutex<HashMap<(PathBuf, String), Result<String, String>>>);

impl WordFiles {
    /// The text of a file; `read` is called if it is not cached.
    pub(crate) fn of(
        &self,
        folder: &Path,
        named: &str,
        read: impl FnOnce() -> Result<String, String>,
    ) -> Result<String, String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry((folder.to_owned(), named.to_owned())).or_insert_with(read).clone()
    }
}

impl Loaded {
    /// The scripts in the user's profile, if one is known.
    pub fn shelf(&self) -> Option<ScriptStore> {
        let profile = self.profile_dir.as_deref()?;
        Some(ScriptStore::over(self.original_profile_dir.as_deref(), profile))
    }

    /// The layer that a materia comes from.
    pub fn materia_layer(&self, name: &str) -> Option<&Layer> {
        let pointer = crate::locate::pointer(["materia", name]);
        self.origins.of(&pointer).map(|layer| &self.layers[layer])
    }

    /// The layer that chooses the active loadout.
    pub fn active_layer(&self) -> Option<&Layer> {
        self.origins.of("/activeLoadout").map(|layer| &self.layers[layer])
    }

    /// The layer that the settings of an agent come from.
    pub fn agent_layer(&self, name: &str) -> Option<&Layer> {
        let pointer = crate::locate::pointer(["agents", name]);
        self.origins.of(&pointer).map(|layer| &self.layers[layer])
    }

    /// The layer that a loadout comes from.
    pub fn loadout_layer(&self, name: &str) -> Option<&Layer> {
        let pointer = crate::locate::pointer(["loadouts", name]);
        self.origins.of(&pointer).map(|layer| &self.layers[layer])
    }
}

/// The strongest file of the user's profile, if there is one that can be read.
pub fn profile(sources: &Sources) -> Option<Layer> {
    let files = sources.candidates_with(std::iter::empty());
    let file = files.into_iter().rfind(|file| file.kind == LayerKind::Profile)?;
    let content = files::read(&file, 0, &mut Faults::default());
    Some(layer(file, content))
}

/// Reads every layer and merges them.
///
/// A document with errors is loaded as far as it makes sense, so that [`check`](crate::check)
/// can find the rest; nothing may be run from it.
pub fn load(sources: &Sources) -> (Loaded, Vec<Finding>) {
    load_over(Lowest::shipped(), sources, &BTreeMap::new())
}

/// The same with these texts in the place of what the files of their names hold, for an editor that has not saved
/// them. A file of the project that is not there yet may be among them; other names mean nothing.
pub fn load_given(sources: &Sources, given: &BTreeMap<String, String>) -> (Loaded, Vec<Finding>) {
    load_over(Lowest::shipped(), sources, given)
}

/// The lowest layer, read: what the others are laid over.
pub(crate) struct Lowest {
    layer: Layer,
    merge: Merge,
    faults: Faults,
    names: Arc<Names>,
}

impl Lowest {
    fn new(layer: Layer, merge: Merge, faults: Faults) -> Self {
        let mut names = Names::new();
        for kind in ["materia", "loadouts"] {
            let entries = merge.document.get(kind).and_then(Value::as_object);
            names.extend(entries.into_iter().flat_map(Map::keys).map(|name| (kind, name.clone())));
        }
        Self { layer, merge, faults, names: Arc::new(names) }
    }

    /// A layer that says nothing, for settings that nothing shipped has.
    pub(crate) fn empty() -> Self {
        Self::new(shipped_layer(), Merge::default(), Faults::default())
    }

    /// The shipped documents. They have no faults, so they are not checked.
    fn shipped() -> Self {
        let (mut merge, mut faults) = (Merge::default(), Faults::default());
        merge.add(0, LayerKind::Shipped, shipped::document(), &mut faults);
        Self::new(shipped_layer(), merge, faults)
    }
}

/// The same over another layer than the shipped one.
pub(crate) fn load_over(
    lowest: Lowest,
    sources: &Sources,
    given: &BTreeMap<String, String>,
) -> (Loaded, Vec<Finding>) {
    let Lowest { layer: first, mut merge, mut faults, names } = lowest;
    let mut layers = vec![first];
    for candidate in sources.candidates_with(given.keys().map(String::as_str)) {
        let index = layers.len();
        let content = match given.get(&candidate.shown) {
            Some(text) => files::Content::given(text),
            None => files::read(&candidate, index, &mut faults),
        };
        let whole = content.whole;
        let mut layer = layer(candidate, content);
        if whole {
            add(&mut layer, index, &mut merge, &mut faults);
        }
        layers.push(layer);
    }
    let mut config: Config =
        serde_json::from_value(Value::Object(merge.document)).unwrap_or_else(|error| {
            // The schema check mends whatever does not fit, so only a gap in it leads here.
            let message = format!("the configuration cannot be understood: {error}");
            faults.push(Fault::error("document::invalid", message).help("please report this text"));
            Config::default()
        });
    let settings = settings(&mut config);
    let errors = faults.errors();
    let findings = faults.place(&layers);
    let project_dir = sources.project();
    let [profile_dir, original_profile_dir] = [&sources.profile_dir, &sources.original_profile_dir]
        .map(|dir| dir.as_ref().map(|dir| project_dir.join(dir)));
    let loaded = Loaded {
        layers,
        config,
        settings,
        origins: merge.origins,
        project_dir,
        profile_dir,
        original_profile_dir,
        errors,
        words: WordFiles::default(),
        lowest: names,
        parts: OnceLock::new(),
    };
    (loaded, findings)
}

/// The settings of a configuration as a document. What it defines by name is most of it, and is left out.
fn settings(config: &mut Config) -> Value {
    let named = (take(&mut config.loadouts), take(&mut config.materia), take(&mut config.agents));
    let settings = json!(config);
    (config.loadouts, config.materia, config.agents) = named;
    settings
}

fn add(layer: &mut Layer, index: usize, merge: &mut Merge, faults: &mut Faults) {
    if let Some(document) = read::document(layer.text(), index, faults) {
        let document = original::adapted(document);
        let (document, mended) = Shape::get().check(document, index, faults);
        layer.mended = mended;
        merge.add(index, layer.kind, document, faults);
    }
}

fn shipped_layer() -> Layer {
    Layer {
        kind: LayerKind::Shipped,
        path: PathBuf::from(SHIPPED_PATH),
        shown: SHIPPED_PATH.to_owned(),
        content: LayerContent::Shipped,
        mended: Mended::new(),
    }
}

fn layer(candidate: Candidate, content: files::Content) -> Layer {
    Layer {
        kind: candidate.kind,
        path: candidate.path,
        shown: candidate.shown,
        content: LayerContent::File(content.text.into(), content.hash),
        mended: Mended::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Lowest {
        /// Reads this text.
        fn of(text: &str) -> Self {
            let (mut merge, mut faults) = (Merge::default(), Faults::default());
            let content = LayerContent::File(text.into(), String::new());
            let mut layer = Layer { content, ..shipped_layer() };
            add(&mut layer, 0, &mut merge, &mut faults);
            Self::new(layer, merge, faults)
        }
    }

    fn with_file(text: &str, shipped: &str) -> (Loaded, Vec<Finding>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("materia.json"), text).unwrap();
        let sources = Sources { project_dir: folder.path().to_owned(), ..Sources::default() };
        load_over(Lowest::of(shipped), &sources, &BTreeMap::new())
    }

    #[test]
    fn what_is_shipped_has_no_faults() {
        let folder = tempfile::tempdir().unwrap();
        let sources = Sources { project_dir: folder.path().to_owned(), ..Sources::default() };
        let (loaded, findings) = load(&sources);
        assert_eq!(findings, []);
        assert_eq!(crate::check(&loaded), []);
        // It is read without the checks that every other layer passes; they would change nothing.
        let (read, checked) = (Lowest::shipped(), Lowest::of(shipped::text()));
        assert_eq!(read.merge.document, checked.merge.document);
        assert_eq!(read.merge.origins.all(), checked.merge.origins.all());
        assert_eq!((checked.faults.placeless(), checked.layer.mended), (Vec::new(), Mended::new()));
        assert_eq!(read.merge.document.get("artifactDir"), None, "`artifact_root` leaves it out");
    }

    #[test]
    fn replacing_a_shipped_materia_is_mentioned_at_the_replacement() {
        let shipped = r#"{"materia": {"a": {"prompt": "shipped"}}}"#;
        let (loaded, findings) =
            with_file("{\"materia\":\n{\"a\": {\"prompt\": \"own\"}}}", shipped);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].code, "config::replaces-shipped");
        assert_eq!(findings[0].file.as_deref(), Some("materia.json"));
        assert_eq!((findings[0].line, findings[0].column), (Some(2), Some(7)));
        assert_eq!(
            loaded.config.materia["a"].prompt,
            Some(materia_contract::PromptDoc::Text("own".into()))
        );
        assert_eq!(loaded.materia_layer("a").unwrap().kind, LayerKind::Project);
    }

    #[test]
    fn a_mended_place_is_known_by_itself_and_by_what_is_around_it() {
        let (loaded, _) = with_file(r#"{"materia": {"a": {"parse": 1}, "ab": {}}}"#, "{}");
        let layer = &loaded.layers[1];
        assert!(layer.is_mended("/materia/a/parse"));
        assert!(layer.is_mended("/materia/a"));
        assert!(!layer.is_mended("/materia/ab"));
        assert!(!layer.is_mended("/materia/a/par"));
    }
}
