//! KWOK as a provider: its calls, and nodes that come up for the claims that the engine is told of.

use std::sync::{Arc, Mutex, PoisonError};

use kube::Client;
use plimsoll_base::time::Timestamp;
use plimsoll_engine::Input;
use plimsoll_kwok::{Boots, Classes, Ending, FaultPlan, Kwok};
use plimsoll_model::action::CloudCall;
use plimsoll_model::catalogue::Catalogues;
use tokio::sync::mpsc::{Receiver, channel};

use super::{Calling, Provider, Telling};

/// Announcements that wait to be heard; instances wait for more.
const AHEAD: usize = 64;

struct KwokProvider {
    kwok: Kwok,
    boots: Mutex<Boots>,
    /// Instances that will end by themselves.
    ending: tokio::sync::Mutex<Receiver<Ending>>,
    classes: tokio::sync::Mutex<Classes>,
    catalogues: Arc<Catalogues>,
}

/// The provider whose instances are Node objects, at an API server, which sells each class what its catalogue lists; with what goes
/// wrong, where a plan says so.
pub fn kwok(
    client: Client,
    catalogues: Arc<Catalogues>,
    faults: Option<FaultPlan>,
) -> Arc<dyn Provider> {
    let classes = Classes::follow(&client);
    let mut kwok = Kwok::new(client, Arc::clone(&catalogues));
    if let Some(plan) = faults {
        kwok = kwok.with_faults(plan);
    }
    let (announce, ending) = channel(AHEAD);
    Arc::new(KwokProvider {
        boots: Mutex::new(Boots::new(kwok.clone(), announce)),
        ending: tokio::sync::Mutex::new(ending),
        classes: tokio::sync::Mutex::new(classes),
        kwok,
        catalogues,
    })
}

impl Provider for KwokProvider {
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

    fn next(&self) -> Telling<'_> {
        Box::pin(async {
            let (mut ending, mut classes) = (self.ending.lock().await, self.classes.lock().await);
            tokio::select! {
                Some((instance, says)) = ending.recv() => Input::Interrupted(instance, says),
                Some(told) = classes.next() => Input::Classes(told),
                else => std::future::pending().await,
            }
        })
    }
}
