//! The catalogues of all classes of nodes: one for each class, shared by classes that sell the same.
//!
//! Kubelet settings, images and disks are a class's, so that a type has another capacity, and another part of it for pods, on
//! nodes of another class.
//!
//! - Equal catalogues are one, so that what is read of them is read once.
//! - Types stand at the same places in all of them, and the same keys are well known: a position that was found in one holds
//!   in the others. A type that a class does not sell stands there without offerings.
//! - All are one provider's.
//! - A reservation, and the addresses of a subnet, are there once, whatever classes may use them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::{ReservationId, TypeName};
use plimsoll_base::labels::LabelKey;
use serde::{Deserialize, Serialize};

use super::{Catalogue, InstanceType, Subnet, subnets};
use crate::ClassRef;
use crate::provider::ProviderFacts;

/// Catalogue of each class of nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Catalogues {
    /// Each once, and at least one; the first is that of every class that is not named.
    distinct: Vec<Arc<Catalogue>>,
    /// Position of each named class's among them.
    by_class: BTreeMap<ClassRef, usize>,
    /// By id.
    subnets: Vec<Subnet>,
}

/// The form in files.
#[derive(Deserialize, Serialize)]
struct Written {
    others: Arc<Catalogue>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    classes: Vec<(Vec<ClassRef>, Arc<Catalogue>)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    subnets: Vec<Subnet>,
}

impl From<Written> for Catalogues {
    fn from(written: Written) -> Self {
        let classes = written.classes.into_iter();
        let by_class = classes.flat_map(|(classes, catalogue)| {
            let one = move |class| (class, Arc::clone(&catalogue));
            classes.into_iter().map(one)
        });
        Self::new(written.others, by_class).with_subnets(written.subnets)
    }
}

impl From<Catalogues> for Written {
    fn from(catalogues: Catalogues) -> Self {
        let distinct = catalogues.distinct.iter().enumerate().skip(1);
        let classes = distinct.map(|(number, catalogue)| {
            let own = catalogues.by_class.iter();
            let own = own.filter(|(_, at)| **at == number);
            let own = own.map(|(class, _)| class.clone());
            (own.collect(), Arc::clone(catalogue))
        });
        Self {
            classes: classes.collect(),
            others: Arc::clone(catalogues.of_others()),
            subnets: catalogues.subnets,
        }
    }
}

/// Nothing is sold.
impl Default for Catalogues {
    fn default() -> Self {
        Self::from(Catalogue::default())
    }
}

/// The same for every class.
impl From<Catalogue> for Catalogues {
    fn from(catalogue: Catalogue) -> Self {
        Self::new(Arc::new(catalogue), [])
    }
}

impl Catalogues {
    /// From the catalogue of every named class, and that of all others.
    pub fn new(
        others: Arc<Catalogue>,
        by_class: impl IntoIterator<Item = (ClassRef, Arc<Catalogue>)>,
    ) -> Self {
        let mut distinct = vec![others];
        let mut numbers = BTreeMap::new();
        for (class, catalogue) in by_class {
            let known = distinct
                .iter()
                .position(|known| Arc::ptr_eq(known, &catalogue) || *known == catalogue);
            let number = known.unwrap_or(distinct.len());
            if known.is_none() {
                distinct.push(catalogue);
            }
            numbers.insert(class, number);
        }
        align(&mut distinct);
        Self {
            distinct,
            by_class: numbers,
            subnets: Vec::new(),
        }
    }

    /// The same with other subnets, in any order; without any, nothing is known of free addresses.
    #[must_use]
    pub fn with_subnets(mut self, subnets: impl IntoIterator<Item = Subnet>) -> Self {
        self.subnets = subnets.into_iter().collect();
        self.subnets.sort();
        self
    }

    /// The catalogue of a class.
    pub fn of(&self, class: &ClassRef) -> &Arc<Catalogue> {
        &self.distinct[self.number_of(class)]
    }

    /// The catalogue of every class that is not named; positions of types and well-known keys are those of all.
    pub fn of_others(&self) -> &Arc<Catalogue> {
        &self.distinct[0]
    }

    /// Every catalogue once, that of the others first.
    pub fn distinct(&self) -> &[Arc<Catalogue>] {
        &self.distinct
    }

    /// Position of a class's catalogue in [`Catalogues::distinct`].
    pub fn number_of(&self, class: &ClassRef) -> usize {
        self.by_class.get(class).copied().unwrap_or(0)
    }

    /// The classes that are named, in order.
    pub fn classes(&self) -> impl Iterator<Item = &ClassRef> {
        self.by_class.keys()
    }

    /// Position of the first catalogue that sells the type at `type_at` just as catalogue `number` does.
    pub fn first_alike(&self, number: usize, type_at: usize) -> usize {
        let own = &self.distinct[number].types()[type_at];
        let alike = |other: &Arc<Catalogue>| {
            let other = &other.types()[type_at];
            Arc::ptr_eq(own, other) || own == other
        };
        let before = self.distinct[..number].iter().position(alike);
        before.unwrap_or(number)
    }

    /// The same classes with a revision of each catalogue, which must keep the places of the types; catalogues are handed in
    /// with their positions.
    #[must_use]
    pub fn revised(
        &self,
        mut revise: impl FnMut(usize, &Arc<Catalogue>) -> Arc<Catalogue>,
    ) -> Self {
        let distinct = self.distinct.iter().enumerate();
        Self {
            distinct: distinct
                .map(|(number, catalogue)| revise(number, catalogue))
                .collect(),
            by_class: self.by_class.clone(),
            subnets: self.subnets.clone(),
        }
    }

    /// The same with each instance type of each catalogue changed; its name must stay.
    #[must_use]
    pub fn with_types(&self, change: impl Fn(&mut InstanceType)) -> Self {
        self.revised(|_, catalogue| {
            let types = catalogue.types().iter().map(|listed| {
                let mut own = InstanceType::clone(listed);
                change(&mut own);
                own
            });
            Arc::new(catalogue.with_types(types))
        })
    }

    /// Facts about who sells them all.
    pub fn provider(&self) -> &Arc<ProviderFacts> {
        self.of_others().provider()
    }

    /// `true` if a class is the provider's to serve: of a kind that it names, or listed with what it sells.
    pub fn serves(&self, class: &ClassRef) -> bool {
        self.by_class.contains_key(class) || self.provider().serves(class)
    }

    /// The kind of a class and the kinds that the provider serves, in words, where it does not serve the class.
    pub fn not_served(&self, class: &ClassRef) -> Option<String> {
        if self.serves(class) {
            return None;
        }
        let ClassRef { group, kind, .. } = class;
        let provider = self.provider();
        let served = provider.classes.iter();
        let served: Vec<String> = served
            .map(|own| format!("{}/{}", own.group, own.kind))
            .collect();
        Some(format!(
            "nodeClassRef is {group}/{kind}; provider {} serves {}",
            provider.name,
            served.join(", ")
        ))
    }

    /// Why a label may not be asked for; `None` where it may.
    pub fn restriction(&self, key: &LabelKey) -> Option<String> {
        self.of_others().restriction(key)
    }

    /// `true` if offerings, not types, decide the value of a label.
    pub fn is_of_offerings(&self, key: &LabelKey) -> bool {
        self.of_others().is_of_offerings(key)
    }

    /// `true` if new nodes will carry the label although no pool names it.
    pub fn is_well_known(&self, key: &LabelKey) -> bool {
        self.of_others().is_well_known(key)
    }

    /// Keys that are well known here beyond those that the provider always has.
    pub fn own_keys(&self) -> &BTreeSet<LabelKey> {
        self.of_others().own_keys()
    }

    /// Subnets that new nodes may be put in, by id; none where nothing is known of free addresses.
    pub fn subnets(&self) -> &[Subnet] {
        &self.subnets
    }

    /// Addresses that zones have left, as far as is known.
    pub fn free_addresses(&self) -> BTreeMap<Arc<str>, i64> {
        subnets::free_by_zone(&self.subnets)
    }

    /// Instances left in each reservation: the least of what the offerings that share it say.
    pub fn reservations(&self) -> BTreeMap<ReservationId, u32> {
        let types = self.distinct.iter().flat_map(|catalogue| catalogue.types());
        let offerings = types.flat_map(|listed| &listed.offerings);
        let mut result = BTreeMap::new();
        for reservation in offerings.filter_map(|offering| offering.reservation.as_ref()) {
            let left = result.entry(reservation.id.clone());
            let left = left.or_insert(reservation.remaining);
            *left = (*left).min(reservation.remaining);
        }
        result
    }
}

/// Puts the types of all catalogues at the same places, and makes the same keys well known in all.
fn align(catalogues: &mut [Arc<Catalogue>]) {
    let names = |catalogue: &Catalogue| -> Vec<TypeName> {
        let types = catalogue.types().iter();
        types.map(|listed| listed.name.clone()).collect()
    };
    let Some((first, others)) = catalogues.split_first() else {
        return;
    };
    let own = names(first);
    let is_aligned =
        |other: &Arc<Catalogue>| other.own_keys() == first.own_keys() && names(other) == own;
    if others.iter().all(is_aligned) {
        return;
    }
    let mut keys: BTreeSet<LabelKey> = BTreeSet::new();
    let mut unsold: BTreeMap<TypeName, InstanceType> = BTreeMap::new();
    for catalogue in catalogues.iter() {
        keys.extend(catalogue.own_keys().iter().cloned());
        for listed in catalogue.types() {
            let unsold = unsold.entry(listed.name.clone());
            unsold.or_insert_with(|| InstanceType {
                offerings: Vec::new(),
                ..InstanceType::clone(listed)
            });
        }
    }
    for catalogue in catalogues {
        let own = catalogue.types().iter();
        // Of two types with one name the later is kept.
        let types = unsold
            .values()
            .cloned()
            .chain(own.map(|own| InstanceType::clone(own)));
        let provider = Arc::clone(catalogue.provider());
        *catalogue = Arc::new(Catalogue::new(provider, types, keys.iter().cloned()));
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_base::requirement::Requirements;
    use plimsoll_base::resources::{ResourceName, Resources};
    use plimsoll_base::units::PricePerHour;

    use super::*;
    use crate::catalogue::{CapacityType, Offering};

    fn class(name: &str) -> ClassRef {
        ClassRef {
            group: "karpenter.example.cloud".into(),
            kind: "MachineClass".into(),
            name: name.into(),
        }
    }

    fn sold(name: &str, pods: i64) -> InstanceType {
        let price = PricePerHour::from_nanos(1);
        InstanceType {
            name: TypeName::from(name),
            requirements: Requirements::new(),
            capacity: Resources::new().with(ResourceName::Pods, pods),
            overhead: Resources::new(),
            offerings: vec![Offering::new("a", CapacityType::OnDemand, price)],
            attach_limits: BTreeMap::new(),
        }
    }

    fn catalogue(types: &[(&str, i64)]) -> Arc<Catalogue> {
        let types = types.iter().map(|(name, pods)| sold(name, *pods));
        Arc::new(Catalogue::new(Arc::default(), types, []))
    }

    fn pods(catalogue: &Catalogue, name: &str) -> i64 {
        let listed = catalogue.get(name).expect("it is there");
        listed.capacity.get(&ResourceName::Pods)
    }

    #[test]
    fn classes_that_sell_the_same_share_one_catalogue() {
        let listed = [("m.large", 29)];
        let classes = [
            ("b", catalogue(&listed)),
            ("c", catalogue(&[("m.large", 8)])),
        ];
        let classes = classes.map(|(name, catalogue)| (class(name), catalogue));
        let all = Catalogues::new(catalogue(&listed), classes);
        assert!(Arc::ptr_eq(all.of(&class("b")), all.of_others()));
        assert!(Arc::ptr_eq(all.of(&class("unknown")), all.of_others()));
        assert_eq!(pods(all.of(&class("c")), "m.large"), 8);
        assert_eq!(all.distinct().len(), 2);
    }

    #[test]
    fn types_stand_at_the_same_places_and_unsold_ones_have_no_offerings() {
        let few = catalogue(&[("m.large", 8)]);
        let others = catalogue(&[("a.large", 4), ("m.large", 29)]);
        let all = Catalogues::new(others, [(class("few"), few)]);
        let few = all.of(&class("few"));
        let names = |catalogue: &Catalogue| -> Vec<String> {
            let types = catalogue.types().iter();
            types.map(|listed| listed.name.to_string()).collect()
        };
        assert_eq!(names(few), names(all.of_others()));
        assert!(few.types()[0].offerings.is_empty());
        assert_eq!(pods(few, "m.large"), 8);
        assert_eq!(all.first_alike(1, 1), 1);
    }
}
