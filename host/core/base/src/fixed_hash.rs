//! One hash that is the same on every machine and in every run: FNV-1a over 64 bits, with a final mix.
//!
//! Used for identities that must be found again (actions, groups of pods, names of claims), never for hash tables that
//! strangers may fill. A second, [`order_of`], is made for speed and lives no longer than the program: look-ups go by it first.

use std::hash::{Hash, Hasher};

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// The hasher. Integers are fed as little-endian bytes, so that the machine does not show.
#[derive(Clone, Copy, Debug)]
pub struct FixedHasher(u64);

impl Default for FixedHasher {
    fn default() -> Self {
        Self(OFFSET)
    }
}

impl Hasher for FixedHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(PRIME);
        }
    }

    fn write_u16(&mut self, number: u16) {
        self.write(&number.to_le_bytes());
    }

    fn write_u32(&mut self, number: u32) {
        self.write(&number.to_le_bytes());
    }

    fn write_u64(&mut self, number: u64) {
        self.write(&number.to_le_bytes());
    }

    fn write_usize(&mut self, number: usize) {
        self.write(&(number as u64).to_le_bytes());
    }

    fn finish(&self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9fb2_1c65_1e98_df25);
        mixed ^ (mixed >> 28)
    }
}

/// The hash of a value.
pub fn hash_of<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = FixedHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The place of a key among others whose order means nothing: the same in every run, and cheaper than [`hash_of`]. Different keys
/// may have the same.
pub fn order_of<T: Hash + ?Sized>(key: &T) -> u64 {
    let mut hasher = OrderHasher::default();
    key.hash(&mut hasher);
    hasher.finish()
}

/// Takes eight bytes at a time, and mixes no more than it needs to tell names apart.
#[derive(Clone, Copy, Debug, Default)]
struct OrderHasher(u64);

impl OrderHasher {
    const FACTOR: u64 = 0x9fb2_1c65_1e98_df25;

    fn take(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(Self::FACTOR);
    }
}

impl Hasher for OrderHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        for word in words {
            self.take(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.take(u64::from_le_bytes(last));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.take(u64::from(number));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A short name made of a number: `length` letters and digits that are hard to misread, at most 12.
pub fn short_name(number: u64, length: usize) -> String {
    const LETTERS: &[u8; 32] = b"bcdfghjklmnpqrstvwxz2456789aeuyk";
    let letter = |at: usize| {
        let shifted = number >> (5 * at.min(12));
        char::from(LETTERS[usize::from(shifted.to_le_bytes()[0] & 31)])
    };
    (0..length.min(12)).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_the_same_in_every_run() {
        assert_eq!(hash_of("general"), hash_of("general"));
        assert_eq!(hash_of(&("pod", 7_u64)), hash_of(&("pod", 7_usize)));
        assert_ne!(hash_of("general"), hash_of("generam"));
    }

    #[test]
    fn places_of_keys_are_the_same_in_every_run_and_tell_names_apart() {
        assert_eq!(order_of("general"), order_of(&String::from("general")));
        let names: Vec<u64> = (0..1000)
            .map(|number| order_of(&format!("web-{number}")))
            .collect();
        let distinct: std::collections::BTreeSet<&u64> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        assert_eq!(order_of("web-7"), 0xf261_ac3a_1450_e4f0);
    }

    #[test]
    fn short_names_have_the_length_asked_for_and_differ() {
        assert_eq!(short_name(hash_of("a"), 8).len(), 8);
        assert_ne!(short_name(hash_of("a"), 8), short_name(hash_of("b"), 8));
    }
}
