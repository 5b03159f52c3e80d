//! Any bytes as `materia.json`: it is read, checked and compiled as far as it goes, and nothing panics. What has no
//! error compiles to a plan that reads back as itself.

#![no_main]

mod scratch;

use libfuzzer_sys::fuzz_target;
use materia_compiler::Sources;
use materia_contract::{Plan, Severity};

fuzz_target!(|bytes: &[u8]| {
    scratch::file("materia.json", bytes);
    let sources = Sources {
        project_dir: scratch::folder().to_owned(),
        profile_dir: None,
        original_profile_dir: None,
        env_config: None,
        flag_config: None,
    };
    let (loaded, mut findings) = materia_compiler::load(&sources);
    findings.extend(materia_compiler::check(&loaded));
    let (compiled, more) = materia_compiler::compile(&loaded, None);
    findings.extend(more);
    if findings.iter().all(|finding| finding.severity != Severity::Error)
        && let Some(compiled) = compiled
    {
        let text = serde_json::to_string(&compiled.plan).expect("a plan is data");
        let again: Plan = serde_json::from_str(&text).expect("a plan reads back");
        assert_eq!(again.hash(), compiled.plan.hash());
    }
});
