//! Names with stars, as people write which types they mean.

/// `true` if a name is what a pattern says: each `*` stands for any letters, none included, for instance `m7g.*`.
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

/// Where a star was met last, it takes one letter more each time that what follows it does not fit.
fn of_bytes(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                at += 1;
                star = Some((at, from));
            }
            Some(wanted) if *wanted == name[from] => {
                at += 1;
                from += 1;
            }
            _ => {
                let Some((behind, taken)) = star else {
                    return false;
                };
                star = Some((behind, taken + 1));
                (at, from) = (behind, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|letter| *letter == b'*')
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
            ("**l*rg*", true),
            ("m*m*", false),
            ("*a*a*", false),
            ("", false),
        ] {
            assert_eq!(matches(pattern, "m5.large"), fits, "{pattern}");
        }
    }
}
