//! KWOK as a provider: its calls, and nodes that come up for the claims that the engine is told of.

use std::sync::{Arc, Mutex, PoisonError};

use kube::Client;
use plimsoll_core::action::CloudCall;
use plimsoll_core::catalogue::Catalogues;
use plimsoll_core::engine::Input;
use plimsoll_core::time::Timestamp;
use plimsoll_kwok::{Boots, Kwok};

use super::{Calling, Provider};

struct Machines {
    kwok: Kwok,
    boots: Mutex<Boots>,
    catalogues: Arc<Catalogues>,
}

/// The provider whose machines are Node objects, at an API server, which sells each class what its catalogue lists.
pub fn kwok(client: Client, catalogues: Arc<Catalogues>) -> Arc<dyn Provider> {
    let kwok = Kwok::new(client, Arc::clone(&catalogues));
    Arc::new(Machines {
        boots: Mutex::new(Boots::new(kwok.clone())),
        kwok,
        catalogues,
    })
}

impl Provider for Machines {
    fn catalogues(&self) -> Arc<Catalogues> {
        Arc::clone(&self.catalogues)
    }

    fn call<'a>(&'a self, call: &'a CloudCall) -> Calling<'a> {
        Box::pin(self.kwok.call(call))
    }

    fn observe(&self, input: &Input, now: Timestamp) {
        let mut boots = self.boots.lock().unwrap_or_else(PoisonError::into_inner);
        boots.observe(input, now);
    }
}
