//! The simulator's own scheduler beside the real one: every waiting pod on every node that has joined, as the manifests are.
//!
//! What the simulator does not play on purpose is counted and not judged; [`NotPlayed`] names it.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_sim::{Answer, Fit, NotPlayed};
use plimsoll_snapshot::Limits;
use serde_json::Value;

use crate::case::{Case, full_name, kind_of, text};
use crate::defect::{Defect, Rule};
use crate::scheduler::{SCHEDULED, Scheduler, SchedulerError};
use crate::shrink::shrink;
use crate::stir::stirred;

/// Pairs of a waiting pod and a node, by what became of them.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// Pairs in which both schedulers had their say.
    pub compared: usize,
    /// Those of them in which the node takes the pod.
    pub taken: usize,
    /// Pairs that were not judged, by what is not played.
    pub not_played: BTreeMap<NotPlayed, usize>,
    /// Pairs in which the two differ.
    pub defects: Vec<Defect>,
}

impl Pairs {
    /// Counts in other pairs; their defects are left behind.
    pub fn count(&mut self, other: &Self) {
        self.compared += other.compared;
        self.taken += other.taken;
        for (rule, times) in &other.not_played {
            *self.not_played.entry(*rule).or_default() += times;
        }
    }
}

/// Compares both schedulers on a case.
pub fn compare(case: &Case, scheduler: &mut Scheduler) -> Result<Pairs, SchedulerError> {
    let mut pairs = Pairs::default();
    let file = case.file().to_string();
    let own = match plimsoll_snapshot::read(file.as_bytes(), &Limits::default()) {
        Ok(loaded) => plimsoll_sim::fits(&loaded.objects),
        Err(error) => {
            let defect = Defect::new(Rule::Unread, error.to_string());
            pairs.defects.push(defect);
            return Ok(pairs);
        }
    };
    let objects = case.objects.iter();
    let objects: Vec<Value> = objects
        .filter(|object| SCHEDULED.contains(&kind_of(object)))
        .cloned()
        .collect();
    scheduler.load(&objects)?;
    let pods: Vec<String> = waiting(case).map(full_name).collect();
    let mut told = BTreeMap::new();
    for verdict in scheduler.fits(&pods)? {
        told.insert((verdict.pod, verdict.node), verdict.reasons);
    }
    for fit in own {
        let pair = (fit.pod.to_string(), fit.node.to_string());
        match told.remove(&pair) {
            Some(reasons) => pairs.judge(&fit, &reasons),
            None => pairs.differ(&fit, "the scheduler does not know of the pair"),
        }
    }
    let forgotten: BTreeSet<&String> = told.keys().map(|(pod, _)| pod).collect();
    for pod in forgotten {
        let text = format!("{pod} waits, and the simulator's scheduler does not try it");
        pairs.defects.push(Defect::new(Rule::Simulated, text));
    }
    Ok(pairs)
}

impl Pairs {
    fn judge(&mut self, fit: &Fit, reasons: &[String]) {
        let is_taken = match fit.answer {
            Answer::NotPlayed(rule) => {
                *self.not_played.entry(rule).or_default() += 1;
                return;
            }
            Answer::Taken => true,
            Answer::Refused(_) => false,
        };
        self.compared += 1;
        self.taken += usize::from(reasons.is_empty());
        if is_taken != reasons.is_empty() {
            let said = if is_taken {
                reasons.join(", ")
            } else {
                "the node takes it".to_owned()
            };
            self.differ(fit, &said);
        }
    }

    fn differ(&mut self, fit: &Fit, said: &str) {
        let text = format!(
            "{} on {}: the simulator says {:?}, the scheduler: {said}",
            fit.pod, fit.node, fit.answer
        );
        self.defects.push(Defect::new(Rule::Simulated, text));
    }
}

fn waiting(case: &Case) -> impl Iterator<Item = &Value> {
    let pods = case.of_kind("Pod");
    pods.filter(|pod| text(pod, "/spec/nodeName").is_empty())
}

/// A smaller case, as it was drawn or stirred, on which the two still differ.
pub fn smallest(case: &Case, scheduler: &mut Scheduler) -> Case {
    let mut differ = |one: &Case| {
        let compared = compare(one, scheduler);
        compared.is_ok_and(|pairs| pairs.defects.iter().any(|one| one.rule == Rule::Simulated))
    };
    let first = if differ(case) {
        case.clone()
    } else {
        stirred(case)
    };
    shrink(&first, &mut differ)
}
