use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use materia_app::proof::own_cases;
use materia_conformance::{Author, BaseFile, CaseFile, Verdict};
use materia_contract::EdgeId;
use materia_contract::body::{TestBody, TestedAll, TestedCase, Untaken};

use super::conformance::approve;
use crate::args::Global;
use crate::begin;
use crate::failure::{Ended, Exit, Failure};
use crate::project::Project;
use crate::sanitize;
use crate::terminal::Terminal;
use crate::typed_path;

/// Run your own cases: tests of your loadouts
///
/// A case is a JSON file like those of `materia conformance`: a script that answers, arguments, and what must come out.
/// It runs in a scratch project. A case without `config` runs on a copy of this project's configuration and of the files
/// that are approved with it. `materia case` makes one of a cast that has run.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia test\n  materia test materia-tests/review --filter retry\n  materia test --trust --junit report.xml\n  materia test --update\n\nExit status: 0 none failed, 1 some did, 2 no case was found, or they are not approved."
)]
pub(crate) struct TestArgs {
    /// A folder of cases, or one case
    #[arg(value_name = "PATH", default_value = "materia-tests")]
    path: PathBuf,
    /// Run only cases whose file or name contains TEXT
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Write the actual result into failing cases as the expected result
    #[arg(long)]
    update: bool,
    /// Write a report in the form of `JUnit` to FILE
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Approve the project's configuration and what the cases run, and remember it
    #[arg(long)]
    trust: bool,
}

/// Runs `test`.
pub(crate) fn test(args: &TestArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let project = Project::here(global)?;
    let binary = std::env::current_exe()
        .map_err(|error| Failure::Broken(format!("cannot find this program: {error}")))?;
    let cases = chosen(args)?;
    let (loaded, _) = materia_compiler::load(&project.sources);
    approve(&cases, (&args.path, args.trust), &project, terminal)?;
    let waiting = terminal.warned(|warnings| project.gate().configuration(&loaded, warnings));
    begin::settle(waiting, args.trust, &project, terminal)?;
    let base = terminal.warned(|warnings| own_cases::base(&project, &loaded, warnings));
    let base: Vec<BaseFile> = base
        .into_iter()
        .map(|file| BaseFile { path: file.path, bytes: file.bytes, executable: file.executable })
        .collect();
    let author = Author { base: &base };
    let verdicts = materia_conformance::run_own(&cases, &binary, &std::env::temp_dir(), author);
    let mut all =
        TestedAll { passed: 0, failed: 0, updated: 0, untaken: untaken(&project, &verdicts) };
    for verdict in &verdicts {
        let text = verdict.updated.as_ref().filter(|_| args.update);
        if let Some(text) = text {
            typed_path::write(&verdict.file, text.as_bytes(), true)?;
        }
        match (verdict.passed(), text) {
            (true, _) => all.passed += 1,
            (false, Some(_)) => all.updated += 1,
            (false, None) => all.failed += 1,
        }
        print(verdict, text.is_some(), terminal)?;
    }
    if let Some(file) = &args.junit {
        typed_path::write(file, junit(&verdicts, args.update).as_bytes(), true)?;
    }
    let exit = if all.failed == 0 { Exit::Done } else { Exit::Failed };
    told(all, terminal)?;
    Ok(exit)
}

/// The cases that are meant.
fn chosen(args: &TestArgs) -> Result<Vec<CaseFile>, Failure> {
    let none = |why: &str| {
        Failure::resolution(format!(
            "{}; `materia case last -o materia-tests/NAME.json` makes a case of the last cast",
            sanitize::one_line(why, 1_000)
        ))
    };
    let mut cases =
        materia_conformance::read(&args.path).map_err(|error| none(&error.to_string()))?;
    if let Some(filter) = &args.filter {
        let named = |case: &CaseFile| {
            let text = case.text.as_deref().unwrap_or_default();
            let name = serde_json::from_str::<serde_json::Value>(text).unwrap_or_default();
            let name = name["name"].as_str().unwrap_or_default().to_owned();
            case.path.to_string_lossy().contains(filter) || name.contains(filter)
        };
        cases.retain(named);
        if cases.is_empty() {
            let path = args.path.display();
            return Err(none(&format!(
                "no case beneath `{path}` has `{filter}` in its file or name"
            )));
        }
    }
    Ok(cases)
}

/// The edges that no case takes, of every loadout of the project that a case runs.
fn untaken(project: &Project, verdicts: &[Verdict]) -> Vec<Untaken> {
    let casts = || verdicts.iter().flat_map(|verdict| &verdict.taken);
    let loadouts: BTreeSet<&str> = casts().map(|taken| taken.plan.loadout.as_str()).collect();
    let mut found = Vec::new();
    for loadout in loadouts {
        let (loaded, _) = materia_compiler::load(&project.sources);
        let (Some(compiled), _) = materia_compiler::compile(&loaded, Some(loadout)) else {
            continue;
        };
        // Cases with a configuration of their own may run another graph of that name.
        let same = casts().filter(|taken| {
            taken.plan.loadout == loadout && taken.plan.has_ways_of(&compiled.plan)
        });
        let taken: BTreeSet<&EdgeId> = same.flat_map(|taken| &taken.edges).collect();
        let ways = compiled.plan.ways();
        let all = ways.len();
        let edges = ways.into_iter().filter(|edge| !taken.contains(edge)).collect();
        found.push(Untaken { loadout: loadout.to_owned(), all, edges });
    }
    found
}

fn print(verdict: &Verdict, updated: bool, terminal: &mut Terminal) -> Result<(), Failure> {
    let file = verdict.file.display().to_string();
    if terminal.json {
        return Ok(terminal.data(&TestBody::Case(TestedCase {
            case: file,
            name: verdict.name.clone(),
            ok: verdict.passed(),
            failures: verdict.failures.clone(),
            updated,
            duration_ms: millis(verdict),
        }))?);
    }
    if verdict.passed() {
        return Ok(());
    }
    let word = if updated { "UPDATED" } else { "FAILED" };
    writeln!(terminal.out, "{word} {}", sanitize::one_line(&file, 1_000))?;
    writeln!(terminal.out, "  {}", sanitize::one_line(&verdict.name, 200))?;
    for failure in &verdict.failures {
        writeln!(terminal.out, "  - {}", sanitize::clean(&failure.replace('\n', "\n    ")))?;
    }
    Ok(())
}

fn told(all: TestedAll, terminal: &mut Terminal) -> Result<(), Failure> {
    if terminal.json {
        return Ok(terminal.data(&TestBody::All(all))?);
    }
    for Untaken { loadout, all, edges } in &all.untaken {
        let loadout = sanitize::one_line(loadout, 200);
        if edges.is_empty() {
            writeln!(terminal.out, "{loadout}: a case takes each of its {all} edges")?;
            continue;
        }
        writeln!(terminal.out, "{loadout}: no case takes {} of its {all} edges:", edges.len())?;
        for edge in edges {
            writeln!(terminal.out, "  {}", sanitize::one_line(edge.as_str(), 200))?;
        }
    }
    let updated = match all.updated {
        0 => String::new(),
        count => format!(", {count} updated"),
    };
    writeln!(terminal.out, "{} passed, {} failed{updated}", all.passed, all.failed)?;
    Ok(())
}

fn millis(verdict: &Verdict) -> u64 {
    u64::try_from(verdict.duration.as_millis()).unwrap_or(u64::MAX)
}

/// The report that build servers read.
fn junit(verdicts: &[Verdict], update: bool) -> String {
    let fails = |verdict: &&Verdict| !(verdict.passed() || update && verdict.updated.is_some());
    let failed = verdicts.iter().filter(fails).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"materia\" tests=\"{}\" failures=\"{failed}\">\n",
        verdicts.len()
    );
    for verdict in verdicts {
        let _ = write!(
            text,
            "  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
            escaped(&file(&verdict.file)),
            escaped(&verdict.name),
            verdict.duration.as_secs_f64()
        );
        if fails(&verdict) {
            let first = verdict.failures.first().map(String::as_str).unwrap_or_default();
            let all = verdict.failures.join("\n");
            let _ = writeln!(
                text,
                ">\n    <failure message=\"{}\">{}</failure>\n  </testcase>",
                escaped(first),
                escaped(&all)
            );
        } else {
            text.push_str("/>\n");
        }
    }
    text.push_str("</testsuite>\n");
    text
}

fn file(path: &Path) -> String {
    path.display().to_string()
}

/// A text inside XML. Characters that XML does not have become a symbol.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            letter if letter.is_control() => escaped.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}
