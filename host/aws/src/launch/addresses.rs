//! Free addresses of subnets: as many as EC2 told last, less those that launches since then will take. Of the subnets of a zone a launch takes
//! the one that has most left, and one of which EC2 has said that it has too few comes after the others for a while.
//!
//! A node is taken to need an address for each pod that fits on it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_api::kinds::FoundSubnet;

/// A subnet that was short of addresses comes after the others for so long: Karpenter's time.
const SHORT: Duration = Duration::from_mins(3);

/// Addresses of subnets, by id.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    by_subnet: Mutex<BTreeMap<String, Subnet>>,
}

#[derive(Clone, Debug, Default)]
struct Subnet {
    /// Addresses that were free when EC2 told last; `None` where it has not.
    told: Option<i64>,
    /// Addresses for nodes that were launched since.
    launched: i64,
    /// Addresses for nodes of calls that are not answered yet.
    asked: i64,
    /// When EC2 said that there were too few.
    short: Option<Instant>,
}

impl Subnet {
    fn left(&self) -> i64 {
        self.told.unwrap_or(0) - self.launched - self.asked
    }

    fn is_short(&self, now: Instant) -> bool {
        let since = self.short;
        since.is_some_and(|since| now.saturating_duration_since(since) < SHORT)
    }
}

impl Addresses {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Subnet>> {
        self.by_subnet
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, subnet: &str, change: impl FnOnce(&mut Subnet)) {
        change(self.lock().entry(subnet.to_owned()).or_default());
    }

    /// EC2 has told how many addresses of a subnet are free: those of nodes that were launched before that are not among them.
    pub(crate) fn told(&self, subnet: &str, free: i64) {
        self.change(subnet, |own| {
            own.told = Some(free);
            own.launched = 0;
        });
    }

    /// EC2 has said that a subnet has too few.
    pub(crate) fn short(&self, subnet: &str, now: Instant) {
        self.change(subnet, |own| {
            own.told = Some(0);
            own.launched = 0;
            own.short = Some(now);
        });
    }

    /// An instance was launched into a subnet, which will need so many addresses.
    pub(crate) fn launched(&self, subnet: &str, addresses: i64) {
        self.change(subnet, |own| own.launched += addresses);
    }

    /// The subnet to launch into, for each zone. Of two with as many addresses left the one that comes first.
    pub(crate) fn choose<'s>(
        &self,
        subnets: &'s [FoundSubnet],
        now: Instant,
    ) -> BTreeMap<&'s str, &'s str> {
        let known = self.lock();
        let rank = |subnet: &FoundSubnet| match known.get(&subnet.id) {
            Some(own) => (!own.is_short(now), own.left()),
            None => (true, 0),
        };
        let mut best: BTreeMap<&str, ((bool, i64), &str)> = BTreeMap::new();
        for subnet in subnets {
            let own = (rank(subnet), subnet.id.as_str());
            let chosen = best.entry(&subnet.zone).or_insert(own);
            if own.0 > chosen.0 {
                *chosen = own;
            }
        }
        let chosen = best.into_iter();
        chosen.map(|(zone, (_, subnet))| (zone, subnet)).collect()
    }

    /// `true` if a zone has a subnet among these of which EC2 has not said that it has no address, or too few.
    pub(crate) fn has_room(&self, subnets: &[FoundSubnet], zone: &str, now: Instant) -> bool {
        let known = self.lock();
        let mut of_zone = subnets.iter().filter(|subnet| subnet.zone == zone);
        of_zone.any(|subnet| match known.get(&subnet.id) {
            Some(own) => !own.is_short(now) && own.told != Some(0),
            None => true,
        })
    }

    /// Takes so many addresses of subnets for a call that is about to be made, until the answer is dropped.
    pub(crate) fn ask(&self, wanted: BTreeMap<String, i64>) -> Asked<'_> {
        for (subnet, addresses) in &wanted {
            self.change(subnet, |own| own.asked += addresses);
        }
        Asked { of: self, wanted }
    }
}

/// Addresses that a call under way may take.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    of: &'a Addresses,
    wanted: BTreeMap<String, i64>,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        for (subnet, addresses) in &self.wanted {
            self.of.change(subnet, |own| own.asked -= addresses);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subnets(ids: &[(&str, &str)]) -> Vec<FoundSubnet> {
        let subnet = |(id, zone): &(&str, &str)| FoundSubnet {
            id: (*id).to_owned(),
            zone: (*zone).to_owned(),
            zone_id: None,
        };
        ids.iter().map(subnet).collect()
    }

    fn chosen(addresses: &Addresses, now: Instant) -> String {
        let subnets = subnets(&[("one", "a"), ("two", "a"), ("other", "b")]);
        let chosen = addresses.choose(&subnets, now);
        assert_eq!(chosen["b"], "other");
        chosen["a"].to_owned()
    }

    #[test]
    fn the_subnet_with_most_addresses_left_is_chosen_and_the_first_of_equals() {
        let (addresses, now) = (Addresses::default(), Instant::now());
        assert_eq!(chosen(&addresses, now), "one", "nothing is known");
        addresses.told("one", 100);
        addresses.told("two", 80);
        assert_eq!(chosen(&addresses, now), "one");
        // A call under way may take them, and does not.
        let asked = addresses.ask([("one".to_owned(), 29)].into());
        assert_eq!(chosen(&addresses, now), "two");
        drop(asked);
        assert_eq!(chosen(&addresses, now), "one");
        // It has taken them, until EC2 counts again.
        addresses.launched("one", 29);
        assert_eq!(chosen(&addresses, now), "two");
        addresses.told("one", 98);
        assert_eq!(chosen(&addresses, now), "one");
    }

    #[test]
    fn a_subnet_that_is_short_of_addresses_comes_last_for_its_time() {
        let (addresses, now) = (Addresses::default(), Instant::now());
        let zone = subnets(&[("one", "a"), ("two", "a")]);
        addresses.told("one", 100);
        addresses.told("two", 10);
        addresses.short("one", now);
        addresses.told("one", 100);
        assert_eq!(chosen(&addresses, now), "two");
        assert!(addresses.has_room(&zone, "a", now), "a sibling has some");
        addresses.short("two", now);
        assert!(!addresses.has_room(&zone, "a", now));
        let later = now + SHORT;
        assert_eq!(chosen(&addresses, later), "one");
        assert!(addresses.has_room(&zone, "a", later));
        assert!(!addresses.has_room(&zone, "c", later), "no subnet at all");
    }
}
