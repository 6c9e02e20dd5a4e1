//! Sizes of nodes by the two resources that every one has, and how large a new one may be.

use std::collections::BTreeSet;
use std::fmt;

use plimsoll_base::resources::{ResourceName, Resources};

/// Amounts of the two resources by which nodes are sized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// Milli-cores.
    pub(crate) cpu_milli: i64,
    /// Bytes.
    pub(crate) memory: i64,
}

impl Size {
    /// The size of some resources.
    pub(crate) fn of(resources: &Resources) -> Self {
        Self {
            cpu_milli: resources.get(&ResourceName::Cpu),
            memory: resources.get(&ResourceName::Memory),
        }
    }

    /// Adds so many of another; amounts below zero count as none.
    pub(crate) fn add(&mut self, other: Self, times: i64) {
        let add = |sum: &mut i64, amount: i64| {
            *sum = sum.saturating_add(amount.max(0).saturating_mul(times));
        };
        add(&mut self.cpu_milli, other.cpu_milli);
        add(&mut self.memory, other.memory);
    }

    /// No more of a resource than some limits let, where they speak of it.
    pub(crate) fn within(self, limits: &Resources) -> Self {
        let least = |amount: i64, name: ResourceName| {
            if limits.contains(&name) {
                amount.min(limits.get(&name))
            } else {
                amount
            }
        };
        Self {
            cpu_milli: least(self.cpu_milli, ResourceName::Cpu),
            memory: least(self.memory, ResourceName::Memory),
        }
    }

    /// So many percent of it, rounded down. Without bound in a resource that nothing is requested of, where anything is of the
    /// other: a node has no share of it.
    pub(crate) fn percent(self, percent: u32) -> Self {
        let nothing = self == Self::default();
        let part = |amount: i64| {
            if amount == 0 && !nothing {
                return i64::MAX;
            }
            let part = i128::from(amount) * i128::from(percent) / 100;
            i64::try_from(part).unwrap_or(i64::MAX)
        };
        Self {
            cpu_milli: part(self.cpu_milli),
            memory: part(self.memory),
        }
    }

    /// The larger of the shares of cpu and memory that it is of a whole, in percent, rounded up; of a resource that the whole
    /// has nothing of there is no share. `None` of nothing.
    pub(crate) fn share_of(self, whole: Self) -> Option<i64> {
        let share = |part: i64, whole: i64| -> Option<i64> {
            let (part, whole) = (i128::from(part) * 100, i128::from(whole));
            let rounded = part.checked_add(whole - 1)?.checked_div(whole)?;
            i64::try_from(rounded).ok()
        };
        let cpu = share(self.cpu_milli, whole.cpu_milli);
        cpu.max(share(self.memory, whole.memory))
    }
}

impl fmt::Display for Size {
    /// `112.5 vCPU and 450 GiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths_of_gib = (i128::from(self.memory) * 10) >> 30;
        write!(f, "{} and ", Cores(self.cpu_milli))?;
        Tenths(tenths_of_gib).fmt(f)?;
        f.write_str(" GiB")
    }
}

/// Milli-cores as people read them: `112.5 vCPU`.
pub(crate) struct Cores(pub(crate) i64);

impl fmt::Display for Cores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Tenths(i128::from(self.0) / 100).fmt(f)?;
        f.write_str(" vCPU")
    }
}

/// A number in tenths, written without a tenth of zero.
struct Tenths(i128);

impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 10 {
            0 => write!(f, "{}", self.0 / 10),
            tenth => write!(f, "{}.{tenth}", self.0 / 10),
        }
    }
}

/// Up to which size a new node is never too large, or its share is small enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Largest {
    /// Milli-cores up to which no share is asked.
    pub(crate) from_cpu_milli: i64,
    /// Largest size of a node with more milli-cores than that.
    pub(crate) share: Size,
}

impl Largest {
    /// `true` if a node of this size may be bought.
    pub(crate) fn allows(&self, size: Size) -> bool {
        size.cpu_milli <= self.from_cpu_milli
            || (size.cpu_milli <= self.share.cpu_milli && size.memory <= self.share.memory)
    }
}

/// Amounts of cpu and of memory that types have, each ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes {
    cpu_milli: Vec<i64>,
    memory: Vec<i64>,
}

impl Sizes {
    /// The sizes of types, in any order.
    pub(crate) fn of(sizes: impl Iterator<Item = Size>) -> Self {
        let (cpu, memory): (BTreeSet<i64>, BTreeSet<i64>) =
            sizes.map(|size| (size.cpu_milli, size.memory)).unzip();
        Self {
            cpu_milli: cpu.into_iter().collect(),
            memory: memory.into_iter().collect(),
        }
    }

    /// The largest amounts that some type has and that are no larger than these: as a bound, the same. So answers that depend on
    /// a bound can be kept while a cluster grows by a few pods.
    pub(crate) fn at_most(&self, size: Size) -> Size {
        let below = |sold: &[i64], most: i64| {
            let at = sold.partition_point(|have| *have <= most);
            at.checked_sub(1).map_or(0, |at| sold[at])
        };
        Size {
            cpu_milli: below(&self.cpu_milli, size.cpu_milli),
            memory: below(&self.memory, size.memory),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GIB: i64 = 1 << 30;

    fn size(cpu_milli: i64, memory: i64) -> Size {
        Size { cpu_milli, memory }
    }

    fn largest(requested: Size, percent: u32, sold: &Sizes) -> Largest {
        Largest {
            from_cpu_milli: 48_000,
            share: sold.at_most(requested.percent(percent)),
        }
    }

    #[test]
    fn sizes_are_written_as_people_read_them() {
        let written = |cpu, memory| size(cpu, memory).to_string();
        assert_eq!(written(112_500, 450 * GIB), "112.5 vCPU and 450 GiB");
        assert_eq!(written(90, GIB / 2), "0 vCPU and 0.5 GiB");
    }

    #[test]
    fn the_larger_share_counts_and_is_rounded_up() {
        let whole = size(1000, 1000);
        assert_eq!(size(100, 501).share_of(whole), Some(51));
        assert_eq!(size(1600, 10).share_of(whole), Some(160));
        assert_eq!(size(1, 1).share_of(size(0, 5)), Some(20));
        assert_eq!(size(1, 1).share_of(size(0, 0)), None);
    }

    fn sizes() -> impl Strategy<Value = Vec<(i64, i64)>> {
        prop::collection::vec((1..400_000_i64, 1..3000 * GIB), 1..20)
    }

    proptest! {
        #[test]
        fn more_requests_or_a_larger_share_never_forbid_a_size(
            sold in sizes(), cpu in 0..9_000_000_i64, memory in 0..90_000 * GIB, more in (0..9_000_000_i64, 0..90_000 * GIB),
            percent in 0..=100_u32, further in 0..=100_u32,
        ) {
            let sold: Vec<Size> = sold.into_iter().map(|(cpu, memory)| size(cpu, memory)).collect();
            let all = Sizes::of(sold.iter().copied());
            let few = size(cpu, memory);
            let mut many = few;
            many.add(size(more.0, more.1), 1);
            let less = largest(few, percent, &all);
            let larger = largest(many, percent.max(further), &all);
            for own in sold {
                prop_assert!(!less.allows(own) || larger.allows(own));
                // Bounds in sizes that are sold say the same as bounds to the last byte.
                let exact = Largest { from_cpu_milli: 48_000, share: few.percent(percent) };
                prop_assert_eq!(less.allows(own), exact.allows(own));
            }
        }
    }
}
