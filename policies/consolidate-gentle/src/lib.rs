//! Charges a move what it costs those who are disturbed, spread over the hours for which it pays, and leaves alone what only just
//! came to rest. README.md has the formula.

use std::time::Duration;

use plimsoll_sdk::consolidation::*;

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// Dollars that the eviction of an ordinary pod costs.
    #[setting(default = 0.01, min = 0)]
    pub eviction_dollars: f64,
    /// Dollars that it costs more where the workload has no other replica.
    #[setting(default = 0.2, min = 0)]
    pub last_replica_dollars: f64,
    /// Hours for which a move is expected to pay.
    #[setting(default = 4, min = 0.1, max = 168)]
    pub pays_hours: f64,
    /// Minutes that the youngest pod must have had to settle.
    #[setting(default = 15, min = 0)]
    pub settle_minutes: f64,
    /// Evictions within a day after which a workload is left alone.
    #[setting(default = 5)]
    pub evictions_a_day: u32,
}

reasons! {
    EMPTY = "nothing but daemons runs there",
    PAYS = "saves more than it costs those disturbed",
    DISTURBS = "costs those disturbed more than it saves",
    UNSETTLED = "pods started there lately",
    WORN = "its workloads were evicted often today",
}

/// Seconds that the oldest pod of a job has run on a node: work that an eviction throws away.
const JOB_AGE: &str = "job-age-s";

/// The lowest value that the host takes, in dollars per hour.
const WORST: f64 = -100_000.0;

/// A charge for every eviction, last replica and lost hour of a Job.
#[derive(Debug)]
pub struct Gentle;

impl Consolidation for Gentle {
    type Settings = Options;
    const OPTIONAL_SIGNALS: &'static [&'static str] = &[JOB_AGE];

    fn score(&self, mv: &Move, options: &Options) -> Verdict {
        if mv.kind() == MoveKind::Empty {
            return Verdict::dollars(mv.saving().max(LEAST_WORTH), EMPTY);
        }
        // The first reason of the table, so that it does not depend on which node is named first.
        let objections = mv.nodes().filter_map(|node| objection(&node, options));
        if let Some(reason) = objections.min() {
            return Verdict::refuse(reason);
        }
        let [evictions, replicas, work] = charges(mv, options);
        let value = (mv.saving() - evictions - replicas - work).max(WORST);
        Verdict::dollars(value, if value > 0.0 { PAYS } else { DISTURBS })
    }

    fn terms(&self, mv: &Move, options: &Options) -> Vec<(&'static str, f64)> {
        let [evictions, replicas, work] = charges(mv, options);
        vec![
            ("evictions", -evictions),
            ("last replicas", -replicas),
            ("work of jobs", -work),
        ]
    }
}

export_consolidation!(Gentle);

/// Why a node is to be left alone whatever its move saves.
fn objection(node: &Node, options: &Options) -> Option<Reason> {
    let settle = Duration::try_from_secs_f64(options.settle_minutes * 60.0);
    if node.youngest_pod() < settle.unwrap_or(Duration::MAX) {
        Some(UNSETTLED)
    } else if node.evictions_day() >= options.evictions_a_day {
        Some(WORN)
    } else {
        None
    }
}

/// Charges for evictions, last replicas and lost work, in dollars per hour of the time for which the move pays.
fn charges(mv: &Move, options: &Options) -> [f64; 3] {
    let (mut replicas, mut work) = (0.0, 0.0);
    for node in mv.nodes() {
        replicas += f64::from(node.last_replicas()) * options.last_replica_dollars;
        // The instance worked that long for nothing.
        work += job_hours(&node) * node.price();
    }
    let evictions = mv.eviction_cost() * options.eviction_dollars;
    [evictions, replicas, work].map(|dollars| dollars / options.pays_hours)
}

fn job_hours(node: &Node) -> f64 {
    let seconds = node.signal(JOB_AGE).and_then(Signal::number);
    seconds.unwrap_or_default().max(0.0) / 3_600.0
}

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Fleet;

    use super::*;

    fn check(fleet: &Fleet, value: f64, reason: Reason) {
        let verdicts = fleet.verdicts(&Gentle, &Options::default());
        let [verdict] = verdicts.as_slice() else {
            unreachable!("the fleet has one move")
        };
        assert_eq!(verdict.reason(), reason);
        assert!((verdict.value() - value).abs() < 1e-12, "{verdict:?}");
    }

    fn node() -> Fleet {
        Fleet::new().node("n1", 0.4)
    }

    #[test]
    fn evictions_are_charged_once_and_spread_over_the_hours_it_pays() {
        check(&node().delete(&["n1"]), 0.4 - 2.0 * 0.01 / 4.0, PAYS);
        check(
            &node().replace(&["n1"], &[0.399]),
            0.4 - 0.399 - 2.0 * 0.01 / 4.0,
            DISTURBS,
        );
    }

    #[test]
    fn last_replicas_and_the_work_of_jobs_cost_more() {
        let charge = 2.0 * 0.01 / 4.0;
        check(
            &node().last_replicas(2).delete(&["n1"]),
            0.4 - charge - 2.0 * 0.2 / 4.0,
            PAYS,
        );
        check(
            &node().signal(JOB_AGE, &[3_600.0 * 5.0]).delete(&["n1"]),
            0.4 - charge - 5.0 * 0.4 / 4.0,
            DISTURBS,
        );
    }

    #[test]
    fn what_only_just_came_to_rest_is_left_alone() {
        let young = node().youngest_pod(Duration::from_secs(899));
        check(&young.delete(&["n1"]), 0.0, UNSETTLED);
        check(&node().evictions_day(5).delete(&["n1"]), 0.0, WORN);
        check(&node().evictions_day(4).delete(&["n1"]), 0.395, PAYS);
    }

    #[test]
    fn an_empty_node_goes_however_young() {
        let young = node().youngest_pod(Duration::ZERO).evictions_day(9);
        check(&young.empty(&["n1"]), 0.4, EMPTY);
    }
}
