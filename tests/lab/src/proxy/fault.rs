//! Faults of a proxy, and the rules that say which requests they befall.

use std::time::Duration;

use super::call::{Call, Verb};

/// A thing that goes wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It reaches the API server this much later.
    Delay(Duration),
    /// It is answered with this HTTP status, and the API server never hears of it.
    Refuse {
        /// The status, 400 or above.
        code: u16,
        /// Seconds after which to come again, where the answer says so.
        retry_after: Option<u32>,
    },
    /// The connection ends before the API server hears of it.
    Cut,
    /// It is carried out, and the connection ends before the answer.
    LoseAnswer,
    /// Its answer breaks off after this long: for watches.
    CutAfter(Duration),
    /// It never reaches the API server, and is never answered: for who is to die meanwhile.
    Hold,
    /// It is carried out, and its answer never comes.
    HoldAnswer,
}

/// A fault, and the requests that it befalls.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Verbs; none for every one.
    pub verbs: Vec<Verb>,
    /// Resources as [`Call::resource`] has them; none for every one.
    pub resources: Vec<String>,
    /// So many requests that match are let pass before it holds.
    pub skip: u32,
    /// The first of every so many requests that match, and so again; 1 for each.
    pub every: u32,
    /// Requests that it befalls at most; `None` for any number.
    pub times: Option<u32>,
    /// Harm that is done to them.
    pub fault: Fault,
}

impl Rule {
    /// A fault that befalls every request of these verbs for these resources.
    pub fn new(verbs: &[Verb], resources: &[&str], fault: Fault) -> Self {
        Self {
            verbs: verbs.to_vec(),
            resources: resources.iter().map(ToString::to_string).collect(),
            skip: 0,
            every: 1,
            times: None,
            fault,
        }
    }

    fn covers(&self, call: &Call) -> bool {
        (self.verbs.is_empty() || self.verbs.contains(&call.verb))
            && (self.resources.is_empty() || self.resources.contains(&call.resource))
    }
}

/// The rules of a proxy, in the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct Rules {
    rules: Vec<Counted>,
}

#[derive(Debug)]
struct Counted {
    rule: Rule,
    matched: u32,
    left: Option<u32>,
}

impl Rules {
    pub(super) fn add(&mut self, rule: Rule) {
        let left = rule.times;
        self.rules.push(Counted {
            rule,
            matched: 0,
            left,
        });
    }

    pub(super) fn clear(&mut self) {
        self.rules.clear();
    }

    /// The fault of a request: that of the first rule that has one for it. It counts as having befallen it.
    pub(super) fn fault(&mut self, call: &Call) -> Option<Fault> {
        let mut covering = self.rules.iter_mut().filter(|it| it.rule.covers(call));
        covering.find_map(Counted::befall)
    }
}

impl Counted {
    fn befall(&mut self) -> Option<Fault> {
        if self.rule.skip > 0 {
            self.rule.skip -= 1;
            return None;
        }
        let is_turn = self.matched.is_multiple_of(self.rule.every.max(1));
        self.matched = self.matched.wrapping_add(1);
        if !is_turn || self.left == Some(0) {
            return None;
        }
        self.left = self.left.map(|left| left - 1);
        Some(self.rule.fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: Fault = Fault::Refuse {
        code: 500,
        retry_after: None,
    };

    fn call(verb: Verb, resource: &str) -> Call {
        Call {
            verb,
            group: String::new(),
            resource: resource.to_owned(),
            namespace: None,
            name: None,
        }
    }

    #[test]
    fn a_rule_befalls_its_verbs_and_resources_and_no_others() {
        let mut rules = Rules::default();
        rules.add(Rule::new(&Verb::WRITES, &["nodes"], REFUSED));
        assert_eq!(rules.fault(&call(Verb::Patch, "nodes")), Some(REFUSED));
        assert_eq!(rules.fault(&call(Verb::Get, "nodes")), None);
        assert_eq!(rules.fault(&call(Verb::Patch, "pods")), None);
        rules.clear();
        assert_eq!(rules.fault(&call(Verb::Patch, "nodes")), None);
    }

    #[test]
    fn a_rule_befalls_the_first_of_every_so_many_and_at_most_so_often() {
        let mut rules = Rules::default();
        rules.add(Rule {
            skip: 1,
            every: 3,
            times: Some(2),
            ..Rule::new(&[], &[], Fault::Cut)
        });
        rules.add(Rule {
            times: Some(1),
            ..Rule::new(&[Verb::Watch], &[], REFUSED)
        });
        let watch = call(Verb::Watch, "nodes");
        let faults: Vec<Option<Fault>> = (0..9).map(|_| rules.fault(&watch)).collect();
        let mut expected = vec![
            Some(REFUSED),
            Some(Fault::Cut),
            None,
            None,
            Some(Fault::Cut),
        ];
        expected.extend([None; 4]);
        assert_eq!(faults, expected);
    }
}
