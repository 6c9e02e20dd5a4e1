//! Types by priorities, the highest first: the Cluster Autoscaler's expander `priority`. README.md says how entries are written.

use plimsoll_sdk::pattern::matches;
use plimsoll_sdk::ranking::*;

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// Entries `PRIORITY=TYPE`: a whole number, the higher the sooner, and an instance type in which a `*` stands for any
    /// letters, for instance `50=m7g.*`. Of several entries that a type matches the highest counts.
    pub priorities: Vec<String>,
}

reasons! { LISTED = "by its priority", UNLISTED = "without a priority" }

/// In the order of priorities.
#[derive(Debug)]
pub struct Priority;

impl Ranking for Priority {
    type Settings = Options;

    fn order(&self, offering: &Offering, _claim: &Claim, options: &Options) -> Score {
        let name = offering.instance_type();
        let entries = options.priorities.iter().filter_map(|text| entry(text));
        let own = entries.filter(|(_, pattern)| matches(pattern, name));
        match own.map(|(priority, _)| priority).max() {
            Some(priority) => Score::new(-f64::from(priority), LISTED),
            None => Score::new(AFTER_ALL, UNLISTED),
        }
    }

    fn validate(&self, options: &Options) -> Vec<Problem> {
        if options.priorities.is_empty() {
            return vec![Problem {
                path: String::from("priorities"),
                message: String::from("is empty; expected at least one entry such as 50=m7g.*"),
            }];
        }
        let expected = "PRIORITY=TYPE with a whole number, for instance 50=m7g.*";
        unreadable(
            "priorities",
            &options.priorities,
            |text| entry(text).is_some(),
            expected,
        )
    }
}

export_ranking!(Priority, only_orders);

/// Behind every priority that an entry can have.
const AFTER_ALL: f64 = 1e10;

/// A priority, and the types that have it.
fn entry(text: &str) -> Option<(i32, &str)> {
    let (priority, pattern) = text.split_once('=')?;
    let priority = priority.trim().parse().ok()?;
    let pattern = pattern.trim();
    (!pattern.is_empty()).then_some((priority, pattern))
}

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Market;

    use super::*;

    fn options(priorities: &[&str]) -> Options {
        let priorities = priorities.iter().map(|text| (*text).to_owned());
        Options {
            priorities: priorities.collect(),
        }
    }

    #[test]
    fn the_highest_priority_that_a_type_matches_counts() {
        let market = Market::new()
            .offering("m5.large", "a", 0.096)
            .offering("m7g.large", "a", 0.0816)
            .offering("t3.large", "a", 0.0832);
        let options = options(&["10=m*.large", "50=m7g.*", "-1=m7g.large"]);
        let scores = market.scores(&Priority, &options, (1_000, 1_024));
        let expected = [(-10.0, LISTED), (-50.0, LISTED), (AFTER_ALL, UNLISTED)];
        assert_eq!(scores, expected.map(|(at, reason)| Score::new(at, reason)));
    }

    #[test]
    fn what_is_no_entry_is_named() {
        let wrong = Priority.validate(&options(&["50=m7g.*", "m7g.*", "high=m5.*", "1="]));
        let named: Vec<bool> = ["\"m7g.*\"", "\"high=m5.*\"", "\"1=\""]
            .iter()
            .zip(&wrong)
            .map(|(text, problem)| problem.message.contains(text))
            .collect();
        assert_eq!(named, [true; 3]);
        assert_eq!(Priority.validate(&options(&[])).len(), 1);
    }
}
