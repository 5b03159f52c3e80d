//! Planning mode: the kernel keeps programs from writing outside the doc root.

use std::fs;
use std::os::unix::fs::symlink;

use materia_contract::{ErrorCode, GlobalMode};

use crate::stage::{Stage, planning_is_enforced};

/// A project with a file to protect, in Planning mode; `None` where it is known that the kernel cannot.
fn planning() -> Option<Stage> {
    if !planning_is_enforced() {
        return None;
    }
    let mut stage = Stage::new();
    stage.job.global_mode = GlobalMode::Planning;
    fs::write(stage.cwd().join("code.txt"), "precious").unwrap();
    fs::write(stage.outside().join("far.txt"), "precious").unwrap();
    Some(stage)
}

#[test]
fn every_way_of_writing_outside_the_doc_root_is_refused() {
    let Some(stage) = planning() else { return };
    fs::create_dir(stage.cwd().join("docs")).unwrap();
    symlink("../code.txt", stage.cwd().join("docs/link")).unwrap();
    symlink("../../far.txt", stage.cwd().join("docs/far")).unwrap();
    let refused = [
        "echo x > code.txt",
        "echo x >> code.txt",
        "echo x > docs/../code.txt",
        "echo x > docs/link",
        "echo x > docs/far",
        "echo x > new.txt",
        "echo x > ../far.txt",
        "rm code.txt",
        "mv code.txt docs/code.txt",
        "ln code.txt docs/hard && echo x > docs/hard",
        "truncate -s 0 code.txt",
        "mkdir folder",
        "ln -s docs other",
        "mkfifo pipe",
        "setsid -w sh -c 'echo x > code.txt'",
        "sh -c 'sh -c \"echo x > code.txt\"'",
        "python3 -c 'import os; os.truncate(\"code.txt\", 0)'",
        "python3 -c 'import os; os.rename(\"docs\", \"moved\")'",
        "cd docs && echo x > ../code.txt",
    ];
    for script in refused {
        let fault = stage.report(&["sh", "-c", script]).outcome.expect_err(script);
        assert_eq!(fault.code, ErrorCode::UtilityFailed);
        for file in [stage.cwd().join("code.txt"), stage.outside().join("far.txt")] {
            assert_eq!(fs::read_to_string(file).unwrap(), "precious", "after {script}");
        }
    }
    let mut names: Vec<_> = fs::read_dir(stage.cwd())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [".materia", "code.txt", "docs"]);
}

#[test]
fn what_planning_may_do_works() {
    let Some(stage) = planning() else { return };
    let script = "set -e
cat code.txt
echo a > docs/a.md; mkdir -p docs/deep; mv docs/a.md docs/deep/b.md; echo c >> docs/deep/b.md
echo x > docs/gone; rm docs/gone; ln -s deep docs/link
echo quiet > /dev/null; echo loud > /dev/stdout
echo t > \"$TMPDIR/t\"; mktemp > /dev/null; cat \"$TMPDIR/t\"";
    let output = stage.output(&["sh", "-c", script]);
    assert_eq!(output.output, "preciousloud\nt\n");
    let written = fs::read_to_string(stage.cwd().join("docs/deep/b.md")).unwrap();
    assert_eq!(written, "a\nc\n");
    assert!(!stage.job.run_dir.join("tmp").exists(), "temporary files are removed");
}

#[test]
fn nothing_of_the_run_folder_may_be_written_but_the_turns_own_temporary_folder() {
    let Some(stage) = planning() else { return };
    let tries = "cd \"$1\"
for way in 'echo x > note' 'mkdir sub' 'echo x > tmp/note' 'mv tmp moved' 'rmdir tmp/*' 'ln -s / sockets'; do
  sh -c \"$way\" 2>/dev/null && echo \"could: $way\"
done
echo x > \"$TMPDIR/note\" && ln -s / \"$TMPDIR/link\" && mkdir \"$TMPDIR/sub\" && echo own";
    let output = stage.output(&["sh", "-c", tries, "sh", stage.job.run_dir.to_str().unwrap()]);
    assert_eq!(output.output, "own\n");
    assert_eq!(fs::read_dir(&stage.job.run_dir).unwrap().count(), 0);
}

#[test]
fn implementation_mode_writes_where_it_likes() {
    let stage = Stage::new();
    stage.output(&["sh", "-c", "echo x > code.txt; echo y > ../far.txt; mkdir -p src/deep"]);
    assert_eq!(fs::read_to_string(stage.cwd().join("code.txt")).unwrap(), "x\n");
    assert_eq!(fs::read_to_string(stage.outside().join("far.txt")).unwrap(), "y\n");
    assert!(stage.cwd().join("src/deep").is_dir());
}

#[test]
fn a_doc_root_that_leads_out_of_the_project_is_refused() {
    let Some(stage) = planning() else { return };
    symlink("..", stage.cwd().join("docs")).unwrap();
    let fault = stage.fault(&["sh", "-c", "echo x > docs/far.txt"]);
    assert_eq!(fault.code, ErrorCode::UtilityFailed);
    assert!(fault.message.contains("leads out of the project"), "{}", fault.message);
    assert_eq!(fs::read_to_string(stage.outside().join("far.txt")).unwrap(), "precious");
}
