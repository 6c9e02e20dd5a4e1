//! Capacity learned from nodes, type by type, where it is less than was computed.
//!
//! Allocatable is computed before there is a machine: memory above all is an estimate, since hypervisor and firmware keep a
//! part that no list names. Nodes that have come up say what is really there. New nodes of their type are planned with the
//! least that any of them had, and a type of which no node fell short is sold as computed.
//!
//! - Of a node that has less than [`CREDIBLE_PERCENT`] of what was computed nothing is learned: it is broken or set up in its
//!   own way, and no measure of its type.
//! - Offerings that state an amount of their own teach nothing about it, and one that states an overhead of its own keeps it.
//! - Amounts in bytes count in whole mebibytes, so that machines that differ by a few pages teach the same.
//!
//! Contract: the section on discovered capacity of the AWS provider. Other than there the values do not end with time: they
//! are held in memory, and another engine learns from the nodes it finds.

use std::collections::BTreeMap;

use super::{InstanceType, Offering, room};
use crate::ids::TypeName;
use crate::resources::{ResourceName, Resources};

/// The least share of what was computed that is believed, in percent.
pub const CREDIBLE_PERCENT: i64 = 75;
/// Resources that are learned: those that every node has. Devices come and go with their drivers.
const MEASURED: [ResourceName; 4] = [
    ResourceName::Cpu,
    ResourceName::Memory,
    ResourceName::EphemeralStorage,
    ResourceName::Pods,
];
const MEBIBYTE: i64 = 1 << 20;

/// The least that nodes had, by type; only what is less than was computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    least: BTreeMap<TypeName, Resources>,
}

impl Learned {
    /// A node of a type has this much for pods; whether that is news.
    pub fn note(
        &mut self,
        listed: &InstanceType,
        offering: Option<&Offering>,
        seen: &Resources,
    ) -> bool {
        let computed = room(&listed.capacity, &listed.overhead);
        let mut news = false;
        for name in MEASURED.iter().filter(|name| !states(offering, name)) {
            let amount = coarse(name, seen.get(name));
            let known = self.least.get(&listed.name);
            let known = known.filter(|least| least.contains(name));
            let computed = computed.get(name);
            let least = known.map_or(computed, |least| least.get(name).min(computed));
            if seen.get(name) >= least || !is_credible(amount, computed) {
                continue;
            }
            let of_type = self.least.entry(listed.name.clone()).or_default();
            of_type.set(name.clone(), amount);
            news = true;
        }
        news
    }

    /// The least that nodes of a type had, of what fell short.
    pub fn of(&self, instance_type: &str) -> Option<&Resources> {
        self.least.get(instance_type)
    }

    /// Lowers a listed type to what its nodes had.
    pub fn apply(&self, listed: &mut InstanceType) {
        let Some(least) = self.least.get(&listed.name) else {
            return;
        };
        for (name, amount) in least.iter() {
            let computed = room(&listed.capacity, &listed.overhead);
            let lost = computed.get(name).saturating_sub(amount);
            if lost > 0 {
                let kept = listed.overhead.get(name).saturating_add(lost);
                listed.overhead.set(name.clone(), kept);
            }
        }
    }
}

fn states(offering: Option<&Offering>, name: &ResourceName) -> bool {
    offering.is_some_and(|offering| {
        offering.capacity_override.contains(name) || offering.overhead_override.contains(name)
    })
}

fn coarse(name: &ResourceName, amount: i64) -> i64 {
    match name {
        ResourceName::Memory | ResourceName::EphemeralStorage => amount - amount % MEBIBYTE,
        _ => amount,
    }
}

fn is_credible(amount: i64, computed: i64) -> bool {
    amount > 0 && i128::from(amount) * 100 >= i128::from(computed) * i128::from(CREDIBLE_PERCENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::CapacityType;
    use crate::requirement::Requirements;
    use crate::units::PricePerHour;

    const GIBIBYTE: i64 = 1 << 30;

    fn offering() -> Offering {
        Offering::new("a", CapacityType::OnDemand, PricePerHour::from_nanos(1))
    }

    fn listed() -> InstanceType {
        InstanceType {
            name: TypeName::from("m.large"),
            requirements: Requirements::new(),
            capacity: memory(8 * GIBIBYTE).with(ResourceName::Pods, 29),
            overhead: memory(GIBIBYTE),
            offerings: vec![offering()],
            attach_limits: BTreeMap::new(),
        }
    }

    fn memory(amount: i64) -> Resources {
        Resources::new().with(ResourceName::Memory, amount)
    }

    fn memory_left(learned: &Learned, mut listed: InstanceType) -> i64 {
        learned.apply(&mut listed);
        listed.allocatable(&offering()).get(&ResourceName::Memory)
    }

    #[test]
    fn a_type_is_planned_with_the_least_that_any_node_had() {
        let mut learned = Learned::default();
        for (seen, news, left) in [
            (7 * GIBIBYTE, false, 7 * GIBIBYTE),
            (9 * GIBIBYTE, false, 7 * GIBIBYTE),
            (7 * GIBIBYTE - 100 * MEBIBYTE, true, 7068 * MEBIBYTE),
            (7 * GIBIBYTE - 50 * MEBIBYTE, false, 7068 * MEBIBYTE),
            (7 * GIBIBYTE - 200 * MEBIBYTE, true, 6968 * MEBIBYTE),
        ] {
            assert_eq!(learned.note(&listed(), None, &memory(seen)), news, "{seen}");
            assert_eq!(memory_left(&learned, listed()), left, "{seen}");
        }
    }

    #[test]
    fn pages_do_not_count_and_the_same_node_teaches_once() {
        let mut learned = Learned::default();
        let short = 7 * GIBIBYTE - 100 * MEBIBYTE;
        assert!(learned.note(&listed(), None, &memory(short + 5)));
        assert!(!learned.note(&listed(), None, &memory(short + 5)));
        assert!(!learned.note(&listed(), None, &memory(short)));
        assert_eq!(memory_left(&learned, listed()), short);
    }

    #[test]
    fn a_list_that_computes_less_by_itself_is_not_lowered_again() {
        let mut learned = Learned::default();
        assert!(learned.note(&listed(), None, &memory(6 * GIBIBYTE)));
        let mut better = listed();
        better.overhead = memory(3 * GIBIBYTE);
        assert_eq!(memory_left(&learned, better), 5 * GIBIBYTE);
    }

    #[test]
    fn broken_nodes_and_absent_amounts_teach_nothing() {
        let mut learned = Learned::default();
        for seen in [0, -1, GIBIBYTE, 5 * GIBIBYTE] {
            assert!(!learned.note(&listed(), None, &memory(seen)), "{seen}");
        }
        assert!(!learned.note(&listed(), None, &Resources::new()));
        assert_eq!(learned, Learned::default());
    }

    #[test]
    fn huge_pages_are_taken_off_once() {
        let huge = ResourceName::from("hugepages-2Mi");
        let mut listed = listed();
        listed.capacity.set(huge, GIBIBYTE);
        let mut learned = Learned::default();
        assert!(!learned.note(&listed, None, &memory(6 * GIBIBYTE)));
        assert!(learned.note(&listed, None, &memory(5 * GIBIBYTE)));
        assert_eq!(memory_left(&learned, listed), 5 * GIBIBYTE);
    }

    #[test]
    fn offerings_that_state_their_own_amount_teach_nothing_about_it() {
        let mut learned = Learned::default();
        let mut own = offering();
        own.capacity_override = memory(7 * GIBIBYTE);
        assert!(!learned.note(&listed(), Some(&own), &memory(6 * GIBIBYTE)));
        let fewer_pods = memory(6 * GIBIBYTE).with(ResourceName::Pods, 25);
        assert!(learned.note(&listed(), Some(&own), &fewer_pods));
        assert_eq!(memory_left(&learned, listed()), 7 * GIBIBYTE);
        let of_type = learned.of("m.large").expect("pods fell short");
        assert_eq!(of_type.get(&ResourceName::Pods), 25);
    }
}
