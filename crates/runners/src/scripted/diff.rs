//! Change of a scripted answer in one file, as a unified diff with one hunk.

use std::fmt::Write as _;

/// Lines around a change that are shown with it.
const CONTEXT_LINES: usize = 3;

/// The diff of one file; nothing where nothing has changed. `before` is absent for a new file.
pub(super) fn of(path: &str, before: Option<&str>, after: &str) -> Option<String> {
    if before == Some(after) {
        return None;
    }
    let old: Vec<&str> = before.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let same = |(one, other): &(&&str, &&str)| one == other;
    let head = old.iter().zip(&new).take_while(same).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
    let from = head.saturating_sub(CONTEXT_LINES);
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let behind = tail.min(CONTEXT_LINES);
    let (old_count, new_count) = (old_end + behind - from, new_end + behind - from);
    let mut diff = format!("diff --git a/{path} b/{path}\n");
    let source = if before.is_none() {
        diff.push_str("new file mode 100644\n");
        "/dev/null".to_owned()
    } else {
        format!("a/{path}")
    };
    let place = |count: usize| if count == 0 { 0 } else { from + 1 };
    let _ = write!(
        diff,
        "--- {source}\n+++ b/{path}\n@@ -{},{old_count} +{},{new_count} @@\n",
        place(old_count),
        place(new_count)
    );
    lines(&mut diff, ' ', &old[from..head]);
    lines(&mut diff, '-', &old[head..old_end]);
    lines(&mut diff, '+', &new[head..new_end]);
    lines(&mut diff, ' ', &new[new_end..new_end + behind]);
    Some(diff)
}

fn lines(diff: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        let _ = write!(diff, "{mark}{line}");
        if !line.ends_with('\n') {
            diff.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_all_new() {
        assert_eq!(
            of("a/b.txt", None, "one\ntwo").unwrap(),
            "diff --git a/a/b.txt b/a/b.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a/b.txt\n\
             @@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"
        );
    }

    #[test]
    fn only_what_changed_is_told_with_a_little_around_it() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let after = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        assert_eq!(
            of("x", Some(before), after).unwrap(),
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
        );
        assert_eq!(of("x", Some("same\n"), "same\n"), None);
        let emptied = of("x", Some("a\n"), "").unwrap();
        assert!(emptied.ends_with("@@ -1,1 +0,0 @@\n-a\n"), "{emptied}");
    }
}
