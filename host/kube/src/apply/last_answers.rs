//! Claims as the server last answered with them.
//!
//! What is written on a claim is the difference to what stands there. Most writes follow one another: what the engine has seen is what the
//! server answered last, so that it need not be read again. An order that names another version, or none, is carried out on the object as
//! it is read.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use kube::ResourceExt;
use kube::core::DynamicObject;
use plimsoll_base::ids::ClaimName;
use plimsoll_model::Version;

use super::written;

/// Claims kept, those written last: a burst of this many is launched and registered without a read.
const MOST: usize = 1000;

/// The last answers, by the claim's name.
#[derive(Debug, Default)]
pub(super) struct LastAnswers {
    inner: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_name: BTreeMap<ClaimName, DynamicObject>,
    /// The same names, the oldest first.
    order: VecDeque<ClaimName>,
}

impl LastAnswers {
    /// Takes out a claim as it was answered; `None` where that is not known to be this version.
    pub(super) fn take(&self, name: &ClaimName, version: Option<Version>) -> Option<DynamicObject> {
        let mut kept = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let claim = kept.by_name.remove(name)?;
        kept.order.retain(|own| own != name);
        let is_it = version.is_some() && claim.resource_version() == written(version);
        is_it.then_some(claim)
    }

    /// Keeps an answer, in place of an earlier one.
    pub(super) fn put(&self, name: &ClaimName, claim: &DynamicObject) {
        let mut claim = claim.clone();
        claim.metadata.managed_fields = None;
        let mut kept = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.by_name.insert(name.clone(), claim).is_none() {
            kept.order.push_back(name.clone());
        }
        if kept.order.len() > MOST
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.by_name.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claim(name: &str, version: u64) -> DynamicObject {
        let object = json!({
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "metadata": {"name": name, "resourceVersion": version.to_string()},
        });
        serde_json::from_value(object).unwrap()
    }

    #[test]
    fn an_answer_serves_the_order_that_names_its_version_and_no_other() {
        let answers = LastAnswers::default();
        let name = ClaimName::from("general-a");
        let take = |version: Option<u64>| answers.take(&name, version.map(Version)).is_some();
        assert!(!take(Some(7)), "nothing was answered");
        answers.put(&name, &claim("general-a", 7));
        assert!(take(Some(7)));
        assert!(!take(Some(7)), "it was taken");
        answers.put(&name, &claim("general-a", 7));
        answers.put(&name, &claim("general-a", 8));
        assert!(!take(Some(7)), "there is a later one");
        answers.put(&name, &claim("general-a", 7));
        assert!(
            !take(None),
            "any version will do, and there may be a later one"
        );
    }

    #[test]
    fn the_oldest_make_room() {
        let answers = LastAnswers::default();
        let names: Vec<ClaimName> = (0..=MOST)
            .map(|at| ClaimName::from(format!("general-{at}").as_str()))
            .collect();
        for name in &names {
            answers.put(name, &claim(name.as_str(), 7));
        }
        let known = |name: &ClaimName| answers.take(name, Some(Version(7))).is_some();
        assert!(!known(&names[0]));
        assert!(known(&names[1]));
        assert!(known(&names[MOST]));
    }
}
