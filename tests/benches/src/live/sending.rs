//! Orders of a run as its log tells of them: how many of each purpose were carried out, and when, from the first plan on.

use std::collections::BTreeMap;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Orders of one purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// Orders that have ended.
    pub count: usize,
    /// Seconds from the first plan to the first end of one.
    pub first: f64,
    /// The same to the last.
    pub last: f64,
}

/// Orders by purpose; none where the log tells of no plan.
pub fn sent(log: &str) -> BTreeMap<String, Sent> {
    let mut sent: BTreeMap<String, Sent> = BTreeMap::new();
    let mut lines = log.lines();
    let planned = lines.find(|line| line.contains(": planned "));
    let Some(start) = planned.and_then(seconds) else {
        return sent;
    };
    for line in lines.filter(|line| line.contains(": order ended ")) {
        let purpose = line.split_once("purpose=").map(|(_, rest)| rest);
        let purpose = purpose.and_then(|rest| rest.split([' ', '(']).next());
        if let (Some(at), Some(purpose)) = (seconds(line), purpose) {
            let after = (at - start).rem_euclid(DAY);
            let one = Sent {
                count: 0,
                first: after,
                last: after,
            };
            let all = sent.entry(purpose.to_owned()).or_insert(one);
            all.count += 1;
            all.last = after;
        }
    }
    sent
}

/// The time of day at which a line was written, as it begins.
fn seconds(line: &str) -> Option<f64> {
    let (_, time) = line.split_whitespace().next()?.split_once('T')?;
    let mut parts = time.strip_suffix('Z')?.split(':');
    let mut next = || parts.next()?.parse::<f64>().ok();
    Some((next()? * 60.0 + next()?) * 60.0 + next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_count_from_the_first_plan() {
        let log = "2026-01-02T23:59:58.5Z  INFO c: order ended purpose=Note\n\
                   2026-01-02T23:59:59.0Z  INFO c: planned request=1 claims=2\n\
                   2026-01-02T23:59:59.5Z  INFO c: order ended object=x purpose=Create attempt=0\n\
                   2026-01-03T00:00:01.0Z  INFO c: order ended object=y purpose=Create attempt=0\n";
        let create = Sent {
            count: 2,
            first: 0.5,
            last: 2.0,
        };
        assert_eq!(sent(log), BTreeMap::from([("Create".to_owned(), create)]));
        assert!(sent("").is_empty());
    }
}
