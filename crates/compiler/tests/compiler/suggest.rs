use materia_compiler::{did_you_mean, nearest};

#[test]
fn a_slip_is_recognised_and_a_different_word_is_not() {
    let names = ["timeoutMs", "trigger", "mode"];
    assert_eq!(nearest("timeoutms", names), Some("timeoutMs"));
    assert_eq!(nearest("tigger", names), Some("trigger"));
    assert_eq!(nearest("colour", names), None);
    assert_eq!(nearest("Biuld", ["Build", "Test"]), Some("Build"), "letters in the wrong order");
    assert_eq!(nearest("a", ["b", "c"]), None, "another word, not a slip");
    assert_eq!(nearest("A", ["b", "a"]), Some("a"));
    assert_eq!(nearest("Test", ["Plan", "Best"]), Some("Best"));
    assert_eq!(nearest("Deploy", ["Review"]), None);
    assert_eq!(nearest(&"x".repeat(1000), names), None);
}

#[test]
fn without_a_near_name_the_known_ones_are_listed() {
    assert_eq!(did_you_mean("zzz", ["a", "bb"], "sockets"), "sockets: a, bb");
    assert_eq!(did_you_mean("zzz", [], "sockets"), "there are no sockets");
}
