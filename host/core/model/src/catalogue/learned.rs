//! Capacity learned from nodes, class by class and type by type, where it is less than was computed.
//!
//! Allocatable is computed before there is an instance: memory above all is an estimate, since hypervisor and firmware keep a
//! part that no list names. Nodes that have come up say what is really there. New nodes of their class and type are planned
//! with the least that any of them had, and a type of which no node fell short is sold as computed.
//!
//! - Allocatable depends on kubelet settings and image, which are a class's, so a node speaks for classes that sell what its
//!   own does. Memory that the instance itself lacks is missing whatever its kubelet keeps: until such a class has had a node of the
//!   type, the most that instances of other classes lacked is taken off there, too.
//! - Of a node that has less than [`CREDIBLE_PERCENT`] of what was computed nothing is learned: it is broken or set up in its
//!   own way, and no measure of its type.
//! - Offerings that state an amount of their own teach nothing about it, and one that states an overhead of its own keeps it.
//! - Amounts in bytes count in whole mebibytes, so that instances that differ by a few pages teach the same.
//!
//! Contract: the section on discovered capacity of the provider. Other than there the values do not end with time: they
//! are held in memory, and another engine learns from the nodes it finds.

use std::collections::BTreeMap;

use plimsoll_base::ids::TypeName;
use plimsoll_base::resources::{ResourceName, Resources};

use super::{InstanceType, NodeResources, Offering, room};
use crate::ClassRef;

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

/// Resources that nodes had, by class and type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// The least that was allocatable, of what is less than was computed; nothing for a type whose nodes all had that.
    least: BTreeMap<ClassRef, BTreeMap<TypeName, Resources>>,
    /// Bytes of memory that instances lacked at most, whatever their class.
    lacking: BTreeMap<TypeName, i64>,
}

/// News from one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lesson {
    /// Its class and type are sold smaller from now on.
    pub of_class: bool,
    /// Other classes may sell it in another size from now on.
    pub of_type: bool,
}

impl Learned {
    /// A node of a class and type, which lists `listed`, has this much.
    pub fn note(
        &mut self,
        class: &ClassRef,
        listed: &InstanceType,
        offering: Option<&Offering>,
        seen: &NodeResources,
    ) -> Lesson {
        let computed = room(&listed.capacity, &listed.overhead);
        let seen_here = seen.allocatable.get(&ResourceName::Memory);
        let speaks = is_credible(seen_here, computed.get(&ResourceName::Memory));
        let mut lesson = Lesson::default();
        for name in MEASURED.iter().filter(|name| !states(offering, name)) {
            let seen = seen.allocatable.get(name);
            let amount = coarse(name, seen);
            let known = self.of(class, &listed.name);
            let known = known.filter(|least| least.contains(name));
            let computed = computed.get(name);
            let least = known.map_or(computed, |least| least.get(name).min(computed));
            if seen >= least || !is_credible(amount, computed) {
                continue;
            }
            let of_class = self.least.entry(class.clone()).or_default();
            let of_type = of_class.entry(listed.name.clone()).or_default();
            of_type.set(name.clone(), amount);
            lesson.of_class = true;
        }
        if speaks && !states(offering, &ResourceName::Memory) {
            lesson.of_type = self.note_machine(class, listed, seen);
        }
        lesson
    }

    /// Notes the memory of the instance, and that its class has had a node of the type; whether either is new.
    fn note_machine(
        &mut self,
        class: &ClassRef,
        listed: &InstanceType,
        seen: &NodeResources,
    ) -> bool {
        let is_first = self.of(class, &listed.name).is_none();
        let of_class = self.least.entry(class.clone()).or_default();
        of_class.entry(listed.name.clone()).or_default();
        let known = self.lacking.get(&listed.name).copied().unwrap_or(0);
        let lacking = lacking(listed, &seen.capacity);
        if lacking > known {
            self.lacking.insert(listed.name.clone(), lacking);
        }
        lacking > known || (is_first && known > 0)
    }

    fn of(&self, class: &ClassRef, instance_type: &TypeName) -> Option<&Resources> {
        self.least.get(class)?.get(instance_type)
    }

    /// All that was learned of types as some classes sell them, which sell the same.
    pub fn of_classes(&self, are_meant: impl Fn(&ClassRef) -> bool) -> LearnedTypes<'_> {
        let classes = self.least.iter().filter(|(class, _)| are_meant(class));
        let mut least: BTreeMap<&TypeName, Resources> = BTreeMap::new();
        for (name, seen) in classes.flat_map(|(_, types)| types) {
            let least = least.entry(name).or_default();
            for (resource, amount) in seen.iter() {
                if !least.contains(resource) || amount < least.get(resource) {
                    least.set(resource.clone(), amount);
                }
            }
        }
        LearnedTypes {
            least,
            lacking: &self.lacking,
        }
    }
}

/// Lessons about types as one catalogue lists them.
#[derive(Clone, Debug)]
pub struct LearnedTypes<'l> {
    least: BTreeMap<&'l TypeName, Resources>,
    lacking: &'l BTreeMap<TypeName, i64>,
}

impl LearnedTypes<'_> {
    /// `true` if something is known of a type.
    pub fn speak_of(&self, instance_type: &TypeName) -> bool {
        let own = self.least.get(instance_type);
        own.map_or_else(
            || self.lacking.contains_key(instance_type),
            |least| !least.is_empty(),
        )
    }

    /// Lowers a listed type to what its nodes had.
    pub fn apply(&self, listed: &mut InstanceType) {
        let Some(least) = self.least.get(&listed.name) else {
            let lacking = self.lacking.get(&listed.name).copied().unwrap_or(0);
            keep(listed, &ResourceName::Memory, lacking);
            return;
        };
        for (name, amount) in least.iter() {
            let computed = room(&listed.capacity, &listed.overhead);
            let lost = computed.get(name).saturating_sub(amount);
            keep(listed, name, lost);
        }
    }
}

/// So much more of a resource is not for pods.
fn keep(listed: &mut InstanceType, name: &ResourceName, lost: i64) {
    if lost > 0 {
        let kept = listed.overhead.get(name).saturating_add(lost);
        listed.overhead.set(name.clone(), kept);
    }
}

/// Bytes of memory that an instance lacks of what its type was computed to have; none where it reports no credible amount.
fn lacking(listed: &InstanceType, capacity: &Resources) -> i64 {
    let memory = ResourceName::Memory;
    let (computed, there) = (listed.capacity.get(&memory), capacity.get(&memory));
    if there < computed && is_credible(there, computed) {
        computed.saturating_sub(coarse(&memory, there))
    } else {
        0
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
    use plimsoll_base::requirement::Requirements;
    use plimsoll_base::units::PricePerHour;

    use super::*;
    use crate::catalogue::CapacityType;

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

    fn class(name: &str) -> ClassRef {
        ClassRef {
            group: "karpenter.example.cloud".into(),
            kind: "MachineClass".into(),
            name: name.into(),
        }
    }

    /// A node of class `a` has so much for pods, and as much more in all as was computed.
    fn note(
        learned: &mut Learned,
        listed: &InstanceType,
        offering: Option<&Offering>,
        allocatable: &Resources,
    ) -> bool {
        let mut capacity = allocatable.clone();
        capacity.add(&listed.overhead);
        let seen = NodeResources {
            capacity,
            allocatable: allocatable.clone(),
        };
        learned.note(&class("a"), listed, offering, &seen).of_class
    }

    fn memory_left(learned: &Learned, listed: InstanceType) -> i64 {
        memory_left_of("a", learned, listed)
    }

    fn memory_left_of(name: &str, learned: &Learned, mut listed: InstanceType) -> i64 {
        let own = class(name);
        learned.of_classes(|class| *class == own).apply(&mut listed);
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
            let told = note(&mut learned, &listed(), None, &memory(seen));
            assert_eq!(told, news, "{seen}");
            assert_eq!(memory_left(&learned, listed()), left, "{seen}");
        }
    }

    #[test]
    fn pages_do_not_count_and_the_same_node_teaches_once() {
        let mut learned = Learned::default();
        let short = 7 * GIBIBYTE - 100 * MEBIBYTE;
        assert!(note(&mut learned, &listed(), None, &memory(short + 5)));
        assert!(!note(&mut learned, &listed(), None, &memory(short + 5)));
        assert!(!note(&mut learned, &listed(), None, &memory(short)));
        assert_eq!(memory_left(&learned, listed()), short);
    }

    #[test]
    fn a_list_that_computes_less_by_itself_is_not_lowered_again() {
        let mut learned = Learned::default();
        assert!(note(&mut learned, &listed(), None, &memory(6 * GIBIBYTE)));
        let mut better = listed();
        better.overhead = memory(3 * GIBIBYTE);
        assert_eq!(memory_left(&learned, better), 5 * GIBIBYTE);
    }

    #[test]
    fn broken_nodes_and_absent_amounts_teach_nothing() {
        let mut learned = Learned::default();
        for seen in [0, -1, GIBIBYTE, 5 * GIBIBYTE] {
            assert!(
                !note(&mut learned, &listed(), None, &memory(seen)),
                "{seen}"
            );
        }
        assert!(!note(&mut learned, &listed(), None, &Resources::new()));
        assert_eq!(learned, Learned::default());
    }

    #[test]
    fn huge_pages_are_taken_off_once() {
        let huge = ResourceName::from("hugepages-2Mi");
        let mut listed = listed();
        listed.capacity.set(huge, GIBIBYTE);
        let mut learned = Learned::default();
        assert!(!note(&mut learned, &listed, None, &memory(6 * GIBIBYTE)));
        assert!(note(&mut learned, &listed, None, &memory(5 * GIBIBYTE)));
        assert_eq!(memory_left(&learned, listed), 5 * GIBIBYTE);
    }

    #[test]
    fn offerings_that_state_their_own_amount_teach_nothing_about_it() {
        let mut learned = Learned::default();
        let mut own = offering();
        own.capacity_override = memory(7 * GIBIBYTE);
        assert!(!note(
            &mut learned,
            &listed(),
            Some(&own),
            &memory(6 * GIBIBYTE)
        ));
        let fewer_pods = memory(6 * GIBIBYTE).with(ResourceName::Pods, 25);
        assert!(note(&mut learned, &listed(), Some(&own), &fewer_pods));
        assert_eq!(memory_left(&learned, listed()), 7 * GIBIBYTE);
        let of_type = learned.of(&class("a"), &TypeName::from("m.large"));
        let of_type = of_type.expect("pods fell short");
        assert_eq!(of_type.get(&ResourceName::Pods), 25);
    }

    #[test]
    fn memory_that_machines_lack_counts_in_other_classes_until_they_have_a_node() {
        let mut learned = Learned::default();
        let short = 7 * GIBIBYTE - 100 * MEBIBYTE;
        note(&mut learned, &listed(), None, &memory(short));
        // Its kubelet keeps two more gibibytes for itself.
        let mut other = listed();
        other.overhead = memory(3 * GIBIBYTE);
        let left = |learned: &Learned| memory_left_of("b", learned, other.clone());
        assert_eq!(left(&learned), 5 * GIBIBYTE - 100 * MEBIBYTE);
        let whole = NodeResources {
            capacity: memory(8 * GIBIBYTE),
            allocatable: memory(5 * GIBIBYTE),
        };
        let lesson = learned.note(&class("b"), &other, None, &whole);
        assert!(lesson.of_type && !lesson.of_class);
        assert_eq!(left(&learned), 5 * GIBIBYTE);
        assert_eq!(memory_left(&learned, listed()), short);
    }

    #[test]
    fn other_amounts_of_a_class_say_nothing_of_another() {
        let mut learned = Learned::default();
        let fewer_pods = memory(6 * GIBIBYTE).with(ResourceName::Pods, 25);
        let seen = NodeResources {
            capacity: memory(8 * GIBIBYTE),
            allocatable: fewer_pods,
        };
        assert!(learned.note(&class("a"), &listed(), None, &seen).of_class);
        assert_eq!(memory_left_of("b", &learned, listed()), 7 * GIBIBYTE);
        assert_eq!(memory_left(&learned, listed()), 6 * GIBIBYTE);
    }
}
