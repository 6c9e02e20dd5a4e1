//! The zones of a region, assumed where they are not stated.
//!
//! No source of ours lists zones. A caller that knows them passes their names; else a region has the three zones `a`, `b`
//! and `c`, and sells every type in each of them. Real regions differ: accounts see two to six zones, and not every type in each.

/// The letters of the zones that a region is assumed to have.
pub const ASSUMED_ZONE_LETTERS: [&str; 3] = ["a", "b", "c"];

/// The zones that a region is assumed to have, such as `us-east-1a`, in order.
pub fn assumed_zones(region: &str) -> Vec<String> {
    ASSUMED_ZONE_LETTERS
        .iter()
        .map(|letter| format!("{region}{letter}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_the_region_and_a_letter() {
        assert_eq!(
            assumed_zones("us-gov-west-1"),
            ["us-gov-west-1a", "us-gov-west-1b", "us-gov-west-1c"]
        );
    }
}
