//! Plan fidelity: pods that the scheduler bound where they were planned.

use plimsoll_core::action::{Answer, Outcome};
use plimsoll_core::engine::{Engine, Input, Landing};
use plimsoll_core::model::Object;
use plimsoll_core::time::Timestamp;

/// Counts of bound pods that stood for a promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fidelity {
    /// Bound to a node that their group was promised.
    pub as_planned: u64,
    /// Bound elsewhere, before any node promised to their group could be used.
    pub sooner: u64,
    /// Bound elsewhere, though one promised could be used.
    pub elsewhere: u64,
}

impl Fidelity {
    /// Counts a binding, before the engine hears of it.
    pub fn observe(&mut self, engine: &Engine, input: &Input, now: Timestamp) {
        let (Input::Applied(Object::Pod(pod), _)
        | Input::Outcome(_, Outcome::Done(Answer::Object(Object::Pod(pod), _)))) = input
        else {
            return;
        };
        let Some(node) = &pod.node else { return };
        let waited = engine.cluster().pods.get(&pod.name);
        if waited.is_none_or(|before| before.node.is_some() || before.uid != pod.uid) {
            return;
        }
        match engine.landings(now).of(pod, node) {
            Some(Landing::AsPlanned) => self.as_planned += 1,
            Some(Landing::Sooner) => self.sooner += 1,
            Some(Landing::Elsewhere) => self.elsewhere += 1,
            None => {}
        }
    }
}
