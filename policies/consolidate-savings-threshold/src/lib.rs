//! A move is worth what it saves beyond a hurdle: the smallest consolidation policy there is, and the yardstick for all others.

use plimsoll_sdk::consolidation::*;

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// Dollars per hour that a move has to save.
    #[setting(default = 0.02, min = 0, max = 10000)]
    pub least_dollars: f64,
    /// Share of what the nodes cost that a move has to save.
    #[setting(default = 0.05, min = 0, max = 1)]
    pub least_share: f64,
}

reasons! { EMPTY = "nothing but daemons runs there", SAVES = "saves enough", LITTLE = "saves too little" }

/// Every move at what it saves beyond the hurdle.
#[derive(Debug)]
pub struct SavingsThreshold;

impl Consolidation for SavingsThreshold {
    type Settings = Options;

    fn score(&self, mv: &Move, options: &Options) -> Verdict {
        if mv.kind() == MoveKind::Empty {
            return Verdict::dollars(mv.saving().max(LEAST_WORTH), EMPTY);
        }
        let value = mv.saving() - hurdle(mv, options);
        Verdict::dollars(value, if value > 0.0 { SAVES } else { LITTLE })
    }

    fn terms(&self, mv: &Move, options: &Options) -> Vec<(&'static str, f64)> {
        match mv.kind() {
            MoveKind::Empty => Vec::new(),
            MoveKind::Delete | MoveKind::Replace => vec![("hurdle", -hurdle(mv, options))],
        }
    }
}

export_consolidation!(SavingsThreshold);

fn hurdle(mv: &Move, options: &Options) -> f64 {
    options
        .least_dollars
        .max(options.least_share * mv.removed())
}

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Fleet;

    use super::*;

    fn verdicts(fleet: &Fleet) -> Vec<(f64, Reason)> {
        let verdicts = fleet.verdicts(&SavingsThreshold, &Options::default());
        verdicts
            .iter()
            .map(|verdict| (verdict.value(), verdict.reason()))
            .collect()
    }

    #[test]
    fn small_nodes_meet_the_dollars_and_large_ones_the_share() {
        let fleet = Fleet::new()
            .node("small", 0.1)
            .node("large", 2.0)
            .replace(&["small"], &[0.06])
            .replace(&["large"], &[1.95])
            .delete(&["large"]);
        assert_eq!(
            verdicts(&fleet),
            [
                (0.1 - 0.06 - 0.02, SAVES),
                (2.0 - 1.95 - 0.1, LITTLE),
                (2.0 - 0.1, SAVES)
            ]
        );
    }

    #[test]
    fn an_empty_node_has_no_hurdle() {
        let fleet = Fleet::new()
            .node("tiny", 0.005)
            .node("unknown", 0.0)
            .empty(&["tiny"])
            .empty(&["unknown"]);
        assert_eq!(verdicts(&fleet), [(0.005, EMPTY), (LEAST_WORTH, EMPTY)]);
    }
}
