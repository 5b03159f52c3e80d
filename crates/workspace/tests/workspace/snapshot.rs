use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use materia_workspace::Workspace;

use crate::common::{House, fsck, git, try_git, write};

/// The paths of a tree of a workspace.
fn paths(workspace: &Workspace, tree: &str) -> Vec<String> {
    let said = git(&workspace.place().checkout(), &["ls-tree", "-r", "--name-only", tree]);
    said.lines().map(str::to_owned).collect()
}

#[test]
fn what_changes_and_what_does_not() {
    let house = House::new();
    let (workspace, first) = house.make("one");
    let files = workspace.place().checkout();
    write(&files.join("a.txt"), "two\n");
    let second = workspace.look().unwrap();
    assert_ne!(second.tree, first.tree);
    assert_eq!((&second.head, &second.refs), (&first.head, &first.refs));
    assert_eq!(workspace.look().unwrap(), second);
    // The same size within the same moment.
    write(&files.join("a.txt"), "six\n");
    let third = workspace.look().unwrap();
    assert_ne!(third.tree, second.tree);
    write(&files.join("a.txt"), "one\n");
    assert_eq!(workspace.look().unwrap(), first);
    // A commit changes HEAD and the refs, not the tree.
    write(&files.join("a.txt"), "two\n");
    git(&files, &["commit", "-qam", "two"]);
    let fourth = workspace.look().unwrap();
    assert_eq!(fourth.tree, second.tree);
    assert_ne!(fourth.head, second.head);
    assert_ne!(fourth.refs, second.refs);
    assert!(workspace.has_base_as_ancestor(&fourth).unwrap());
    // Staging changes nothing.
    write(&files.join("new.txt"), "new\n");
    let fifth = workspace.look().unwrap();
    git(&files, &["add", "-A"]);
    assert_eq!(workspace.look().unwrap(), fifth);
    fsck(&files);
}

/// W11: without the times of the files in it, each look would read every file again.
#[test]
fn a_look_has_an_index_of_its_own_that_remembers_the_times_of_files() {
    let house = House::new();
    let (workspace, _) = house.make("one");
    let (files, root) = (workspace.place().checkout(), workspace.place().root());
    write(&files.join("staged.txt"), "staged\n");
    git(&files, &["add", "-A"]);
    let of_turns = workspace.place().repository().join("worktrees/checkout/index");
    let before = fs::read(&of_turns).unwrap();
    write(&files.join("a.txt"), "two\n");
    workspace.look().unwrap();
    assert_eq!(fs::read(&of_turns).unwrap(), before, "what a turn has staged stays as it is");
    let mut listing = std::process::Command::new("git");
    listing.args(["ls-files", "--debug", "a.txt"]).current_dir(&files);
    listing.env("GIT_INDEX_FILE", root.join("private/index"));
    let listed = String::from_utf8(listing.output().unwrap().stdout).unwrap();
    let changed = files.join("a.txt").metadata().unwrap();
    let remembered = format!("mtime: {}:{}", changed.mtime(), changed.mtime_nsec());
    assert!(listed.contains(&remembered), "{remembered}: {listed}");
}

#[test]
fn ignored_files_are_out_unless_head_has_them() {
    let house = House::new();
    house.write("kept.log", "kept\n");
    house.git(["add", "-f", "kept.log"]);
    house.git(["commit", "-q", "-m", "an ignored file"]);
    let (workspace, first) = house.make("one");
    let files = workspace.place().checkout();
    assert!(paths(&workspace, &first.tree).contains(&"kept.log".to_owned()));
    write(&files.join("new.log"), "new\n");
    write(&files.join("ignored/x"), "x\n");
    assert_eq!(workspace.look().unwrap(), first);
    // Changed, it is still in.
    write(&files.join("kept.log"), "changed\n");
    let second = workspace.look().unwrap();
    assert_ne!(second.tree, first.tree);
    // A commit makes the new one count.
    git(&files, &["add", "-f", "new.log"]);
    git(&files, &["commit", "-q", "-m", "forced"]);
    let third = workspace.look().unwrap();
    assert!(paths(&workspace, &third.tree).contains(&"new.log".to_owned()));
    git(&files, &["reset", "-q", "--soft", "HEAD~1"]);
    let fourth = workspace.look().unwrap();
    assert_eq!(fourth.tree, second.tree);
    // A file that was new, and is ignored by now.
    write(&files.join("gen/out.txt"), "x\n");
    let fifth = workspace.look().unwrap();
    assert!(paths(&workspace, &fifth.tree).contains(&"gen/out.txt".to_owned()));
    write(&files.join(".gitignore"), "ignored/\n*.log\ngen/\n");
    let sixth = workspace.look().unwrap();
    assert!(!paths(&workspace, &sixth.tree).contains(&"gen/out.txt".to_owned()));
    // Patterns that are in no commit count as well.
    write(&files.join("scratch"), "x\n");
    let info = workspace.place().repository().join("info/exclude");
    fs::write(info, "scratch\n").unwrap();
    assert_eq!(workspace.look().unwrap().tree, sixth.tree);
    // Of HEAD, deleted from the files.
    fs::remove_file(files.join("kept.log")).unwrap();
    let seventh = workspace.look().unwrap();
    assert!(!paths(&workspace, &seventh.tree).contains(&"kept.log".to_owned()));
}

#[test]
fn line_ends_are_those_of_the_repository() {
    for (attributes, autocrlf) in
        [("", "true"), ("", "input"), ("* text=auto eol=crlf\n", "false"), ("*.txt text\n", "true")]
    {
        let house = House::new();
        // Stored with CR LF although it counts as text.
        house.git(["config", "core.autocrlf", "false"]);
        house.write("crlf.txt", "one\r\ntwo\r\n");
        house.write("mixed.txt", "one\r\ntwo\n");
        house.git(["add", "-A"]);
        house.git(["commit", "-q", "-m", "crlf"]);
        if !attributes.is_empty() {
            house.write(".gitattributes", attributes);
            house.git(["add", ".gitattributes"]);
            house.git(["commit", "-q", "-m", "attributes"]);
        }
        house.git(["config", "core.autocrlf", autocrlf]);
        let (workspace, first) = house.make("one");
        let files = workspace.place().checkout();
        assert_eq!(first.tree, house.git(["rev-parse", "HEAD^{tree}"]), "{attributes} {autocrlf}");
        assert_eq!(fs::read(files.join("crlf.txt")).unwrap(), b"one\r\ntwo\r\n");
        let crlf = autocrlf == "true" || attributes.contains("eol=crlf");
        let expected: &[u8] = if crlf { b"one\r\n" } else { b"one\n" };
        assert_eq!(fs::read(files.join("a.txt")).unwrap(), expected, "{attributes} {autocrlf}");
        // Without the times of the files, too.
        fs::remove_file(workspace.place().private().join("last")).unwrap();
        for name in ["crlf.txt", "mixed.txt", "a.txt"] {
            let content = fs::read(files.join(name)).unwrap();
            fs::remove_file(files.join(name)).unwrap();
            fs::write(files.join(name), content).unwrap();
        }
        assert_eq!(workspace.look().unwrap(), first, "{attributes} {autocrlf}");
        // Attributes are those of the base whatever a turn writes.
        write(&files.join(".gitattributes"), "* -text\n");
        let second = workspace.look().unwrap();
        fs::remove_file(files.join("a.txt")).unwrap();
        write(&files.join("a.txt"), "one\n");
        assert_eq!(workspace.look().unwrap(), second);
        workspace.put_back(&first).unwrap();
        assert_eq!(workspace.look().unwrap(), first);
    }
}

#[test]
fn kinds_of_files_and_odd_names() {
    let house = House::new();
    let (workspace, first) = house.make("one");
    let files = workspace.place().checkout();
    let names: [&[u8]; 9] = [
        b"new\nline",
        b"-dash",
        b"--add",
        b":colon",
        b":(top)magic",
        b"star*[x]?",
        b"\xff\xfe not utf8",
        b" space ",
        b"\"quoted\\\"",
    ];
    for name in names {
        fs::write(files.join(OsStr::from_bytes(name)), "x").unwrap();
    }
    let second = workspace.look().unwrap();
    let list = git(&files, &["ls-tree", "-r", "-z", "--name-only", &second.tree]);
    assert_eq!(list.split('\0').filter(|it| !it.is_empty()).count(), 3 + names.len());
    assert_eq!(workspace.look().unwrap(), second);
    workspace.put_back(&first).unwrap();
    assert!(names.iter().all(|name| !files.join(OsStr::from_bytes(name)).exists()));
    workspace.put_back(&second).unwrap();
    assert!(names.iter().all(|name| files.join(OsStr::from_bytes(name)).exists()));
    assert_eq!(workspace.look().unwrap(), second);
    workspace.put_back(&first).unwrap();

    // Links, the executable bit, a link that leads out, a pipe.
    symlink("a.txt", files.join("link")).unwrap();
    symlink("/etc", files.join("out")).unwrap();
    fs::set_permissions(files.join("a.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    let third = workspace.look().unwrap();
    let said = git(&files, &["ls-tree", "-r", &third.tree]);
    assert!(said.contains("100755 blob") && said.matches("120000 blob").count() == 2, "{said}");
    workspace.put_back(&first).unwrap();
    assert_eq!(fs::metadata(files.join("a.txt")).unwrap().permissions().mode() & 0o111, 0);
    assert!(files.join("out").symlink_metadata().is_err());
    // A file becomes a folder, a folder a link, a file a pipe.
    fs::remove_file(files.join("a.txt")).unwrap();
    write(&files.join("a.txt/inner"), "x\n");
    fs::remove_dir_all(files.join("src")).unwrap();
    symlink("a.txt", files.join("src")).unwrap();
    let fourth = workspace.look().unwrap();
    assert_eq!(paths(&workspace, &fourth.tree), [".gitignore", "a.txt/inner", "src"]);
    workspace.put_back(&first).unwrap();
    assert_eq!(workspace.look().unwrap(), first);
    fs::remove_file(files.join("a.txt")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(files.join("a.txt")).status().unwrap();
    assert!(made.success());
    let fifth = workspace.look().unwrap();
    assert_eq!(paths(&workspace, &fifth.tree), [".gitignore", "src/b.txt"]);
    workspace.put_back(&first).unwrap();
    assert_eq!(workspace.look().unwrap(), first);
    fsck(&files);
}

fn new_repository(at: &Path) {
    fs::create_dir_all(at).unwrap();
    git(at, &["init", "-q"]);
    write(&at.join("inner.txt"), "inner\n");
    git(at, &["add", "-A"]);
    git(at, &["-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "inner"]);
}

#[test]
fn other_repositories_are_left_out_and_keep_the_workspace() {
    let house = House::new();
    let (workspace, first) = house.make("one");
    let files = workspace.place().checkout();
    assert_eq!(workspace.must_stay().unwrap(), None);
    new_repository(&files.join("deep/nested"));
    let second = workspace.look().unwrap();
    assert_eq!(second.tree, first.tree);
    assert_ne!(second.refs, first.refs);
    let why = workspace.must_stay().unwrap().unwrap();
    assert!(why.contains("deep/nested"), "{why}");
    // One that was there stays, a new one goes.
    new_repository(&files.join("later"));
    workspace.put_back(&second).unwrap();
    assert!(files.join("deep/nested/.git").exists() && !files.join("later").exists());
    workspace.put_back(&first).unwrap();
    assert!(!files.join("deep/nested").exists());
    assert_eq!(workspace.look().unwrap(), first);
    assert_eq!(workspace.must_stay().unwrap(), None);
    // Ignored ones do not count.
    new_repository(&files.join("ignored/nested"));
    assert_eq!(workspace.must_stay().unwrap(), None);
    workspace.put_back(&first).unwrap();
    assert!(files.join("ignored/nested").exists());
}

#[test]
fn submodules_stay_as_head_has_them() {
    let house = House::new();
    let inner = house.dir.path().join("inner");
    new_repository(&inner);
    let words = ["-c", "protocol.file.allow=always", "submodule", "add", "-q"];
    let words: Vec<&str> = words.into_iter().chain([inner.to_str().unwrap(), "sub"]).collect();
    git(&house.project(), &words);
    house.git(["commit", "-q", "-m", "submodule"]);
    let base = house.base();
    assert!(base.notes[0].contains("submodules stay empty"), "{:?}", base.notes);
    let (workspace, first) = house.make("one");
    assert_eq!(first.tree, base.tree);
    let files = workspace.place().checkout();
    assert_eq!(fs::read_dir(files.join("sub")).unwrap().count(), 0);
    assert_eq!(workspace.must_stay().unwrap(), None);
    // Filled and edited: in no tree.
    git(&files, &["-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init"]);
    assert_eq!(workspace.look().unwrap().tree, first.tree);
    assert_eq!(workspace.must_stay().unwrap(), None);
    write(&files.join("sub/inner.txt"), "edited\n");
    assert_eq!(workspace.look().unwrap().tree, first.tree);
    assert!(workspace.must_stay().unwrap().unwrap().contains("sub"));
    // A commit inside, and a commit of it outside.
    let inner = files.join("sub");
    git(&inner, &["-c", "user.name=x", "-c", "user.email=x", "commit", "-qam", "edit"]);
    assert_eq!(workspace.look().unwrap().tree, first.tree);
    assert!(workspace.must_stay().unwrap().is_some());
    git(&files, &["commit", "-qam", "the submodule moves"]);
    // The commit inside is nowhere else.
    assert!(workspace.must_stay().unwrap().is_some());
    let second = workspace.look().unwrap();
    assert_eq!(second.tree, git(&files, &["rev-parse", "HEAD^{tree}"]));
    git(&files, &["rm", "-qf", "sub"]);
    git(&files, &["commit", "-qm", "no submodule"]);
    let third = workspace.look().unwrap();
    assert_eq!(third.tree, git(&files, &["rev-parse", "HEAD^{tree}"]));
}

#[test]
fn a_look_survives_garbage_collection() {
    let house = House::new();
    let (workspace, first) = house.make("one");
    let files = workspace.place().checkout();
    git(&files, &["checkout", "-q", "-b", "side"]);
    write(&files.join("side.txt"), "side\n");
    git(&files, &["add", "-A"]);
    git(&files, &["commit", "-qm", "side"]);
    write(&files.join("loose.txt"), "loose\n");
    let second = workspace.look().unwrap();
    git(&files, &["checkout", "-q", "-f", "main"]);
    git(&files, &["branch", "-q", "-D", "side"]);
    fs::remove_file(files.join("loose.txt")).unwrap();
    workspace.look().unwrap();
    git(&files, &["reflog", "expire", "--expire=now", "--all"]);
    git(&files, &["gc", "-q", "--prune=now"]);
    house.git(["gc", "-q", "--prune=now"]);
    workspace.put_back(&second).unwrap();
    let back = workspace.look().unwrap();
    assert_eq!((back.tree, back.head), (second.tree, second.head), "but for the log of HEAD");
    assert_eq!(fs::read_to_string(files.join("side.txt")).unwrap(), "side\n");
    assert_eq!(git(&files, &["branch", "--show-current"]), "side");
    assert_eq!(git(&files, &["status", "--porcelain"]), "?? loose.txt");
    workspace.put_back(&first).unwrap();
    assert_eq!(workspace.look().unwrap(), first);
    fsck(&files);
}

#[test]
fn sparse_patterns_are_taken_over() {
    let house = House::new();
    house.write("left/l.txt", "l\n");
    house.write("right/r.txt", "r\n");
    house.git(["add", "-A"]);
    house.git(["commit", "-q", "-m", "more"]);
    house.git(["sparse-checkout", "set", "left"]);
    let (workspace, first) = house.make("one");
    let files = workspace.place().checkout();
    assert_eq!(first.tree, house.git(["rev-parse", "HEAD^{tree}"]));
    assert!(files.join("left/l.txt").exists() && !files.join("right").exists());
    assert_eq!(git(&files, &["status", "--porcelain"]), "");
    write(&files.join("left/l.txt"), "changed\n");
    let second = workspace.look().unwrap();
    assert_eq!(paths(&workspace, &second.tree).len(), paths(&workspace, &first.tree).len());
    workspace.put_back(&first).unwrap();
    assert_eq!(workspace.look().unwrap(), first);
    assert!(!files.join("right").exists());
}

#[test]
fn a_shallow_clone_has_workspaces() {
    let house = House::new();
    for number in 0..3 {
        house.write("a.txt", &format!("{number}\n"));
        house.git(["commit", "-qam", "more"]);
    }
    let from = format!("file://{}", house.project().display());
    let clone = house.dir.path().join("clone");
    git(house.dir.path(), &["clone", "-q", "--depth=1", &from, clone.to_str().unwrap()]);
    let place = materia_workspace::Place { project_dir: clone.clone(), ..house.place("one") };
    let base = materia_workspace::examine(&clone, &house.state()).unwrap();
    let (workspace, look) = materia_workspace::create(&place, &base, false).unwrap();
    assert_eq!(look.tree, base.tree);
    let files = workspace.place().checkout();
    assert_eq!(git(&files, &["rev-list", "--count", "HEAD"]), "1");
    assert!(try_git(&files, &["fsck", "--full"]).1);
}

#[test]
fn a_project_below_the_top_has_its_folder() {
    let house = House::new();
    let place =
        materia_workspace::Place { project_dir: house.project().join("src"), ..house.place("one") };
    let base = materia_workspace::examine(&place.project_dir, &house.state()).unwrap();
    let (workspace, _) = materia_workspace::create(&place, &base, false).unwrap();
    assert_eq!(place.work_dir(), place.checkout().join("src"));
    assert!(place.work_dir().join("b.txt").exists());
    drop(workspace);
    // A folder that no commit has.
    house.write("fresh/x.log", "ignored\n");
    let place = materia_workspace::Place {
        project_dir: house.project().join("fresh"),
        ..house.place("two")
    };
    let (workspace, first) = materia_workspace::create(&place, &base, false).unwrap();
    assert!(place.work_dir().is_dir());
    fs::remove_dir(place.work_dir()).unwrap();
    workspace.put_back(&first).unwrap();
    assert!(place.work_dir().is_dir());
}

#[test]
fn a_linked_worktree_has_workspaces() {
    let house = House::new();
    let other = house.dir.path().canonicalize().unwrap().join("other");
    house.git(["worktree", "add", "-q", "-b", "side", other.to_str().unwrap()]);
    write(&other.join("side.txt"), "side\n");
    git(&other, &["add", "-A"]);
    git(&other, &["commit", "-qm", "side"]);
    let place = materia_workspace::Place { project_dir: other.clone(), ..house.place("one") };
    let base = materia_workspace::examine(&other, &house.state()).unwrap();
    assert_eq!(base.commit, git(&other, &["rev-parse", "HEAD"]));
    let (_, look) = materia_workspace::create(&place, &base, false).unwrap();
    assert_eq!(look.tree, base.tree);
    assert_eq!(house.git(["rev-parse", "refs/materia/one/base"]), base.commit);
}

#[test]
fn a_repository_with_longer_ids_has_workspaces() {
    let dir = tempfile::tempdir().unwrap();
    let (project, state) = (dir.path().join("project"), dir.path().join("state"));
    fs::create_dir(&project).unwrap();
    git(&project, &["init", "-q", "-b", "main", "--object-format=sha256"]);
    write(&project.join("a.txt"), "one\n");
    git(&project, &["add", "-A"]);
    git(&project, &["-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "first"]);
    let base = materia_workspace::examine(&project, &state).unwrap();
    let place = materia_workspace::Place {
        state_dir: state,
        project_dir: project.clone(),
        cast_id: "one".to_owned(),
    };
    let (workspace, first) = materia_workspace::create(&place, &base, false).unwrap();
    assert_eq!(first.tree.len(), 64);
    write(&place.checkout().join("a.txt"), "two\n");
    git(&place.checkout(), &["commit", "-qam", "second"]);
    let second = workspace.look().unwrap();
    workspace.put_back(&first).unwrap();
    assert_eq!(workspace.look().unwrap(), first);
    workspace.put_back(&second).unwrap();
    let done = workspace.publish(&crate::publish::request(&second, &[&first])).unwrap();
    assert_eq!(git(&project, &["rev-parse", "materia/one"]), done.commit);
    fsck(&project);
}

#[test]
fn refs_that_keep_looks_are_packed_in_time() {
    let house = House::new();
    let (workspace, first) = house.make("one");
    let files = workspace.place().checkout();
    let mut looks = Vec::new();
    for number in 0..70 {
        write(&files.join("a.txt"), &format!("{number}\n"));
        looks.push(workspace.look().unwrap());
    }
    let loose = fs::read_dir(workspace.place().repository().join("refs/materia/keep"));
    assert!(loose.map_or(0, Iterator::count) < 70);
    let refs = git(&files, &["for-each-ref", "--format=%(refname)", "refs/materia/keep"]);
    for look in looks.iter().chain([&first]) {
        assert!(
            refs.contains(&look.tree) && refs.contains(&look.head) && refs.contains(&look.refs)
        );
    }
    workspace.put_back(&looks[3]).unwrap();
    assert_eq!(workspace.look().unwrap(), looks[3]);
    fsck(&files);
}
