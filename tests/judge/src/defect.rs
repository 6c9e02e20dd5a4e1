//! Rules that a plan can break, and a breach of one.

use std::fmt;

/// A rule of the judge that a plan broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// The product does not read a file that an API server would have taken.
    Unread,
    /// A waiting pod is neither placed nor refused nor told of.
    Missing,
    /// A claim buys what its pool does not sell.
    NotSold,
    /// The scheduler refuses a placement in the planned order.
    Placement,
    /// A planned pod does not bind in some order, nominations set.
    Binding,
    /// A pod is refused that a node would take which may be bought.
    Refusal,
    /// A pod is refused that a node takes which is there.
    Room,
    /// A claim that the API would refuse.
    Claim,
    /// The simulator's scheduler takes a pod on a node that refuses it, or the other way round.
    Simulated,
    /// A pool grows beyond its limits, or a reservation is drawn on more often than it has instances.
    Limit,
}

/// A rule that was broken, with what broke it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The rule.
    pub rule: Rule,
    /// The pod, the node and the scheduler's words.
    pub text: String,
}

impl Defect {
    /// A defect.
    pub const fn new(rule: Rule, text: String) -> Self {
        Self { rule, text }
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.text)
    }
}
