//! Lists in sentences, the same way wherever a person reads one: the first few names and how many others there are.

/// Names listed before the rest is counted.
pub const SHOWN: usize = 5;

/// `a, b, c`; of more than [`SHOWN`] names the first few and a count: `a, b, c, d, e and 182 more`.
pub fn shortened<Name: AsRef<str>>(names: impl IntoIterator<Item = Name>) -> String {
    let mut text = String::new();
    let mut more = 0;
    for (at, name) in names.into_iter().enumerate() {
        if at >= SHOWN {
            more += 1;
            continue;
        }
        if at > 0 {
            text.push_str(", ");
        }
        text.push_str(name.as_ref());
    }
    match more {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K10.
    #[test]
    fn long_lists_are_counted_after_five_names() {
        let names = |count: usize| (0..count).map(|at| format!("t{at}")).collect::<Vec<_>>();
        assert_eq!(shortened(names(0)), "");
        assert_eq!(shortened(names(5)), "t0, t1, t2, t3, t4");
        assert_eq!(shortened(names(187)), "t0, t1, t2, t3, t4 and 182 more");
    }
}
