//! A part of an amount of bytes, as settings give it: 7.5 % of memory, 10 % of a disk.
//!
//! Kept as whole parts per million, so that the same setting gives the same bytes on every machine.

/// Parts per million of an amount; a setting such as `5%` or `0.075`. May be above the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    parts_per_million: u32,
}

impl Share {
    /// All of it.
    pub const WHOLE: Self = Self::from_parts_per_million(1_000_000);

    /// A share of so many millionths.
    pub const fn from_parts_per_million(parts_per_million: u32) -> Self {
        Self { parts_per_million }
    }

    /// A share of so many whole percent, at most 4,294 (more is cut to that).
    pub const fn from_percent(percent: u32) -> Self {
        let percent = if percent > u32::MAX / 10_000 {
            u32::MAX / 10_000
        } else {
            percent
        };
        Self {
            parts_per_million: percent * 10_000,
        }
    }

    /// This share of `bytes`, rounded up to a multiple of `unit` bytes (a unit of 0 counts as 1), at most `u64::MAX`.
    pub fn of_rounded_up(self, bytes: u64, unit: u64) -> u64 {
        let unit = u128::from(unit.max(1));
        let units =
            (u128::from(bytes) * u128::from(self.parts_per_million)).div_ceil(1_000_000 * unit);
        u64::try_from(units * unit).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_round_up_to_the_unit() {
        let overhead = Share::from_parts_per_million(75_000);
        assert_eq!(
            overhead.of_rounded_up(16_384 << 20, 1 << 20),
            1_229 << 20,
            "1228.8 Mi rounds up"
        );
        assert_eq!(Share::from_percent(10).of_rounded_up(20 << 30, 1), 2 << 30);
        assert_eq!(Share::from_percent(10).of_rounded_up(1, 0), 1);
        assert_eq!(Share::from_percent(0).of_rounded_up(u64::MAX, 1 << 20), 0);
    }

    #[test]
    fn absurd_shares_are_cut_and_never_wrap() {
        assert_eq!(
            Share::from_percent(u32::MAX),
            Share::from_parts_per_million(4_294_960_000)
        );
        assert_eq!(
            Share::from_percent(200).of_rounded_up(u64::MAX, 1),
            u64::MAX
        );
    }
}
