//! The policies we ship as modules, by name: built for WebAssembly with this workspace, encoded, and built in.

/// A policy we ship.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shipped {
    /// Name without the hook, as the command line takes it, for instance `list-price`.
    pub name: &'static str,
    /// Name of its crate, for instance `rank-list-price`.
    pub package: &'static str,
    /// The component.
    pub bytes: &'static [u8],
    /// Text of its `suite.yaml`; `None` where it has none.
    pub suite: Option<&'static str>,
    /// Its recorded answers.
    pub goldens: Option<&'static str>,
    /// Its fuel baseline.
    pub fuel: Option<&'static str>,
}

include!(concat!(env!("OUT_DIR"), "/modules.rs"));

/// The ranking policy of that name, with or without the hook in front.
pub fn ranking(name: &str) -> Option<&'static Shipped> {
    named(RANKING, name)
}

/// The consolidation policy of that name, with or without the hook in front.
pub fn consolidation(name: &str) -> Option<&'static Shipped> {
    named(CONSOLIDATION, name)
}

/// The budget policy of that name, with or without the hook in front.
pub fn budget(name: &str) -> Option<&'static Shipped> {
    named(BUDGET, name)
}

/// The policy of that name, whatever its hook, with or without the hook in front.
pub fn shipped(name: &str) -> Option<&'static Shipped> {
    ranking(name)
        .or_else(|| consolidation(name))
        .or_else(|| budget(name))
}

/// All policies that we ship.
pub fn all() -> impl Iterator<Item = &'static Shipped> {
    [RANKING, CONSOLIDATION, BUDGET].into_iter().flatten()
}

fn named(table: &'static [Shipped], name: &str) -> Option<&'static Shipped> {
    table
        .iter()
        .find(|shipped| shipped.name == name || shipped.package == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_modules_are_components_of_at_most_100_kilobytes() {
        for shipped in all() {
            assert!(
                shipped.bytes.starts_with(b"\0asm\x0d\0\x01\0"),
                "{}",
                shipped.package
            );
            assert!(
                shipped.bytes.len() <= 100_000,
                "{} has {} bytes",
                shipped.package,
                shipped.bytes.len()
            );
        }
    }

    #[test]
    fn a_policy_is_found_by_either_name_among_those_of_its_hook() {
        let short = ranking("spot-diversified").expect("it is shipped");
        assert_eq!(ranking("rank-spot-diversified"), Some(short));
        assert_eq!(ranking("cheapest"), None);
        assert_eq!(ranking("gentle"), None);
        assert!(consolidation("gentle").is_some());
        assert!(budget("budget-freeze-calendar").is_some());
    }
}
