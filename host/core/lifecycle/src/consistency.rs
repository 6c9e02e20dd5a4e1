//! Consistency of a claim's node with what was promised of it: of each resource that the claim asks for, the node has at least nine tenths
//! of what its instance was to have.
//!
//! It is told and changes nothing else; the rule, its reasons and words are Karpenter's. Of a claim whose node is not complete nothing
//! is said: it may be about to report what it lacks.

use plimsoll_model::{ClaimPhase, ConditionType, DesiredCondition};

use super::ClaimView;

/// The least part that a node has to have of what was promised, in hundredths.
const LEAST: i128 = 90;

/// The condition of a claim that has come so far; `None` where nothing can be said.
pub(super) fn found(view: &ClaimView<'_>, phase: ClaimPhase) -> Option<DesiredCondition> {
    if phase < ClaimPhase::Initialized || view.only_node().is_none() {
        return None;
    }
    let kind = ConditionType::ConsistentStateFound;
    let is_consistent = issues(view).is_empty();
    Some(if is_consistent {
        DesiredCondition::holds(kind)
    } else {
        DesiredCondition::fails(kind, "ConsistencyCheckFailed", "Consistency Check Failed")
    })
}

/// Resources of which a claim's node has less than it should, one by one, in words.
pub(super) fn issues(view: &ClaimView<'_>) -> Vec<String> {
    let claim = view.claim;
    let Some((node, _)) = view.only_node() else {
        return Vec::new();
    };
    let requested = claim.requests.iter().filter(|(_, asked)| *asked != 0);
    let lacking = requested.filter_map(|(name, _)| {
        let (promised, has) = (claim.capacity.get(name), node.capacity.get(name));
        let is_less = i128::from(has) * 100 < i128::from(promised) * LEAST;
        (promised > 0 && is_less).then(|| {
            let share = i128::from(has) * 1000 / i128::from(promised);
            let [promised, has] = [promised, has].map(|it| name.amount_text(it));
            format!(
                "expected {promised} of resource {name}, but found {has} ({}.{}% of expected)",
                share / 10,
                share % 10
            )
        })
    });
    lacking.collect()
}
