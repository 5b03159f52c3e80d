//! A project in a temporary folder, and findings as text.

use std::fs;
use std::path::{Path, PathBuf};

use materia_compiler::{CODES, Compiled, Loaded, Sources, check, compile, load};
use materia_contract::{Finding, Severity};

/// A project that exists for one test.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    pub(crate) sources: Sources,
}

impl Project {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project_dir = folder.path().join("project");
        fs::create_dir(&project_dir).unwrap();
        Self { folder, sources: Sources { project_dir, ..Sources::default() } }
    }

    pub(crate) fn with(text: impl AsRef<[u8]>) -> Self {
        let project = Self::new();
        project.write("materia.json", text);
        project
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.sources.project_dir.join(name)
    }

    /// The folder around the project.
    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn load(&self) -> (Loaded, Vec<Finding>) {
        let (loaded, findings) = load(&self.sources);
        assert_well_formed(&findings, &loaded);
        (loaded, findings)
    }

    /// Findings of loading and checking.
    pub(crate) fn check(&self) -> Vec<Finding> {
        let (loaded, mut findings) = self.load();
        let more = check(&loaded);
        assert_well_formed(&more, &loaded);
        findings.extend(more);
        findings
    }

    /// Findings of loading and compiling, and the result.
    pub(crate) fn compile(&self, loadout: Option<&str>) -> (Option<Compiled>, Vec<Finding>) {
        let (loaded, mut findings) = self.load();
        let (compiled, more) = compile(&loaded, loadout);
        assert_well_formed(&more, &loaded);
        let refused = more.iter().any(|finding| finding.severity == Severity::Error);
        assert_eq!(compiled.is_none(), refused, "a result exactly if there is no error");
        findings.extend(more);
        (compiled, findings)
    }
}

/// Findings about the name of a field, which lie at the name and not at the value.
const ABOUT_NAMES: [&str; 6] = [
    "document::unknown-field",
    "document::no-effect",
    "document::duplicate-key",
    "config::no-loadouts",
    "config::notify",
    "config::journal",
];

/// Holds every finding to what all of them promise.
pub(crate) fn assert_well_formed(findings: &[Finding], loaded: &Loaded) {
    for finding in findings {
        assert!(CODES.iter().any(|(code, _)| *code == finding.code), "{} is listed", finding.code);
        assert!(finding.help.is_some(), "{} says what to do", finding.code);
        let Some(file) = &finding.file else { continue };
        let layer = loaded.layers.iter().find(|layer| layer.shown == *file);
        let layer = layer.expect("a finding names a layer");
        let about_the_name = ABOUT_NAMES.contains(&finding.code.as_str());
        let span = if about_the_name {
            materia_compiler::locate::key_span(layer.text(), &finding.pointer)
        } else {
            materia_compiler::locate::span(layer.text(), &finding.pointer)
        };
        if let Some(span) = span
            && !finding.pointer.is_empty()
        {
            let place = materia_compiler::locate::line_column(layer.text(), span.start);
            assert_eq!((finding.line, finding.column), (Some(place.0), Some(place.1)));
        }
    }
    let shown: Vec<_> = findings.iter().filter(|one| one.code != "document::too-many").collect();
    let sorted = |pair: &[&Finding]| {
        (&pair[0].file, pair[0].line, pair[0].column)
            <= (&pair[1].file, pair[1].line, pair[1].column)
    };
    assert!(shown.windows(2).all(sorted), "findings are sorted by place");
}

/// One line for each finding: severity, code, place, message.
pub(crate) fn render(findings: &[Finding]) -> String {
    let lines = findings.iter().map(|finding| {
        let severity = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        };
        let place = match (finding.line, finding.column) {
            (Some(line), Some(column)) => format!("{line}:{column} {}", finding.pointer),
            (None, _) | (_, None) => "-".to_owned(),
        };
        format!("{severity} {} {}: {}", finding.code, place.trim_end(), finding.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Findings in a document that is a project's whole configuration.
pub(crate) fn checked(text: &str) -> String {
    render(&Project::with(text).check())
}

/// Asserts on findings, with leading blanks of the expected lines left out.
#[track_caller]
pub(crate) fn assert_found(text: &str, expected: &str) {
    let expected: Vec<&str> =
        expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(checked(text), expected.join("\n"));
}

/// A loadout `L` with these sockets and loops, entered at `plan`, and the materia `gen`, a
/// generator, `json`, and `text`, which is not parsed.
pub(crate) fn looped(sockets: &str, loops: &str) -> String {
    format!(
        "{{\"materia\": {{\
           \"gen\": {{\"prompt\": \"p\", \"generator\": true}}, \
           \"json\": {{\"prompt\": \"p\", \"parse\": \"json\"}}, \
           \"text\": {{\"prompt\": \"p\"}}}}, \
         \"loadouts\": {{\"L\": {{\"entry\": \"plan\", \"sockets\": {{\n{sockets}\n}}, \"loops\": {{\n{loops}\n}}}}}}}}"
    )
}

/// A loadout `L` with these sockets, entered at `a`, and the materia `json` and `text`.
pub(crate) fn loadout(sockets: &str) -> String {
    format!(
        "{{\"materia\": {{\
           \"json\": {{\"type\": \"utility\", \"command\": [\"sh\"], \"parse\": \"json\"}}, \
           \"text\": {{\"type\": \"utility\", \"command\": [\"sh\"]}}}}, \
         \"loadouts\": {{\"L\": {{\"entry\": \"a\", \"sockets\": {{\n{sockets}\n}}}}}}}}"
    )
}
