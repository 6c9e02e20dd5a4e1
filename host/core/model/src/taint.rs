//! Taints, tolerations, and which taint keeps a pod away.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Key of the taint of nodes that are deleting.
pub const DISRUPTED_TAINT: &str = "karpenter.sh/disrupted";

/// Effect of a taint on pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Effect {
    /// Keeps them out.
    NoSchedule,
    /// Keeps them out where possible; hard for new nodes until a pod's preferences are relaxed.
    PreferNoSchedule,
    /// Keeps them out and evicts those that run.
    NoExecute,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::NoSchedule => "NoSchedule",
            Self::PreferNoSchedule => "PreferNoSchedule",
            Self::NoExecute => "NoExecute",
        })
    }
}

/// A taint on a node or in a pool's template.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Taint {
    /// The key.
    pub key: Arc<str>,
    /// The value; empty when none was given.
    pub value: Arc<str>,
    /// The effect.
    pub effect: Effect,
}

impl fmt::Display for Taint {
    /// `dedicated=web:NoSchedule`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.value.is_empty() {
            write!(f, "{}:{}", self.key, self.effect)
        } else {
            write!(f, "{}={}:{}", self.key, self.value, self.effect)
        }
    }
}

/// How a toleration compares values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TolerationOperator {
    /// The same value.
    Equal,
    /// Any value; with an empty key, any taint.
    Exists,
    /// The taint's integer is below the toleration's.
    Lt,
    /// The taint's integer is above the toleration's.
    Gt,
}

/// A taint, or a set of taints, that a pod tolerates.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Toleration {
    /// The key; empty matches every key together with `Exists`.
    pub key: Arc<str>,
    /// How values compare.
    pub operator: TolerationOperator,
    /// The value compared with.
    pub value: Arc<str>,
    /// The effect tolerated; `None` for every effect.
    pub effect: Option<Effect>,
}

impl Toleration {
    /// `true` if this toleration covers `taint`.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        if self.effect.is_some_and(|effect| effect != taint.effect) {
            return false;
        }
        if self.key.is_empty() {
            return self.operator == TolerationOperator::Exists;
        }
        if self.key != taint.key {
            return false;
        }
        let numbers = || {
            Some((
                taint.value.parse::<i64>().ok()?,
                self.value.parse::<i64>().ok()?,
            ))
        };
        match self.operator {
            TolerationOperator::Exists => true,
            TolerationOperator::Equal => self.value == taint.value,
            TolerationOperator::Lt => numbers().is_some_and(|(taint, bound)| taint < bound),
            TolerationOperator::Gt => numbers().is_some_and(|(taint, bound)| taint > bound),
        }
    }
}

/// The first taint that none of the tolerations covers, whatever its effect.
pub fn first_untolerated<'a>(taints: &'a [Taint], tolerations: &[Toleration]) -> Option<&'a Taint> {
    taints.iter().find(|taint| {
        !tolerations
            .iter()
            .any(|toleration| toleration.tolerates(taint))
    })
}

/// The taint of nodes that are deleting.
pub fn leaving_taint() -> Taint {
    Taint {
        key: Arc::from(DISRUPTED_TAINT),
        value: Arc::from(""),
        effect: Effect::NoSchedule,
    }
}

/// `true` if a taint is that of nodes that are deleting.
pub fn is_disrupted(taint: &Taint) -> bool {
    taint.key.as_ref() == DISRUPTED_TAINT
}
