//! Deciders of an explanation: a strategy as asked for, or the policies that serve a cluster. Trials are decisions of their own, whose
//! prices say nothing of the plan, so it is not observed.

use std::collections::BTreeSet;
use std::sync::Arc;

#[cfg(feature = "live")]
use anyhow::Context;
use anyhow::Result;
use plimsoll_base::ids::PoolName;
use plimsoll_disrupt::outlook::Outlook;
use plimsoll_model::NodePool;
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_policy::Observer;
#[cfg(feature = "live")]
use plimsoll_policy::{Generation, Hook};
#[cfg(feature = "live")]
use plimsoll_schedule::Session;

use crate::player::Decided;
#[cfg(feature = "live")]
use crate::player::planned;
use crate::strategy::Strategy;
use crate::view::node_pool::PoolPolicy;

/// The decider, observed or not.
pub(crate) enum Decider {
    /// A strategy, and the same with its observers.
    Asked(Box<[Strategy; 2]>),
    /// The policies of a cluster.
    #[cfg(feature = "live")]
    Serving(Box<Serving>),
}

/// Policies of a cluster: a generation, the same with its observers, and what is known of them beside.
#[cfg(feature = "live")]
pub(crate) struct Serving {
    unobserved: Arc<Generation>,
    observed: Arc<Generation>,
    standing: plimsoll_controller::policies::Standing,
}

impl Decider {
    /// A strategy, with its observers.
    pub(crate) fn asked(strategy: Strategy, observer: Arc<dyn Observer>) -> Self {
        let mut observed = strategy.clone();
        if let Some(policies) = observed.policies_mut() {
            policies.observers.push(observer);
        }
        Self::Asked(Box::new([strategy, observed]))
    }

    /// The policies of a cluster, with their observers.
    #[cfg(feature = "live")]
    pub(crate) fn serving(
        standing: plimsoll_controller::policies::Standing,
        observer: Arc<dyn Observer>,
        snapshot: &Snapshot,
    ) -> Self {
        Self::Serving(Box::new(Serving {
            unobserved: standing.generation(Vec::new(), snapshot.now),
            observed: standing.generation(vec![observer], snapshot.now),
            standing,
        }))
    }

    /// Decides once what to buy.
    pub(crate) fn plan(&self, snapshot: &Snapshot) -> Result<Decided> {
        match self {
            Self::Asked(strategies) => strategies[1].plan(snapshot),
            #[cfg(feature = "live")]
            Self::Serving(serving) => planned(&serving.observed, snapshot, &Session::default()),
        }
    }

    /// The outlook of the node in a row of a snapshot, and in sentences what went wrong with policies.
    pub(crate) fn outlook(
        &self,
        snapshot: &Snapshot,
        row: usize,
    ) -> Result<(Outlook, Vec<String>)> {
        match self {
            Self::Asked(strategies) => strategies[1].outlook(snapshot, row),
            #[cfg(feature = "live")]
            Self::Serving(serving) => {
                let observed = &serving.observed;
                let (outlooks, asked) = observed.outlooks(snapshot, &[row], &Session::default());
                let outlook = outlooks.into_iter().next();
                Ok((outlook.context("the outlook of a node")?, asked.notes))
            }
        }
    }

    /// Adds to a plan the nearest offerings for pods that are unschedulable, given as rows of the snapshot.
    pub(crate) fn tell_nearest(
        &self,
        snapshot: &Snapshot,
        plan: &mut Plan,
        is_meant: impl Fn(usize) -> bool,
    ) {
        match self {
            Self::Asked(strategies) => strategies[0].tell_nearest(snapshot, plan, is_meant),
            #[cfg(feature = "live")]
            Self::Serving(serving) => {
                let replan = |changed: &Snapshot| {
                    let decided = planned(&serving.unobserved, changed, &Session::default());
                    Some(decided.ok()?.plan)
                };
                plimsoll_schedule::tell_nearest(snapshot, plan, is_meant, replan);
            }
        }
    }

    /// Policies of a cluster that answer for a pool, hook by hook.
    #[cfg_attr(
        not(feature = "live"),
        expect(unused_variables, reason = "a file has no Policy objects")
    )]
    pub(crate) fn policies_of(&self, pool: &NodePool) -> Vec<PoolPolicy> {
        match self {
            Self::Asked(_) => Vec::new(),
            #[cfg(feature = "live")]
            Self::Serving(serving) => {
                let answering = Hook::ALL.into_iter().flat_map(|hook| {
                    let names = serving.unobserved.answering(hook, pool);
                    names.into_iter().map(move |name| (hook, name))
                });
                let policy = |(hook, name): (Hook, &str)| {
                    let counts = serving.standing.counts(name);
                    let counts = counts.map(|counts| (counts.calls, counts.faults));
                    PoolPolicy::of(hook, name, counts)
                };
                answering.map(policy).collect()
            }
        }
    }

    /// NodePools of a cluster that no policy ranks; none where one policy was asked for.
    #[cfg_attr(
        not(feature = "live"),
        expect(unused_variables, reason = "a file has no Policy objects")
    )]
    pub(crate) fn unranked(&self, snapshot: &Snapshot) -> BTreeSet<PoolName> {
        match self {
            Self::Asked(_) => BTreeSet::new(),
            #[cfg(feature = "live")]
            Self::Serving(serving) => {
                let ranks = |pool: &NodePool| serving.unobserved.answering(Hook::Rank, pool);
                let pools = snapshot.pools.iter();
                let unranked = pools.filter(|pool| ranks(pool).is_empty());
                unranked.map(|pool| pool.name.clone()).collect()
            }
        }
    }

    /// Why no node of a pool may be disrupted, where that is since a policy that it names does not serve.
    #[cfg_attr(
        not(feature = "live"),
        expect(unused_variables, reason = "a file has no Policy objects")
    )]
    pub(crate) fn holds(&self, pool: &NodePool) -> Option<String> {
        match self {
            Self::Asked(_) => None,
            #[cfg(feature = "live")]
            Self::Serving(serving) => {
                let (_, policy) = serving.unobserved.missing(pool)?;
                Some(format!("policy {policy}, which it names, does not serve"))
            }
        }
    }

    /// Remarks on policies of a cluster: those that do not serve as they should, and those that pools name but that do not exist or do not serve.
    #[cfg_attr(
        not(feature = "live"),
        expect(unused_variables, reason = "a file has no Policy objects")
    )]
    pub(crate) fn findings(&self, snapshot: &Snapshot) -> Vec<String> {
        match self {
            Self::Asked(_) => Vec::new(),
            #[cfg(feature = "live")]
            Self::Serving(serving) => {
                use plimsoll_controller::policies::Standing;
                let named = snapshot.pools.iter();
                let missing = named.filter_map(|pool| Standing::missing(&serving.unobserved, pool));
                let (generation, pools) = (&serving.unobserved, &snapshot.pools);
                let own = serving.standing.findings(generation, pools).into_iter();
                own.chain(missing).collect()
            }
        }
    }
}
