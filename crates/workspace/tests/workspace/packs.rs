//! Packs, and repositories that are made of them (M10).

use std::fs;

use materia_workspace::{
    Bases, Look, Place, Project, Source, base_at, fork, make_stand_in, pack_base, set_up_stand_in,
    stand_in,
};

use crate::common::{House, git, try_git, write};

/// M10: a workspace that is made of packs alone has the files, refs and settings of the first one.
#[test]
fn a_workspace_travels_as_packs() {
    let house = House::new();
    // Settings and patterns that are in no commit decide how files are read.
    house.git(["config", "core.autocrlf", "true"]);
    house.git(["tag", "-a", "v1", "-m", "one"]);
    write(&house.project().join(".git/info/exclude"), "*.tmp\n");
    house.write("crlf.txt", "a\r\nb\r\n");
    house.git(["add", "-A"]);
    house.git(["commit", "-q", "-m", "second"]);
    house.write("new.txt", "not committed\n");
    let base = house.base();
    let place = house.place("one");
    let (workspace, _) = materia_workspace::create(&place, &base, true).unwrap();
    let checkout = place.checkout();
    write(&checkout.join("src/c.txt"), "three\n");
    git(&checkout, &["add", "src/c.txt"]);
    git(&checkout, &["commit", "-q", "-m", "third"]);
    write(&checkout.join("x.tmp"), "ignored by a pattern that is in no commit\n");
    std::os::unix::fs::symlink("../elsewhere", checkout.join("link")).unwrap();
    let look = workspace.look().unwrap();
    let set_up = workspace.keep_set_up().unwrap();
    let mut wanted = workspace.ids(&look).unwrap();
    wanted.push(set_up.clone());
    let scratch = house.state();
    let of_base = pack_base(&house.project(), &scratch, &base.commit, &[]).unwrap();
    let pack = workspace.pack(&wanted, &[]).unwrap().unwrap();
    assert_eq!(workspace.pack(&wanted, &wanted).unwrap(), None, "nothing is left");
    let again =
        pack_base(&house.project(), &scratch, &base.commit, std::slice::from_ref(&base.commit));
    assert_eq!(again.unwrap().bytes, None, "the history is stored once");

    // Another machine: the user's repository is gone.
    fs::rename(house.project(), house.project().with_file_name("away")).unwrap();
    let state = house.dir.path().canonicalize().unwrap().join("other-state");
    let bases = Bases::open(&state, "tests", &base.commit).unwrap();
    assert!(!bases.has(&base.commit).unwrap());
    bases.take(of_base.bytes.unwrap(), &of_base.shallow).unwrap();
    assert!(bases.has(&base.commit).unwrap());
    let top = stand_in(&state, "tests", "one").unwrap();
    let repository = make_stand_in(&top, &bases, &base.commit).unwrap();
    repository.take_pack(pack).unwrap();
    set_up_stand_in(&top, &set_up).unwrap();
    let base = base_at(&top, &base.commit, base.git_version, base.identity).unwrap();
    let there = Place { state_dir: state, project_dir: top.clone(), cast_id: "one".to_owned() };
    let (made, found) = fork(&Source::Published("one".to_owned()), &look, &there, &base).unwrap();
    let files = |look: &Look| (look.tree.clone(), look.head.clone());
    assert_eq!(files(&found), files(&look));
    let config = fs::read_to_string(there.repository().join("config")).unwrap();
    assert!(config.contains("autocrlf = true"), "{config}");
    assert_eq!(git(&there.checkout(), &["tag"]), "v1");
    write(&there.checkout().join("y.tmp"), "ignored here, too\n");
    assert_eq!(files(&made.look().unwrap()), files(&look));
    made.remove().unwrap();
    assert!(!top.exists(), "the repository that stood in is gone, too");
}

/// M10: what is no pack, and a pack with a tree that leads out of the checkout, are refused.
#[test]
fn hostile_packs_are_refused() {
    let house = House::new();
    let project = Project::open(&house.project()).unwrap();
    for bytes in [&b""[..], b"PACK", b"PACK\0\0\0\x02\0\0\0\x01nonsense and more of it"] {
        assert!(project.take_pack(bytes.to_vec()).is_err());
    }
    let dir = house.project();
    let blob = git(&dir, &["hash-object", "-w", "a.txt"]);
    let raw = |name: &str| {
        let mut tree = format!("100644 {name}\0").into_bytes();
        let pairs = blob.as_bytes().chunks(2);
        let hex = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        tree.extend(pairs.map(hex));
        fs::write(dir.join("raw"), tree).unwrap();
        git(&dir, &["hash-object", "-t", "tree", "--literally", "-w", "raw"])
    };
    for name in [".git", "..", "a/b"] {
        let tree = raw(name);
        fs::write(dir.join("ids"), format!("{tree}\n")).unwrap();
        let words = "git pack-objects --revs --stdout -q < ids > hostile.pack";
        let mut packing = std::process::Command::new("sh");
        let packed = packing.args(["-c", words]).current_dir(&dir).status().unwrap();
        assert!(packed.success());
        let other = House::new();
        let project = Project::open(&other.project()).unwrap();
        let bytes = fs::read(dir.join("hostile.pack")).unwrap();
        assert!(project.take_pack(bytes).is_err(), "{name}");
        assert!(!try_git(&other.project(), &["cat-file", "-e", &tree]).1, "{name}");
    }
    // A pack that needs what is not there.
    let other = House::new();
    let (workspace, _) = other.make("one");
    write(&workspace.place().checkout().join("n.txt"), "n\n");
    let first = workspace.look().unwrap();
    write(&workspace.place().checkout().join("m.txt"), "m\n");
    let second = workspace.look().unwrap();
    let known = workspace.ids(&first).unwrap();
    let pack = workspace.pack(&workspace.ids(&second).unwrap(), &known).unwrap().unwrap();
    assert!(project.take_pack(pack).is_err());
}
