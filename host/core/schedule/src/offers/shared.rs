//! Pools that sell the same: what is read of one serves the others.
//!
//! A team with a pool of its own mostly differs from the next in its name, a label and a taint, none of which decides what can be bought.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_model::DaemonSet;
use plimsoll_model::catalogue::Catalogue;

use super::PoolOffers;
use super::templates::Template;

/// Offers of pools, by all that decides them.
#[derive(Default)]
pub(super) struct SharedOffers<'t> {
    known: Vec<(Decisive<'t>, Arc<PoolOffers>)>,
    /// By catalogue, the keys that its types, its offerings or daemons name.
    named: Vec<(&'t Arc<Catalogue>, BTreeSet<&'t str>)>,
}

/// All of a template that decides what its pool sells.
struct Decisive<'t> {
    catalogue: &'t Catalogue,
    class: usize,
    requirements: Vec<&'t Requirement>,
    /// Positions of the daemons that tolerate its taints.
    daemons: Vec<usize>,
}

impl Decisive<'_> {
    fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self.catalogue, other.catalogue)
            && self.class == other.class
            && self.requirements == other.requirements
            && self.daemons == other.daemons
    }
}

impl<'t> SharedOffers<'t> {
    /// Offers of a template's pool: those that were read for another that sells the same, or are read now. `daemons` are the positions of
    /// the daemons that tolerate its taints.
    pub(super) fn get(
        &mut self,
        template: &'t Template,
        daemon_sets: &'t [Arc<DaemonSet>],
        daemons: Vec<usize>,
        read: impl FnOnce() -> PoolOffers,
    ) -> Arc<PoolOffers> {
        let decisive = self.decisive(template, daemon_sets, daemons);
        let mut known = self.known.iter();
        if let Some((_, offers)) = known.find(|(other, _)| other.is(&decisive)) {
            return Arc::clone(offers);
        }
        let offers = Arc::new(read());
        self.known.push((decisive, Arc::clone(&offers)));
        offers
    }

    fn decisive(
        &mut self,
        template: &'t Template,
        daemon_sets: &'t [Arc<DaemonSet>],
        daemons: Vec<usize>,
    ) -> Decisive<'t> {
        let named = self.named(&template.catalogue, daemon_sets);
        let own = template.requirements.iter();
        Decisive {
            requirements: own
                .filter(|own| named.contains(own.key().as_str()))
                .collect(),
            catalogue: &template.catalogue,
            class: template.class,
            daemons,
        }
    }

    fn named(
        &mut self,
        catalogue: &'t Arc<Catalogue>,
        daemon_sets: &'t [Arc<DaemonSet>],
    ) -> &BTreeSet<&'t str> {
        let known = self.named.iter();
        let mut at = known
            .take_while(|(other, _)| !Arc::ptr_eq(other, catalogue))
            .count();
        if at == self.named.len() {
            self.named.push((catalogue, named(catalogue, daemon_sets)));
            at = self.named.len() - 1;
        }
        &self.named[at].1
    }
}

/// Keys that types, offerings or daemons name.
fn named<'t>(catalogue: &'t Catalogue, daemon_sets: &'t [Arc<DaemonSet>]) -> BTreeSet<&'t str> {
    let types = catalogue.types().iter();
    let of_types = types.flat_map(|sold| {
        let of_offerings = sold.offerings.iter().map(|offering| &offering.requirements);
        std::iter::once(&sold.requirements).chain(of_offerings)
    });
    let of_daemons = daemon_sets.iter().flat_map(|set| {
        let terms = set.pod.node_required.iter().map(|term| &term.requirements);
        std::iter::once(&set.pod.node_selector).chain(terms)
    });
    let all = of_types.chain(of_daemons).flat_map(Requirements::iter);
    let of_provider = catalogue.provider().reservation_id.iter();
    all.map(|requirement| requirement.key().as_str())
        .chain(of_provider.map(LabelKey::as_str))
        .chain([labels::ZONE, labels::CAPACITY_TYPE])
        .collect()
}
