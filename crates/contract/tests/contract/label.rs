use materia_contract::is_label;

#[test]
fn a_label_is_a_short_word() {
    for good in ["gpu", "os.linux-6", "a_b", &"x".repeat(40)] {
        assert!(is_label(good), "{good}");
    }
    for bad in ["", "GPU", "a b", "a,b", "ü", &"x".repeat(41)] {
        assert!(!is_label(bad), "{bad}");
    }
}
