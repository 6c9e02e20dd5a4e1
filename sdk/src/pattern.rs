//! Names with stars, as people write which types they mean.

/// Whether a name is what a pattern says: each `*` stands for any letters, none included, for instance `m7g.*`.
///
/// ```
/// use plimsoll_sdk::pattern::matches;
///
/// assert!(matches("m7g.*", "m7g.large"));
/// assert!(!matches("m7g", "m7g.large"));
/// ```
pub fn matches(pattern: &str, name: &str) -> bool {
    of_bytes(pattern.as_bytes(), name.as_bytes())
}

fn of_bytes(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, letter) => letter.is_none(),
        (Some((b'*', rest)), letter) => {
            of_bytes(rest, name) || letter.is_some_and(|(_, tail)| of_bytes(pattern, tail))
        }
        (Some((wanted, rest)), Some((letter, tail))) => wanted == letter && of_bytes(rest, tail),
        (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_letters() {
        for (pattern, fits) in [
            ("*", true),
            ("m5.*", true),
            ("*.large", true),
            ("m*5*large", true),
            ("m5", false),
            ("*.xlarge", false),
        ] {
            assert_eq!(matches(pattern, "m5.large"), fits, "{pattern}");
        }
    }
}
