//! Metadata that the sandbox cannot protect, and the check of the tree that finds its changes.

use std::fs;
use std::process::Command;

use materia_contract::{ErrorCode, GlobalMode};
use materia_runners::{PlanningSupport, planning_support};

use super::tree::{Tree, project};
use crate::stage::{Stage, planning_is_enforced};

fn planning() -> Stage {
    let mut stage = Stage::new();
    stage.job.global_mode = GlobalMode::Planning;
    project(&stage, false);
    stage
}

/// A turn that ends well, as far as the program can tell, and is refused all the same.
#[track_caller]
fn refused(stage: &Stage, script: &str, path: &str) {
    let fault = stage.fault(&["sh", "-c", script]);
    assert_eq!(fault.code, ErrorCode::UtilityFailed, "{script}");
    let expected = format!("outside it changed meanwhile: `{path}`");
    assert!(fault.message.contains(&expected), "{script}: {}", fault.message);
}

#[test]
fn a_turn_that_changes_mode_owner_time_or_attributes_fails_and_changes_no_content() {
    let mut ways = vec![
        ("chmod 600 src/main.rs", "src/main.rs"),
        ("chmod 700 src/deep", "src/deep"),
        ("touch src/main.rs", "src/main.rs"),
        ("touch -d 2001-01-01 code.txt", "code.txt"),
        ("touch -r docs/note.md docs/link", "src/main.rs"),
        ("python3 -c 'import os; os.utime(\"src/main.rs\", (1, 1))'", "src/main.rs"),
    ];
    if rustix::process::geteuid().is_root() {
        ways.push(("chown 7:7 src/main.rs", "src/main.rs"));
        ways.push((
            "chown -h 7:7 docs/link; chgrp 7 .materia/materia.json",
            ".materia/materia.json",
        ));
    }
    let attribute = "python3 -c 'import os; os.setxattr(\"src/main.rs\", \"user.x\", b\"1\")'";
    let probe = planning();
    let mut direct = Command::new("sh");
    if direct.args(["-c", attribute]).current_dir(probe.cwd()).output().unwrap().status.success() {
        if planning_support() == PlanningSupport::Enforced {
            // The filter has a handle for these.
            let fault = planning().fault(&["sh", "-c", attribute]);
            assert!(fault.message.contains("Operation not permitted"), "{}", fault.message);
        } else {
            ways.push((attribute, "src/main.rs"));
        }
    }
    for (script, path) in ways {
        let stage = planning();
        let before = Tree::of(&stage);
        refused(&stage, script, path);
        assert_eq!(before, Tree::of(&stage), "{script}");
    }
}

#[test]
fn a_change_that_somebody_outside_makes_for_the_turn_is_found() {
    let stage = planning();
    let wait =
        "while [ ! -e docs/go ]; do sleep 0.01; done; echo x > src/main.rs; echo > docs/done";
    let mut helper =
        Command::new("sh").args(["-c", wait]).current_dir(stage.cwd()).spawn().unwrap();
    refused(&stage, "touch docs/go; while [ ! -e docs/done ]; do sleep 0.01; done", "src/main.rs");
    helper.wait().unwrap();
}

#[test]
fn a_turn_that_fails_by_itself_is_told_both() {
    let stage = planning();
    let fault = stage.fault(&["sh", "-c", "chmod 600 code.txt; exit 3"]);
    assert!(fault.message.contains("exited with code 3"), "{}", fault.message);
    assert!(fault.message.contains("changed meanwhile: `code.txt`"), "{}", fault.message);
}

#[test]
fn a_file_with_a_second_name_outside_becomes_a_file_of_its_own() {
    let stage = planning();
    fs::hard_link(stage.cwd().join("src/main.rs"), stage.cwd().join("docs/hard")).unwrap();
    let output = stage.output(&["sh", "-c", "echo x > docs/hard"]);
    assert!(output.notes[0].contains("`docs/hard` had a second name elsewhere"), "{output:?}");
    assert_eq!(fs::read_to_string(stage.cwd().join("src/main.rs")).unwrap(), "precious\n");
    assert_eq!(fs::read_to_string(stage.cwd().join("docs/hard")).unwrap(), "x\n");
    assert!(!stage.job.run_dir.join("tmp").exists());
}

#[test]
fn a_folder_for_temporary_files_that_leads_elsewhere_is_refused() {
    let stage = planning();
    let before = Tree::of(&stage);
    std::os::unix::fs::symlink("../../src", stage.job.run_dir.join("tmp")).unwrap();
    let fault = stage.fault(&["sh", "-c", "echo x > \"$TMPDIR/x\""]);
    assert!(fault.message.contains("a symbolic link is in the way"), "{}", fault.message);
    assert_eq!(before, Tree::of(&stage));
}

#[test]
fn no_device_file_can_be_made_where_files_can() {
    if !planning_is_enforced() {
        return;
    }
    let stage = planning();
    for script in ["mknod docs/null c 1 3", "mknod docs/disk b 7 0", "mknod \"$TMPDIR/x\" c 1 3"] {
        let fault = stage.fault(&["sh", "-c", script]);
        assert!(fault.message.contains("Permission denied"), "{script}: {}", fault.message);
    }
}
