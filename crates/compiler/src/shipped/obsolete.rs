//! Names that shipped utilities had in the original system (U16).

/// The old names and what they are called now.
const RENAMED: [(&str, &str); 5] = [
    ("ensureArtifactsIgnored", "Ignore-Artifacts"),
    ("ensure-ignored", "Ignore-Artifacts"),
    ("project.ensureIgnored", "Ignore-Artifacts"),
    ("detectVcs", "Detect-VCS"),
    ("vcs.detect", "Detect-VCS"),
];

/// Prefix of ids that the original system generated from an old name, such as `currentUtilityVcsDetect1`.
const GENERATED: &str = "currentUtility";

/// The present name of a shipped utility, if `name` is an obsolete one of it.
pub fn current_name(name: &str) -> Option<&'static str> {
    let name = name.strip_suffix(".mjs").unwrap_or(name);
    if let Some((_, current)) = RENAMED.iter().find(|(old, _)| *old == name) {
        return Some(current);
    }
    let made_from = plain(name.strip_prefix(GENERATED)?);
    let of = |(old, _): &&(&str, &str)| made_from.starts_with(&plain(old));
    RENAMED.iter().find(of).map(|(_, current)| *current)
}

/// A name without case and without what separates its words.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_lead_to_the_present_ones_and_present_ones_are_not_old() {
        for (old, current) in [
            ("ensureArtifactsIgnored", "Ignore-Artifacts"),
            ("project.ensureIgnored", "Ignore-Artifacts"),
            ("currentUtilityProjectEnsureIgnored2", "Ignore-Artifacts"),
            ("currentUtilityEnsureArtifactsIgnored", "Ignore-Artifacts"),
            ("ensure-ignored.mjs", "Ignore-Artifacts"),
            ("detectVcs", "Detect-VCS"),
            ("detectVcs.mjs", "Detect-VCS"),
            ("vcs.detect", "Detect-VCS"),
            ("currentUtilityVcsDetectAbc", "Detect-VCS"),
        ] {
            assert_eq!(current_name(old), Some(current), "{old}");
        }
        for name in ["Detect-VCS", "detect-vcs.mjs", "currentUtility", "currentUtilityOther", ""] {
            assert_eq!(current_name(name), None, "{name}");
        }
    }
}
