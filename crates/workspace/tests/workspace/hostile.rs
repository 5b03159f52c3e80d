//! Repositories that try to run programs. A program that runs leaves a mark; none may.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use materia_workspace::{
    Applied, Base, DiffOptions, Opened, Place, Project, RefusalCode, Source, apply, create,
    drop_cast, examine, fork, merged, open, status,
};

use crate::common::{House, fsck, git, try_git, write};
use crate::publish::request;

const HOOKS: [&str; 14] = [
    "pre-commit",
    "commit-msg",
    "post-commit",
    "pre-merge-commit",
    "post-merge",
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "pre-auto-gc",
    "post-rewrite",
    "update",
    "pre-receive",
    "post-update",
    "fsmonitor-watchman",
];

/// A repository, a program that leaves a mark, and settings as they were.
struct Trap {
    house: House,
    program: String,
    mark: PathBuf,
    config: Vec<u8>,
}

impl Trap {
    fn new() -> Self {
        let house = House::new();
        house.git(["checkout", "-q", "-b", "work"]);
        let dir = house.dir.path().canonicalize().unwrap();
        let (mark, program) = (dir.join("ran"), dir.join("trap"));
        fs::write(&program, format!("#!/bin/sh\necho \"$0 $@\" >> {}\ncat\n", mark.display()))
            .unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let config = fs::read(house.project().join(".git/config")).unwrap();
        Self { house, program: program.to_str().unwrap().to_owned(), mark, config }
    }

    fn dot_git(&self) -> PathBuf {
        self.house.project().join(".git")
    }

    /// Adds to the settings of the repository.
    fn settings(&self, text: &str) {
        let text = text.replace("TRAP", &self.program);
        let mut config = fs::read(self.dot_git().join("config")).unwrap();
        config.extend_from_slice(text.as_bytes());
        fs::write(self.dot_git().join("config"), config).unwrap();
    }

    fn hooks(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        for name in HOOKS {
            fs::copy(&self.program, folder.join(name)).unwrap();
        }
    }

    fn commit(&self, path: &str, text: &str) {
        self.house.write(path, text);
        self.house.git(["add", "-A"]);
        self.house.git(["commit", "-q", "-m", path]);
    }

    fn assert_quiet(&self, what: &str) {
        let ran = fs::read_to_string(&self.mark).unwrap_or_default();
        assert!(ran.is_empty(), "{what}: {ran}");
    }

    fn base(&self) -> Base {
        examine(&self.house.project(), &self.house.state()).unwrap()
    }

    /// Everything that can be done to a workspace.
    fn check(&self, what: &str) {
        let _ = fs::remove_file(&self.mark);
        let head = fs::read(self.dot_git().join("HEAD")).unwrap();
        let base = self.base();
        self.assert_quiet(what);
        let place = self.house.place("one");
        let (workspace, first) = create(&place, &base, false).unwrap();
        assert_eq!((&first.tree, &first.head), (&base.tree, &base.commit), "{what}");
        create(&self.house.place("changes"), &base, true).unwrap();
        self.assert_quiet(what);
        // A turn without git.
        write(&place.checkout().join("a.txt"), "theirs\n");
        write(&place.checkout().join("new/file.txt"), "new\n");
        let second = workspace.look().unwrap();
        workspace.put_back(&first).unwrap();
        assert_eq!(workspace.look().unwrap(), first, "{what}");
        workspace.put_back(&second).unwrap();
        let diff = workspace.diff(&first.tree, &second.tree, DiffOptions::default()).unwrap();
        assert!(diff.text.contains("+theirs"), "{what}: {}", diff.text);
        assert_eq!(workspace.must_stay().unwrap(), None, "{what}");
        status(&place).unwrap();
        let done = workspace.publish(&request(&second, &[&first])).unwrap();
        self.assert_quiet(what);
        fork(&Source::Workspace(place.clone()), &second, &self.house.place("two"), &base).unwrap();
        workspace.remove().unwrap();
        fork(&Source::Published("one".to_owned()), &first, &self.house.place("three"), &base)
            .unwrap();
        let project = Project::open(&self.house.project()).unwrap();
        assert!(!merged(&project, "one").unwrap(), "{what}");
        let applied = apply(&project, "one").unwrap();
        assert_eq!(applied, Applied::Forward(done.commit), "{what}");
        let files = self.house.project();
        assert_eq!(fs::read_to_string(files.join("new/file.txt")).unwrap(), "new\n", "{what}");
        assert!(merged(&project, "one").unwrap(), "{what}");
        for id in ["one", "two", "three", "changes"] {
            drop_cast(&project, &self.house.place(id)).unwrap();
        }
        self.assert_quiet(what);
        assert_eq!(fs::read(self.dot_git().join("HEAD")).unwrap(), head, "{what}");
        // With harmless settings again git can look at it.
        fs::write(self.dot_git().join("config"), &self.config).unwrap();
        let _ = fs::remove_dir_all(self.dot_git().join("hooks"));
        for name in ["info/grafts", "objects/info/alternates", "objects/info/commit-graph"] {
            let _ = fs::remove_file(self.dot_git().join(name));
        }
        fsck(&files);
    }
}

/// A merge of two sides that both changed the file, in different lines, so that a driver would be asked.
fn check_merge(trap: &Trap, what: &str) {
    let _ = fs::remove_file(&trap.mark);
    let base = trap.base();
    let (workspace, _) = create(&trap.house.place("merge"), &base, false).unwrap();
    let path = workspace.place().checkout().join("lines.txt");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("line 1\n", "line 1, theirs\n")).unwrap();
    let look = workspace.look().unwrap();
    workspace.publish(&request(&look, &[])).unwrap();
    let config = fs::read(trap.dot_git().join("config")).unwrap();
    fs::write(trap.dot_git().join("config"), &trap.config).unwrap();
    trap.commit("lines.txt", &text.replace("line 9\n", "line 9, mine\n"));
    fs::write(trap.dot_git().join("config"), config).unwrap();
    let project = Project::open(&trap.house.project()).unwrap();
    assert!(matches!(apply(&project, "merge").unwrap(), Applied::Merged(_)), "{what}");
    trap.assert_quiet(what);
    let text = fs::read_to_string(trap.house.project().join("lines.txt")).unwrap();
    assert!(text.contains("line 1, theirs") && text.contains("line 9, mine"), "{what}: {text}");
}

#[test]
fn hooks() {
    let trap = Trap::new();
    trap.hooks(&trap.dot_git().join("hooks"));
    trap.check("hooks");
    let trap = Trap::new();
    let folder = trap.house.dir.path().join("hooks");
    trap.hooks(&folder);
    trap.settings(&format!("[core]\n\thooksPath = {}\n", folder.display()));
    trap.check("core.hooksPath");
}

#[test]
fn programs_in_settings() {
    for settings in [
        "[core]\n\tfsmonitor = TRAP\n\tuntrackedCache = true\n\tsplitIndex = true\n",
        "[core]\n\tsshCommand = TRAP\n\teditor = TRAP\n\tpager = TRAP\n\taskPass = TRAP\n\tgitProxy = TRAP\n",
        "[core]\n\talternateRefsCommand = TRAP\n[uploadpack]\n\tpackObjectsHook = TRAP\n[sequence]\n\teditor = TRAP\n",
        "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = TRAP\n[tag]\n\tgpgSign = true\n[log]\n\tshowSignature = true\n",
        "[alias]\n\tstatus = !TRAP\n\tcommit-tree = !TRAP\n\tread-tree = !TRAP\n[pager]\n\tstatus = TRAP\n\tlog = TRAP\n",
        "[credential]\n\thelper = !TRAP\n[trailer \"x\"]\n\tcommand = TRAP\n[interactive]\n\tdiffFilter = TRAP\n",
        "[gc]\n\tauto = 1\n\trecentObjectsHook = TRAP\n[maintenance]\n\tauto = true\n[extensions]\n\tworktreeConfig = true\n",
        "[core]\n\tworktree = /\n",
        "[core]\n\tbare = true\n\tattributesFile = /etc/passwd\n\texcludesFile = /etc/passwd\n",
        "[transfer]\n\tfsckObjects = false\n[receive]\n\tprocReceiveRefs = refs/heads\n[submodule]\n\trecurse = true\n",
    ] {
        let trap = Trap::new();
        trap.settings(settings);
        trap.check(settings);
    }
}

#[test]
fn included_settings() {
    let trap = Trap::new();
    let file = trap.house.dir.path().join("included");
    fs::write(&file, format!("[core]\n\tfsmonitor = {}\n\tautocrlf = true\n", trap.program))
        .unwrap();
    let path = file.display();
    trap.settings(&format!(
        "[include]\n\tpath = {path}\n[includeIf \"gitdir:/**\"]\n\tpath = {path}\n"
    ));
    trap.check("include");
}

#[test]
fn filters() {
    let settings =
        "[filter \"x\"]\n\tclean = TRAP\n\tsmudge = TRAP\n\tprocess = TRAP\n\trequired = true\n";
    let trap = Trap::new();
    trap.commit(".gitattributes", "*.txt filter=x\n");
    trap.settings(settings);
    let refused = examine(&trap.house.project(), &trap.house.state()).unwrap_err();
    assert_eq!(refused[0].code, RefusalCode::Filter);
    trap.assert_quiet("a filter in a commit");
    // In no commit yet: it is looked at as it lies there.
    let trap = Trap::new();
    trap.house.write(".gitattributes", "*.txt filter=x\n");
    trap.house.write("src/b.txt", "changed\n");
    trap.settings(settings);
    trap.check("a filter in the files");
}

#[test]
fn differences_and_merges() {
    let trap = Trap::new();
    let text: String =
        (0..12).fold(String::new(), |text, number| text + &format!("line {number}\n"));
    trap.commit("lines.txt", &text);
    trap.commit(".gitattributes", "* diff=x merge=x\n");
    let settings = "[diff]\n\texternal = TRAP\n[diff \"x\"]\n\tcommand = TRAP\n\ttextconv = TRAP\n\tcachetextconv = true\n\
                    [merge]\n\tdefault = x\n[merge \"x\"]\n\tdriver = TRAP %A\n\tname = x\n\trecursive = x\n";
    trap.settings(settings);
    check_merge(&trap, "a merge driver");
    let trap = Trap::new();
    trap.commit(".gitattributes", "* diff=x merge=x\n");
    trap.settings(settings);
    trap.check("diff and merge");
}

#[test]
fn submodules_and_remotes() {
    let trap = Trap::new();
    let modules = format!(
        "[submodule \"x\"]\n\tpath = sub\n\turl = --upload-pack={}\n\tupdate = !{}\n[submodule \"../../y\"]\n\tpath = other\n\turl = ext::{} %S\n",
        trap.program, trap.program, trap.program
    );
    trap.house.write(".gitmodules", &modules);
    let id = trap.house.git(["rev-parse", "HEAD"]);
    trap.house.git(["add", "-A"]);
    trap.house.git(["update-index", "--add", "--cacheinfo", &format!("160000,{id},sub")]);
    trap.house.git(["commit", "-q", "-m", "submodules"]);
    trap.settings("[submodule \"x\"]\n\turl = ext::TRAP\n\tupdate = !TRAP\n\tactive = true\n\tfetchRecurseSubmodules = true\n");
    let base = trap.base();
    assert!(base.notes[0].contains("submodules"), "{:?}", base.notes);
    let (workspace, first) = create(&trap.house.place("bad"), &base, false).unwrap();
    write(&workspace.place().checkout().join("a.txt"), "theirs\n");
    let look = workspace.look().unwrap();
    workspace.put_back(&first).unwrap();
    let refused = workspace.publish(&request(&look, &[])).unwrap_err().to_string();
    assert!(refused.contains("gitmodules"), "{refused}");
    trap.assert_quiet("bad submodules");
    // Addresses that git accepts in a commit, and settings that it would run.
    let trap = Trap::new();
    let id = trap.house.git(["rev-parse", "HEAD"]);
    trap.house.git(["update-index", "--add", "--cacheinfo", &format!("160000,{id},sub")]);
    trap.commit(".gitmodules", "[submodule \"x\"]\n\tpath = sub\n\turl = https://example.org/x\n");
    trap.settings("[submodule \"x\"]\n\turl = ext::TRAP\n\tupdate = !TRAP\n\tactive = true\n");
    trap.check("submodules");

    let trap = Trap::new();
    trap.settings(
        "[remote \"origin\"]\n\turl = ext::TRAP\n\tpushurl = -TRAP\n\tuploadpack = TRAP\n\treceivepack = TRAP\n\tvcs = TRAP\n\
         \tfetch = +refs/heads/*:refs/remotes/origin/*\n[url \"ext::TRAP \"]\n\tinsteadOf = https://\n\
         [remote \"good\"]\n\turl = https://example.org/x.git\n[remote \"-bad\"]\n\turl = x\n\
         [remote \"quo\\\"te\\\\s\"]\n\turl = \"a \\\"b\\\" \\\\c\"\n[http]\n\tproxy = TRAP\n",
    );
    let (workspace, _) = create(&trap.house.place("remotes"), &trap.base(), false).unwrap();
    let files = workspace.place().checkout();
    assert_eq!(git(&files, &["remote", "get-url", "good"]), "https://example.org/x.git");
    let all = git(&files, &["config", "--list"]);
    assert!(!all.contains("trap") && !all.contains("insteadof") && !all.contains("-bad"), "{all}");
    let odd = git(&files, &["config", "--get", "remote.quo\"te\\s.url"]);
    assert!(odd.ends_with("project/a \"b\" \\c"), "{odd}");
    workspace.remove().unwrap();
    trap.check("remotes");
}

#[test]
fn odd_branches() {
    let trap = Trap::new();
    let mark = trap.mark.file_name().unwrap().to_str().unwrap();
    for name in [
        format!("$(touch${{IFS}}{mark})"),
        format!("a;touch<{mark}"),
        "`id`".to_owned(),
        "it's\"|&".to_owned(),
        "ü/ä/🦀".to_owned(),
    ] {
        trap.house.git(["branch", &name]);
        trap.house.git(["tag", "-a", "-m", "x", &name]);
        trap.house.git(["checkout", "-q", &format!("refs/heads/{name}"), "-B", "x"]);
    }
    trap.house.git(["update-ref", "refs/heads/-f", "HEAD"]);
    trap.house.git(["update-ref", "refs/heads/--upload-pack=x", "HEAD"]);
    fs::write(
        trap.dot_git()
            .join("refs/heads")
            .join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff\xfe")),
        trap.house.git(["rev-parse", "HEAD"]) + "\n",
    )
    .unwrap();
    trap.house.git(["symbolic-ref", "HEAD", "refs/heads/$(touch${IFS}ran)"]);
    trap.check("odd branches");
}

#[test]
fn pointers() {
    // The project's `.git` is a file that leads to another repository, which has traps.
    let trap = Trap::new();
    trap.hooks(&trap.dot_git().join("hooks"));
    trap.settings("[core]\n\tfsmonitor = TRAP\n");
    let other = trap.house.dir.path().canonicalize().unwrap().join("other");
    write(&other.join("a.txt"), "one\n");
    fs::write(other.join(".git"), format!("gitdir: {}\n", trap.dot_git().display())).unwrap();
    let base = examine(&other, &trap.house.state()).unwrap();
    let place = Place { project_dir: other.clone(), ..trap.house.place("one") };
    let (workspace, look) = create(&place, &base, false).unwrap();
    assert_eq!(look.tree, base.tree);
    write(&place.checkout().join("a.txt"), "theirs\n");
    let look = workspace.look().unwrap();
    workspace.publish(&request(&look, &[])).unwrap();
    trap.assert_quiet("a pointer");
    // Pointers to nothing, to a pipe, to themselves.
    for text in
        ["gitdir: /nonexistent\n", "gitdir: .\n", "gitdir: \n", "", "gitdir: ../../../../..\n"]
    {
        fs::write(other.join(".git"), text).unwrap();
        let refused = examine(&other, &trap.house.state()).unwrap_err();
        assert_eq!(refused[0].code, RefusalCode::NoRepository, "{text}");
    }
    fs::remove_file(other.join(".git")).unwrap();
    assert!(
        std::process::Command::new("mkfifo").arg(other.join(".git")).status().unwrap().success()
    );
    assert_eq!(
        examine(&other, &trap.house.state()).unwrap_err()[0].code,
        RefusalCode::NoRepository
    );
}

#[test]
fn objects_and_history() {
    let trap = Trap::new();
    let info = trap.dot_git().join("objects/info");
    fs::create_dir_all(&info).unwrap();
    fs::write(info.join("alternates"), "/dev\n/nonexistent\n../../../../..\n/etc\n").unwrap();
    fs::write(info.join("http-alternates"), "http://127.0.0.1:1/x.git\n").unwrap();
    fs::write(info.join("commit-graph"), "broken").unwrap();
    trap.check("alternates");

    // HEAD is shown as another commit, with other files and parents.
    let trap = Trap::new();
    let head = trap.house.git(["rev-parse", "HEAD"]);
    let empty = trap.house.git(["hash-object", "-t", "tree", "-w", "/dev/null"]);
    let other = trap.house.git(["commit-tree", &empty, "-m", "other"]);
    let tree = trap.house.git(["rev-parse", "HEAD^{tree}"]);
    trap.house.git(["replace", &head, &other]);
    assert_eq!(trap.base().tree, tree);
    trap.check("replaced objects");

    let trap = Trap::new();
    let head = trap.house.git(["rev-parse", "HEAD"]);
    let other = trap.house.git(["commit-tree", "HEAD^{tree}", "-m", "other"]);
    write(&trap.dot_git().join("info/grafts"), &format!("{head} {other}\n"));
    trap.check("grafts");
}

#[test]
fn pipes_and_links_in_the_git_folder() {
    let trap = Trap::new();
    let _ = fs::remove_file(trap.dot_git().join("info/exclude"));
    for name in [
        "info/exclude",
        "info/attributes",
        "info/sparse-checkout",
        "config.worktree",
        "shallow",
        "packed-refs",
    ] {
        fs::create_dir_all(trap.dot_git().join("info")).unwrap();
        let path = trap.dot_git().join(name);
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }
    let begun = std::time::Instant::now();
    let base = trap.base();
    create(&trap.house.place("one"), &base, false).unwrap();
    assert!(begun.elapsed().as_secs() < 20);
    trap.assert_quiet("pipes");
}

#[test]
fn paths_that_lead_out() {
    // A tree with `.git/hooks/post-checkout`, and one with `..`.
    for name in [".git", "..", ".GIT", "a/../../b"] {
        let trap = Trap::new();
        let blob = trap.house.git(["hash-object", "-w", &trap.program]);
        let first = name.split('/').next().unwrap();
        let entry = format!("100755 {first}\0");
        let mut tree = entry.into_bytes();
        for pair in blob.as_bytes().chunks(2) {
            tree.push(u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap());
        }
        let file = trap.house.dir.path().join("tree");
        fs::write(&file, tree).unwrap();
        let words = ["hash-object", "-t", "tree", "-w", "--literally", file.to_str().unwrap()];
        let tree = trap.house.git(words);
        let commit = trap.house.git(["commit-tree", &tree, "-p", "HEAD", "-m", "bad"]);
        trap.house.git(["update-ref", "HEAD", &commit]);
        let place = trap.house.place("one");
        match create(&place, &trap.base(), false) {
            Ok(_) => assert_eq!(first, "a", "{name}"),
            Err(fault) => assert!(fault.to_string().contains("path"), "{name}: {fault}"),
        }
        assert!(matches!(open(&place).unwrap(), Opened::Gone) || first == "a");
        trap.assert_quiet(name);
    }
}

#[test]
fn a_hundred_thousand_refs() {
    let trap = Trap::new();
    let head = trap.house.git(["rev-parse", "HEAD"]);
    let side = trap.house.git(["commit-tree", "HEAD^{tree}", "-m", "side"]);
    let mut packed = String::from("# pack-refs with: peeled fully-peeled sorted \n");
    let mut names: Vec<String> =
        (0..100_000).map(|it| format!("refs/heads/many/{:02}/{it:06}", it % 100)).collect();
    names.extend(["refs/heads/main".to_owned(), "refs/heads/work".to_owned()]);
    names.sort();
    for (number, name) in names.iter().enumerate() {
        let id = if number % 2 == 0 || !name.contains("many") { &head } else { &side };
        let _ = writeln!(packed, "{id} {name}");
    }
    fs::write(trap.dot_git().join("packed-refs"), packed).unwrap();
    let begun = std::time::Instant::now();
    trap.check("100,000 refs");
    assert!(begun.elapsed().as_secs() < 120, "{:?}", begun.elapsed());
}

#[test]
fn a_turn_that_sets_traps_in_the_workspace() {
    let trap = Trap::new();
    let base = trap.base();
    let (workspace, first) = create(&trap.house.place("one"), &base, false).unwrap();
    let place = workspace.place().clone();
    let (repository, files) = (place.repository(), place.checkout());
    let settings = "[core]\n\tfsmonitor = TRAP\n\tsshCommand = TRAP\n\thooksPath = hooks\n\teditor = TRAP\n[filter \"x\"]\n\
                    \tclean = TRAP\n\tsmudge = TRAP\n[diff]\n\texternal = TRAP\n[diff \"x\"]\n\ttextconv = TRAP\n[merge \"x\"]\n\
                    \tdriver = TRAP\n[gpg]\n\tprogram = TRAP\n[commit]\n\tgpgSign = true\n[uploadpack]\n\tpackObjectsHook = TRAP\n\
                    [core]\n\tworktree = /\n[include]\n\tpath = /etc/passwd\n";
    let settings = settings.replace("TRAP", &trap.program);
    fs::write(repository.join("config"), &settings).unwrap();
    fs::write(repository.join("worktrees/checkout/config.worktree"), &settings).unwrap();
    trap.hooks(&repository.join("hooks"));
    fs::write(repository.join("info/attributes"), "* filter=x diff=x merge=x\n").unwrap();
    write(&files.join(".gitattributes"), "* filter=x diff=x merge=x\n");
    write(&files.join("a.txt"), "theirs\n");
    fs::write(repository.join("objects/info/alternates"), {
        let text = fs::read_to_string(repository.join("objects/info/alternates")).unwrap();
        text + "/etc\n/dev\n"
    })
    .unwrap();
    let second = workspace.look().unwrap();
    workspace.put_back(&first).unwrap();
    workspace.put_back(&second).unwrap();
    assert_eq!(workspace.look().unwrap(), second);
    workspace.diff(&first.tree, &second.tree, DiffOptions::default()).unwrap();
    workspace.must_stay().unwrap();
    workspace.publish(&request(&second, &[&first])).unwrap();
    let source = Source::Workspace(place.clone());
    fork(&source, &second, &trap.house.place("two"), &base).unwrap();
    assert!(matches!(
        apply(&Project::open(&trap.house.project()).unwrap(), "one").unwrap(),
        Applied::Forward(_)
    ));
    trap.assert_quiet("settings of the workspace");
    assert!(!trap.house.project().join("../two").exists());

    // Objects that git would not store itself are not published: a tree with `.git` in it.
    let (workspace, _) = create(&trap.house.place("tree"), &base, false).unwrap();
    let files = workspace.place().checkout();
    let blob = git(&files, &["hash-object", "-w", "a.txt"]);
    let list = format!("100644 blob {blob}\t.git\n");
    let mut child = std::process::Command::new("git")
        .args(["mktree"])
        .current_dir(&files)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), list.as_bytes()).unwrap();
    let made = child.wait_with_output().unwrap();
    let tree = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    assert!(!tree.is_empty());
    let commit = git(&files, &["commit-tree", &tree, "-p", "HEAD", "-m", "bad"]);
    git(&files, &["update-ref", "HEAD", &commit]);
    let looked = workspace.look().unwrap();
    let refused = workspace.publish(&request(&looked, &[])).unwrap_err().to_string();
    assert!(
        refused.contains(".git") || refused.contains("fsck") || refused.contains("object"),
        "{refused}"
    );
    assert!(!try_git(&trap.house.project(), &["cat-file", "-e", &tree]).1, "{refused}");

    // Links and pipes in the places that are written to or read.
    let (workspace, look) = create(&trap.house.place("links"), &base, false).unwrap();
    let repository = workspace.place().repository();
    let outside = trap.house.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    for name in ["refs", "objects"] {
        fs::rename(repository.join(name), repository.join("away")).unwrap();
        symlink(&outside, repository.join(name)).unwrap();
        assert!(workspace.look().is_err() && workspace.put_back(&look).is_err());
        fs::remove_file(repository.join(name)).unwrap();
        fs::rename(repository.join("away"), repository.join(name)).unwrap();
    }
    let head = repository.join("worktrees/checkout/HEAD");
    fs::remove_file(&head).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&head).status().unwrap().success());
    assert!(workspace.look().is_err());
    workspace.put_back(&look).unwrap();
    assert_eq!(workspace.look().unwrap(), look);
    for name in ["refs/heads/../../x", "refs/heads/x/../../../y", "../x", "refs/tags/x"] {
        fs::write(&head, format!("ref: {name}\n")).unwrap();
        assert!(workspace.look().is_err(), "{name}");
    }
    workspace.put_back(&look).unwrap();
    // The files are a link by now.
    let files = workspace.place().checkout();
    fs::remove_dir_all(&files).unwrap();
    symlink(&outside, &files).unwrap();
    assert!(workspace.look().is_err() && workspace.put_back(&look).is_err());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    trap.assert_quiet("links");
}
