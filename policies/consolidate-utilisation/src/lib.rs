//! Takes nodes away that are little used and whose pods have not changed for long enough. README.md has the rule.

use std::time::Duration;

use plimsoll_sdk::consolidation::*;

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// Share of processors or memory, whichever is more, up to which a node counts as little used.
    #[setting(default = 0.5, min = 0, max = 1)]
    pub threshold: f64,
    /// Minutes for which the pods of a node must not have changed.
    #[setting(default = 10, min = 0)]
    pub unneeded_minutes: f64,
    /// Minutes that a node must be old.
    #[setting(default = 10, min = 0)]
    pub least_age_minutes: f64,
}

reasons! {
    UNNEEDED = "little used",
    USED = "used",
    BUSY = "pods came or went lately",
    YOUNG = "too young",
    REPLACEMENT = "nodes are only taken away, not replaced",
}

/// Shares of use come with less precision than settings: by so much one that equals the threshold may exceed it.
const ROUNDING: f64 = 1e-6;

/// Little used for long enough.
#[derive(Debug)]
pub struct Utilisation;

impl Consolidation for Utilisation {
    type Settings = Options;

    fn score(&self, mv: &Move, options: &Options) -> Verdict {
        if mv.kind() == MoveKind::Replace {
            return Verdict::refuse(REPLACEMENT);
        }
        // The first reason of the table, so that it does not depend on which node is named first.
        let objections = mv.nodes().filter_map(|node| objection(&node, options));
        match objections.min() {
            Some(reason) => Verdict::refuse(reason),
            None => Verdict::dollars(mv.saving().max(LEAST_WORTH), UNNEEDED),
        }
    }
}

export_consolidation!(Utilisation);

/// Why a node is still needed.
fn objection(node: &Node, options: &Options) -> Option<Reason> {
    if node.cpu_used().max(node.memory_used()) > options.threshold + ROUNDING {
        Some(USED)
    } else if node.age() < minutes(options.least_age_minutes) {
        Some(YOUNG)
    } else if node.since_pod_change() < minutes(options.unneeded_minutes) {
        Some(BUSY)
    } else {
        None
    }
}

/// More minutes than time can hold are never over.
fn minutes(count: f64) -> Duration {
    Duration::try_from_secs_f64(count * 60.0).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Fleet;

    use super::*;

    fn check(fleet: Fleet, value: f64, reason: Reason) {
        let fleet = fleet.delete(&["n1"]);
        let verdicts = fleet.verdicts(&Utilisation, &Options::default());
        assert_eq!(verdicts, [Verdict::dollars(value, reason)]);
    }

    fn idle() -> Fleet {
        Fleet::new().node("n1", 0.4).used(0.3, 0.2)
    }

    #[test]
    fn the_dearer_of_processors_and_memory_counts() {
        check(idle().used(0.5, 0.5), 0.4, UNNEEDED);
        check(idle().used(0.51, 0.1), 0.0, USED);
        check(idle().used(0.1, 0.51), 0.0, USED);
    }

    /// C13.
    #[test]
    fn a_node_must_be_quiet_for_ten_minutes() {
        check(
            idle().since_pod_change(Duration::from_mins(10)),
            0.4,
            UNNEEDED,
        );
        check(idle().since_pod_change(Duration::from_secs(599)), 0.0, BUSY);
    }

    #[test]
    fn a_young_node_stays() {
        check(idle().age(Duration::from_secs(599)), 0.0, YOUNG);
    }

    #[test]
    fn one_node_that_is_needed_keeps_the_others() {
        let fleet = idle().node("n2", 0.4).used(0.9, 0.9).delete(&["n1", "n2"]);
        let verdicts = fleet.verdicts(&Utilisation, &Options::default());
        assert_eq!(verdicts, [Verdict::refuse(USED)]);
    }

    #[test]
    fn nothing_is_replaced() {
        let fleet = idle().replace(&["n1"], &[0.1]);
        let verdicts = fleet.verdicts(&Utilisation, &Options::default());
        assert_eq!(verdicts, [Verdict::refuse(REPLACEMENT)]);
    }
}
