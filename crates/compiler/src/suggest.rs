//! Guesses what an author meant by a name that does not exist.

/// Names longer than this are compared with nothing, so that a guess stays cheap.
const NAME_CHARS_MAX: usize = 64;
/// More candidates than this are not looked through.
const CANDIDATES_MAX: usize = 500;

/// The candidate that is nearest to `name`, if one is near enough to be a typing mistake.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A short word with one other letter is another word.
    let allowed = match name.chars().count() {
        0..=2 => 0,
        3..=5 => 1,
        6..=8 => 2,
        long => long / 3,
    };
    let (distance, candidate) = candidates
        .into_iter()
        .take(CANDIDATES_MAX)
        // Names whose lengths differ by more cannot be near, and comparing them is the cost.
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= (allowed + 1) * 4)
        .filter_map(|candidate| Some((distance(name, candidate)?, candidate)))
        .min_by_key(|(distance, _)| *distance)?;
    (distance <= allowed).then_some(candidate)
}

/// A help line that offers the nearest name, or lists the names there are.
pub fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
    things: &str,
) -> String {
    if let Some(candidate) = nearest(name, candidates.clone()) {
        return format!("did you mean `{candidate}`?");
    }
    let known: Vec<&str> = candidates.into_iter().take(9).collect();
    match known.as_slice() {
        [] => format!("there are no {things}"),
        few if few.len() < 9 => format!("{things}: {}", few.join(", ")),
        many => format!("{things}: {}, …", many[..8].join(", ")),
    }
}

/// Counts the single-letter changes between two names, without regard to case. Two neighbours that
/// changed places are one change.
fn distance(left: &str, right: &str) -> Option<usize> {
    let lower = |name: &str| name.chars().flat_map(char::to_lowercase).collect::<String>();
    let (left, right) = (lower(left), lower(right));
    let is_long = |name: &str| name.chars().count() > NAME_CHARS_MAX;
    (!is_long(&left) && !is_long(&right)).then(|| strsim::osa_distance(&left, &right))
}
