//! The account of a shadow: sums over all decisions that it was asked about, and the newest differences.

use std::collections::VecDeque;

use plimsoll_base::units::PricePerHour;
use serde::Serialize;

use super::lists::Lists;
use crate::outcome::Fault;
use crate::recent::RecentCalls;

/// Counts of a shadow so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ShadowLog {
    /// Decisions about which both were asked.
    pub decisions: u64,
    /// Those that were its turn and that it was not asked about, since it was behind; 0 where decisions wait for it.
    pub passed_over: u64,
    /// Those on which they differ.
    pub differ: u64,
    /// Launches, moves or rows that were compared.
    pub compared: u64,
    /// Those on which both agree: the same first choice, worth it or not, the same allowance.
    pub agree: u64,
    /// Launch lists of the claims that the active policy planned, for which the shadow was asked for its own.
    #[serde(flatten)]
    pub lists: Lists,
    /// Cost of the shadow's choices above that of the active ones, all decisions together; negative where they cost less. At list
    /// prices; moves of a consolidation policy at the prices that decide.
    pub regret: PricePerHour,
    /// Pods that the shadow leaves waiting more than the active policy; negative where it leaves fewer.
    pub waiting: i64,
    /// Moves that only the shadow would make.
    pub extra_moves: u64,
    /// Moves that only the active policy would make.
    pub missing_moves: u64,
    /// Budgets that the shadow leaves wider.
    pub wider: u64,
    /// Budgets that it makes narrower.
    pub narrower: u64,
    /// Calls of the shadow that failed.
    pub faults: u64,
    /// Decisions in which a call of the shadow depended on the machine, such as a deadline; such a decision counts here and nowhere else.
    pub hung: u64,
    /// The last of the faults, in words.
    pub last_fault: Option<String>,
    /// How its last calls ended; of a decision without a failure one answer counts.
    #[serde(skip)]
    pub recent: RecentCalls,
    /// Fuel of the shadow's calls, but for those that asked for launch lists of the active policy's claims.
    pub fuel: u64,
    /// Fuel of the active policy's calls about the same.
    pub active_fuel: u64,
    /// The newest differences, oldest first.
    pub differing: VecDeque<Differing>,
}

/// One decision on which both differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Differing {
    /// Its number among those compared, from 1.
    pub number: u64,
    /// When, Unix seconds.
    pub unix_s: u64,
    /// The active decision in words.
    pub active: String,
    /// The shadow's decision in words.
    pub shadow: String,
    /// Cost of the shadow's decision above the active one, at list prices per hour; negative for less.
    pub regret: PricePerHour,
}

/// Comparison of one decision.
#[derive(Debug, Default)]
pub(super) struct Compared {
    pub(super) rows: u64,
    pub(super) agree: u64,
    pub(super) lists: Lists,
    pub(super) regret: PricePerHour,
    pub(super) waiting: i64,
    pub(super) extra_moves: u64,
    pub(super) missing_moves: u64,
    pub(super) wider: u64,
    pub(super) narrower: u64,
    /// Both sides in words, where they differ.
    pub(super) words: Option<(String, String)>,
}

/// What is noted of a module in shadow: all its calls about one decision together.
const DECISION: &str = "decision";

impl ShadowLog {
    /// Notes what the calls about one decision used and failed at, and whether it is compared: not where any of them depended on the
    /// machine.
    pub(super) fn note(&mut self, fuel: (u64, u64), faults: &[Fault]) -> bool {
        if faults.iter().any(|fault| !fault.outcome.is_deterministic()) {
            self.hung += 1;
            return false;
        }
        self.decisions += 1;
        (self.active_fuel, self.fuel) = (self.active_fuel + fuel.0, self.fuel + fuel.1);
        self.faults += faults.len() as u64;
        for fault in faults {
            self.recent.note(DECISION, Some(fault));
        }
        match faults.last() {
            Some(fault) => self.last_fault = Some(fault.sentence.clone()),
            None => self.recent.note(DECISION, None),
        }
        true
    }

    /// Adds a decision; so many of the newest differences are kept.
    pub(super) fn add(&mut self, unix_s: u64, compared: Compared, keep: usize) {
        self.compared += compared.rows;
        self.agree += compared.agree;
        self.lists.add(compared.lists);
        self.regret += compared.regret;
        self.waiting += compared.waiting;
        self.extra_moves += compared.extra_moves;
        self.missing_moves += compared.missing_moves;
        self.wider += compared.wider;
        self.narrower += compared.narrower;
        let Some((active, shadow)) = compared.words else {
            return;
        };
        self.differ += 1;
        if self.differing.len() >= keep {
            self.differing.pop_front();
        }
        if keep > 0 {
            self.differing.push_back(Differing {
                number: self.decisions,
                unix_s,
                active,
                shadow,
                regret: compared.regret,
            });
        }
    }

    /// Share of what was compared on which both agree, in thousandths; `None` where nothing was.
    pub fn agreement(&self) -> Option<u64> {
        (self.agree * 1000).checked_div(self.compared)
    }

    /// Fuel of the shadow for one of the active policy, in thousandths; `None` where that used none.
    pub fn fuel_ratio(&self) -> Option<u64> {
        self.fuel.saturating_mul(1000).checked_div(self.active_fuel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;

    fn fault(outcome: Outcome) -> Fault {
        Fault {
            outcome,
            sentence: outcome.label().to_owned(),
        }
    }

    #[test]
    fn every_call_that_failed_counts_and_the_last_is_told() {
        let mut log = ShadowLog::default();
        assert!(log.note((1, 2), &[fault(Outcome::Trap), fault(Outcome::Fuel)]));
        assert!(log.note((3, 4), &[]));
        assert_eq!((log.decisions, log.faults), (2, 2));
        assert_eq!((log.active_fuel, log.fuel), (4, 6));
        assert_eq!(log.fuel_ratio(), Some(1500));
        assert_eq!(log.last_fault.as_deref(), Some("fuel"));
    }

    #[test]
    fn a_call_that_hung_on_the_machine_counts_for_the_decision_wherever_it_stands() {
        let mut log = ShadowLog::default();
        let second = [fault(Outcome::Trap), fault(Outcome::Deadline)];
        assert!(!log.note((1, 2), &second));
        assert_eq!((log.decisions, log.faults, log.hung), (0, 0, 1));
        assert_eq!((log.active_fuel, log.fuel), (0, 0));
    }
}
