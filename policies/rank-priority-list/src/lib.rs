//! Types in the order of a list, as a person wrote it. README.md says how entries are written.

use plimsoll_sdk::pattern::matches;
use plimsoll_sdk::ranking::*;

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// Instance types, best first; a `*` stands for any letters, for instance `m7g.*`.
    pub types: Vec<String>,
    /// `true` if types that the list does not name are never bought while one that it names is there.
    #[setting(default = false)]
    pub only_listed: bool,
}

reasons! { LISTED = "place on the list", UNLISTED = "not on the list" }

/// In the order of the list.
#[derive(Debug)]
pub struct PriorityList;

impl Ranking for PriorityList {
    type Settings = Options;

    fn order(&self, offering: &Offering, _claim: &Claim, options: &Options) -> Score {
        let name = offering.instance_type();
        let mut entries = options.types.iter();
        let place = entries.position(|entry| matches(entry, name));
        match place {
            Some(place) => Score::new(place as f64, LISTED),
            None if options.only_listed => Score::remove(UNLISTED),
            None => Score::new(options.types.len() as f64, UNLISTED),
        }
    }

    fn validate(&self, options: &Options) -> Vec<Problem> {
        if options.types.is_empty() {
            return vec![Problem {
                path: String::from("types"),
                message: String::from("is empty; expected at least one type such as m7g.*"),
            }];
        }
        Vec::new()
    }
}

export_ranking!(PriorityList, only_orders);

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Market;

    use super::*;

    fn scores(types: &[&str], only_listed: bool) -> Vec<Score> {
        let types = types.iter().map(|text| (*text).to_owned()).collect();
        let market = Market::new()
            .offering("m5.large", "a", 0.096)
            .offering("m7g.large", "a", 0.0816)
            .offering("t3.large", "a", 0.0832);
        market.scores(
            &PriorityList,
            &Options { types, only_listed },
            (1_000, 1_024),
        )
    }

    #[test]
    fn the_first_entry_that_a_type_matches_is_its_place() {
        let expected = [(1.0, LISTED), (0.0, LISTED), (2.0, UNLISTED)];
        let expected = expected.map(|(place, reason)| Score::new(place, reason));
        assert_eq!(scores(&["m7g.*", "m*.large"], false), expected);
    }

    #[test]
    fn what_is_not_listed_can_be_taken_off() {
        let scores = scores(&["t3.large"], true);
        assert_eq!(scores[0], Score::remove(UNLISTED));
        assert_eq!(scores[2], Score::new(0.0, LISTED));
    }
}
