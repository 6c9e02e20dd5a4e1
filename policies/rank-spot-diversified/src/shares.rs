//! Shares of running spot nodes by zone and by family, among the offerings that some pool may buy.

use plimsoll_sdk::ranking::{Capacity, Offering, PriceTable};

/// Running spot nodes, counted once per offering however many pools may buy it.
pub(crate) struct Shares {
    nodes: u32,
    /// By number of the zone.
    zones: Vec<Place>,
    zones_with_spot: u32,
    /// By number of the family.
    families: Vec<Place>,
    /// Distinct (family, zone) pairs met so far, for numbering groups.
    groups: Vec<Vec<u32>>,
    groups_given: u32,
}

#[derive(Clone, Default)]
struct Place {
    nodes: u32,
    known: bool,
}

impl Shares {
    pub(crate) fn count(table: &PriceTable) -> Self {
        let mut shares = Self {
            nodes: 0,
            zones: Vec::new(),
            zones_with_spot: 0,
            families: Vec::new(),
            groups: Vec::new(),
            groups_given: 0,
        };
        table.each_offering(|offering| {
            if offering.capacity() == Capacity::Spot {
                shares.add(offering);
            }
        });
        shares
    }

    fn add(&mut self, offering: &Offering) {
        let running = offering.running();
        self.nodes += running;
        let zone = slot(&mut self.zones, offering.zone_key() as usize);
        zone.nodes += running;
        if !std::mem::replace(&mut zone.known, true) {
            self.zones_with_spot += 1;
        }
        slot(&mut self.families, offering.family_key() as usize).nodes += running;
    }

    /// The zone's share of all spot nodes above an even share, 0 to 1.
    pub(crate) fn zone_excess(&self, offering: &Offering) -> f64 {
        let even = 1.0 / f64::from(self.zones_with_spot.max(1));
        self.excess(&self.zones, offering.zone_key(), even)
    }

    /// The family's share of all spot nodes above `free`, 0 to 1.
    pub(crate) fn family_excess(&self, offering: &Offering, free: f64) -> f64 {
        self.excess(&self.families, offering.family_key(), free)
    }

    /// Number of the offering's family in its zone, from 1: rows of one number share their count of first nodes.
    pub(crate) fn group(&mut self, offering: &Offering) -> u32 {
        let zones = slot(&mut self.groups, offering.family_key() as usize);
        let group = slot(zones, offering.zone_key() as usize);
        if *group == 0 {
            self.groups_given += 1;
            *group = self.groups_given;
        }
        *group
    }

    fn excess(&self, places: &[Place], key: u32, free: f64) -> f64 {
        if self.nodes == 0 {
            return 0.0;
        }
        let here = places.get(key as usize).map_or(0, |place| place.nodes);
        (f64::from(here) / f64::from(self.nodes) - free).max(0.0)
    }
}

/// The element at `index`, the list made longer where it is too short.
fn slot<T: Clone + Default>(list: &mut Vec<T>, index: usize) -> &mut T {
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    &mut list[index]
}
