//! Hashes of Go structures, as `hashstructure` 2.0.2 makes them with lists as sets and without what is not set.
//!
//! Karpenter writes such hashes on its objects; ours equal them bit by bit, so that either side can take over from the other. The
//! hash of bytes is FNV-1 over 64 bits.
//!
//! | value | hash |
//! |---|---|
//! | text | that of its bytes |
//! | flag | that of one byte, 0 or 1 |
//! | number | that of its bytes at its width, the lowest first; a duration is one of nanoseconds, 8 bytes wide |
//! | pair | that of both hashes, as 16 bytes |
//! | list | the exclusive or of its entries: order does not count, and two that are equal cancel out |
//! | map | the exclusive or of its pairs, hashed |
//! | structure | that of its name; with each field that is set, the exclusive or with the pair of name and value, hashed |
//!
//! Empty text is not set, unless a pointer to it is; a list or map that is written and empty is set.

/// A structure, of whose fields some are in its hash.
#[derive(Clone, Copy, Debug)]
pub struct Structure(u64);

impl Structure {
    /// One of that type, none of whose fields is set.
    pub fn named(name: &str) -> Self {
        Self(of_text(name))
    }

    /// With the hash of a field, unless it is not set. Fields count in the order in which they are declared.
    #[must_use]
    pub fn field(self, name: &str, value: Option<u64>) -> Self {
        let Some(value) = value else {
            return self;
        };
        let with = self.0 ^ pair(of_text(name), value);
        Self(of_bytes(&with.to_le_bytes()))
    }

    /// With a field of text, which is not set where it is empty.
    #[must_use]
    pub fn text(self, name: &str, text: &str) -> Self {
        let value = (!text.is_empty()).then(|| of_text(text));
        self.field(name, value)
    }

    /// The hash.
    pub fn hash(self) -> u64 {
        self.0
    }
}

/// FNV-1: multiplied first, then mixed with the byte.
pub fn of_bytes(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| hash.wrapping_mul(0x0000_0100_0000_01b3) ^ u64::from(*byte);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Hash of text.
pub fn of_text(text: &str) -> u64 {
    of_bytes(text.as_bytes())
}

/// Hash of a flag.
pub fn of_flag(flag: bool) -> u64 {
    of_bytes(&[u8::from(flag)])
}

/// Hash of a number of 4 bytes.
pub fn of_i32(number: i32) -> u64 {
    of_bytes(&number.to_le_bytes())
}

/// Hash of a number of 8 bytes.
pub fn of_i64(number: i64) -> u64 {
    of_bytes(&number.to_le_bytes())
}

/// Hash of a list, of the hashes of its entries.
pub fn of_list(entries: impl IntoIterator<Item = u64>) -> u64 {
    entries.into_iter().fold(0, |all, one| all ^ one)
}

/// Hash of a map of texts.
pub fn of_map<'t>(entries: impl IntoIterator<Item = (&'t str, &'t str)>) -> u64 {
    let pairs = entries.into_iter();
    let all = of_list(pairs.map(|(key, value)| pair(of_text(key), of_text(value))));
    of_bytes(&all.to_le_bytes())
}

fn pair(first: u64, second: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&first.to_le_bytes());
    bytes[8..].copy_from_slice(&second.to_le_bytes());
    of_bytes(&bytes)
}
