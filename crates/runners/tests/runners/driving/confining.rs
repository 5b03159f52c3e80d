//! View and write access of an agent.

use std::fs;

use materia_contract::GlobalMode;

use super::Driving;
use crate::stage::planning_is_enforced;

#[test]
fn the_environment_is_what_the_list_lets_through() {
    let driving = Driving::new("env > env.txt; init; result ok");
    driving.answer();
    let env = driving.read("env.txt");
    let names: Vec<&str> =
        env.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    for expected in ["PATH", "HOME", "MATERIA_CAST_ID", "MATERIA_SOCKET_ID"] {
        assert!(names.contains(&expected), "{expected} is missing in {names:?}");
    }
    // The test runner sets these for us; nobody let them through.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    for name in &names {
        let tests_own = name.starts_with("CARGO_") && !["CARGO_HOME"].contains(name);
        assert!(!tests_own && !name.starts_with("NEXTEST") && !name.contains("OPENAI"), "{name}");
    }
}

#[test]
fn the_configuration_lets_more_through() {
    let mut driving = Driving::new("env > env.txt; init; result ok");
    driving.docs[0].1.env = vec!["CARGO_PKG_*".to_owned()];
    driving.answer();
    let env = driving.read("env.txt");
    assert!(env.contains("CARGO_PKG_NAME=") && !env.contains("CARGO_MANIFEST_DIR="), "{env}");
}

#[test]
fn planning_writes_are_refused_by_the_kernel() {
    if !planning_is_enforced() {
        return;
    }
    let mut driving = Driving::new(
        "init
echo x > code.txt || echo refused-code >> docs/log
echo x > ../far.txt || echo refused-far >> docs/log
setsid sh -c 'echo x > code.txt' || echo refused-tool >> docs/log
echo t > \"$TMPDIR/t\" && cat \"$TMPDIR/t\" >> docs/log
result planned",
    );
    driving.stage.job.global_mode = GlobalMode::Planning;
    fs::write(driving.cwd().join("code.txt"), "precious").unwrap();
    assert_eq!(driving.answer().output, "planned");
    assert_eq!(driving.read("docs/log"), "refused-code\nrefused-far\nrefused-tool\nt\n");
    assert_eq!(driving.read("code.txt"), "precious");
    assert!(!driving.stage.outside().join("far.txt").exists());
}

#[test]
fn a_doc_root_that_leads_out_refuses_the_turn() {
    let mut driving = Driving::new("touch ran; init; result ok");
    driving.stage.job.global_mode = GlobalMode::Planning;
    std::os::unix::fs::symlink("..", driving.cwd().join("docs")).unwrap();
    let fault = driving.fault();
    assert!(fault.message.contains("leads out of the project"), "{}", fault.message);
    assert!(!driving.cwd().join("ran").exists());
}
