//! The catalogues of all classes: types in the zones of each class's subnets, and what addresses the subnets have left.

use std::sync::Arc;

use plimsoll_model::catalogue::{Catalogue, Catalogues, Subnet};

use crate::facts::facts;
use crate::served::ServedClass;

/// Catalogues of classes with the free addresses of their subnets. A class that is not among them sells nothing.
pub fn catalogues<'c>(
    classes: impl IntoIterator<Item = &'c Arc<ServedClass>>,
    free: impl IntoIterator<Item = Subnet>,
) -> Catalogues {
    let nothing = Catalogue::new(facts(), [], []);
    let sold = classes
        .into_iter()
        .map(|class| (class.reference(), Arc::clone(&class.catalogue)));
    let mut free: Vec<Subnet> = free.into_iter().collect();
    // A subnet that several classes use is there once, with what was seen last.
    free.sort_by(|one, other| one.id.cmp(&other.id));
    free.dedup_by(|one, other| one.id == other.id);
    Catalogues::new(Arc::new(nothing), sold).with_subnets(free)
}
