//! `simulate --what-if`: the first column once more with a rule changed, so that what the rule costs stands alone.

use std::fmt;
use std::sync::Arc;

use anyhow::{Result, bail};
use plimsoll_api::convert::budget_nodes;
use plimsoll_api::duration;
use plimsoll_base::time::Span;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::snapshot::{Guard, Settings};
use plimsoll_model::{
    Budget, BudgetNodes, ConsolidationPolicy, DoNotDisrupt, NodePool, Object, Pod,
};
use plimsoll_sim::{Change, Recording};

use crate::meant::{closest, question};

/// Rules that are switched off, by their names.
const RULES: &[(&str, Rule)] = &[
    ("guards", Rule::Guards),
    ("pods-per-node", Rule::Guard(Guard::PodsPerNode)),
    ("replicas-per-node", Rule::Guard(Guard::ReplicasPerNode)),
    ("node-share", Rule::Guard(Guard::NodeShare)),
    ("exotic-types", Rule::Guard(Guard::ExoticTypes)),
    ("unrequested-spot", Rule::Guard(Guard::UnrequestedSpot)),
    ("spot-share", Rule::Guard(Guard::SpotShare)),
    ("attach-slots", Rule::Guard(Guard::AttachSlots)),
    ("free-addresses", Rule::Guard(Guard::FreeAddresses)),
    ("least-saving", Rule::LeastSaving),
    ("least-age", Rule::LeastAge),
    ("lost-work", Rule::LostWork),
    ("pdbs", Rule::DisruptionBudgets),
    ("do-not-disrupt", Rule::DoNotDisrupt),
];
/// Rules that get another value.
const VALUES: [&str; 3] = ["budgets", "consolidateAfter", "consolidationPolicy"];

/// A rule that can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// All guards on purchases.
    Guards,
    /// One of them.
    Guard(Guard),
    /// The least saving of a move, and the time within which a move is not taken back.
    LeastSaving,
    /// The least age of a node that is replaced.
    LeastAge,
    /// What the work that pods of Jobs lose counts.
    LostWork,
    /// PodDisruptionBudgets.
    DisruptionBudgets,
    /// The annotation `karpenter.sh/do-not-disrupt` of pods.
    DoNotDisrupt,
}

/// A change of one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tweak {
    /// It does not hold.
    Off(Rule),
    /// The one budget of every NodePool.
    Budgets(BudgetNodes),
    /// `consolidateAfter` of every NodePool; `None` for `Never`.
    ConsolidateAfter(Option<Span>),
    /// `consolidationPolicy` of every NodePool.
    ConsolidationPolicy(ConsolidationPolicy),
}

/// Changes of rules that make one column, as they were asked for.
#[derive(Clone, Debug)]
pub(super) struct WhatIf {
    text: String,
    tweaks: Vec<Tweak>,
}

impl fmt::Display for WhatIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl WhatIf {
    /// Reads `RULE=VALUE`, several joined by `+`. Fails with what was expected.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let tweaks = text.split('+').map(Tweak::parse);
        Ok(Self {
            text: text.to_owned(),
            tweaks: tweaks.collect::<Result<_>>()?,
        })
    }

    /// Changes the rules of a recording, those that come with its changes among them.
    pub(super) fn apply(&self, recording: &mut Recording) {
        for tweak in &self.tweaks {
            tweak.settings(Arc::make_mut(&mut recording.settings));
            for pool in &mut recording.objects.pools {
                tweak.pool(pool);
            }
            for pod in &mut recording.objects.pods {
                tweak.pod(pod);
            }
            if tweak.is_off(Rule::DisruptionBudgets) {
                recording.objects.disruption_budgets.clear();
            }
            recording
                .changes
                .retain_mut(|timed| match &mut timed.change {
                    Change::Arrive(pod, _) | Change::Apply(Object::Pod(pod)) => {
                        tweak.pod(pod);
                        true
                    }
                    Change::Apply(Object::Pool(pool)) => {
                        tweak.pool(pool);
                        true
                    }
                    Change::Apply(Object::DisruptionBudget(_)) => {
                        !tweak.is_off(Rule::DisruptionBudgets)
                    }
                    _ => true,
                });
        }
    }
}

impl Tweak {
    fn parse(text: &str) -> Result<Self> {
        let Some((name, value)) = text.split_once('=') else {
            bail!(
                "--what-if {text} has no value; expected RULE=VALUE, such as guards=off or budgets=100%"
            );
        };
        let expected = |what: &str| format!("--what-if {name} is \"{value}\"; expected {what}");
        match name {
            "budgets" => match budget_nodes(value) {
                Ok(nodes) => Ok(Self::Budgets(nodes)),
                Err(_) => bail!(expected(
                    "a number of nodes, or percent of them, such as 100%"
                )),
            },
            "consolidateAfter" if value == "Never" => Ok(Self::ConsolidateAfter(None)),
            "consolidateAfter" => match duration::parse(value) {
                Some(span) => Ok(Self::ConsolidateAfter(Some(span))),
                None => bail!(expected(&format!("Never, or {}", duration::EXPECTED))),
            },
            "consolidationPolicy" => match value {
                "WhenEmpty" => Ok(Self::ConsolidationPolicy(ConsolidationPolicy::WhenEmpty)),
                "WhenEmptyOrUnderutilized" => {
                    let all = ConsolidationPolicy::WhenEmptyOrUnderutilized;
                    Ok(Self::ConsolidationPolicy(all))
                }
                _ => bail!(expected("WhenEmpty or WhenEmptyOrUnderutilized")),
            },
            name => match RULES.iter().find(|(known, _)| *known == name) {
                Some((_, rule)) if value == "off" => Ok(Self::Off(*rule)),
                Some(_) => bail!(expected("off")),
                None => bail!(unknown(name)),
            },
        }
    }

    fn is_off(&self, rule: Rule) -> bool {
        *self == Self::Off(rule)
    }

    fn settings(&self, settings: &mut Settings) {
        let Self::Off(rule) = self else {
            return;
        };
        match rule {
            Rule::Guards => settings.guards.enabled = false,
            Rule::Guard(guard) => settings.guards = settings.guards.without(*guard),
            Rule::LeastSaving => {
                settings.churn.saving_percent = 0;
                settings.churn.saving = PricePerHour::ZERO;
                settings.churn.reversal_cooldown = Span::ZERO;
            }
            Rule::LeastAge => settings.churn.node_age = Span::ZERO,
            Rule::LostWork => {
                settings.churn.spare_jobs = false;
                settings.churn.lost_work_percent = 0;
            }
            Rule::DisruptionBudgets | Rule::DoNotDisrupt => {}
        }
    }

    fn pool(&self, pool: &mut Arc<NodePool>) {
        match self {
            Self::Off(_) => {}
            Self::Budgets(nodes) => {
                Arc::make_mut(pool).disruption.budgets = vec![Budget::always(*nodes)];
            }
            Self::ConsolidateAfter(span) => {
                Arc::make_mut(pool).disruption.consolidate_after = *span;
            }
            Self::ConsolidationPolicy(policy) => {
                Arc::make_mut(pool).disruption.policy = *policy;
            }
        }
    }

    fn pod(&self, pod: &mut Arc<Pod>) {
        if self.is_off(Rule::DoNotDisrupt) && pod.do_not_disrupt != DoNotDisrupt::No {
            Arc::make_mut(pod).do_not_disrupt = DoNotDisrupt::No;
        }
    }
}

/// Message about a rule that there is not.
fn unknown(name: &str) -> String {
    let rules = || RULES.iter().map(|(known, _)| *known).chain(VALUES);
    let listed: Vec<&str> = rules().collect();
    format!(
        "--what-if {name} is no rule; expected one of {}{}",
        listed.join(", "),
        question(closest(name, rules()))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_gets_its_value_and_anything_else_is_refused_with_what_was_expected() {
        for (text, expected) in [
            ("budgets=100%", Tweak::Budgets(BudgetNodes::Percent(100))),
            ("budgets=3", Tweak::Budgets(BudgetNodes::Count(3))),
            ("consolidateAfter=Never", Tweak::ConsolidateAfter(None)),
            (
                "consolidateAfter=90s",
                Tweak::ConsolidateAfter(Some(Span::from_secs(90))),
            ),
            ("spot-share=off", Tweak::Off(Rule::Guard(Guard::SpotShare))),
        ] {
            assert_eq!(Tweak::parse(text).unwrap(), expected, "{text}");
        }
        for (text, said) in [
            (
                "guards",
                "--what-if guards has no value; expected RULE=VALUE",
            ),
            ("guards=on", "--what-if guards is \"on\"; expected off"),
            (
                "guard=off",
                "--what-if guard is no rule; expected one of guards, ",
            ),
            ("guard=off", "did you mean guards?"),
            (
                "budgets=-1",
                "--what-if budgets is \"-1\"; expected a number",
            ),
            ("consolidateAfter=1", "expected Never, or"),
            ("consolidationPolicy=Never", "expected WhenEmpty or"),
        ] {
            let error = WhatIf::parse(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn every_guard_can_be_switched_off_by_a_name_of_its_own() {
        for guard in Guard::ALL {
            let named = RULES.iter().filter(|(_, rule)| *rule == Rule::Guard(guard));
            assert_eq!(named.count(), 1, "{guard:?}");
        }
    }
}
