//! Does what saves money, and charges for every pod that has to move.

use plimsoll_sdk::consolidation::*;

/// Settings, as they appear in the Policy object. Their JSON Schema comes from this struct.
#[derive(Debug, Settings)]
pub struct Options {
    /// Dollars per hour charged for each ordinary pod that is evicted.
    #[setting(default = 0.01, min = 0.0)]
    pub eviction_charge: f64,
}

reasons! {
    EMPTY = "nothing but daemons runs there",
    SAVES = "saves more than its evictions are charged",
    DISTURBS = "its evictions are charged more than it saves",
}

/// The policy.
#[derive(Debug)]
pub struct NewPolicy;

impl Consolidation for NewPolicy {
    type Settings = Options;

    /// Worth of this move, in dollars per hour. Only what is worth more than nothing is done.
    fn score(&self, mv: &Move, options: &Options) -> Verdict {
        if mv.kind() == MoveKind::Empty {
            return Verdict::dollars(mv.saving().max(LEAST_WORTH), EMPTY);
        }
        let value = mv.saving() - options.eviction_charge * mv.eviction_cost();
        Verdict::dollars(value, if value > 0.0 { SAVES } else { DISTURBS })
    }
}

export_consolidation!(NewPolicy);

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Fleet;

    use super::*;

    #[test]
    fn evictions_are_charged_for() {
        let fleet = Fleet::new()
            .node("n1", 0.4)
            .delete(&["n1"])
            .replace(&["n1"], &[0.39]);
        let verdicts = fleet.verdicts(&NewPolicy, &Options::default());
        assert_eq!(verdicts[0], Verdict::dollars(0.4 - 0.01 * 2.0, SAVES));
        assert_eq!(verdicts[1].reason(), DISTURBS);
    }
}
