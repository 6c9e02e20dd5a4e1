//! The pools that there are, and the share of them that one policy answers for: which, which not, and why.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::PoolName;
use plimsoll_base::time::Timestamp;
use plimsoll_base::words::shortened;
use plimsoll_model::{LabelSelector, NodePool};
use plimsoll_policy::{Generation, Hook};

use super::status::ConditionState;

/// The pools that there are.
#[derive(Clone, Debug, Default)]
pub struct Pools {
    by_name: BTreeMap<PoolName, Arc<NodePool>>,
    /// `true` once all have been seen that were there at the start.
    is_complete: bool,
}

impl Pools {
    /// Takes in a pool as it is now. `true` if other policies may answer for it.
    pub(crate) fn put(&mut self, pool: &Arc<NodePool>) -> bool {
        let before = self.by_name.insert(pool.name.clone(), Arc::clone(pool));
        before.is_none_or(|before| {
            before.own_labels != pool.own_labels || before.policies != pool.policies
        })
    }

    /// Takes note that a pool is gone. `true` if it was there.
    pub(crate) fn remove(&mut self, name: &PoolName) -> bool {
        self.by_name.remove(name).is_some()
    }

    /// Takes note that all have been seen that were there at the start. `true` if that is new.
    pub(crate) fn complete(&mut self) -> bool {
        !std::mem::replace(&mut self.is_complete, true)
    }

    /// `true` once all have been seen that were there at the start.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Arc<NodePool>> {
        self.by_name.values()
    }
}

/// A policy that decides, as it takes its share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claimant<'p> {
    pub(super) name: &'p str,
    pub(super) created: Option<Timestamp>,
    pub(super) hook: Hook,
    pub(super) serves: &'p LabelSelector,
}

/// Cause for which another policy answers for a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Precedence {
    /// The pool names it.
    Named,
    Older,
    /// It is as old, and its name comes first.
    First,
}

/// A pool of a policy's selection that another policy answers for.
#[derive(Debug, PartialEq, Eq)]
struct OfAnother {
    pool: String,
    policy: String,
    precedence: Precedence,
}

/// Pools that a policy answers for, and those of its selection that it does not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) own: Vec<String>,
    of_others: Vec<OfAnother>,
    /// Pools of its selection that name a policy which does not serve; pool and policy.
    of_nobody: Vec<(String, String)>,
    /// `true` if it selects nothing, since it has no selector.
    is_unselective: bool,
}

impl Share {
    /// The pools of a policy that decides.
    pub(super) fn of(claimant: Claimant<'_>, generation: &Generation, pools: &Pools) -> Self {
        let Claimant {
            name, hook, serves, ..
        } = claimant;
        let mut share = Self {
            is_unselective: *serves == LabelSelector::Nothing,
            ..Self::default()
        };
        for pool in pools.values() {
            let (answering, named) = (generation.answering(hook, pool), hook.named_by(pool));
            let own = pool.name.to_string();
            if answering.contains(&name) {
                share.own.push(own);
                continue;
            }
            if !serves.matches(&pool.own_labels) {
                continue;
            }
            if let Some(other) = answering.first() {
                let created = generation.created(hook, other);
                share.of_others.push(OfAnother {
                    pool: own,
                    policy: (*other).to_owned(),
                    precedence: match named {
                        Some(_) => Precedence::Named,
                        None if created.is_some() && created == claimant.created => {
                            Precedence::First
                        }
                        None => Precedence::Older,
                    },
                });
            } else if let Some(named) = named {
                share.of_nobody.push((own, named.to_string()));
            }
        }
        share
    }

    /// Number of the pools of its selection that other policies answer for.
    pub(super) fn conflicts(&self) -> usize {
        self.of_others.len()
    }

    /// The condition that says whether it gets all pools of its selection.
    pub(super) fn conflicting(&self) -> ConditionState {
        let conflict = self.conflict();
        ConditionState {
            is_true: conflict.is_some(),
            reason: if conflict.is_some() {
                EventReason::ServedByAnother.as_str()
            } else {
                "NoConflict"
            },
            message: conflict.unwrap_or_default(),
        }
    }

    /// A remark on pools that it does not get; `None` where it gets all.
    fn conflict(&self) -> Option<String> {
        let OfAnother { pool, policy, .. } = self.of_others.first()?;
        let more = match self.of_others.len() - 1 {
            0 => String::new(),
            1 => " (1 more NodePool likewise)".to_owned(),
            count => format!(" ({count} more NodePools likewise)"),
        };
        Some(format!(
            "NodePool {pool} is served by policy {policy}{more}: one that the NodePool names comes first, then the oldest, then the first by name; name one in an annotation of the NodePool, or select other NodePools"
        ))
    }

    /// The state of a module, as people are shown it, that no pool is left to; `None` where it answers for any.
    pub(super) fn idle(&self, module: &str) -> Option<ConditionState> {
        if !self.own.is_empty() {
            return None;
        }
        let (reason, why) = if !self.of_others.is_empty() {
            (EventReason::ServedByAnother, self.others())
        } else if let Some((_, policy)) = self.of_nobody.first() {
            let pools = shortened(self.of_nobody.iter().map(|(pool, _)| pool));
            let why = format!(
                "no NodePool is left to it: those that it selects name policies in an annotation that do not serve, such as {policy}: {pools}"
            );
            (EventReason::NoNodePools, why)
        } else {
            let selector = if self.is_unselective {
                "is absent"
            } else {
                "matches no NodePool"
            };
            let why = format!("no NodePool is selected: spec.nodePoolSelector {selector}");
            (EventReason::NoNodePools, why)
        };
        let message = format!("module {module} is loaded; {why}");
        Some(ConditionState::remarked(reason, message))
    }

    /// Policies that answer for the pools of its selection, each with these.
    fn others(&self) -> String {
        let mut by_policy: Vec<(&OfAnother, Vec<&str>)> = Vec::new();
        for own in &self.of_others {
            let mut known = by_policy.iter_mut();
            let alike = known.find(|(first, _)| {
                (&first.policy, first.precedence) == (&own.policy, own.precedence)
            });
            match alike {
                Some((_, pools)) => pools.push(&own.pool),
                None => by_policy.push((own, vec![&own.pool])),
            }
        }
        let sentences = by_policy.into_iter().map(|(first, pools)| {
            let why = match first.precedence {
                Precedence::Named => "named in their annotation",
                Precedence::Older => "which is older",
                Precedence::First => "which is as old and the first by name",
            };
            let (policy, pools) = (&first.policy, shortened(pools));
            format!("policy {policy}, {why}, serves the NodePools that it selects: {pools}")
        });
        sentences.collect::<Vec<_>>().join("; ")
    }
}
