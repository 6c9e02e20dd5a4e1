//! Seeded draws, one stream per purpose and object, so that one more object does not change the fate of all others.

use std::hash::Hash;

use plimsoll_base::fixed_hash::hash_of;

/// Where draws come from.
#[derive(Clone, Copy, Debug)]
pub struct Random {
    seed: u64,
}

impl Random {
    /// Draws of one run.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// A number for a purpose and an object; the same every time.
    pub fn number<T: Hash>(self, purpose: &str, object: T) -> u64 {
        mix(hash_of(&(self.seed, purpose, object)))
    }

    /// A number below `end`; 0 when `end` is 0.
    pub fn below<T: Hash>(self, purpose: &str, object: T, end: u64) -> u64 {
        let wide = u128::from(self.number(purpose, object)) * u128::from(end);
        u64::try_from(wide >> 64).expect("the high half of a product of two 64-bit numbers")
    }

    /// `true` if something of this likelihood, in millionths, happens.
    pub fn happens<T: Hash>(self, purpose: &str, object: T, millionths: u64) -> bool {
        self.below(purpose, object, 1_000_000) < millionths
    }
}

/// The final mix of SplitMix64.
fn mix(number: u64) -> u64 {
    let a = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let b = (a ^ (a >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    b ^ (b >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_seed_purpose_and_object_alone() {
        let random = Random::new(7);
        assert_eq!(random.number("boot", "a"), random.number("boot", "a"));
        assert_ne!(random.number("boot", "a"), random.number("boot", "b"));
        assert_ne!(random.number("boot", "a"), random.number("tie", "a"));
        assert_ne!(
            random.number("boot", "a"),
            Random::new(8).number("boot", "a")
        );
    }

    #[test]
    fn likelihoods_come_out_about_right() {
        let random = Random::new(1);
        let hits = (0..10_000_u32)
            .filter(|at| random.happens("coin", at, 250_000))
            .count();
        assert!((2300..2700).contains(&hits), "{hits}");
    }
}
