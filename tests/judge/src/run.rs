//! A run of the judge over many clusters, its figures, and what it says of a defect.

use std::fmt;

use crate::case::Case;
use crate::defect::{Defect, Rule};
use crate::feature::{Features, Met};
use crate::generate::cluster;
use crate::mutation::Mutation;
use crate::planned::planned;
use crate::scheduler::{Scheduler, SchedulerError};
use crate::shrink::shrink;
use crate::simulated::{self, Pairs, compare};
use crate::stir::stirred;
use crate::verdict::{Binding, Judgement, judge};

/// One cluster of so many is let loose on the scheduler.
const BOUND_SHARE: u64 = 20;

/// Rules that plans are known to break now and then, with the fault that is open; a run counts them and does not fail for them.
pub const OPEN: &[(Rule, &str)] = &[
    (
        Rule::Binding,
        "a pod that is refused until others are bound loses its nomination, and pods that wait for their turn may take its room",
    ),
    (
        Rule::Refusal,
        "a NodePool's limits are charged with the largest type that a planned node may become, and a pod is refused that fits beside a smaller one",
    ),
    (
        Rule::Room,
        "the last look at a plan takes all that it finds or nothing, where only some of it would hold",
    ),
];

/// Treatment of defects of rules in [`OPEN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenRules {
    /// They are no more than counted.
    Counted,
    /// They are defects like all others.
    Judged,
}

/// Figures of a run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Clusters that were judged.
    pub clusters: usize,
    /// Placements that the scheduler was asked about.
    pub placements: usize,
    /// Refused pods that it was asked about.
    pub refusals: usize,
    /// Defects of rules with an open fault.
    pub open: usize,
    /// Questions that were told as not judged.
    pub not_judged: usize,
    /// Pods let loose without nominations, and those of them that bound.
    pub unnominated: (usize, usize),
    /// Pairs of pods and nodes on which the simulator's scheduler was compared.
    pub simulated: Pairs,
    /// Clusters by feature and by pair of features.
    pub met: Met,
    /// Numbers of waiting pods, of pools and of offerings of each cluster.
    sizes: [Vec<usize>; 3],
}

impl Tally {
    /// Counts a cluster with what was said of it.
    pub fn count(&mut self, case: &Case, judgement: &Judgement) {
        self.clusters += 1;
        self.placements += judgement.placements;
        self.refusals += judgement.refusals;
        self.open += judgement.open;
        self.not_judged += judgement.not_judged.len();
        self.unnominated.0 += judgement.unnominated.0;
        self.unnominated.1 += judgement.unnominated.1;
        self.simulated.count(&judgement.simulated);
        self.met.count(case.features);
        let waiting = case
            .of_kind("Pod")
            .filter(|pod| pod["spec"]["nodeName"].is_null());
        let types = crate::case::items(&case.section, "/catalogue/instanceTypes").iter();
        let offerings = types.map(|one| crate::case::items(one, "/offerings").len());
        let sizes = [
            waiting.count(),
            case.of_kind("NodePool").count(),
            offerings.sum(),
        ];
        for (all, size) in self.sizes.iter_mut().zip(sizes) {
            all.push(size);
        }
    }

    /// The median numbers of waiting pods, pools and offerings.
    pub fn medians(&self) -> [usize; 3] {
        self.sizes.clone().map(|mut sizes| {
            sizes.sort_unstable();
            sizes.get(sizes.len() / 2).copied().unwrap_or_default()
        })
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [pods, pools, offerings] = self.medians();
        writeln!(
            f,
            "{} clusters, median {pods} pods, {pools} NodePools, {offerings} offerings",
            self.clusters
        )?;
        writeln!(
            f,
            "{} placements and {} refusals judged, {} refusals not judged",
            self.placements, self.refusals, self.not_judged
        )?;
        let (loose, bound) = self.unnominated;
        writeln!(f, "without nominations {bound} of {loose} pods bind")?;
        let Pairs {
            compared, taken, ..
        } = self.simulated;
        writeln!(
            f,
            "{compared} pairs of a pod and a node compared with the simulator's scheduler, {taken} of them taken"
        )?;
        for (rule, times) in &self.simulated.not_played {
            writeln!(f, "{times:7}  pairs not judged: {rule:?}")?;
        }
        for feature in Features::all().iter() {
            writeln!(f, "{:7}  {feature}", self.met.both(feature, feature))?;
        }
        if let Some((one, other, times)) = self.met.rarest(Features::all()) {
            writeln!(f, "rarest pair: {one} with {other}, {times} times")?;
        }
        writeln!(f, "{} defects of rules with open faults:", self.open)?;
        for (rule, fault) in OPEN {
            writeln!(f, "  {rule:?}: {fault}")?;
        }
        Ok(())
    }
}

/// Draws the cluster of a seed and judges its plan, made of the manifests as the mutation leaves them.
pub fn examine(
    seed: u64,
    mutation: Mutation,
    open: OpenRules,
    scheduler: &mut Scheduler,
) -> Result<(Case, Judgement), SchedulerError> {
    let case = cluster(seed, Features::all());
    let binding = if seed.is_multiple_of(BOUND_SHARE) {
        Binding::Tried
    } else {
        Binding::Left
    };
    let mut judgement = of_case(&case, mutation, scheduler, binding)?;
    if mutation == Mutation::None {
        for seen in [&case, &stirred(&case)] {
            let mut pairs = compare(seen, scheduler)?;
            judgement.defects.append(&mut pairs.defects);
            judgement.simulated.count(&pairs);
        }
    }
    if open == OpenRules::Counted {
        let is_open = |defect: &mut Defect| OPEN.iter().any(|(rule, _)| defect.rule == *rule);
        judgement.open = judgement.defects.extract_if(.., is_open).count();
    }
    Ok((case, judgement))
}

/// The judgement of a plan for a case, made of the manifests as the mutation leaves them.
pub fn of_case(
    case: &Case,
    mutation: Mutation,
    scheduler: &mut Scheduler,
    binding: Binding,
) -> Result<Judgement, SchedulerError> {
    match planned(&mutation.of(case)) {
        Ok(planned) => judge(case, &planned, scheduler, binding),
        Err(error) => Ok(Judgement {
            defects: vec![Defect::new(Rule::Unread, error.to_string())],
            ..Judgement::default()
        }),
    }
}

/// A smaller case whose plan breaks the same rule.
pub fn smallest(case: &Case, rule: Rule, scheduler: &mut Scheduler) -> Case {
    if rule == Rule::Simulated {
        return simulated::smallest(case, scheduler);
    }
    let binding = if rule == Rule::Binding {
        Binding::Tried
    } else {
        Binding::Left
    };
    shrink(case, &mut |smaller| {
        let judged = of_case(smaller, Mutation::None, scheduler, binding);
        judged.is_ok_and(|judged| judged.defects.iter().any(|defect| defect.rule == rule))
    })
}
